//! `cargo xtask tutorial`: each kernel step by step and the figures of the teaching texts, in release, with every
//! argument passed on.

use std::process::ExitCode;

use anyhow::Result;

use crate::program;
use crate::workspace::Workspace;

/// Arguments of `tutorial`: those of `warpwright-tutorial`.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// Passed on to warpwright-tutorial: `--json`, `--html FILE`, `--kernel ID`, `--device best|simulator|cuda` among
    /// them; `--help` shows its own help.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Builds and runs the program; its exit code is ours: 0 when every row is reproduced and every result right.
pub(crate) fn command(workspace: &Workspace, args: &Args) -> Result<ExitCode> {
    program::run(workspace, "warpwright-tutorial", &["--release"], &args.arguments, &[])
}
