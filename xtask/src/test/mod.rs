//! `cargo xtask test`: everything CI runs, as named steps with the time of each and one summary.
//!
//! A step that fails does not stop the others (`--fail-fast` does): one run shows all that is wrong.

mod embedding;
mod packages;
mod tally;

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use comfy_table::{Cell, CellAlignment, Table, presets};

use self::tally::Tally;
use crate::process;
use crate::workspace::Workspace;
use crate::{audit, book, build, mutate, terms};

/// Arguments of `test`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Stop at the first step that fails.
    #[arg(long)]
    fail_fast: bool,
    /// Run these steps only, such as `clippy,audit`.
    #[arg(long, value_delimiter = ',')]
    step: Vec<String>,
}

/// A step: its name, and what it does. It gives whether it passed and how many tests it ran.
struct Step {
    name: &'static str,
    run: fn(&Workspace) -> Result<(bool, Tally)>,
}

/// In the order of what is quickest to fail.
const STEPS: &[Step] = &[
    Step { name: "terms", run: |workspace| Ok((terms::check(workspace)?, Tally::default())) },
    Step { name: "book", run: |workspace| Ok((book::check(workspace)?, Tally::default())) },
    Step { name: "fmt", run: |workspace| cargo(workspace, &["fmt", "--all", "--check"]) },
    Step {
        name: "clippy",
        run: |workspace| {
            cargo(workspace, &["clippy", "--workspace", "--all-targets", "--all-features", "--", "-Dwarnings"])
        },
    },
    Step { name: "features", run: features },
    Step {
        name: "doc",
        run: |workspace| {
            let mut cargo = workspace.cargo();
            cargo.args(["doc", "--workspace", "--no-deps", "--all-features"]).env("RUSTDOCFLAGS", "-Dwarnings");
            plain(&mut cargo)
        },
    },
    Step { name: "build --check", run: |workspace| Ok((build::check_everything(workspace)?, Tally::default())) },
    Step { name: "audit", run: |workspace| Ok((audit::audit_everything(workspace)?, Tally::default())) },
    Step {
        name: "tests",
        run: |workspace| {
            tally::run(workspace.cargo().args(["test", "--workspace", "--all-features", "--no-fail-fast"]))
        },
    },
    Step { name: "mutants", run: |_| Ok((mutate::check()?, Tally::default())) },
    Step { name: "embedding", run: |workspace| Ok((embedding::check(workspace)?, Tally::default())) },
    Step { name: "own kernels", run: |workspace| Ok((embedding::check_own_kernels(workspace)?, Tally::default())) },
];

/// Runs the steps and prints the summary; exit code 1 where one failed.
pub(crate) fn command(workspace: &Workspace, args: &Args) -> Result<ExitCode> {
    let known = || STEPS.iter().map(|step| step.name).collect::<Vec<_>>().join(", ");
    if let Some(unknown) = args.step.iter().find(|name| !STEPS.iter().any(|step| step.name == name.as_str())) {
        bail!("--step {unknown}: no such step; there are {}", known());
    }
    let mut results: Vec<(&str, bool, Duration)> = Vec::new();
    let mut tests = Tally::default();
    for step in STEPS.iter().filter(|step| args.step.is_empty() || args.step.iter().any(|name| name == step.name)) {
        println!("\n=== {} ===", step.name);
        let started = Instant::now();
        let passed = match (step.run)(workspace) {
            Ok((passed, tally)) => {
                tests += tally;
                passed
            }
            Err(error) => {
                println!("error: {error:#}");
                false
            }
        };
        results.push((step.name, passed, started.elapsed()));
        if args.fail_fast && !passed {
            break;
        }
    }
    println!("\n{}", table(&results));
    let passed = results.iter().filter(|(_, passed, _)| *passed).count();
    let failed = results.len() - passed;
    println!("steps: {passed} passed, {failed} failed; tests: {tests}");
    println!("{} passed, {} failed", passed as u64 + tests.passed, failed as u64 + tests.failed);
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn table(results: &[(&str, bool, Duration)]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    table.set_header(["step", "result", "seconds"]);
    for (name, passed, time) in results {
        let seconds = Cell::new(format!("{:.1}", time.as_secs_f64())).set_alignment(CellAlignment::Right);
        table.add_row([Cell::new(name), Cell::new(if *passed { "passed" } else { "FAILED" }), seconds]);
    }
    table
}

/// Clippy of the published crates, and of the main job, with fewer features: none, the defaults, and each operation or
/// kernel family alone. The step `clippy` has all of them.
fn features(workspace: &Workspace) -> Result<(bool, Tally)> {
    let mut passed = true;
    for (package, features) in [
        ("warpwright", &["", "default", "cuda", "elementwise", "gemm", "reduce", "transpose"][..]),
        (
            "warpwright-gpu",
            &[
                "",
                "gemm",
                "gemm_grouped",
                "gemm_mma",
                "gemm_mma_f64",
                "gemm_small",
                "gemm_sm90",
                "reduce_rows",
                "reduce_segments",
            ],
        ),
        ("warpwright-bench", &[""]),
    ] {
        for features in features {
            let mut cargo = workspace.cargo();
            cargo.args(["clippy", "--quiet", "--package", package, "--no-default-features", "--features", features]);
            passed &= plain(cargo.args(["--", "-Dwarnings"]))?.0;
        }
    }
    Ok((passed, Tally::default()))
}

fn cargo(workspace: &Workspace, args: &[&str]) -> Result<(bool, Tally)> {
    plain(workspace.cargo().args(args))
}

/// A step without tests to count.
fn plain(command: &mut Command) -> Result<(bool, Tally)> {
    println!("{}", process::line(command));
    Ok((process::succeeds(command)?, Tally::default()))
}
