//! `cargo warpwright schedules`: do the tests pass under other schedules of the simulator?
//!
//! The simulator runs the threads of a launch in an order that a seed determines, with one or several blocks resident
//! at a time. What it reports should not depend on that, nor should a correct kernel's result. This command runs the
//! tests under other schedules until each kernel that they launch has had so many seeds with each number of resident
//! blocks, most of them by the tests that launch it in the least time.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use warpwright_build::parallel;

use crate::test_programs::{Run, Test, Tests};

/// Which schedules.
#[derive(clap::Args, Clone, Debug)]
pub struct Extent {
    /// Seeds for each kernel and number of resident blocks.
    #[arg(long, value_name = "N", default_value = "100")]
    pub seeds: usize,
    /// Numbers of resident blocks.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1,4,32")]
    pub resident: Vec<u32>,
}

/// Arguments of `schedules`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Which schedules.
    #[command(flatten)]
    pub extent: Extent,
    /// Tests whose names contain this are not run, as with `cargo test -- --skip`.
    #[arg(long)]
    pub skip: Vec<String>,
    /// Arguments of `cargo test` that choose the tests.
    #[arg(last = true)]
    pub tests: Vec<String>,
}

/// Longest run of a test.
const LIMIT: Duration = Duration::from_hours(1);

/// The seeds that each kernel has had.
type Seeds = BTreeMap<String, BTreeSet<u64>>;

/// A test as it ran under its own schedules.
struct Known {
    seconds: f64,
    /// The seeds of each kernel.
    kernels: BTreeMap<String, usize>,
    /// Other schedules that it has run under, or is to.
    schedules: u64,
}

