//! `cargo xtask coverage`: which rows of the tables of GEMM configurations the planner needs, with what they gain.
//!
//! It is a test of the host crate, and so a part of `cargo xtask test`; this command shows its table.

use std::process::ExitCode;

use anyhow::Result;

use crate::process;
use crate::workspace::Workspace;

const TEST: &str = "ops::gemm::coverage::every_configuration_is_needed";

/// Runs the test; its exit code is ours.
pub(crate) fn command(workspace: &Workspace) -> Result<ExitCode> {
    let mut cargo = workspace.cargo();
    cargo.args(["test", "--package", "warpwright", "--lib", "--all-features", "--quiet", "--"]);
    let succeeds = process::succeeds(cargo.args(["--exact", "--nocapture", TEST]))?;
    Ok(if succeeds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
