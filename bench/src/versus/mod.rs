//! The benchmark: Warpwright and the libraries that people would otherwise use, interleaved in one process on one GPU.
//!
//! | module | is about |
//! |---|---|
//! | [`case`], [`cases`] | what is measured |
//! | [`implementations`], `gemm`, `grouped_gemm`, `calls` | the implementations |
//! | [`data`], [`slot`], [`expected`] | operands, results, and whether they are right |
//! | [`interleave`], [`on_gpu`] | the order and the timing of samples |
//! | `host_time`, `first_calls` | what the host waits for: each call; the first call of an operation |
//! | [`session`], [`record`] | a run, and the records that it writes |
//! | [`statistics`], [`compare`] | whether two runs differ |
//! | `algorithms` | whether `Device::gemm` chooses the fastest algorithm |
//! | [`render`] | tables and plots |
//!
//! docs/benchmarks/README.md says how to read what comes out.

mod accuracy;
mod algorithms;
mod calls;
pub mod case;
pub mod cases;
pub mod compare;
pub mod data;
mod datasheet;
pub mod expected;
mod first_calls;
mod gemm;
mod grouped_gemm;
mod host_time;
pub mod implementations;
pub mod interleave;
pub mod on_gpu;
mod ours;
pub mod record;
pub mod render;
pub mod session;
pub mod slot;
pub mod statistics;

use std::collections::HashMap;
use std::env;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::{Parser, ValueEnum};
use jiff::Timestamp;
use warpwright::{Device, Error};

use crate::peers::Peers;
use crate::peers::nvml::Nvml;
use case::{Case, Pattern, Work};
use data::Period;
use first_calls::Operation;
use implementations::Context;
use interleave::Mode;
use record::{Record, Records, Run, append};
use session::{Session, Settings};

/// Measures Warpwright, cuBLAS, cuBLASLt, CUB and the driver's copy on a GPU, and appends the measurements to a file of
/// JSON records; makes tables and plots of such a file; compares two of its runs.
#[derive(Clone, Debug, Parser)]
#[command(name = "warpwright-bench", version)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub struct Args {
    /// Only these cases: WORK, WORK/TYPE or */TYPE, as sum/f32; several, or separated by commas.
    #[arg(long, value_name = "WORK[/TYPE]", value_delimiter = ',')]
    only: Vec<Pattern>,
    /// Only cases whose shape contains this text, as `k=4096` or `n=268435456`.
    #[arg(long, value_name = "TEXT")]
    shape: Option<String>,
    /// Only these implementations: warpwright, warpwright-blocking, copy, cub, cublas, cublaslt; with --host-time also
    /// warpwright-algorithm and warpwright-run.
    #[arg(long = "impl", value_name = "NAME", value_delimiter = ',')]
    implementations: Vec<String>,
    /// A dozen cases with few samples: under a minute.
    #[arg(long)]
    quick: bool,
    /// Short pieces of work after pauses, or the same work for seconds; auto takes both for GEMM, which power limits,
    /// bursts for the rest, and single launches (stream), too, for what lasts less than 100 µs.
    #[arg(long, value_enum, default_value_t = Modes::Auto)]
    mode: Modes,
    /// Samples of each implementation in each case; else 15, or 7 with --quick, or 51 with --host-time.
    #[arg(long, value_parser = clap::value_parser!(u32).range(3..=10_000))]
    samples: Option<u32>,
    /// Seconds of work before a sustained measurement; else 1.5, or 0.5 with --quick.
    #[arg(long, value_name = "SECONDS")]
    warm_up: Option<f64>,
    /// Chooses the random data.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The GPU's number.
    #[arg(long, default_value_t = 0)]
    gpu: u32,
    /// The file of records to append to, to render or to compare in. Else DEVICE.jsonl, named after the GPU, in
    /// docs/benchmarks; to render and compare, nvidia-h200.jsonl there.
    #[arg(long, visible_alias = "file", value_name = "FILE.jsonl")]
    out: Option<PathBuf>,
    /// Print the cases instead of measuring them.
    #[arg(long)]
    list: bool,
    /// With --list: as JSON, a case a line, for `bench/peers/torch_bench.py`.
    #[arg(long, requires = "list")]
    json: bool,
    /// Instead of the cases, time how long small calls keep the host busy, ours beside those of cuBLAS, cuBLASLt and
    /// CUB.
    #[arg(
        long,
        conflicts_with_all = ["list", "render", "compare", "algorithms", "first_calls", "mode", "quick", "warm_up"]
    )]
    host_time: bool,
    /// Instead of the cases, time the first call of each operation in processes of their own, without and with what the
    /// driver's compute cache keeps.
    #[arg(
        long,
        conflicts_with_all = [
            "list", "render", "compare", "algorithms", "mode", "quick", "warm_up", "samples", "implementations", "seed",
            "shape",
        ]
    )]
    first_calls: bool,
    /// What a process of --first-calls is started with: the name of its operation.
    #[arg(long, hide = true)]
    first_call: Option<String>,
    /// Instead of the cases, time the algorithms that `Device::gemm` ranks first on this many random GEMMs of `f32`,
    /// tf32 and `bf16` each, 0: on the GEMMs of the cases, and print how far the chosen one is from the fastest; called
    /// one by one unless --mode says otherwise. Nothing is recorded.
    #[arg(
        long,
        value_name = "GEMMS",
        conflicts_with_all = ["list", "render", "compare", "implementations", "out"]
    )]
    algorithms: Option<u32>,
    /// With --algorithms: time the best algorithm of each kernel, and print how much longer the GEMMs take without the
    /// kernels of these rows of gpu/src/gemm/configs.rs, such as 128x136,2x64x128.
    #[arg(long, value_name = "ROW", value_delimiter = ',', requires = "algorithms")]
    without: Vec<String>,
    /// Instead of the cases, print how accurate products of `f32` are, with full arithmetic, with `Bf16x6` and by
    /// cuBLAS's SGEMM; the exit code is 1 if one with `Bf16x6` is less accurate than SGEMM. Nothing is recorded.
    #[arg(
        long,
        conflicts_with_all = [
            "list", "render", "compare", "algorithms", "host_time", "first_calls", "only", "shape", "implementations",
            "out",
        ]
    )]
    accuracy: bool,
    /// Write tables and plots of the records instead of measuring.
    #[arg(long, conflicts_with_all = ["list", "compare"])]
    render: bool,
    /// Print the cases in which Warpwright became slower from run A to run B, beyond the noise; the exit code is 1 if
    /// there is one, or if one is missing.
    #[arg(long, num_args = 2, value_names = ["RUN_A", "RUN_B"], conflicts_with = "list")]
    compare: Option<Vec<String>>,
}

