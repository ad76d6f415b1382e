//! First calls: how long a program waits for the first call of an operation, in which the driver compiles its kernel.
//!
//! Each is made in a process of its own, this program again with `--first-call`. The folder of the driver's compute
//! cache is empty at first (cold); a second process then finds there what the first has left (warm).

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use comfy_table::{Cell, CellAlignment, Table, presets};
use half::bf16;
use warpwright::Device;
use warpwright::reduce::Sum;

use super::case::{Case, Dtype, Lengths, Shape, Work};
use super::cases::case;
use super::implementations::OURS;
use super::session::Session;
use super::slot::boundaries;
use super::statistics::median;
use crate::units;

/// Processes for each operation, cold and as many warm.
const REPEATS: usize = 3;
/// What a child says when it has opened the device.
const OPENED: &str = "opened";

/// An operation whose first call is timed.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    /// Its name on the command line.
    name: &'static str,
    /// Its name in records, where it is not the only one of the case.
    by: &'static str,
    /// What it does, on what.
    pub(super) case: Case,
}

/// The operations.
pub(super) fn operations() -> Vec<Operation> {
    let gemm = |dtype, n| case(Work::Gemm, dtype, Shape::Gemm { mnk: [n; 3], transposed: [false; 2], batch: 1 });
    let matrix = |work| case(work, Dtype::F32, Shape::Matrix { rows: 1024, cols: 1024, ld: 1024 });
    let n = 1 << 20;
    let segments = Shape::Segments { n, segments: 1024, lengths: Lengths::Equal };
    [
        ("gemm_bf16", OURS, gemm(Dtype::Bf16, 1024)),
        ("gemm_f32", OURS, gemm(Dtype::F32, 512)),
        ("matmul", "warpwright-matmul", gemm(Dtype::F32, 512)),
        ("sum", OURS, case(Work::Sum, Dtype::F32, Shape::Vector { n, offset: 0 })),
        ("reduce_axis", OURS, matrix(Work::SumAxis1)),
        ("reduce_segments", OURS, case(Work::SumSegments, Dtype::F32, segments)),
        ("transpose", OURS, matrix(Work::Transpose)),
    ]
    .map(|(name, by, case)| Operation { name, by, case })
    .into()
}

/// The child: opens the device, makes the first call of the operation of this name, and prints how long it took.
///
/// # Errors
/// There is no such operation or device; a call fails.
pub(super) fn child(name: &str, open: impl FnOnce() -> Result<Device>) -> Result<()> {
    let operations = operations();
    let Some(operation) = operations.iter().find(|own| own.name == name) else {
        let names: Vec<&str> = operations.iter().map(|own| own.name).collect();
        bail!("--first-call {name}: no such operation; there are {}", names.join(", "));
    };
    let device = open()?;
    println!("{OPENED}");
    println!("{}", microseconds(operation.first_call(&device)?));
    Ok(())
}

impl Operation {
    /// How long the operation takes, from the call until its result is there.
    fn first_call(&self, device: &Device) -> Result<Duration> {
        let zeros = |rows, cols| device.alloc_matrix_zeros::<f32>(rows, cols);
        match (self.case.work, self.case.dtype, &self.case.shape) {
            (Work::Gemm, Dtype::Bf16, &Shape::Gemm { mnk: [m, n, k], .. }) => {
                let (a, b) = (device.alloc_matrix_zeros::<bf16>(m, k)?, device.alloc_matrix_zeros::<bf16>(k, n)?);
                timed(device, || device.gemm(&a, &b).run())
            }
            (Work::Gemm, Dtype::F32, &Shape::Gemm { mnk: [m, n, k], .. }) => {
                let (a, b) = (zeros(m, k)?, zeros(k, n)?);
                if self.by == OURS {
                    timed(device, || device.gemm(&a, &b).run())
                } else {
                    timed(device, || device.matmul(&a, &b))
                }
            }
            (Work::Sum, Dtype::F32, &Shape::Vector { n, .. }) => {
                let x = device.alloc_zeros::<f32>(n)?;
                timed(device, || device.sum(&x))
            }
            (Work::SumAxis1, Dtype::F32, &Shape::Matrix { rows, cols, .. }) => {
                let x = zeros(rows, cols)?;
                timed(device, || device.reduce_axis(Sum, &x, 1))
            }
            (Work::SumSegments, Dtype::F32, &Shape::Segments { n, segments, lengths }) => {
                let (x, offsets) = (device.alloc_zeros::<f32>(n)?, device.upload(&boundaries(n, segments, lengths))?);
                timed(device, || device.reduce_segments(Sum, &x, &offsets))
            }
            (Work::Transpose, Dtype::F32, &Shape::Matrix { rows, cols, .. }) => {
                let a = zeros(rows, cols)?;
                timed(device, || device.transpose(&a))
            }
            _ => bail!("{}: not a first call", self.case),
        }
    }
}

