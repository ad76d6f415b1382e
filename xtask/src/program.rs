//! The programs of `bench/`, built in release and run with the caller's arguments.
//!
//! The main job is built without what the others need: it is what a first run waits for.

use std::process::ExitCode;

use anyhow::Result;

use crate::process;
use crate::workspace::Workspace;

/// The program of the main job.
pub(crate) const MAIN_JOB: &str = "warpwright-run";

/// Builds and runs `name` with `variables` in its environment; its exit code is ours.
pub(crate) fn run(
    workspace: &Workspace,
    name: &str,
    arguments: &[String],
    variables: &[(&str, String)],
) -> Result<ExitCode> {
    let mut cargo = workspace.cargo();
    // The program's own paths are the caller's.
    cargo.current_dir(std::env::current_dir()?);
    cargo.envs(variables.iter().map(|(name, value)| (name, value)));
    cargo.args(["run", "--quiet", "--release", "--package=warpwright-bench", "--bin", name]);
    if name == MAIN_JOB {
        cargo.arg("--no-default-features");
    }
    cargo.arg("--");
    let succeeded = process::succeeds(cargo.args(arguments))?;
    Ok(if succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
