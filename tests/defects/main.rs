//! Injected defects: kernels with one defect each, and next to each the same kernel fixed.
//!
//! The simulator must report every defect for every order of threads: with the expected kind, at lines with a `//
//! FAULT` mark, and nothing else. It must report nothing for the fixed kernels.
//!
//! | file | defects |
//! |---|---|
//! | `shared_races`, `warp_races`, `shared_atomics` | shared memory: missing barriers, `sync_warp` or atomics |
//! | `global_races` | the same in global memory, within a block and across blocks |
//! | `last_block`, `flags_and_locks` | results passed between blocks with too weak an order or too narrow a scope |
//! | `scopes` | scopes that are too narrow: in chains of releases and acquires, of atomics that order nothing |
//! | `atomic_sizes` | atomic operations of 4 and of 8 bytes on the same bytes |
//! | `earlier_atomics` | races with an atomic operation that is not the last one, rings that are written too early |
//! | `vector_reductions` | reductions of a whole vector: memory order, tickets that are not reset, misaligned vectors |
//! | `line_reductions` | reductions of many lines: the barrier before the ticket, tickets of tiles, rows with gaps |
//! | `partial_tiles` | stream-K fix-up: partial sums that a block loads or publishes too early |
//! | `grouped_tiles` | grouped products: tiles that end within a group of rows |
//! | `barriers` | barriers that not all threads reach, or not all at the same place |
//! | `warps` | masks that do not match the lanes, lanes that have exited or do not exist |
//! | `bounds`, `alignment`, `uninitialised` | accesses out of bounds or misaligned, reads of unwritten memory |
//! | `transpose_guards` | transposition with wrong bounds checks, and a barrier inside a branch |
//! | `swizzled_transposes` | transposition by swizzled tiles, and in place |
//! | `misaligned_transposes` | transposition of misaligned rows, by whole sectors |
//! | `permute_nd` | permutation by N-dimensional tiles, by segments of rows |
//! | `async_copies` | `cp.async` without its commit, wait or barrier |
//! | `tma_loads`, `tma_stores` | TMA: missing waits and fences, slots of the wrong size or alignment |
//! | `mbarriers` | arrivals, bytes, initialisation; stages of a pipeline that are reused too early |
//! | `pdl` | programmatic dependent launch: accesses to global memory before the wait, or no wait |
//! | `clusters` | accesses to another block's shared memory too early, too late, or beyond the cluster |
//! | `tensor_cores` | `wgmma`, `mma.sync`: missing waits, descriptors that do not match, missing threads |
//! | `product_types` | products of `i8`, `f64` and planes of `f32`: sums or operands that are used too early |
//! | `panics`, `hangs` | kernels that panic, and kernels that never end |

mod alignment;
mod async_copies;
mod atomic_sizes;
mod barriers;
mod bounds;
mod case;
mod clusters;
mod earlier_atomics;
mod flags_and_locks;
mod global_races;
mod grouped_tiles;
mod hangs;
mod last_block;
mod line_reductions;
mod mbarriers;
mod misaligned_transposes;
mod panics;
mod partial_tiles;
mod pdl;
mod permute_nd;
mod product_types;
mod report_texts;
mod scopes;
mod shared_atomics;
mod shared_races;
mod swizzled_transposes;
mod tensor_cores;
mod tma_loads;
mod tma_stores;
mod transpose_guards;
mod uninitialised;
mod vector_reductions;
mod warp_races;
mod warps;
mod work_units;

use case::{Case, Group, Schedule, Version};
use simulator::{Kind, Level, Report};
use std::collections::{BTreeMap, BTreeSet};

const GROUPS: &[Group] = &[
    alignment::GROUP,
    async_copies::GROUP,
    atomic_sizes::GROUP,
    barriers::GROUP,
    bounds::GROUP,
    tma_loads::GROUP,
    clusters::GROUP,
    permute_nd::GROUP,
    global_races::GROUP,
    grouped_tiles::GROUP,
    hangs::GROUP,
    mbarriers::GROUP,
    line_reductions::GROUP,
    flags_and_locks::GROUP,
    pdl::GROUP,
    panics::GROUP,
    partial_tiles::GROUP,
    tensor_cores::GROUP,
    product_types::GROUP,
    last_block::GROUP,
    earlier_atomics::GROUP,
    scopes::GROUP,
    vector_reductions::GROUP,
    shared_atomics::GROUP,
    shared_races::GROUP,
    misaligned_transposes::GROUP,
    tma_stores::GROUP,
    swizzled_transposes::GROUP,
    transpose_guards::GROUP,
    uninitialised::GROUP,
    warp_races::GROUP,
    warps::GROUP,
    work_units::GROUP,
];

