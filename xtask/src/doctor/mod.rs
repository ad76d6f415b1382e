//! `cargo xtask doctor`: what is installed, what is missing, what needs it, and the command that installs it.
//!
//! Exit code 0 when the main job and the tests can run. A GPU, a nightly and ptxas are not needed for that: without
//! them the simulator serves, the committed PTX serves, and the audit checks all but registers and spills.

mod gpu_driver;
mod tools;

use std::process::ExitCode;

use anyhow::Result;
use comfy_table::{Table, presets};

use crate::workspace::Workspace;

/// One thing looked for.
struct Check {
    /// What it is.
    what: &'static str,
    /// What needs it.
    needed_by: &'static str,
    /// Whether `run` and `test` need it.
    required: bool,
    /// What was found.
    found: Found,
}

/// What was found of one thing.
enum Found {
    /// It is here: which version and where.
    Here(String),
    /// It is not, or not as it should be: what is wrong, and what to do about it.
    Missing { problem: String, remedy: String },
}

impl Check {
    fn here(&self) -> bool {
        matches!(self.found, Found::Here(_))
    }
}

/// Prints the table; exit code 1 where something required is missing.
pub(crate) fn command(workspace: &Workspace) -> Result<ExitCode> {
    let mut checks = tools::checks(workspace)?;
    checks.push(gpu_driver::check());

    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    table.set_header(["", "what", "found", "needed by"]);
    for check in &checks {
        let mark = match (check.here(), check.required) {
            (true, _) => "ok",
            (false, true) => "MISSING",
            (false, false) => "absent",
        };
        let found = match &check.found {
            Found::Here(found) => found,
            Found::Missing { problem, .. } => problem,
        };
        table.add_row([mark, check.what, found, check.needed_by]);
    }
    println!("{table}");
    for check in &checks {
        if let Found::Missing { remedy, .. } = &check.found {
            println!("{}: {remedy}", check.what);
        }
    }
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
