//! `cargo xtask book`: checks the pages of the book in book/, and renders them where mdBook is installed.
//!
//! mdBook shows a broken include or a link to a file that has gone without a word; the checks find both, and need no
//! mdBook.

mod intrinsics;
mod pages;

use std::process::{Command, ExitCode};

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
    let mut mdbook = Command::new("mdbook");
    if process::capture(mdbook.arg("--version")).is_err() {
        println!("not rendered: mdbook is not installed (cargo install mdbook)");
        return Ok(findings.is_empty());
    }
    let mut build = Command::new("mdbook");
    build.arg("build").arg(root.join("book"));
    println!("{}", process::line(&build));
    Ok(process::succeeds(&mut build)? && findings.is_empty())
}