/// Numbers of blocks that run interleaved.
const RESIDENCIES: [u32; 2] = [1, 4];

fn all() -> impl Iterator<Item = (&'static Group, &'static Case)> {
    GROUPS.iter().flat_map(|group| group.cases.iter().map(move |case| (group, case)))
}

fn checked(seeds: u64) -> impl Iterator<Item = Schedule> {
    let level = Level::Checks;
    RESIDENCIES.into_iter().flat_map(move |resident| (0..seeds).map(move |seed| Schedule { level, seed, resident }))
}

fn report_text(reports: &[Report]) -> String {
    reports.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn assert_no_failures(failures: &[String]) {
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_kind_of_report_has_at_least_two_defects() {
    let mut injected: BTreeMap<Kind, usize> = BTreeMap::new();
    for (_, case) in all() {
        *injected.entry(case.kind).or_default() += 1;
    }
    // Not `Limit`: it reports a limit of the simulator, not a defect of a kernel.
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
        let count = injected.get(&kind).copied().unwrap_or(0);
        assert!(count >= 2, "{}: {count} defects", kind.title());
    }
    assert!(all().count() >= 36, "{} cases", all().count());
}

#[test]
fn every_defect_is_reported_at_its_marked_lines_for_every_schedule() {
    let mut failures = Vec::new();
    for (group, case) in all() {
        let mut seen = BTreeSet::new();
        for schedule in checked(50) {
            let reports = case.run(Version::Faulty, schedule).reports;
            if let Err(why) = check_reports(group, case, &reports, &mut seen) {
                failures.push(format!("{}, {schedule:?}: {why}\n{}", case.name, report_text(&reports)));
                break;
            }
        }
        for name in seen.iter().map(|&(name, _)| name).collect::<BTreeSet<_>>() {
            for line in group.marked(name).into_iter().filter(|&line| !seen.contains(&(name, line))) {
                failures.push(format!("{}: {}:{line} is marked but never reported", case.name, group.file));
            }
        }
    }
    assert_no_failures(&failures);
}

/// Checks that all reports have the case's kind and are at marked lines. Adds these lines to `seen`.
fn check_reports<'a>(
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
                return Err(format!("{site} is not marked"));
            }
            seen.insert((name, site.line));
        }
    }
    Ok(())
}

#[test]
fn fixed_kernels_have_no_reports_and_right_results() {
    let mut failures = Vec::new();
    for (_, case) in all() {
        for schedule in checked(100) {
            let run = case.run(Version::Fixed, schedule);
            if !run.reports.is_empty() || !run.right {
                let right = if run.right { "right" } else { "wrong" };
                failures.push(format!("{}, {schedule:?}: result {right}\n{}", case.name, report_text(&run.reports)));
                break;
            }
        }
    }
    assert_no_failures(&failures);
}

#[test]
fn the_same_seed_gives_the_same_reports_byte_for_byte() {
    for (_, case) in all() {
        for seed in [0, 1, 77] {
            for resident in RESIDENCIES {
                let schedule = Schedule { level: Level::Checks, seed, resident };
                let [first, second] = [0; 2].map(|_| case.run(Version::Faulty, schedule).reports);
                assert_eq!(report_text(&first), report_text(&second), "{}, {schedule:?}", case.name);
                assert_eq!(first, second, "{}, {schedule:?}", case.name);
            }
        }
    }
}

#[test]
fn counters_do_not_change_reports() {
    for (_, case) in all() {
        for seed in [0, 5] {
            let at = |level| case.run(Version::Faulty, Schedule { level, seed, resident: 2 }).reports;
            assert_eq!(
                report_text(&at(Level::Checks)),
                report_text(&at(Level::Counters)),
                "{}, seed {seed}",
                case.name
            );
        }
    }
}

#[test]
fn unchecked_launches_report_defects_that_need_no_shadow_memory() {
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
            let verdict = check_reports(group, case, &reports, &mut BTreeSet::new());
            if verdict.is_err() && !(shadow && reports.is_empty()) {
                failures.push(format!("{}, {schedule:?}: {verdict:?}\n{}", case.name, report_text(&reports)));
            }
            let run = case.run(Version::Fixed, schedule);
            if !run.reports.is_empty() || !run.right {
                failures.push(format!("{} fixed, {schedule:?}\n{}", case.name, report_text(&run.reports)));
            }
        }
    }
    assert_no_failures(&failures);
}