/// Runs the tests; exit code 1 where one fails under another schedule, or does not launch one of `kernels`.
///
/// # Errors
/// The tests cannot be built, or fail under their own schedules.
pub fn command(args: &Args, kernels: &BTreeSet<String>) -> Result<ExitCode> {
    let tests = Tests::build(&args.tests, &args.skip)?;
    println!("{} tests run under their own schedules", tests.all().len());
    let runs = parallel::map(tests.all(), |test| run(&tests, test, None));
    let mut known = Vec::new();
    for (test, run) in tests.all().iter().zip(runs) {
        let run = run?;
        if !run.passed {
            bail!("the test `{}` fails under its own schedules:\n{}", test.name, run.output);
        }
        let mut seeds = Seeds::new();
        for (kernel, _, seed) in launches(&run)? {
            seeds.entry(kernel).or_default().insert(seed);
        }
        let kernels = seeds.into_iter().map(|(kernel, seeds)| (kernel, seeds.len())).collect();
        known.push(Known { seconds: run.time.as_secs_f64(), kernels, schedules: 0 });
    }
    let launched: BTreeSet<&String> = known.iter().flat_map(|known| known.kernels.keys()).collect();
    let missing: Vec<&String> = kernels.iter().filter(|kernel| !launched.contains(kernel)).collect();
    for kernel in &missing {
        println!("no test launches {kernel}");
    }
    let count = launched.len();
    let mut failures = 0;
    for &resident in &args.extent.resident {
        failures += with_resident(&tests, &mut known, args.extent.seeds, resident)?;
    }
    let resident = args.extent.resident.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    println!(
        "{count} kernels, each under {} seeds with {resident} resident blocks: {failures} tests failed",
        args.extent.seeds
    );
    Ok(if failures > 0 || !missing.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Runs tests until each kernel has had `wanted` seeds with so many resident blocks, or one fails. Gives the number of
/// runs that failed.
fn with_resident(tests: &Tests, known: &mut [Known], wanted: usize, resident: u32) -> Result<usize> {
    let mut seeds = Seeds::new();
    let (mut runs, failures) = (0, AtomicUsize::new(0));
    while failures.load(Ordering::Relaxed) == 0 {
        let next = plan(known, &seeds, wanted);
        if next.is_empty() {
            break;
        }
        let minutes = next.iter().map(|&(test, _)| known[test].seconds).sum::<f64>() / 60.0;
        println!("{resident} resident: {} runs of tests, {minutes:.0} minutes of a core", next.len());
        let recorded = parallel::map(&next, |&(test, other)| {
            // Whoever reads the first failure need not wait for the rest.
            if failures.load(Ordering::Relaxed) > 0 {
                return Ok(None);
            }
            let test = &tests.all()[test];
            let run = run(tests, test, Some(&format!("{other},{resident}")))?;
            if run.passed {
                return launches(&run).map(Some);
            }
            failures.fetch_add(1, Ordering::Relaxed);
            println!("WARPWRIGHT_SCHEDULE={other},{resident}: the test `{}` fails:\n{}", test.name, run.output);
            Ok(None)
        });
        for launches in recorded {
            let Some(launches) = launches? else { continue };
            runs += 1;
            for (kernel, _, seed) in launches.into_iter().filter(|launch| launch.1 == resident) {
                seeds.entry(kernel).or_default().insert(seed);
            }
        }
    }
    let failures = failures.into_inner();
    println!(
        "{resident} resident: {runs} runs of tests passed, {} kernels under {} seeds, {failures} failed",
        seeds.len(),
        seeds.values().map(BTreeSet::len).sum::<usize>()
    );
    Ok(failures)
}

/// The runs, as a test's number and another schedule, that give each kernel the seeds that it lacks, if they launch
/// what they launched under their own schedules: one by one that which gives the most for its time.
fn plan(known: &mut [Known], seeds: &Seeds, wanted: usize) -> Vec<(usize, u64)> {
    let kernels: BTreeSet<String> = known.iter().flat_map(|known| known.kernels.keys().cloned()).collect();
    let mut lacking: BTreeMap<String, usize> = kernels
        .into_iter()
        .map(|kernel| {
            let had = seeds.get(&kernel).map_or(0, BTreeSet::len);
            (kernel, wanted.saturating_sub(had))
        })
        .filter(|&(_, lacks)| lacks > 0)
        .collect();
    let mut runs = Vec::new();
    while !lacking.is_empty() {
        let gain = |known: &Known| {
            let gained =
                known.kernels.iter().map(|(kernel, seeds)| lacking.get(kernel).map_or(0, |lacks| *seeds.min(lacks)));
            gained.sum::<usize>() as f64 / known.seconds
        };
        let best = known.iter().map(gain).enumerate().max_by(|(_, left), (_, right)| left.total_cmp(right));
        let Some((best, _)) = best else { break };
        known[best].schedules += 1;
        runs.push((best, known[best].schedules));
        for (kernel, seeds) in &known[best].kernels {
            if let Some(lacks) = lacking.get_mut(kernel) {
                *lacks = lacks.saturating_sub(*seeds);
            }
        }
        lacking.retain(|_, lacks| *lacks > 0);
    }
    runs
}

/// Runs a test, under another schedule if one is given.
fn run(tests: &Tests, test: &Test, schedule: Option<&str>) -> Result<Run> {
    tests.run(test, "WARPWRIGHT_LAUNCHES", schedule.map(|schedule| ("WARPWRIGHT_SCHEDULE", schedule)), LIMIT)
}

/// Kernel, resident blocks and seed of each launch of a run.
fn launches(run: &Run) -> Result<Vec<(String, u32, u64)>> {
    let launch = |line: &String| {
        let mut words = line.rsplitn(3, ' ');
        let (seed, resident) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some((words.next()?.to_owned(), resident, seed))
    };
    run.recorded.iter().map(|line| launch(line).with_context(|| format!("`{line}` is no launch"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(seconds: f64, kernels: &[(&str, usize)]) -> Known {
        let kernels = kernels.iter().map(|&(kernel, seeds)| (kernel.to_owned(), seeds)).collect();
        Known { seconds, kernels, schedules: 0 }
    }

    #[test]
    fn each_kernel_gets_its_seeds_by_the_tests_that_take_the_least_time() {
        let mut tests = [known(0.1, &[("add", 2)]), known(0.2, &[("add", 4), ("sum", 1)]), known(1.0, &[("sum", 20)])];
        // Ten of add: two runs of the second test give eight of it, and two of sum.
        let runs = plan(&mut tests, &Seeds::new(), 10);
        let of = |test: usize| runs.iter().filter(|run| run.0 == test).count();
        assert_eq!((of(0), of(1), of(2)), (1, 2, 1));
        assert_eq!(runs.iter().collect::<BTreeSet<_>>().len(), runs.len(), "no run twice: {runs:?}");
        // Another plan goes on with other schedules, and asks for what is still lacking.
        let seeds = [("add", 10), ("sum", 9)].map(|(kernel, had)| (kernel.to_owned(), (0..had).collect()));
        assert_eq!(plan(&mut tests, &Seeds::from(seeds), 10), [(1, 3)]);
    }

    #[test]
    fn a_test_without_launches_is_not_run() {
        assert_eq!(plan(&mut [known(0.1, &[])], &Seeds::new(), 10), []);
        assert_eq!(plan(&mut [known(0.1, &[]), known(5.0, &[("add", 10)])], &Seeds::new(), 10), [(1, 1)]);
    }
}
