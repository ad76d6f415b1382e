//! The tables: what the simulator finds of each suite, and what the tools of compute-sanitizer.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use simulator::{Config, Kind, Level};
use suites::Subject;
use warpwright::Device;

use crate::sanitizer::{self, Limits, Said, TOOLS};

/// Arguments of `compare`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Processes at a time.
    #[arg(long, default_value_t = 16)]
    jobs: usize,
    /// Seconds after which a kernel counts as one that does not end.
    #[arg(long, default_value_t = 5)]
    limit: u64,
    /// Seconds for all tools together: each has its share of what is left, and then leaves its other kernels out.
    #[arg(long, default_value_t = 240)]
    budget: u64,
    /// Only kernels whose suite or name contains this.
    #[arg(long)]
    filter: Option<String>,
    /// Only kernels without a fault.
    #[arg(long)]
    correct: bool,
    /// Writes a line for each kernel and tool: number, suite, name, faults, tool, reports, the first of them.
    #[arg(long)]
    lines: Option<PathBuf>,
    /// With these tools only.
    #[arg(long, value_parser = TOOLS)]
    tool: Vec<String>,
    /// On the simulator alone.
    #[arg(long, conflicts_with = "tool")]
    simulator: bool,
}

/// A fault, or none, of the kernels of a suite: a row of the table.
type Row = (&'static str, &'static str);

/// The rows that a kernel counts in, each with its kind of fault.
fn rows(subject: &Subject) -> Vec<(Row, Option<Kind>)> {
    if subject.faults.is_empty() {
        return vec![((subject.suite, "none"), None)];
    }
    subject.faults.iter().map(|&kind| ((subject.suite, kind.title()), Some(kind))).collect()
}

/// Whether a report of the tool is one of this kind of fault. `memcheck` looks at bounds and alignment; other tools do
/// not, and what it says of a kernel with a race is about another fault.
fn is_of(tool: &str, kind: Option<Kind>) -> bool {
    match kind {
        Some(Kind::OutOfBounds | Kind::Misaligned) => tool == "memcheck",
        Some(Kind::Race) => tool != "memcheck",
        _ => true,
    }
}

/// Names of kernels, by row and by who finds something in them.
type Found<'a> = BTreeMap<Row, BTreeMap<&'static str, BTreeSet<&'a str>>>;