/// From the call until its result is there; what was queued before is waited for.
fn timed<T>(device: &Device, call: impl FnOnce() -> warpwright::Result<T>) -> Result<Duration> {
    device.synchronize()?;
    let start = Instant::now();
    let result = call()?;
    device.synchronize()?;
    let took = start.elapsed();
    drop(result);
    Ok(took)
}

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Microseconds of the processes of one operation, in the order in which they ran.
#[derive(Clone, Debug, Default, PartialEq)]
struct Times {
    /// From the start of a process until it has opened the device.
    open: Vec<f64>,
    /// First calls without a compute cache.
    cold: Vec<f64>,
    /// First calls with the cache of the process before.
    warm: Vec<f64>,
}

/// Measures the operations on GPU `gpu`, and prints a table of them.
///
/// # Errors
/// The records cannot be written. An operation that fails is noted, and the others are measured.
pub(super) fn measure(session: &mut Session<'_>, operations: &[Operation], gpu: u32) -> Result<()> {
    let mut rows = Vec::new();
    for operation in operations {
        let start = |folder: &std::path::Path| -> Result<Command> {
            let mut command = Command::new(env::current_exe().context("this program's own path")?);
            command.args(["--first-call", operation.name, "--gpu", &gpu.to_string()]).env("CUDA_CACHE_PATH", folder);
            command.env_remove("CUDA_CACHE_DISABLE").env_remove("CUDA_CACHE_MAXSIZE");
            Ok(command)
        };
        match processes(start, |note| session.note(format!("{}: {note}", operation.name))) {
            Ok(times) => {
                for (mode, us) in [("first-cold", &times.cold), ("first-warm", &times.warm)] {
                    session.record(&operation.case, operation.by, mode, us)?;
                }
                println!("{}: cold {:.0?} µs, warm {:.0?} µs", operation.name, times.cold, times.warm);
                rows.push((operation.name, times));
            }
            Err(error) => {
                session.failures += 1;
                session.note(format!("first call of {}: left out: {error:#}", operation.name));
            }
        }
    }
    println!("{}", table(&rows));
    let open: Vec<f64> = rows.iter().flat_map(|(_, times)| times.open.iter().copied()).collect();
    if !open.is_empty() {
        let [median, worst] = median_and_worst(&open);
        let note = format!("from the start of a process until the device is open: median {median}, worst {worst}");
        println!("{note}");
        session.notes.push(note);
    }
    Ok(())
}

/// Runs the processes of one operation: pairs of a cold and a warm one.
fn processes(start: impl Fn(&std::path::Path) -> Result<Command>, mut note: impl FnMut(&str)) -> Result<Times> {
    let mut times = Times::default();
    for _ in 0..REPEATS {
        let folder = tempfile::tempdir().context("a folder for the compute cache")?;
        let process = || time(start(folder.path())?);
        let [opened, cold] = process()?;
        if fs::read_dir(folder.path())?.next().is_none() {
            note("the driver has cached nothing, so the warm call is another cold one");
        }
        let [opened_again, warm] = process()?;
        times.open.extend([opened, opened_again]);
        times.cold.push(cold);
        times.warm.push(warm);
    }
    Ok(times)
}

/// Runs one process; microseconds until it has opened the device, and those of its call.
fn time(mut command: Command) -> Result<[f64; 2]> {
    let start = Instant::now();
    let mut process = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", command.get_program().display()))?;
    let heard = process.stdout.take().context("its output is a pipe").and_then(|output| listen(output, start));
    let status = process.wait()?;
    ensure!(status.success(), "the process of its own failed: {status}");
    heard
}

/// What a child prints.
fn listen(output: impl std::io::Read, start: Instant) -> Result<[f64; 2]> {
    let mut lines = BufReader::new(output).lines();
    let mut next = || lines.next().transpose()?.context("the process of its own ended early");
    let line = next()?;
    ensure!(line == OPENED, "the process of its own printed `{line}` instead of `{OPENED}`");
    let opened = microseconds(start.elapsed());
    let line = next()?;
    let call = line.parse().with_context(|| format!("the process of its own printed `{line}` instead of a time"))?;
    Ok([opened, call])
}

