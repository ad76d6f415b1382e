//! Defects that were reported in public in 2025 and 2026 in well-known kernels, each reduced to a few lines. The
//! parameter `faulty` of each kernel decides whether the defect is there.

mod asynchronous;
mod races;

use crate::verdicts::{Found, Verdicts, schedules};
use asynchronous::*;
use races::*;
use simt::tma::Swizzle;
use simulator::{Config, Kind, Outcome};
use warpwright_tests::sim::{Buffer, Grid, launch};

/// Launches a kernel; gives the outcome, and whether the result is 47.
type Run = fn(&Config, u32) -> (Outcome, bool);

/// [`Run`] of a kernel that writes one word, with one more argument or none.
macro_rules! word {
    ($kernel:ident, $blocks:expr, $threads:expr $(, $arg:expr)?) => {
        |config, faulty| {
            let mut y = Buffer::zeroed(1);
            let outcome = launch(config, $kernel, Grid::line($blocks, $threads), (faulty, $($arg,)? &mut y));
            (outcome.expect("a valid launch"), y.to_vec() == [47])
        }
    };
}

/// The argument of a kernel that loads tiles of ones.
macro_rules! ones {
    ($tiles:expr) => {
        Buffer::new(&[1.0_f32; $tiles * TILE]).matrix($tiles * 32, 32).tma(32, 32, Swizzle::None)
    };
}

/// [`Run`] of a kernel that stores tiles.
macro_rules! tiles {
    ($kernel:ident, $tiles:expr) => {
        |config, faulty| {
            let mut y = Buffer::zeroed($tiles * TILE);
            let map = y.matrix_mut($tiles * 32, 32).tma(32, 32, Swizzle::None);
            let outcome = launch(config, $kernel, Grid::line(1, 64), (faulty, map)).expect("a valid launch");
            (outcome, y.to_vec().iter().all(|&value| value == 47.0))
        }
    };
}

const DEFECTS: &[(&str, Kind, Run)] = &[
    ("two_reductions", Kind::Race, |config, faulty| {
        let mut y = Buffer::zeroed(1);
        let outcome = launch(config, two_reductions, Grid::line(1, 128), (faulty, &mut y)).expect("a valid launch");
        (outcome, y.to_vec() == [127 * 64])
    }),
    ("dropped_barrier", Kind::Race, word!(dropped_barrier, 1, 64)),
    ("barrier_in_branch", Kind::DivergentBarrier, word!(barrier_in_branch, 1, 64)),
    ("next_loop", Kind::Race, word!(next_loop, 1, 32)),
    ("one_lane_sets_up", Kind::Race, word!(one_lane_sets_up, 1, 32)),
    ("one_arrival_for_a_warp", Kind::Race, word!(one_arrival_for_a_warp, 1, 64)),
    ("no_dependency_wait", Kind::PredecessorNotWaited, word!(no_dependency_wait, 1, 32)),
    ("exit_before_the_peer", Kind::Cluster, word!(exit_before_the_peer, 2, 32)),
    ("no_proxy_fence", Kind::ProxyFence, tiles!(no_proxy_fence, 1)),
    ("staging_written_again", Kind::AsyncRace, tiles!(staging_written_again, 4)),
    ("histogram_cleared", Kind::Race, word!(histogram_cleared, 1, 64)),
    ("store_then_load", Kind::Race, word!(store_then_load, 1, 64, &mut Buffer::zeroed(64))),
    ("counted_without_release", Kind::Race, word!(counted_without_release, 2, 32, &mut Buffer::zeroed(2))),
    ("mask_of_the_lower_half", Kind::WarpMask, word!(mask_of_the_lower_half, 1, 32)),
    ("return_before_the_barrier", Kind::AbandonedBarrier, word!(return_before_the_barrier, 1, 64)),
    ("lanes_past_the_array", Kind::OutOfBounds, word!(lanes_past_the_array, 1, 32)),
    ("odd_samples", Kind::Misaligned, word!(odd_samples, 1, 32, &Buffer::new(&[1.0, 2.0, 3.0, 15.0, 16.0, 16.0]))),
    ("tail_not_filled", Kind::Uninitialised, word!(tail_not_filled, 1, 32, &Buffer::new(&[5, 6, 7, 14, 15]))),
    ("scales_not_waited_for", Kind::AsyncNotWaited, word!(scales_not_waited_for, 1, 32, &Buffer::new(&[23, 24]))),
    ("one_lane_releases", Kind::AsyncRace, word!(one_lane_releases, 1, 64, ones!(2))),
    ("loads_past_the_end", Kind::AsyncNotWaited, word!(loads_past_the_end, 1, 32, ones!(4))),
    ("parity_of_a_ring", Kind::AsyncRace, word!(parity_of_a_ring, 1, 32, ones!(2))),
    ("accumulators_before_the_wait", Kind::ProductNotWaited, word!(accumulators_before_the_wait, 1, 128)),
];

#[test]
fn reported_defects() {
    let mut verdicts = Verdicts::default();
    for &(name, kind, run) in DEFECTS {
        let schedules = schedules(30);
        let faulty: Vec<_> = schedules.iter().map(|config| run(config, 1).0).collect();
        let consequence = match name {
            // Threads that have met at two barriers wait for each other at the next one.
            "barrier_in_branch" => Some(("consequences", Kind::AbandonedBarrier)),
            // If the load is complete before a thread waits, the wrong parity is that of a phase that never ends.
            "parity_of_a_ring" => Some(("consequences", Kind::AbandonedMbarrier)),
            _ => None,
        };
        let faults: Vec<_> = [("reported defects", kind)].into_iter().chain(consequence).collect();
        verdicts.note(&format!("{name}, faulty"), &faults, &faulty);
        let (fixed, right): (Vec<_>, Vec<_>) = schedules.iter().map(|config| run(config, 0)).unzip();
        assert!(right.iter().all(|&right| right), "{name}: result");
        verdicts.note(&format!("{name}, fixed"), &[], &fixed);
    }
    verdicts.print("Defects reported in public");
    assert_eq!(verdicts.count("reported defects", Found::Always), DEFECTS.len());
    assert_eq!((verdicts.clean(), verdicts.false_alarms()), (DEFECTS.len(), Vec::new()));
}