/// Runs all, and prints the tables.
pub(crate) fn compare(args: &Args, subjects: &[Subject]) -> Result<()> {
    let is_wanted = |subject: &Subject| {
        let is_named = |text: &String| subject.suite.contains(text.as_str()) || subject.name.contains(text.as_str());
        args.filter.as_ref().is_none_or(is_named) && (subject.faults.is_empty() || !args.correct)
    };
    let wanted: Vec<usize> = (0..subjects.len()).filter(|&number| is_wanted(&subjects[number])).collect();
    let mut found = Found::new();
    let mut note = |number: usize, by: &'static str, is: &dyn Fn(Option<Kind>) -> bool| {
        for (row, kind) in rows(&subjects[number]) {
            let names = found.entry(row).or_default().entry(by).or_default();
            if is(kind) {
                names.insert(&subjects[number].name);
            }
        }
    };
    for &number in &wanted {
        note(number, "all", &|_| true);
        let device = Device::simulator_with(Config::new(Level::Checks).seed(0).resident(4));
        let reports = subjects[number].run(&device)?.reports;
        note(number, "Warpwright", &|kind| reports.iter().any(|report| kind.is_none_or(|kind| report.kind == kind)));
    }
    let mut texts: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let (mut lines, mut strange) = (String::new(), 0);
    let end = Instant::now() + Duration::from_secs(args.budget);
    let is_chosen = |tool: &&str| !args.simulator && (args.tool.is_empty() || args.tool.iter().any(|t| t == tool));
    let tools: Vec<&'static str> = TOOLS.into_iter().filter(|tool| is_chosen(tool)).collect();
    for (done, &tool) in tools.iter().enumerate() {
        let start = Instant::now();
        let share = end.saturating_duration_since(start) / (tools.len() - done) as u32;
        // Neighbours in the list are kernels of one entry: far apart, so that a report of another entry is seen.
        let mut numbers = wanted.clone();
        if tool != "memcheck" {
            // On one graph, that of the published comparison.
            let mut names = BTreeSet::new();
            numbers.retain(|&number| names.insert((subjects[number].suite, &subjects[number].name)));
        }
        let all = numbers.len();
        numbers.sort_by_key(|number| (number % 61, *number));
        let limits = Limits { kernel: Duration::from_secs(args.limit), tool: share };
        let said = sanitizer::run(tool, numbers, args.jobs, limits)?;
        let late = said.values().filter(|said| said.is_late).count();
        println!("{tool}: {} of {all} launches, {late} not ended, {:.1} s", said.len(), start.elapsed().as_secs_f64());
        for (&number, Said { reports, entries, is_late }) in &said {
            let subject = &subjects[number];
            note(number, tool, &|kind| is_of(tool, kind) && !reports.is_empty());
            note(number, "compute-sanitizer", &|kind| is_of(tool, kind) && !reports.is_empty());
            if *is_late {
                note(number, "not ended", &|_| true);
            }
            strange += usize::from(entries.iter().any(|entry| entry != subject.entry));
            for text in reports {
                *texts.entry((tool, digits(text))).or_default() += 1;
            }
            let (faults, first) = (&subject.faults, reports.first().map_or("", String::as_str));
            writeln!(
                lines,
                "{number}\t{}\t{}\t{faults:?}\t{tool}\t{}\t{is_late}\t{first}",
                subject.suite,
                subject.name,
                reports.len()
            )?;
        }
        if let Some(path) = &args.lines {
            std::fs::write(path, &lines)?;
        }
    }
    print(&found, &texts);
    println!("launches whose reports name another entry: {strange}");
    Ok(())
}

/// The text with each number as `#`, and no names of functions.
fn digits(text: &str) -> String {
    let words = text.split_whitespace().map(|word| if word.contains("+0x") { "FUNCTION" } else { word });
    let mut text: String = words.collect::<Vec<_>>().join(" ").replace(|c: char| c.is_ascii_digit(), "#");
    while text.contains("##") {
        text = text.replace("##", "#");
    }
    text
}

fn print(found: &Found<'_>, texts: &BTreeMap<(&str, String), usize>) {
    let columns: Vec<&str> =
        ["all", "Warpwright", "compute-sanitizer"].into_iter().chain(TOOLS).chain(["not ended"]).collect();
    println!("| suite | fault | {} |", columns.join(" | "));
    println!("|---|---|{}", "--:|".repeat(columns.len()));
    for (&(suite, fault), by) in found {
        let counts: Vec<_> =
            columns.iter().map(|by_whom| by.get(by_whom).map_or(0, BTreeSet::len).to_string()).collect();
        println!("| {suite} | {fault} | {} |", counts.join(" | "));
    }
    let empty = BTreeSet::new();
    for (&(suite, fault), by) in found.iter().filter(|((suite, fault), _)| *suite != "Indigo" || *fault == "none") {
        for tool in TOOLS {
            let names: Vec<_> = by.get(tool).unwrap_or(&empty).iter().copied().take(12).collect();
            if !names.is_empty() {
                println!("{suite}, {fault}, {tool}: {}", names.join(" "));
            }
        }
    }
    for (&(suite, fault), by) in found {
        let names: Vec<_> = by.get("not ended").unwrap_or(&empty).iter().copied().take(6).collect();
        if !names.is_empty() {
            println!("{suite}, {fault}, not ended: {}", names.join(" "));
        }
    }
    for ((tool, text), count) in texts {
        println!("{count:6} {tool}: {text}");
    }
}
