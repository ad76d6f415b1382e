//! `cargo xtask test`: everything CI runs, as named steps with the time of each and one summary.
//!
//! A step that fails does not stop the others (`--fail-fast` does): one run shows all that is wrong.
//!
//! Cargo locks a target directory. The steps that use the workspace's run one after the other; those that have their
//! own run beside them ([`background`]), in a queue for each of these directories.

mod background;
mod embedding;
mod listings;
mod outside;
mod packages;
mod tally;

use std::fs;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use comfy_table::{Cell, CellAlignment, Table, presets};

use self::background::Background;
use self::tally::Tally;
use crate::process;
use crate::workspace::Workspace;
use crate::{audit, book, build, mutate, terms};

/// Arguments of `test`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Stop at the first step that fails; no steps run at the same time.
    #[arg(long)]
    fail_fast: bool,
    /// Run these steps only, such as `clippy,audit`.
    #[arg(long, value_delimiter = ',')]
    step: Vec<String>,
    /// Print what the steps print, without a summary.
    #[arg(long)]
    no_summary: bool,
}

/// Target directories of steps that run beside others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// Those of PTX.
    Ptx,
    /// That of projects outside the checkout.
    Outside,
}

/// A step: its name, and what it does. It gives whether it passed and how many tests it ran.
struct Step {
    name: &'static str,
    /// The target directory that it has instead of the workspace's, if it may run beside others; it counts no tests.
    beside: Option<Beside>,
    run: fn(&Workspace) -> Result<(bool, Tally)>,
}

impl Step {
    const fn new(name: &'static str, run: fn(&Workspace) -> Result<(bool, Tally)>) -> Self {
        Self { name, beside: None, run }
    }

    const fn beside(self, beside: Beside) -> Self {
        Self { beside: Some(beside), ..self }
    }
}

/// What became of a step.
struct Outcome {
    name: &'static str,
    passed: bool,
    time: Duration,
}

/// In the order of what is quickest to fail.
const STEPS: &[Step] = &[
    Step::new("terms", |workspace| Ok((terms::check(workspace)?, Tally::default()))),
    Step::new("book", |workspace| Ok((book::check(workspace)?, Tally::default()))),
    Step::new("fmt", |workspace| cargo(workspace, &["fmt", "--all", "--check"])),
    Step::new("clippy", |workspace| {
        cargo(workspace, &["clippy", "--workspace", "--all-targets", "--all-features", "--", "-Dwarnings"])
    }),
    Step::new("features", features),
    Step::new("doc", |workspace| {
        let mut cargo = workspace.cargo();
        cargo.args(["doc", "--workspace", "--no-deps", "--all-features"]).env("RUSTDOCFLAGS", "-Dwarnings");
        plain(&mut cargo)
    }),
    Step::new("build --check", |workspace| Ok((build::check_everything(workspace)?, Tally::default())))
        .beside(Beside::Ptx),
    Step::new("audit", |workspace| Ok((audit::audit_everything(workspace)?, Tally::default()))).beside(Beside::Ptx),
    Step::new("tests", |workspace| {
        tally::run(workspace.cargo().args(["test", "--workspace", "--all-features", "--no-fail-fast"]))
    }),
    Step::new("examples", examples),
    Step::new("mutants", |_| Ok((mutate::check()?, Tally::default()))),
    Step::new("embedding", |workspace| Ok((embedding::check(workspace)?, Tally::default()))).beside(Beside::Outside),
    Step::new("own kernels", |workspace| Ok((embedding::check_own_kernels(workspace)?, Tally::default())))
        .beside(Beside::Outside),
    Step::new("listings", |workspace| Ok((listings::check(workspace)?, Tally::default()))).beside(Beside::Outside),
];

/// Runs the steps and prints the summary; exit code 1 where one failed.
pub(crate) fn command(workspace: &Workspace, args: &Args) -> Result<ExitCode> {
    let known = || STEPS.iter().map(|step| step.name).collect::<Vec<_>>().join(", ");
    if let Some(unknown) = args.step.iter().find(|name| !STEPS.iter().any(|step| step.name == name.as_str())) {
        bail!("--step {unknown}: no such step; there are {}", known());
    }
    let steps: Vec<&Step> =
        STEPS.iter().filter(|step| args.step.is_empty() || args.step.iter().any(|name| name == step.name)).collect();
    let (beside, own): (Vec<&Step>, Vec<&Step>) = steps.iter().partition(|step| step.beside.is_some());
    let (mut outcomes, tests) = if args.fail_fast || own.is_empty() || beside.is_empty() {
        run_here(workspace, &steps, args.fail_fast)
    } else {
        let queues = beside.chunk_by(|a, b| a.beside == b.beside);
        let background = Background::start(queues.map(|steps| steps.iter().map(|step| step.name).collect()).collect());
        let (mut outcomes, tests) = run_here(workspace, &own, false);
        outcomes.extend(background.finish()?);
        (outcomes, tests)
    };
    let passed = outcomes.iter().filter(|outcome| outcome.passed).count();
    let failed = outcomes.len() - passed;
    if !args.no_summary {
        outcomes.sort_by_key(|outcome| STEPS.iter().position(|step| step.name == outcome.name));
        println!("\n{}", table(&outcomes));
        println!("steps: {passed} passed, {failed} failed; tests: {tests}");
        println!("{} passed, {} failed", passed as u64 + tests.passed, failed as u64 + tests.failed);
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the steps one after the other, and says what became of them and how many tests they ran.
fn run_here(workspace: &Workspace, steps: &[&Step], fail_fast: bool) -> (Vec<Outcome>, Tally) {
    let (mut outcomes, mut tests) = (Vec::new(), Tally::default());
    for step in steps {
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
        outcomes.push(Outcome { name: step.name, passed, time: started.elapsed() });
        if fail_fast && !passed {
            break;
        }
    }
    (outcomes, tests)
}

fn table(outcomes: &[Outcome]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    table.set_header(["step", "result", "seconds"]);
    for Outcome { name, passed, time } in outcomes {
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

/// Runs the examples of the host crate on the simulator. The step `tests` has built them; `cargo build` would build the
/// host crate again.
fn examples(workspace: &Workspace) -> Result<(bool, Tally)> {
    let build = ["test", "--no-run", "--quiet", "--workspace", "--all-features"];
    let (mut passed, tally) = cargo(workspace, &build)?;
    let mut names = Vec::new();
    for example in fs::read_dir(workspace.root().join("host/examples"))? {
        names.extend(example?.path().file_stem().map(ToOwned::to_owned));
    }
    names.sort();
    for name in names {
        let mut program = Command::new(workspace.target().join("debug/examples").join(name));
        passed &= plain(program.env("WARPWRIGHT_DEVICE", "simulator"))?.0;
    }
    Ok((passed, tally))
}

fn cargo(workspace: &Workspace, args: &[&str]) -> Result<(bool, Tally)> {
    plain(workspace.cargo().args(args))
}

/// A step without tests to count.
fn plain(command: &mut Command) -> Result<(bool, Tally)> {
    println!("{}", process::line(command));
    Ok((process::succeeds(command)?, Tally::default()))
}
