//! Toolchains, assembler, Python and the committed PTX.

use std::process::Command;

use anyhow::Result;
use warpwright_build::core_source;

use crate::build;
use crate::process;
use crate::ptxas::{self, Ptxas};
use crate::toolchain;
use crate::workspace::{PTX_DIR, Workspace};
use cargo_warpwright::doctor::{Check, Found};

/// Everything but the GPU.
pub(super) fn checks(workspace: &Workspace) -> Result<Vec<Check>> {
    let stable = toolchain::channel(&workspace.root().join("rust-toolchain.toml"))?;
    let component = |name: &str| format!("rustup component add {name} --toolchain {stable}");
    let nightly = toolchain::find(workspace);
    let install = toolchain::install_command(&toolchain::channel(&workspace.root().join(toolchain::PTX_TOOLCHAIN))?);
    let (found_nightly, found_core) = match &nightly {
        Ok(nightly) => (
            Found::Here(format!("{} ({})", nightly.version, nightly.sysroot.display())),
            match core_source::available(nightly) {
                Ok(kind) => Found::Here(format!("in {}", kind.name())),
                Err(_) => missing(
                    "neither rust-src nor rust-docs",
                    format!("rustup component add rust-src --toolchain {}", nightly.name),
                ),
            },
        ),
        Err(error) => (missing(&format!("{error:#}"), install.clone()), missing("no nightly to look in", install)),
    };
    let stale = build::stale(workspace)?;
    let ptx_remedy = if nightly.is_ok() { "cargo xtask build" } else { "install the nightly, then cargo xtask build" };
    Ok(vec![
        Check {
            what: "stable rustc and cargo",
            needed_by: "everything",
            required: true,
            found: version(workspace.cargo().arg("--version"), &format!("rustup toolchain install {stable}")),
        },
        Check {
            what: "rustfmt",
            needed_by: "test",
            required: true,
            found: version(workspace.cargo().args(["fmt", "--version"]), &component("rustfmt")),
        },
        Check {
            what: "clippy",
            needed_by: "test",
            required: true,
            found: version(workspace.cargo().args(["clippy", "--version"]), &component("clippy")),
        },
        Check {
            what: "committed PTX",
            needed_by: "run and test on a GPU; test compares it with the kernels",
            required: true,
            found: if stale.is_empty() {
                Found::Here(format!("{PTX_DIR} was made from these kernels"))
            } else {
                missing(&stale.join("\n"), ptx_remedy.to_owned())
            },
        },
        Check {
            what: "nightly rustc",
            needed_by: "build (after a change of a kernel)",
            required: false,
            found: found_nightly,
        },
        Check { what: "source of core", needed_by: "build", required: false, found: found_core },
        Check {
            what: "ptxas",
            needed_by: "audit of registers and spills",
            required: false,
            found: Ptxas::find(&workspace.venvs()).map_or_else(
                || missing("on PATH, in CUDA_HOME, /usr/local/cuda, target/venv: none", ptxas::INSTALL.to_owned()),
                |ptxas| Found::Here(format!("{} ({})", ptxas.version, ptxas.path.display())),
            ),
        },
        Check {
            what: "python3 with venv",
            needed_by: "installing ptxas in target/venv",
            required: false,
            found: python(),
        },
    ])
}

fn missing(problem: &str, remedy: String) -> Found {
    Found::Missing { problem: problem.to_owned(), remedy }
}

/// The first line that a program prints.
fn version(command: &mut Command, remedy: &str) -> Found {
    match process::capture(command) {
        Ok(text) => Found::Here(text.lines().next().unwrap_or_default().to_owned()),
        Err(_) => missing(&format!("`{}` does not run", process::line(command)), remedy.to_owned()),
    }
}

fn python() -> Found {
    let install = "apt install python3 python3-venv, or your system's like";
    match version(Command::new("python3").arg("--version"), install) {
        Found::Here(version) => {
            // Debian splits venv's pip off into a package of its own.
            match process::capture(Command::new("python3").args(["-c", "import venv, ensurepip"])) {
                Ok(_) => Found::Here(version),
                Err(_) => missing(&format!("{version} without venv or ensurepip"), install.to_owned()),
            }
        }
        missing @ Found::Missing { .. } => missing,
    }
}
