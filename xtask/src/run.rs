//! `cargo xtask run`: the main job, with every argument passed on.

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
    // In a profile that is quick to build, and without what the other programs need: a first run waits for the build.
    program::run(workspace, "warpwright-run", &["--profile=main-job", "--no-default-features"], &args.arguments, &[])
}
