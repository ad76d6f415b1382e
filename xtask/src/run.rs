//! `cargo xtask run`: the main job, in release, with every argument passed on.

use std::process::ExitCode;

use anyhow::Result;

use crate::program;
use crate::workspace::Workspace;

/// Arguments of `run`: those of `warpwright-run`.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// Passed on to warpwright-run, `--device best|simulator|cuda` among them; `--help` shows its own help.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Builds and runs the program; its exit code is ours: 0 when every result agrees with the reference.
pub(crate) fn command(workspace: &Workspace, args: &Args) -> Result<ExitCode> {
    // Without what the other programs need: this is what a first run waits for.
    program::run(workspace, "warpwright-run", &["--no-default-features"], &args.arguments, &[])
}
