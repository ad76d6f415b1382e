//! Planted bugs: kernels with one defect each, and beside each the same kernel mended.
//!
//! The simulator must find every defect, whatever the order in which threads run: report the kind that is expected, at a
//! line that carries a `// FAULT` mark, and nothing else. On the mended kernels it must be silent.
//!
//! | file | defects |
//! |---|---|
//! | `shared_races`, `warp_races`, `shared_atomics` | shared memory without a barrier, `sync_warp` or atomics where they are needed |
//! | `global_races` | the same in global memory, within a block and across blocks |
//! | `publication`, `messages` | results handed to other blocks through atomics of too weak an order or too narrow a scope |
//! | `reductions` | the same in reductions of a whole vector, a ticket good for one launch, vectors peeled where they are not aligned |
//! | `parts` | sums of a tile that one block hands to the next: taken or announced too early |
//! | `lines` | the same in reductions of many lines: a barrier before the ticket, a ticket for each tile, rows with gaps |
//! | `barriers` | barriers that not all threads reach, or not all at the same place |
//! | `warps` | masks that do not fit the lanes, lanes that have exited or never were |
//! | `bounds`, `alignment`, `uninitialised` | wild and misaligned accesses, reads of what nothing has written |
//! | `transposes` | two listings of a teaching text |
//! | `permuted_boxes` | permutation of short dimensions, by parts of lines |
//! | `shifts` | transposition with rows that begin anywhere, by whole sectors |
//! | `tiles` | transposition by swizzled tiles, and in place |
//! | `async_copies` | `cp.async` without its commit, wait or barrier |
//! | `tma`, `stores` | the copy engine: waits, fences, places that do not fit |
//! | `mbarriers` | arrivals, bytes, initialisation; stages of a ring that are used again too early |
//! | `pdl` | launches that begin before their predecessor is done: global memory touched before the wait, no wait at all |
//! | `clusters` | blocks that touch each other's shared memory: too early, too late, out of step, where there is none |
//! | `products` | tensor cores: waits, operands that are not what their descriptor says, threads that do not come |
//! | `panics`, `hangs` | kernels that give up, and kernels that never do |

mod alignment;
mod async_copies;
mod barriers;
mod bounds;
mod boxes;
mod case;
mod clusters;
mod global_races;
mod hangs;
mod lines;
mod mbarriers;
mod messages;
mod panics;
mod parts;
mod pdl;
mod permuted_boxes;
mod products;
mod publication;
mod reductions;
mod shared_atomics;
mod shared_races;
mod shifts;
mod stores;
mod texts;
mod tiles;
mod transposes;
mod uninitialised;
mod warp_races;
mod warps;

use case::{Case, Group, Schedule, Version};
use simulator::{Kind, Level, Report};
use std::collections::{BTreeMap, BTreeSet};

const GROUPS: &[Group] = &[
    alignment::GROUP,
    async_copies::GROUP,
    barriers::GROUP,
    bounds::GROUP,
    boxes::GROUP,
    clusters::GROUP,
    permuted_boxes::GROUP,
    global_races::GROUP,
    hangs::GROUP,
    mbarriers::GROUP,
    lines::GROUP,
    messages::GROUP,
    pdl::GROUP,
    panics::GROUP,
    parts::GROUP,
    products::GROUP,
    publication::GROUP,
    reductions::GROUP,
    shared_atomics::GROUP,
    shared_races::GROUP,
    shifts::GROUP,
    stores::GROUP,
    tiles::GROUP,
    transposes::GROUP,
    uninitialised::GROUP,
    warp_races::GROUP,
    warps::GROUP,
];

/// Numbers of blocks that are interleaved.
const RESIDENCIES: [u32; 2] = [1, 4];

fn all() -> impl Iterator<Item = (&'static Group, &'static Case)> {
    GROUPS.iter().flat_map(|group| group.cases.iter().map(move |case| (group, case)))
}

fn checked(seeds: u64) -> impl Iterator<Item = Schedule> {
    let level = Level::Checks;
    RESIDENCIES.into_iter().flat_map(move |resident| (0..seeds).map(move |seed| Schedule { level, seed, resident }))
}

