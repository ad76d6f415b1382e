//! `cargo xtask ladder`: every kernel from the smallest idea up, and the figures of the teaching texts, in release, with every
//! argument passed on.

use std::process::ExitCode;

use anyhow::Result;

use crate::process;
use crate::workspace::Workspace;

/// What `ladder` is asked for: the arguments of `warpwright-ladder`.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// Passed on to warpwright-ladder: `--json`, `--html FILE`, `--kernel ID`, `--device best|simulator|cuda` among them;
    /// `--help` shows its own help.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Builds and runs the program; its exit code is ours: 0 when every row is reproduced and every result right.
pub(crate) fn command(workspace: &Workspace, args: &Args) -> Result<ExitCode> {
    let mut cargo = workspace.cargo();
    // The program's own paths are the caller's.
    cargo.current_dir(std::env::current_dir()?);
    cargo.args(["run", "--quiet", "--release", "--package=warpwright-bench", "--bin=warpwright-ladder", "--"]);
    let succeeded = process::succeeds(cargo.args(&args.arguments))?;
    Ok(if succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
