//! The main job: the main kernels on real-sized random input, checked against the reference, timed.

pub(crate) mod measure;
mod table;

use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;

use anyhow::{Result, bail};
use clap::{Parser, ValueEnum};
use warpwright::Device;
use warpwright::simulator::{Config, Level};

use crate::device::DeviceOption;
use crate::job::{self, Job, Sizes};
use crate::progress::Progress;
use measure::{Outcome, measure};

/// Runs the main kernels on real-sized random input, checks each result against the reference, element by element, and
/// prints a table. The exit code is 1 if anything is wrong.
#[derive(Clone, Debug, Parser)]
#[command(name = "warpwright-run", version)]
pub struct Args {
    #[command(flatten)]
    device: DeviceOption,
    /// How closely the simulator watches.
    #[arg(long, value_enum)]
    level: Option<Watch>,
    /// Chooses the random input, and the simulator's schedule.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Small inputs.
    #[arg(long)]
    quick: bool,
}

/// The simulator's levels by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Watch {
    /// Bounds and barriers only, on all cores.
    Off,
    /// Every access: races, uninitialised and wild accesses.
    Checks,
    /// Also the profiler's counters.
    Counters,
}

impl Watch {
    fn level(self) -> Level {
        match self {
            Self::Off => Level::Off,
            Self::Checks => Level::Checks,
            Self::Counters => Level::Counters,
        }
    }
}

/// Runs the program.
///
/// # Errors
/// The device is not there, or the arguments contradict each other. A kernel that fails is a row of the table.
pub fn main(args: &Args) -> Result<ExitCode> {
    let device = device(args)?;
    let sizes = Sizes::for_device(device.is_simulator(), args.quick);
    let workers = workers(&device);
    let outcomes = run_all(&device, job::all(&sizes, args.seed), workers);
    println!("{}", table::table(&outcomes));
    println!("{}", table::legend(&device, workers, args.seed));
    Ok(verdict(&outcomes))
}

/// Says what failed and how much passed.
fn verdict(outcomes: &[Outcome]) -> ExitCode {
    let failed: Vec<&Outcome> = outcomes.iter().filter(|outcome| !outcome.passes()).collect();
    for outcome in &failed {
        println!("{} {}: {}", outcome.kernel, outcome.shape, outcome.detail());
    }
    println!("{} passed, {} failed", outcomes.len() - failed.len(), failed.len());
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn device(args: &Args) -> Result<Device> {
    let simulator = || {
        let level = args.level.unwrap_or(Watch::Checks).level();
        Device::simulator_with(Config::new(level).seed(args.seed))
    };
    let device = args.device.open()?;
    if device.is_simulator() {
        return Ok(simulator());
    }
    if args.level.is_some() {
        bail!(
            "--level is the simulator's, and the device is {}; leave it out, or ask for --device simulator",
            device.name()
        );
    }
    Ok(device)
}

/// Jobs that run at the same time. A GPU does one, to be timed alone; the simulator's checks keep one core busy each.
fn workers(device: &Device) -> usize {
    match device.simulator_config() {
        Some(config) if config.level > Level::Off => thread::available_parallelism().map_or(1, usize::from).min(4),
        _ => 1,
    }
}

/// Runs all jobs; outcomes in their order.
fn run_all(device: &Device, jobs: Vec<Job>, workers: usize) -> Vec<Outcome> {
    let progress = Progress::new(jobs.len(), "kernels");
    let queue = Mutex::new(jobs.into_iter().enumerate());
    let outcomes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().expect("no worker panics with it").next();
                    let Some((number, job)) = next else { break };
                    let outcome = measure(device, job, &progress);
                    outcomes.lock().expect("no worker panics with it").push((number, outcome));
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().expect("no worker panics with it");
    outcomes.sort_by_key(|(number, _)| *number);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

#[cfg(test)]
mod tests {
    use anyhow::ensure;
    use clap::CommandFactory as _;
    use gpu::elementwise::add::add_f32;
    use warpwright::reference;
    use warpwright::simulator::Counters;

    use super::*;
    use crate::data::Poison;
    use crate::job::{Finding, Output, Task};
    use crate::units::Work;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn a_quick_run_on_the_simulator_passes() {
        let args = Args::parse_from(["warpwright-run", "--device", "simulator", "--quick", "--level", "off"]);
        let device = device(&args).unwrap();
        let sizes = Sizes { elements: 10_000, factors: 33, transposed: 65 };
        let outcomes = run_all(&device, job::all(&sizes, args.seed), 2);
        assert_eq!(outcomes.len(), job::all(&sizes, args.seed).len());
        for outcome in &outcomes {
            assert!(outcome.passes(), "{}: {}", outcome.kernel, outcome.detail());
        }
    }

    /// A kernel that does nothing, or cannot be launched.
    struct Idle {
        output: warpwright::Buffer<f32>,
        refuses: bool,
    }

    impl Task for Idle {
        fn poison(&mut self, poison: &Poison) -> Result<()> {
            Ok(poison.fill(&mut self.output)?)
        }

        fn launch(&mut self, _: &Device) -> Result<Option<Counters>> {
            ensure!(!self.refuses, "no launch today");
            Ok(None)
        }

        fn output(&self) -> Result<Output> {
            Ok(self.output.download()?.into())
        }

        fn check(&self, output: &Output) -> Result<Finding> {
            let verdict = reference::sum(&[1.0], 0).check(output.reals().iter())?;
            Ok(Finding { worst: verdict.worst, detail: verdict.to_string() })
        }
    }

    #[test]
    fn a_wrong_result_and_a_failed_launch_are_rows_that_fail() {
        let idle = |refuses| Job {
            kernel: add_f32.info(),
            shape: "1".into(),
            work: Work::Bytes(1.0),
            prepare: Box::new(move |device| {
                // The right answer of an earlier run, which must not pass for this one's.
                Ok(Box::new(Idle { output: device.upload(&[1.0_f32])?, refuses }))
            }),
        };
        let device = Device::simulator();
        let outcomes = run_all(&device, vec![idle(false), idle(true)], 1);
        assert!(outcomes.iter().all(|outcome| !outcome.passes()));
        assert!(outcomes[0].detail().contains("got NaN, expected 1"), "{}", outcomes[0].detail());
        assert_eq!(outcomes[1].detail(), "no launch today");
        let text = table::table(&outcomes).to_string();
        assert_eq!(text.matches("FAILED").count(), 2, "{text}");
        assert_eq!(verdict(&outcomes), ExitCode::FAILURE);
        assert_eq!(verdict(&[]), ExitCode::SUCCESS);
    }
}
