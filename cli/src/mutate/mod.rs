//! `cargo warpwright mutate`: do the tests notice that a barrier is missing?
//!
//! One at a time, each barrier, fence, wait, order, scope, mask and parity that the tests reach on the simulator is
//! left out or weakened while they run. The simulator does that at run time, so nothing is compiled again. A mutant
//! that no test notices is either a gap in the tests, or equivalent to the original: then `mutants.tsv` says why.

mod place;
mod record;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use comfy_table::{Table, presets};
use warpwright_build::parallel;

use self::place::{Place, Sources};
use self::record::{Record, Row, Verdict};
use crate::test_programs::{Run, Test, Tests};

/// Arguments of `mutate`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The verdicts: read for the mutants that are equivalent to the original, and written.
    #[arg(long, default_value = "mutants.tsv")]
    pub file: PathBuf,
    /// Only mutants in sources whose path contains this.
    #[arg(long, default_value = "")]
    pub source: String,
    /// Run every N-th mutant of the file against the test that noticed it, and nothing else.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub every: Option<u16>,
    /// Seconds of tests after which a mutant counts as unnoticed.
    #[arg(long, default_value = "120")]
    pub budget: u64,
    /// Tests whose names contain this are not run, as with `cargo test -- --skip`.
    #[arg(long)]
    pub skip: Vec<String>,
    /// Arguments of `cargo test` that choose the tests.
    #[arg(last = true)]
    pub tests: Vec<String>,
}

/// A mutant that tests reach.
struct Mutant<'a> {
    place: Place,
    change: String,
    /// As the simulator names it.
    name: String,
    /// The tests that reach it, the shortest first.
    tests: Vec<(Duration, &'a Test)>,
}

/// Runs the mutants; exit code 1 where one goes unnoticed that is not known to be equivalent.
///
/// # Errors
/// The tests cannot be built, or fail without a mutant; the file of verdicts cannot be read or written.
pub fn command(args: &Args) -> Result<ExitCode> {
    let tests = Tests::build(&args.tests, &args.skip)?;
    match args.every {
        Some(every) => check(args, &tests, every.into()),
        None => run(args, &tests),
    }
}

