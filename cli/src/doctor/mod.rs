//! `cargo warpwright doctor`: what is installed, what is missing, what needs it, and the command that installs it.

pub mod gpu_driver;

use std::process::{Command, ExitCode};

use comfy_table::{Table, presets};
use warpwright_build::core_source;
use warpwright_build::process;
use warpwright_build::ptxas::Ptxas;
use warpwright_build::toolchain::{self, CHANNEL, Nightly};

/// One thing looked for.
pub struct Check {
    /// What it is.
    pub what: &'static str,
    /// What needs it.
    pub needed_by: &'static str,
    /// Whether nothing works without it.
    pub required: bool,
    /// What was found.
    pub found: Found,
}

/// What was found of one thing.
pub enum Found {
    /// It is here: which version and where.
    Here(String),
    /// It is not, or not as it should be: what is wrong, and what to do about it.
    Missing {
        /// What is wrong.
        problem: String,
        /// What to do.
        remedy: String,
    },
}

impl Check {
    /// Whether it is here.
    pub fn here(&self) -> bool {
        matches!(self.found, Found::Here(_))
    }
}

/// Prints the table of checks and the remedies.
pub fn print(checks: &[Check]) {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    table.set_header(["", "what", "found", "needed by"]);
    for check in checks {
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
    for check in checks {
        if let Found::Missing { remedy, .. } = &check.found {
            println!("{}: {remedy}", check.what);
        }
    }
}

/// What needs a nightly toolchain, for the table.
const PTX: &str = "kernels on a GPU";

/// Prints what a project with kernels needs; exit code 1 where it cannot even be built for the simulator.
pub(crate) fn command() -> ExitCode {
    let missing = |problem: String, remedy: String| Found::Missing { problem, remedy };
    let cargo = match process::capture(Command::new("cargo").arg("--version")) {
        Ok(text) => Found::Here(text.trim().to_owned()),
        Err(error) => missing(format!("{error:#}"), "https://rustup.rs".to_owned()),
    };
    let install = toolchain::install_command(CHANNEL);
    let (nightly, core) = match Nightly::find(CHANNEL) {
        Ok(nightly) => (
            Found::Here(format!("{} ({})", nightly.version, nightly.sysroot.display())),
            match core_source::available(&nightly) {
                Ok(kind) => Found::Here(format!("in {}", kind.name())),
                Err(error) => {
                    missing(format!("{error:#}"), format!("rustup component add rust-src --toolchain {}", nightly.name))
                }
            },
        ),
        Err(error) => (missing(format!("{error:#}"), install.clone()), missing("no nightly".to_owned(), install)),
    };
    let ptxas = Ptxas::find(&[]).map_or_else(
        || {
            missing(
                "on PATH, in CUDA_HOME, /usr/local/cuda: none".to_owned(),
                "pip install nvidia-cuda-nvcc==13.0.88, and WARPWRIGHT_PTXAS=…/bin/ptxas".to_owned(),
            )
        },
        |ptxas| Found::Here(format!("{} ({})", ptxas.version, ptxas.path.display())),
    );
    let checks = [
        Check { what: "cargo", needed_by: "everything", required: true, found: cargo },
        Check { what: "nightly rustc", needed_by: PTX, required: false, found: nightly },
        Check { what: "source of core", needed_by: PTX, required: false, found: core },
        Check { what: "ptxas", needed_by: "audit of registers and spills", required: false, found: ptxas },
        gpu_driver::check(),
    ];
    print(&checks);
    let able = checks.iter().all(|check| check.here() || !check.required);
    if able { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
