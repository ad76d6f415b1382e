//! `cargo xtask sanitize`: tests with the address and leak sanitizers of the nightly that writes PTX.
//!
//! The sanitizer follows the simulator's changes of stacks: where it is used, `simulator/Cargo.toml` turns on
//! corosensei's calls of `__sanitizer_start_switch_fiber`.

use std::fs;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use comfy_table::{Cell, CellAlignment, Table, presets};

use crate::process;
use crate::toolchain;
use crate::workspace::Workspace;

/// Arguments of `sanitize`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// These programs only, such as `simulator,defects`.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

/// A test program: its name here, cargo's arguments, those of the program, and options of the sanitizer.
struct Program {
    name: &'static str,
    cargo: &'static [&'static str],
    options: &'static [&'static str],
    asan: &'static str,
}

/// Without a second stack for each fiber, which shows uses of locals after their function has returned: those of fibers
/// that were unwound stay allocated, and there are too many.
const ONE_STACK: &str = "detect_stack_use_after_return=0";

const PROGRAMS: &[Program] = &[
    Program { name: "simulator", cargo: &["--package", "warpwright-simulator", "--lib"], options: &[], asan: "" },
    Program {
        name: "semantics",
        cargo: &["--package", "warpwright-tests", "--test", "semantics"],
        // The limits of the first are times of an ordinary build; the others overflow stacks on purpose, which the
        // sanitizer's frames make larger.
        options: &["--skip", "every_hang_is_reported_in_time", "--skip", "stack", "--skip", "overflow"],
        asan: "",
    },
    Program {
        name: "defects",
        cargo: &["--package", "warpwright-tests", "--test", "defects"],
        options: &[],
        asan: ONE_STACK,
    },
    // The CUDA back end with the mock driver.
    Program { name: "host", cargo: &["--package", "warpwright", "--lib", "--all-features"], options: &[], asan: "" },
    Program {
        name: "random_calls",
        cargo: &["--package", "warpwright-tests", "--test", "random_calls"],
        options: &[],
        asan: "",
    },
];

/// The profile of the simulator, and checks of Rust's that it leaves out elsewhere.
const SIMULATOR: &str = "profile.dev.package.warpwright-simulator";
const CHECKS: [&str; 2] = ["debug-assertions", "overflow-checks"];

/// Leaks that are meant: what a panic throws, if its destructor panics in turn.
const SUPPRESSIONS: &str = "leak:begin_panic\n";

/// Runs the programs; exit code 1 where one failed.
pub(crate) fn command(workspace: &Workspace, args: &Args) -> Result<ExitCode> {
    let known = || PROGRAMS.iter().map(|program| program.name).collect::<Vec<_>>().join(", ");
    if let Some(unknown) = args.only.iter().find(|name| !PROGRAMS.iter().any(|program| program.name == name.as_str())) {
        bail!("--only {unknown}: no such program; there are {}", known());
    }
    let nightly = toolchain::find(workspace)?;
    let host = nightly.host()?;
    let runtime = nightly.sysroot.join("lib/rustlib").join(host).join("lib/librustc-nightly_rt.asan.a");
    if !runtime.is_file() {
        let channel = toolchain::channel(&workspace.root().join(toolchain::PTX_TOOLCHAIN))?;
        let install = toolchain::install_command(&channel);
        bail!("{} has no AddressSanitizer for {host}; `{install}` installs one where there is one", nightly.name);
    }
    let target = workspace.target().join("sanitize");
    fs::create_dir_all(&target)?;
    let suppressions = target.join("suppressions.txt");
    fs::write(&suppressions, SUPPRESSIONS).with_context(|| format!("cannot write {}", suppressions.display()))?;

    let mut table = Table::new();
    table.load_preset(presets::UTF8_HORIZONTAL_ONLY).set_header(["program", "outcome", "seconds"]);
    let mut passed = true;
    for program in PROGRAMS.iter().filter(|p| args.only.is_empty() || args.only.iter().any(|name| name == p.name)) {
        println!("\n=== {} ===", program.name);
        let begin = Instant::now();
        // Built with a target, flags are not those of build scripts and macros.
        let mut cargo = nightly.cargo();
        cargo.args(["test", "--target", host]).args(CHECKS.map(|check| format!("--config={SIMULATOR}.{check}=true")));
        cargo.args(program.cargo).arg("--").args(program.options);
        cargo
            .current_dir(workspace.root())
            .env("CARGO_TARGET_DIR", &target)
            .env("RUSTFLAGS", "-Zsanitizer=address")
            .env("ASAN_OPTIONS", program.asan)
            .env("LSAN_OPTIONS", format!("print_suppressions=0:suppressions={}", suppressions.display()));
        let succeeds = process::succeeds(&mut cargo)?;
        passed &= succeeds;
        table.add_row(vec![
            Cell::new(program.name),
            Cell::new(if succeeds { "passed" } else { "FAILED" }),
            Cell::new(begin.elapsed().as_secs()).set_alignment(CellAlignment::Right),
        ]);
    }
    println!("\n{table}\n{}", nightly.version);
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
