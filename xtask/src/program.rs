//! The programs of `bench/`, built and run with the caller's arguments.

use std::process::ExitCode;

use anyhow::Result;

use crate::process;
use crate::workspace::Workspace;

/// Builds and runs `name` with `variables` in its environment; its exit code is ours. `options` are cargo's arguments
/// that choose the profile and the features of the package.
pub(crate) fn run(
    workspace: &Workspace,
    name: &str,
    options: &[&str],
    arguments: &[String],
    variables: &[(&str, String)],
) -> Result<ExitCode> {
    let mut cargo = workspace.cargo();
    // The program's own paths are the caller's.
    cargo.current_dir(std::env::current_dir()?);
    cargo.envs(variables.iter().map(|(name, value)| (name, value)));
    cargo.args(["run", "--quiet", "--package=warpwright-bench", "--bin", name]).args(options).arg("--");
    let succeeded = process::succeeds(cargo.args(arguments))?;
    Ok(if succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
