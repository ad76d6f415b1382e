//! Verdicts of the simulator beside those of a suite.

use simulator::{Config, Kind, Level, Report};
use std::collections::BTreeMap;

/// Numbers of blocks that run interleaved.
const RESIDENCIES: [u32; 3] = [1, 4, 32];

/// The schedules of a suite: so many seeds, or those of `WARPWRIGHT_SEEDS` (`100`, or `60..100`), with each number of
/// resident blocks.
pub(crate) fn schedules(seeds: u64) -> Vec<Config> {
    let seeds = std::env::var("WARPWRIGHT_SEEDS").map_or(0..seeds, |text| {
        let (first, end) = text.split_once("..").unwrap_or(("0", &text));
        first.parse().expect("WARPWRIGHT_SEEDS")..end.parse().expect("WARPWRIGHT_SEEDS")
    });
    let config = |resident| seeds.clone().map(move |seed| Config::new(Level::Checks).seed(seed).resident(resident));
    RESIDENCIES.into_iter().flat_map(config).collect()
}

/// How often a kernel's fault was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Found {
    /// In every schedule.
    Always,
    /// In some.
    Sometimes,
    /// In none.
    Never,
}

/// What is found of each fault that a suite lists, and what is reported beside that.
#[derive(Default)]
pub(crate) struct Verdicts {
    /// By group of the suite: the kernels found always, sometimes, never.
    found: BTreeMap<&'static str, BTreeMap<Found, Vec<String>>>,
    /// Kernels without a fault, and those of them that were reported, with a report.
    clean: usize,
    false_alarms: Vec<(String, String)>,
}

impl Verdicts {
    /// Notes the reports of one kernel, a list for each schedule. `faults` are those that the suite lists for it, each
    /// with its group; reports of another kind are false alarms.
    pub(crate) fn note(&mut self, kernel: &str, faults: &[(&'static str, Kind)], reports: &[Vec<Report>]) {
        for &(group, kind) in faults {
            let has = |reports: &&Vec<Report>| reports.iter().any(|report| report.kind == kind);
            let found = match reports.iter().filter(has).count() {
                0 => Found::Never,
                some if some < reports.len() => Found::Sometimes,
                _ => Found::Always,
            };
            self.found.entry(group).or_default().entry(found).or_default().push(kernel.to_owned());
        }
        self.clean += usize::from(faults.is_empty());
        let is_listed = |kind| faults.iter().any(|&(_, listed)| listed == kind);
        let other = reports.iter().flatten().find(|report| !is_listed(report.kind));
        if let Some(report) = other {
            self.false_alarms.push((kernel.to_owned(), report.to_string()));
        }
    }

    /// Adds the verdicts of other kernels.
    pub(crate) fn append(&mut self, other: Self) {
        for (group, by) in other.found {
            for (found, kernels) in by {
                self.found.entry(group).or_default().entry(found).or_default().extend(kernels);
            }
        }
        self.clean += other.clean;
        self.false_alarms.extend(other.false_alarms);
    }

    /// How many kernels of a group were found so often.
    pub(crate) fn count(&self, group: &str, found: Found) -> usize {
        self.found.get(group).and_then(|by| by.get(&found)).map_or(0, Vec::len)
    }

    /// The kernels without a fault.
    pub(crate) fn clean(&self) -> usize {
        self.clean
    }

    /// The kernels with a report that the suite does not list.
    pub(crate) fn false_alarms(&self) -> Vec<&str> {
        self.false_alarms.iter().map(|(kernel, _)| kernel.as_str()).collect()
    }

    /// The rows of a table, and the kernels that are not found in every schedule.
    pub(crate) fn print(&self, suite: &str) {
        println!("| {suite} | kernels | found in every schedule | in some | never |\n|---|--:|--:|--:|--:|");
        for (group, by) in &self.found {
            let [always, sometimes, never] =
                [Found::Always, Found::Sometimes, Found::Never].map(|found| by.get(&found));
            let [always, sometimes, never] = [always, sometimes, never].map(|kernels| kernels.map_or(0, Vec::len));
            println!("| {group} | {} | {always} | {sometimes} | {never} |", always + sometimes + never);
        }
        println!("without a fault: {}; other reports: {}", self.clean, self.false_alarms.len());
        for (group, by) in &self.found {
            for found in [Found::Sometimes, Found::Never] {
                by.get(&found).into_iter().flatten().for_each(|kernel| println!("{group}, {found:?}: {kernel}"));
            }
        }
        self.false_alarms.iter().for_each(|(kernel, report)| println!("{kernel}:\n{report}"));
    }
}