/// All mutants: writes the verdicts.
fn run(args: &Args, tests: &Tests) -> Result<ExitCode> {
    let mut sources = Sources::of_workspace()?;
    let known = Record::read(&args.file)?;
    let mutants = reached(args, tests, &mut sources)?;
    println!("{} mutants in {} places", mutants.len(), places(&mutants));
    let done = AtomicUsize::new(0);
    let rows = parallel::map(&mutants, |mutant| -> Result<Row> {
        let verdict = judge(mutant, tests, Duration::from_secs(args.budget))?;
        let verdict = match (verdict, known.equivalent(&mutant.place, &mutant.change)) {
            (Verdict::Unnoticed, Some(reason)) => Verdict::Equivalent { reason: reason.to_owned() },
            (verdict, _) => verdict,
        };
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        println!("{done:5} of {}  {}: {verdict}", mutants.len(), mutant.name);
        Ok(Row { place: mutant.place.clone(), change: mutant.change.clone(), verdict })
    });
    let mut rows = rows.into_iter().collect::<Result<Vec<_>>>()?;
    rows.extend(known.rows.iter().filter(|row| !row.place.file.contains(&args.source)).cloned());
    rows.sort_by(|a, b| (&a.place, &a.change).cmp(&(&b.place, &b.change)));
    let record = Record { rows };
    record.write(&args.file)?;
    println!("\n{}", table(&record));
    for row in record.rows.iter().filter(|row| row.verdict == Verdict::Unnoticed) {
        println!("not noticed: {} {}", sources.show(&row.place), row.change);
    }
    for row in known.rows.iter().filter(|row| matches!(row.verdict, Verdict::Equivalent { .. })) {
        if record.equivalent(&row.place, &row.change).is_none() {
            println!("no longer equivalent, or not reached: {} {}", row.place, row.change);
        }
    }
    println!("verdicts: {}", args.file.display());
    let unnoticed = record.rows.iter().any(|row| row.verdict == Verdict::Unnoticed);
    Ok(if unnoticed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn places(mutants: &[Mutant<'_>]) -> usize {
    mutants.iter().map(|mutant| &mutant.place).collect::<BTreeSet<_>>().len()
}

/// The mutants that the tests reach, each with its tests.
fn reached<'a>(args: &Args, tests: &'a Tests, sources: &mut Sources) -> Result<Vec<Mutant<'a>>> {
    println!("{} tests run without a change", tests.all().len());
    let runs = parallel::map(tests.all(), |test| run_test(tests, test, None, Duration::from_hours(1)));
    let mut mutants = BTreeMap::<String, Vec<(Duration, &Test)>>::new();
    for (test, run) in tests.all().iter().zip(runs) {
        let run = run?;
        if !run.passed {
            bail!("the test `{}` fails without a change:\n{}", test.name, run.output);
        }
        for name in run.recorded {
            mutants.entry(name).or_default().push((run.time, test));
        }
    }
    let mut all = Vec::new();
    for (name, mut tests) in mutants {
        tests.sort_by_key(|&(time, _)| time);
        let (at, change) = name.rsplit_once(' ').with_context(|| format!("`{name}` names no change"))?;
        if at.starts_with(['/', '\\']) || !at.contains(&args.source) {
            continue;
        }
        all.push(Mutant { place: sources.place(at)?, change: change.to_owned(), tests, name });
    }
    Ok(all)
}

/// Runs a test, with a mutant if one is named; the mutants that it reaches are recorded, as the simulator names them.
fn run_test(tests: &Tests, test: &Test, mutant: Option<&str>, limit: Duration) -> Result<Run> {
    tests.run(test, "WARPWRIGHT_MUTANTS", mutant.map(|mutant| ("WARPWRIGHT_MUTANT", mutant)), limit)
}

/// Runs the tests that reach the mutant until one notices it.
fn judge(mutant: &Mutant<'_>, tests: &Tests, budget: Duration) -> Result<Verdict> {
    let mut spent = Duration::ZERO;
    for &(time, test) in &mutant.tests {
        // A mutant that polls where the original waits is slower; one that hangs is reported.
        let run = run_test(tests, test, Some(&mutant.name), time * 20 + Duration::from_mins(2))?;
        if !run.passed {
            let found = run.found();
            return Ok(Verdict::Noticed { found, test: test.name.clone() });
        }
        spent += run.time;
        if spent > budget {
            break;
        }
    }
    Ok(Verdict::Unnoticed)
}

/// Every `every`-th mutant of the file, each against the test that noticed it.
fn check(args: &Args, tests: &Tests, every: usize) -> Result<ExitCode> {
    let mut sources = Sources::of_workspace()?;
    let record = Record::read(&args.file)?;
    if record.rows.is_empty() {
        bail!("{} has no mutants: `mutate` without --every writes it", args.file.display());
    }
    let mut selected = Vec::new();
    for (number, row) in record.rows.iter().enumerate() {
        // A line that is gone is an error where its mutant is not run, too.
        let at = sources.find(&row.place)?;
        let Verdict::Noticed { test, .. } = &row.verdict else { continue };
        if !number.is_multiple_of(every) {
            continue;
        }
        let test = tests.all().iter().find(|known| known.name == *test);
        let test = test.with_context(|| format!("there is no test that noticed {at} {}", row.change))?;
        selected.push((format!("{at} {}", row.change), test));
    }
    let runs = parallel::map(&selected, |(name, test)| run_test(tests, test, Some(name), Duration::from_mins(5)));
    let mut unnoticed = 0;
    for ((name, test), run) in selected.iter().zip(runs) {
        let run = run?;
        let problem = if run.passed && run.recorded.is_empty() {
            "does not reach"
        } else if run.passed {
            "does not notice"
        } else {
            continue;
        };
        unnoticed += 1;
        println!("the test `{}` {problem} {name}", test.name);
    }
    println!("{} of {} mutants run, {unnoticed} not noticed", selected.len(), record.rows.len());
    if unnoticed > 0 {
        println!("`mutate` without --every runs all tests, and writes {}", args.file.display());
    }
    Ok(if unnoticed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// How many mutants of each change were noticed by what.
fn table(record: &Record) -> Table {
    let mut changes = BTreeMap::<&str, BTreeMap<String, usize>>::new();
    for row in &record.rows {
        *changes.entry(&row.change).or_default().entry(row.verdict.kind()).or_default() += 1;
    }
    let kinds: BTreeSet<&String> = changes.values().flat_map(BTreeMap::keys).collect();
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    table.set_header(["change"].into_iter().map(str::to_owned).chain(kinds.iter().map(|&kind| kind.clone())));
    for (change, counts) in &changes {
        let counts = kinds.iter().map(|&kind| counts.get(kind).copied().unwrap_or_default().to_string());
        table.add_row([(*change).to_owned()].into_iter().chain(counts));
    }
    table
}
