//! *`ScoR`*. `suites::scor` has the microbenchmarks.

use crate::verdicts::{Found, Verdicts, schedules};
use simulator::Kind;
use suites::scor::{Verdict, micros};
use warpwright::Device;

/// What is found of the microbenchmarks that the suite and PTX say this of; `acquires` as in the suite's `Memory`.
fn verdicts(seeds: u64, acquires: bool, wanted: &[Verdict]) -> Verdicts {
    let mut verdicts = Verdicts::default();
    for (verdict, micro) in micros(acquires) {
        if !wanted.contains(&verdict) {
            continue;
        }
        let run = |config| micro.run(&Device::simulator_with(config)).expect("a valid launch").reports;
        let reports: Vec<_> = schedules(seeds).into_iter().map(run).collect();
        let faults: Vec<(&str, Kind)> = micro.faults.iter().map(|&kind| ("race", kind)).collect();
        verdicts.note(&micro.name, &faults, &reports);
    }
    verdicts
}

#[test]
fn scor() {
    let verdicts = verdicts(50, false, &[Verdict::Race, Verdict::Clean]);
    verdicts.print("ScoR");
    let [always, sometimes] = [Found::Always, Found::Sometimes].map(|found| verdicts.count("race", found));
    assert_eq!((always + sometimes, verdicts.clean(), verdicts.false_alarms()), (18, 9, Vec::new()));
    // A critical section whose fence is missing at its start alone races only if it is not the first one; a write
    // behind a critical section only if it comes before that of the other block.
    assert_eq!((always, sometimes), (13, 5));
}

#[test]
fn scor_flags_that_are_polled_without_a_fence() {
    let without = verdicts(50, false, &[Verdict::CleanBySuite]);
    without.print("ScoR, flags polled without a fence");
    let with = verdicts(50, true, &[Verdict::CleanBySuite]);
    with.print("ScoR, flags polled with a fence");
    assert_eq!((with.clean(), with.false_alarms()), (5, Vec::new()));
    assert_eq!(without.count("race", Found::Always), 5);
}
