//! Defects that were reported in public, with and without the defect. `suites::reported` has the kernels.

use crate::verdicts::{Found, Verdicts, schedules};
use simulator::{Config, Kind};
use suites::reported::defects;
use suites::{Seen, Subject};
use warpwright::Device;

fn run(subject: &Subject, config: &Config) -> Seen {
    subject.run(&Device::simulator_with(config.clone())).expect("a valid launch")
}

#[test]
fn reported_defects() {
    let mut verdicts = Verdicts::default();
    let schedules = schedules(30);
    for defect in defects() {
        let faulty: Vec<_> = schedules.iter().map(|config| run(&defect.faulty, config).reports).collect();
        let consequence = match defect.name {
            // Threads that have met at two barriers wait for each other at the next one.
            "barrier_in_branch" => Some(("consequences", Kind::AbandonedBarrier)),
            // If the load is complete before a thread waits, the wrong parity is that of a phase that never ends.
            "parity_of_a_ring" => Some(("consequences", Kind::AbandonedMbarrier)),
            _ => None,
        };
        let faults: Vec<_> = [("reported defects", defect.kind)].into_iter().chain(consequence).collect();
        verdicts.note(&defect.faulty.name, &faults, &faulty);
        let fixed: Vec<_> = schedules.iter().map(|config| run(&defect.fixed, config)).collect();
        let is_right = |seen: &Seen| seen.is_right || !seen.reports.is_empty();
        assert!(fixed.iter().all(is_right), "{}: result", defect.fixed.name);
        let fixed: Vec<_> = fixed.into_iter().map(|seen| seen.reports).collect();
        verdicts.note(&defect.fixed.name, &[], &fixed);
    }
    verdicts.print("Defects reported in public");
    assert_eq!(verdicts.count("reported defects", Found::Always), defects().count());
    assert_eq!((verdicts.clean(), verdicts.false_alarms()), (defects().count(), Vec::new()));
}