fn texts(reports: &[Report]) -> String {
    reports.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn none(failures: &[String]) {
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_kind_is_planted_at_least_twice() {
    let mut planted: BTreeMap<Kind, usize> = BTreeMap::new();
    for (_, case) in all() {
        *planted.entry(case.kind).or_default() += 1;
    }
    // Not `Limit`: that is the simulator's own defect, not a kernel's.
    let kinds = [
        Kind::OutOfBounds,
        Kind::Misaligned,
        Kind::Uninitialised,
        Kind::Race,
        Kind::DivergentBarrier,
        Kind::AbandonedBarrier,
        Kind::WarpMask,
        Kind::WarpExited,
        Kind::AsyncNotWaited,
        Kind::AsyncRace,
        Kind::ProxyFence,
        Kind::Mbarrier,
        Kind::AbandonedMbarrier,
        Kind::Cluster,
        Kind::UnfitBox,
        Kind::PredecessorNotWaited,
        Kind::ProductNotWaited,
        Kind::Warpgroup,
        Kind::WrongOperand,
        Kind::Panic,
        Kind::Hang,
    ];
    for kind in kinds {
        let count = planted.get(&kind).copied().unwrap_or(0);
        assert!(count >= 2, "{}: planted {count} times", kind.title());
    }
    assert!(all().count() >= 36, "{} cases", all().count());
}

#[test]
fn every_defect_is_reported_whatever_the_schedule() {
    let mut failures = Vec::new();
    for (group, case) in all() {
        let mut seen = BTreeSet::new();
        for schedule in checked(50) {
            let reports = case.run(Version::Faulty, schedule).reports;
            if let Err(why) = judge(group, case, &reports, &mut seen) {
                failures.push(format!("{}, {schedule:?}: {why}\n{}", case.name, texts(&reports)));
                break;
            }
        }
        for name in seen.iter().map(|&(name, _)| name).collect::<BTreeSet<_>>() {
            for line in group.marked(name).into_iter().filter(|&line| !seen.contains(&(name, line))) {
                failures.push(format!("{}: {}:{line} is marked and never reported", case.name, group.file));
            }
        }
    }
    none(&failures);
}

/// Whether the reports are of the case's kind alone, all at marked lines. Adds these to `seen`.
fn judge<'a>(
    group: &'a Group,
    case: &Case,
    reports: &[Report],
    seen: &mut BTreeSet<(&'a str, u32)>,
) -> Result<(), String> {
    if reports.is_empty() {
        return Err("no report".to_owned());
    }
    for report in reports {
        if report.kind != case.kind {
            return Err(format!("a report of kind {:?}", report.kind));
        }
        let name = group.name_of(&report.kernel).ok_or_else(|| format!("no kernel `{}` here", report.kernel))?;
        for site in [Some(&report.site), report.other.as_ref()].into_iter().flatten() {
            if site.file != group.file || !group.marked(name).contains(&site.line) {
                return Err(format!("{site} carries no mark"));
            }
            seen.insert((name, site.line));
        }
    }
    Ok(())
}

#[test]
fn mended_kernels_are_silent_and_right() {
    let mut failures = Vec::new();
    for (_, case) in all() {
        for schedule in checked(100) {
            let run = case.run(Version::Mended, schedule);
            if !run.reports.is_empty() || !run.right {
                let right = if run.right { "right" } else { "wrong" };
                failures.push(format!("{}, {schedule:?}: result {right}\n{}", case.name, texts(&run.reports)));
                break;
            }
        }
    }
    none(&failures);
}

#[test]
fn the_same_seed_gives_the_same_reports_byte_for_byte() {
    for (_, case) in all() {
        for seed in [0, 1, 77] {
            for resident in RESIDENCIES {
                let schedule = Schedule { level: Level::Checks, seed, resident };
                let [first, second] = [0; 2].map(|_| case.run(Version::Faulty, schedule).reports);
                assert_eq!(texts(&first), texts(&second), "{}, {schedule:?}", case.name);
                assert_eq!(first, second, "{}, {schedule:?}", case.name);
            }
        }
    }
}

#[test]
fn counting_changes_no_report() {
    for (_, case) in all() {
        for seed in [0, 5] {
            let at = |level| case.run(Version::Faulty, Schedule { level, seed, resident: 2 }).reports;
            assert_eq!(texts(&at(Level::Checks)), texts(&at(Level::Counters)), "{}, seed {seed}", case.name);
        }
    }
}

#[test]
fn unchecked_launches_see_what_needs_no_shadow() {
    let mut failures = Vec::new();
    for (group, case) in all() {
        let shadow = matches!(
            case.kind,
            Kind::Race
                | Kind::Uninitialised
                | Kind::Misaligned
                | Kind::AsyncNotWaited
                | Kind::AsyncRace
                | Kind::ProxyFence
                | Kind::PredecessorNotWaited
                | Kind::Mbarrier
                | Kind::WrongOperand
        );
        for seed in 0..5 {
            let schedule = Schedule { level: Level::Off, seed, resident: 1 };
            let reports = case.run(Version::Faulty, schedule).reports;
            let verdict = judge(group, case, &reports, &mut BTreeSet::new());
            if verdict.is_err() && !(shadow && reports.is_empty()) {
                failures.push(format!("{}, {schedule:?}: {verdict:?}\n{}", case.name, texts(&reports)));
            }
            let run = case.run(Version::Mended, schedule);
            if !run.reports.is_empty() || !run.right {
                failures.push(format!("{} mended, {schedule:?}\n{}", case.name, texts(&run.reports)));
            }
        }
    }
    none(&failures);
}
