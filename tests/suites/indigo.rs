//! *Indigo*: 590 kernels on graphs. `suites::indigo` has them.

use crate::verdicts::{Found, Verdicts, schedules};
use rayon::prelude::*;
use simulator::{Config, Kind, Report};
use suites::indigo::{Entry, Graph, entries, graphs};
use warpwright::{Device, Error};

#[test]
fn the_kernels_are_those_of_the_suite() {
    let entries = entries();
    let count = |is: &dyn Fn(&Entry) -> bool| entries.iter().filter(|entry| is(entry)).count();
    let bounds_alone = |entry: &Entry| entry.is_out_of_bounds() && !entry.is_race();
    let clean = |entry: &Entry| !entry.is_out_of_bounds() && !entry.is_race();
    let counts = [count(&Entry::is_race), count(&bounds_alone), count(&clean), count(&|it| it.is_out_of_bounds())];
    assert_eq!((entries.len(), counts), (590, [346, 64, 180, 144]));
}

/// What a launch of a kernel on a graph reports.
fn run(entry: &Entry, graph: &Graph, config: &Config) -> Vec<Report> {
    match entry.launch(graph, &Device::simulator_with(config.clone())) {
        Ok(()) => Vec::new(),
        Err(Error::Faults(faults)) => faults.reports,
        Err(error) => panic!("{} on {}: {error}", entry.name, graph.name),
    }
}

/// The reports of accesses out of bounds alone, or all others.
fn only(reports: &[Report], bounds: bool) -> Vec<Report> {
    reports.iter().filter(|report| (report.kind == Kind::OutOfBounds) == bounds).cloned().collect()
}

/// What is reported of a kernel on the graphs: races, and accesses out of bounds.
fn judge(entry: &Entry, graphs: &[Graph]) -> [Verdicts; 2] {
    let (mut races, mut bounds) = (Verdicts::default(), Verdicts::default());
    // An access out of bounds depends on the graph: it is found if it is on one of them.
    let mut outside: Vec<Vec<Report>> = Vec::new();
    for graph in graphs {
        let seen: Vec<_> = schedules(1).iter().map(|config| run(entry, graph, config)).collect();
        let outside_here = seen.iter().map(|reports| only(reports, true));
        if outside.is_empty() || outside.iter().any(Vec::is_empty) {
            outside = outside_here.collect();
        }
        let listed = |reports: Vec<Report>| if entry.is_out_of_bounds() { only(&reports, false) } else { reports };
        let seen: Vec<_> = seen.into_iter().map(listed).collect();
        // With five vertices there need not be two threads that meet.
        let group = if graph.vertices() > 5 { "race" } else { "race, if two threads meet on 5 vertices" };
        let faults = if entry.is_race() { &[(group, Kind::Race)][..] } else { &[] };
        races.note(&format!("{} on {}", entry.name, graph.name), faults, &seen);
    }
    if entry.is_out_of_bounds() {
        bounds.note(&entry.name, &[("out of bounds", Kind::OutOfBounds)], &outside);
    }
    [races, bounds]
}

#[test]
fn indigo() {
    let (entries, graphs) = (entries(), graphs());
    let verdicts: Vec<_> = entries.par_iter().map(|entry| judge(entry, &graphs)).collect();
    let (mut races, mut bounds) = (Verdicts::default(), Verdicts::default());
    for [of_races, of_bounds] in verdicts {
        races.append(of_races);
        bounds.append(of_bounds);
    }
    races.print("Indigo, kernels × graphs");
    bounds.print("Indigo, kernels");
    let larger = graphs.iter().filter(|graph| graph.vertices() > 5).count();
    assert_eq!(races.count("race", Found::Always), 346 * larger, "races");
    assert_eq!(bounds.count("out of bounds", Found::Always), 144, "accesses out of bounds");
    assert_eq!((races.clean(), races.false_alarms()), ((180 + 64) * graphs.len(), Vec::new()));
}
