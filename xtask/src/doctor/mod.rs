//! `cargo xtask doctor`: what is installed, what is missing, what needs it, and the command that installs it.
//!
//! Exit code 0 when the main job and the tests can run. A GPU, a nightly and ptxas are not needed for that: without
//! them the simulator serves, the committed PTX serves, and the audit checks all but registers and spills.

mod tools;

use std::process::ExitCode;

use anyhow::Result;
use cargo_warpwright::doctor;

use crate::workspace::Workspace;

/// Prints the table; exit code 1 where something required is missing.
pub(crate) fn command(workspace: &Workspace) -> Result<ExitCode> {
    let mut checks = tools::checks(workspace)?;
    checks.push(doctor::gpu_driver::check());
    doctor::print(&checks);
    let able = checks.iter().all(|check| check.here() || !check.required);
    println!(
        "{}",
        if able {
            "`cargo xtask run` and `cargo xtask test` can run here"
        } else {
            "`cargo xtask run` and `cargo xtask test` need what is MISSING above"
        }
    );
    Ok(if able { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