/// Which modes to measure in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Modes {
    Auto,
    Burst,
    Stream,
    Sustained,
    Both,
}

impl Modes {
    fn of(self, case: &Case) -> &'static [Mode] {
        match self {
            Self::Burst => &[Mode::Burst],
            Self::Sustained => &[Mode::Sustained],
            Self::Stream => &[Mode::Stream],
            Self::Auto if case.moves() && case.is_short() => &[Mode::Burst, Mode::Stream],
            Self::Auto if case.moves() => &[Mode::Burst],
            Self::Auto if case.is_short() => &[Mode::Burst, Mode::Stream, Mode::Sustained],
            Self::Auto | Self::Both => &[Mode::Burst, Mode::Sustained],
        }
    }
}

/// Names the folder of the records, where it is not docs/benchmarks of the current one.
const FOLDER: &str = "WARPWRIGHT_BENCHMARKS";
/// The commit that was built, set by the build.
const COMMIT: &str = "WARPWRIGHT_COMMIT";

/// Runs the program.
///
/// # Errors
/// There is no GPU to measure on; a file cannot be read or written; the GPU is lost.
pub fn main(args: &Args) -> Result<ExitCode> {
    let file = |device: &str| args.out.clone().unwrap_or_else(|| folder().join(format!("{device}.jsonl")));
    if let Some(name) = &args.first_call {
        first_calls::child(name, || gpu(args.gpu))?;
    } else if args.list {
        print!("{}", list(args)?);
    } else if args.render {
        let file = file("nvidia-h200");
        for written in render::render(&file, &Records::read(&file)?)? {
            println!("{}", written.display());
        }
    } else if let Some([a, b]) = args.compare.as_deref() {
        let (report, holds) = compare::compare(&Records::read(&file("nvidia-h200"))?, a, b, &args.only)?;
        print!("{report}");
        return Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    } else if args.accuracy {
        let (device, peers) = (gpu(args.gpu)?, Peers::load());
        let holds = accuracy::measure(&Context::new(&device, &peers)?, &[1024, 4096, 16_384], args.seed)?;
        return Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    } else if let Some(gemms) = args.algorithms {
        rank(args, gemms)?;
    } else {
        return measure(args, file);
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints how good the choice of algorithms is.
fn rank(args: &Args, gemms: u32) -> Result<()> {
    let mode = match args.mode {
        Modes::Burst => Mode::Burst,
        Modes::Sustained => Mode::Sustained,
        // As a program calls them: the choice counts what the host takes for several launches, too.
        Modes::Auto | Modes::Stream => Mode::Stream,
        Modes::Both => bail!("--algorithms takes one mode: burst, sustained or stream, found both"),
    };
    let device = gpu(args.gpu)?;
    let peers = Peers::load();
    let context = Context::new(&device, &peers)?;
    let (mut periods, mut outcomes) = (HashMap::new(), Vec::new());
    let cases = if gemms == 0 { cases::all() } else { algorithms::cases(gemms, args.seed) };
    for case in cases.into_iter().filter(|case| case.work == Work::Gemm && is_named(args, case)) {
        let period = session::period(&mut periods, &device, case.dtype, false, Period::LONG, args.seed)?;
        let outcome = algorithms::measure(&context, &case, period, mode, !args.without.is_empty())
            .with_context(|| case.to_string())?;
        println!("{case}: {outcome}");
        if !args.without.is_empty() {
            println!("  {}", outcome.list());
        }
        outcomes.push(outcome);
    }
    println!("{}", algorithms::summary(&outcomes));
    if !args.without.is_empty() {
        println!("{}", algorithms::summary_without(&outcomes, &args.without));
    }
    Ok(())
}

fn folder() -> PathBuf {
    env::var_os(FOLDER).map_or_else(|| PathBuf::from("docs/benchmarks"), PathBuf::from)
}

/// Whether `--only` and `--shape` leave a case in.
fn is_named(args: &Args, case: &Case) -> bool {
    let has_shape = args.shape.as_ref().is_none_or(|text| case.shape.to_string().contains(text.as_str()));
    has_shape && (args.only.is_empty() || args.only.iter().any(|own| own.takes(case.work.name(), case.dtype.name())))
}

/// The cases that the command line asks for.
fn chosen(args: &Args) -> Result<Vec<Case>> {
    let mut cases = if args.host_time { host_time::cases() } else { cases::all() };
    let all = cases.len();
    cases.retain(|case| is_named(args, case) && (case.quick || !args.quick));
    if cases.is_empty() {
        let names = if args.host_time { "--only and --shape leave none" } else { "`--list` shows them" };
        bail!("none of the {all} cases is asked for; {names}");
    }
    Ok(cases)
}

/// The first calls that the command line asks for.
fn first_calls(args: &Args) -> Result<Vec<Operation>> {
    let mut operations = if args.first_calls { first_calls::operations() } else { Vec::new() };
    operations.retain(|own| is_named(args, &own.case));
    if args.first_calls && operations.is_empty() {
        bail!("--only leaves no first call; there are some of gemm, sum, sum_axis1, sum_segments and transpose");
    }
    Ok(operations)
}

fn list(args: &Args) -> Result<String> {
    let mut text = String::new();
    for case in chosen(args)? {
        let line = if args.json {
            serde_json::json!({
                "work": case.work.name(),
                "dtype": case.dtype.name(),
                "shape": case.shape.to_string(),
                "bytes": case.bytes(),
                "flops": case.flops(),
                "modes": args.mode.of(&case).iter().map(|mode| mode.name()).collect::<Vec<_>>(),
            })
            .to_string()
        } else {
            case.to_string() + if case.quick { " (quick)" } else { "" }
        };
        text.push_str(&line);
        text.push('\n');
    }
    Ok(text)
}

fn measure(args: &Args, file: impl Fn(&str) -> PathBuf) -> Result<ExitCode> {
    let operations = first_calls(args)?;
    let cases = if args.first_calls { Vec::new() } else { chosen(args)? };
    let known = if args.host_time { host_time::IMPLEMENTATIONS } else { implementations::ALL };
    for name in &args.implementations {
        if !known.iter().any(|own| own.name == name) {
            let names: Vec<&str> = known.iter().map(|own| own.name).collect();
            bail!("--impl {name}: no such implementation; there are {}", names.join(", "));
        }
    }
    let device = gpu(args.gpu)?;
    let name = gpu_name(&device.name()).to_owned();
    let file = file(&slug(&name));
    let peers = Peers::load();
    for missing in peers.missing() {
        eprintln!("{missing}");
    }
    let context = Context::new(&device, &peers)?;
    let driver = context.driver.as_ref().context("a GPU has a driver")?;
    let monitor = driver.pci_bus_id(args.gpu as i32).map(|address| Nvml::open(&address))?;
    if let Err(missing) = &monitor {
        eprintln!("clocks and power will not be recorded: {missing}");
    }
    let monitor = monitor.ok();
    let settings = Settings {
        samples: args.samples.unwrap_or(if args.quick {
            7
        } else if args.host_time {
            51
        } else {
            15
        }) as usize,
        sustained: seconds(args.warm_up.unwrap_or(if args.quick { 0.5 } else { 1.5 }))?,
        seed: args.seed,
        implementations: args.implementations.clone(),
    };
    let run = Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    println!("run {run} on {name}, {} cases, records in {}", cases.len() + operations.len(), file.display());
    let mut session = Session::new(&context, &settings, monitor.as_ref(), &file, run.clone());
    session.notes.extend(peers.missing().map(ToString::to_string));
    let ended = if args.first_calls {
        first_calls::measure(&mut session, &operations, args.gpu)
    } else if args.host_time {
        host_time::measure(&mut session, &cases)
    } else {
        cases.iter().try_for_each(|case| session.measure(case, args.mode.of(case)))
    };
    let Session { mut conditions, notes, failures, .. } = session;
    conditions.after = monitor.as_ref().map(Nvml::read).unwrap_or_default();
    let version = monitor.as_ref().and_then(Nvml::driver_version).unwrap_or_else(|| "unknown".into());
    let record = Run {
        run,
        device: name,
        driver: format!("{version}, CUDA {}", driver.cuda_version()),
        clocks: conditions,
        power_limit_w: monitor.as_ref().and_then(Nvml::power_limit_w),
        commit: env::var(COMMIT).unwrap_or_else(|_| "unknown".into()),
        command: env::args().collect::<Vec<_>>().join(" "),
        peers: peers.versions(),
        notes,
    };
    append(&file, &Record::Run(record))?;
    ended?;
    if failures > 0 {
        println!("{failures} left out, see above");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

fn gpu(number: u32) -> Result<Device> {
    match Device::cuda(number) {
        Err(error @ (Error::NoDriver { .. } | Error::NoSuchDevice { .. })) => Err(error).context(
            "the benchmark needs an NVIDIA GPU, and there is none here (the simulator's times say nothing about a \
             GPU's, nor about the host's beside one); `cargo xtask bundle DIR` makes a folder that runs on a machine \
             with one (`./run.sh bench`). Without a GPU there are --list, --render and --compare",
        ),
        other => Ok(other?),
    }
}

fn seconds(seconds: f64) -> Result<Duration> {
    let duration = Duration::try_from_secs_f64(seconds).ok().filter(|duration| duration.as_secs() < 600);
    duration.with_context(|| format!("--warm-up {seconds}: expected seconds, from 0 to 600"))
}

/// `NVIDIA H200` of `CUDA device 0 (NVIDIA H200)`.
fn gpu_name(described: &str) -> &str {
    described.split_once('(').and_then(|(_, name)| name.strip_suffix(')')).unwrap_or(described)
}

/// `nvidia-h200` of `NVIDIA H200`.
fn slug(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn args(words: &[&str]) -> Args {
        Args::parse_from([&["warpwright-bench"], words].concat())
    }

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
        assert!(Args::try_parse_from(["warpwright-bench", "--compare", "A"]).is_err());
        assert!(Args::try_parse_from(["warpwright-bench", "--json"]).is_err());
        assert!(Args::try_parse_from(["warpwright-bench", "--only", "nothing/f32"]).is_err());
    }

    #[test]
    fn host_times_and_first_calls_are_runs_of_their_own() {
        let refused = |words: &[&str]| Args::try_parse_from([&["warpwright-bench"], words].concat()).is_err();
        for both in [
            ["--host-time", "--first-calls"],
            ["--host-time", "--list"],
            ["--host-time", "--quick"],
            ["--host-time", "--mode=stream"],
            ["--first-calls", "--render"],
            ["--first-calls", "--samples=5"],
            ["--first-calls", "--impl=cublas"],
        ] {
            assert!(refused(&both), "{both:?}");
        }
        let some = chosen(&args(&["--host-time", "--only", "gemm/bf16", "--shape", "m=64 "])).unwrap();
        assert_eq!(some, [host_time::cases()[0].clone()]);
        assert!(chosen(&args(&["--host-time", "--only", "argmax"])).is_err());
        assert_eq!(first_calls(&args(&["--first-calls", "--only", "gemm/f32,sum"])).unwrap().len(), 3);
        assert!(first_calls(&args(&["--only", "gemm"])).unwrap().is_empty());
        let error = first_calls(&args(&["--first-calls", "--only", "argmax"])).unwrap_err().to_string();
        assert!(error.starts_with("--only leaves no first call"), "{error}");
    }

    #[test]
    fn algorithms_are_timed_in_one_mode() {
        let error = main(&args(&["--algorithms", "1", "--mode", "both"])).unwrap_err().to_string();
        assert!(error.contains("takes one mode") && error.ends_with("found both"), "{error}");
    }

    /// No machine has so many GPUs.
    #[test]
    fn without_a_gpu_there_are_no_times() {
        for words in [&["--host-time"][..], &["--first-calls"], &["--first-call", "sum"], &[]] {
            let error = format!("{:#}", main(&args(&[words, &["--gpu", "4000"]].concat())).unwrap_err());
            assert!(error.contains("the simulator's times say nothing") && error.contains("--list"), "{error}");
        }
    }

    #[test]
    fn cases_are_chosen_by_work_type_and_shape() {
        let names =
            |words: &[&str]| -> Vec<String> { chosen(&args(words)).unwrap().iter().map(ToString::to_string).collect() };
        assert_eq!(names(&["--only", "sum/f64,dot"]), ["sum/f64 n=268435456", "dot/f32 n=268435456"]);
        assert_eq!(names(&["--only", "sum/f32", "--shape", "n=1024"]), ["sum/f32 n=1024"]);
        assert!(names(&["--quick"]).len() < 20);
        let error = chosen(&args(&["--only", "sum/c128"])).unwrap_err().to_string();
        assert!(error.ends_with("`--list` shows them"), "{error}");
    }

    #[test]
    fn modes_depend_on_the_time_of_a_call() {
        let listed = list(&args(&["--list", "--json", "--only", "gemm/f32,copy"])).unwrap();
        let line = |shape: &str| listed.lines().find(|line| line.contains(shape)).unwrap().to_owned();
        assert!(line("m=512 ").contains(r#""modes":["burst","stream","sustained"]"#), "{listed}");
        assert!(line("m=8192 ").contains(r#""modes":["burst","sustained"]"#), "{listed}");
        let listed = list(&args(&["--list", "--json", "--only", "sum/f32,copy"])).unwrap();
        let line = |work: &str| listed.lines().find(|line| line.contains(work)).unwrap().to_owned();
        assert!(line("n=1024\"").contains(r#""modes":["burst","stream"]"#), "{listed}");
        assert!(line("copy").contains(r#""modes":["burst"]"#), "{listed}");
    }

    #[test]
    fn files_are_named_after_the_gpu() {
        assert_eq!(slug(gpu_name("CUDA device 0 (NVIDIA H200)")), "nvidia-h200");
        assert_eq!(slug("NVIDIA GeForce RTX 4090 (D)"), "nvidia-geforce-rtx-4090-d");
    }

    #[test]
    fn an_unknown_implementation_is_refused() {
        let error = main(&args(&["--impl", "cutlass"])).unwrap_err().to_string();
        assert!(error.starts_with("--impl cutlass: no such implementation"), "{error}");
        let error = main(&args(&["--host-time", "--impl", "copy"])).unwrap_err().to_string();
        assert!(error.contains("there are warpwright, warpwright-algorithm"), "{error}");
    }

    #[test]
    fn seconds_are_sane() {
        assert!(seconds(1.5).is_ok());
        assert!([-1.0, f64::NAN, 1e9].iter().all(|&wrong| seconds(wrong).is_err()));
    }
}