fn median_and_worst(us: &[f64]) -> [String; 2] {
    let text = |us: f64| units::time(Duration::from_secs_f64(us / 1e6));
    [text(median(us)), text(us.iter().copied().fold(0.0, f64::max))]
}

/// A row for each operation.
fn table(rows: &[(&str, Times)]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    table.set_header(["first call", "cold: median", "worst", "warm: median", "worst"]);
    for (name, times) in rows {
        let cells = [&times.cold, &times.warm].map(|us| median_and_worst(us)).concat();
        let right = cells.into_iter().map(|text| Cell::new(text).set_alignment(CellAlignment::Right));
        table.add_row([Cell::new(name)].into_iter().chain(right));
    }
    table
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn names_are_different_and_so_are_the_records() {
        let operations = operations();
        for (number, own) in operations.iter().enumerate() {
            for other in &operations[number + 1..] {
                assert_ne!(own.name, other.name);
                assert_ne!((own.by, &own.case), (other.by, &other.case));
            }
        }
    }

    /// Every operation, on small operands.
    #[test]
    fn every_operation_can_be_called() {
        let device = Device::simulator();
        for Operation { name, by, mut case } in operations() {
            case.shape = match case.shape {
                Shape::Gemm { .. } => Shape::Gemm { mnk: [8; 3], transposed: [false; 2], batch: 1 },
                Shape::Matrix { .. } => Shape::Matrix { rows: 5, cols: 7, ld: 7 },
                Shape::Segments { lengths, .. } => Shape::Segments { n: 100, segments: 10, lengths },
                _ => Shape::Vector { n: 100, offset: 0 },
            };
            let took = Operation { name, by, case }.first_call(&device).unwrap();
            assert!(took > Duration::ZERO, "{name}");
        }
    }

    #[test]
    fn an_unknown_operation_is_refused_before_a_device_is_opened() {
        let error = child("abacus", || panic!("no device is needed")).unwrap_err().to_string();
        assert!(error.starts_with("--first-call abacus: no such operation; there are gemm_bf16,"), "{error}");
    }

    #[test]
    fn a_child_says_when_it_opened_the_device_and_how_long_the_call_took() {
        let [opened, call] = listen("opened\n12.5\n".as_bytes(), Instant::now()).unwrap();
        assert!(opened >= 0.0 && call == 12.5);
        for (wrong, expected) in [
            ("", "the process of its own ended early"),
            ("opened\n", "the process of its own ended early"),
            ("hello\n12.5\n", "the process of its own printed `hello` instead of `opened`"),
            ("opened\nsoon\n", "the process of its own printed `soon` instead of a time"),
        ] {
            assert_eq!(listen(wrong.as_bytes(), Instant::now()).unwrap_err().to_string(), expected);
        }
    }

    /// A shell in place of this program: its "call" takes 70 µs where a file is in the folder, else 900 µs.
    #[cfg(unix)]
    #[test]
    fn a_warm_process_finds_the_folder_as_the_cold_one_left_it() {
        let shell = |script: &'static str| {
            move |folder: &Path| {
                let mut command = Command::new("sh");
                command.args(["-c", script]).env("FOLDER", folder);
                Ok(command)
            }
        };
        let mut notes = Vec::new();
        let caching =
            "echo opened; if [ -e \"$FOLDER/cached\" ]; then echo 70; else touch \"$FOLDER/cached\"; echo 900; fi";
        let times = processes(shell(caching), |note| notes.push(note.to_owned())).unwrap();
        assert_eq!((times.cold, times.warm), (vec![900.0; REPEATS], vec![70.0; REPEATS]));
        assert_eq!((times.open.len(), notes.len()), (2 * REPEATS, 0));
        processes(shell("echo opened; echo 900"), |note| notes.push(note.to_owned())).unwrap();
        assert_eq!(notes.len(), REPEATS);
        let error = processes(shell("echo opened; exit 3"), |_| {}).unwrap_err().to_string();
        assert!(error.starts_with("the process of its own failed: ") && error.contains('3'), "{error}");
    }

    #[test]
    fn a_row_has_medians_and_worsts() {
        let times = Times { open: vec![1.0], cold: vec![9e5, 7e5, 8e5], warm: vec![20.0, 10.0, 30.0] };
        let text = table(&[("sum", times)]).to_string();
        let row = text.lines().find(|line| line.contains("sum")).unwrap();
        let cells: Vec<&str> = row.split('┆').map(|cell| cell.trim_matches(['│', ' '])).collect();
        assert_eq!(cells, ["sum", "800 ms", "900 ms", "20.0 µs", "30.0 µs"]);
    }
}
