//! Defects that were reported in public in 2025 and 2026 in well-known kernels, each reduced to a few lines. The
//! parameter `faulty` of each kernel decides whether the defect is there.

use crate::verdicts::{Found, Verdicts, schedules};
use simt::cluster::{cluster_rank, cluster_sync};
use simt::grid::dependency_wait;
use simt::mbarrier::{Mbarriers, fence_mbarrier_init};
use simt::prelude::*;
use simt::shared::SharedArray;
use simt::sync::fence_proxy_async;
use simt::tma::{Swizzle, TensorMapMut, store_2d, store_commit, store_wait_read};
use simt::warp::{sync_warp, warp_shuffle_xor};
use simulator::{Config, Kind, Outcome};
use warpwright_tests::sim::{Buffer, Grid, launch};

#[repr(C)]
#[derive(Shared)]
struct Words {
    words: SharedArray<u32, 64>,
}

/// The combined value of a block of 128 threads.
#[inline(always)]
fn block_reduce(shared: &Words, mut value: u32, combine: impl Fn(u32, u32) -> u32) -> u32 {
    let (warp, lane) = (thread_idx_x() / 32, thread_idx_x() % 32);
    for step in [16, 8, 4, 2, 1] {
        value = combine(value, warp_shuffle_xor(u32::MAX, value, step, 32).0);
    }
    if lane == 0 {
        shared.words.set(warp, value);
    }
    sync_threads();
    (1..4).fold(shared.words.get(0), |value, warp| combine(value, shared.words.get(warp)))
}

/// Two reductions use the same shared memory one after the other (ggml-org/llama.cpp #26385).
#[kernel(block = 128)]
fn two_reductions(#[shared] shared: &Words, faulty: u32, y: VecMut<u32>) {
    let most = block_reduce(shared, thread_idx_x(), u32::max);
    if faulty == 0 {
        sync_threads();
    }
    let sum = block_reduce(shared, most - thread_idx_x(), |a, b| a + b);
    if thread_idx_x() == 0 {
        y.set(0, sum);
    }
}

/// The barrier between a write and a read by 48 of 64 threads is left out (tile-ai/tilelang #2556).
#[kernel(block = 64)]
fn dropped_barrier(#[shared] shared: &Words, faulty: u32, y: VecMut<u32>) {
    let t = thread_idx_x();
    if t < 48 {
        shared.words.set(t, t);
    }
    if faulty == 0 {
        sync_threads();
    }
    if t < 48 && shared.words.get(47 - t) == 0 {
        y.set(0, t);
    }
}

/// A barrier is put into a branch that only even threads take (tile-ai/tilelang #1026).
#[kernel(block = 64)]
fn barrier_in_branch(#[shared] shared: &Words, faulty: u32, y: VecMut<u32>) {
    let t = thread_idx_x();
    shared.words.set(t, t);
    sync_threads();
    if t.is_multiple_of(2) {
        let own = shared.words.get(t);
        if faulty != 0 {
            sync_threads();
        }
        shared.words.set(t + 1, own);
    }
    sync_threads();
    if t == 0 {
        y.set(0, shared.words.get(47) + 1);
    }
}

/// A warp writes entries in one loop and reads those of other lanes in the next (`ik_llama.cpp` #2502,
/// `llama.cpp` #28475).
#[kernel(block = 32)]
fn next_loop(#[shared] shared: &Words, faulty: u32, y: VecMut<u32>) {
    let lane = thread_idx_x();
    for i in 0..2 {
        shared.words.set(2 * lane + i, 2 * lane + i);
    }
    if faulty == 0 {
        sync_warp(u32::MAX);
    }
    for i in (lane..64).step_by(32) {
        if shared.words.get(i) == 47 {
            y.set(0, i);
        }
    }
}

/// One lane sets up what the others of its warp read at once (ORNL/HeCBench #221).
#[kernel(block = 32)]
fn one_lane_sets_up(#[shared] shared: &Words, faulty: u32, y: VecMut<u32>) {
    if thread_idx_x() == 0 {
        shared.words.set(0, 47);
    }
    if faulty == 0 {
        sync_warp(u32::MAX);
    }
    if shared.words.get(0) == 47 && thread_idx_x() == 31 {
        y.set(0, 47);
    }
}

#[repr(C)]
#[derive(Shared)]
struct HandOver {
    words: SharedArray<u32, 32>,
    written: Mbarriers<1>,
}

/// One lane arrives for the 32 that have written (NVIDIA/cudnn-frontend #426).
#[kernel(block = 64)]
fn one_arrival_for_a_warp(#[shared] shared: &HandOver, faulty: u32, y: VecMut<u32>) {
    let t = thread_idx_x();
    if t == 0 {
        shared.written.init(0, if faulty == 0 { 32 } else { 1 });
        fence_mbarrier_init();
    }
    sync_threads();
    if t < 32 {
        shared.words.set(t, t + 16);
        if faulty == 0 || t == 0 {
            shared.written.arrive(0);
        }
    } else {
        shared.written.wait(0, 0);
        if shared.words.get(63 - t) == 47 {
            y.set(0, 47);
        }
    }
}

/// A kernel with programmatic dependent launch reads before the grid ahead of it has ended (NVIDIA/cutlass #2760).
#[kernel(pdl, block = 32)]
fn no_dependency_wait(faulty: u32, y: VecMut<u32>) {
    if faulty == 0 {
        dependency_wait();
    }
    if thread_idx_x() == 0 {
        y.set(0, 47);
    }
}

/// A block of a cluster ends while its peer still arrives at one of its mbarriers (facebookexperimental/triton #1105).
#[kernel(block = 32, cluster = 2)]
fn exit_before_the_peer(#[shared] shared: &HandOver, faulty: u32, y: VecMut<u32>) {
    if thread_idx_x() == 0 {
        shared.written.init(0, 1);
        fence_mbarrier_init();
    }
    cluster_sync();
    if thread_idx_x() == 0 && cluster_rank() == 0 {
        shared.written.arrive_at(0, 1);
        y.set(0, 47);
    }
    if faulty == 0 {
        cluster_sync();
    }
}

/// Elements of a tile of 32 × 32.
const TILE: usize = 1024;

#[repr(C, align(128))]
#[derive(Shared)]
struct Staging {
    tiles: [SharedArray<f32, TILE>; 2],
}

/// TMA stores what threads have written without a proxy fence (MoonshotAI/FlashKDA #24).
#[kernel(block = 64)]
fn no_proxy_fence(#[shared] staging: &Staging, faulty: u32, y: &TensorMapMut<f32>) {
    for i in (thread_idx_x()..TILE as u32).step_by(64) {
        staging.tiles[0].set(i, 47.0);
    }
    if faulty == 0 {
        fence_proxy_async();
    }
    sync_threads();
    if thread_idx_x() == 0 {
        store_2d(y, [0, 0], staging.tiles[0].slot::<TILE>(0));
        store_commit();
    }
    store_wait_read::<0>();
}

/// Two threads store a staging buffer each and wait for their own; then all threads write both (NVIDIA/cudnn-frontend
/// #1049).
#[kernel(block = 64)]
fn staging_written_again(#[shared] staging: &Staging, faulty: u32, y: &TensorMapMut<f32>) {
    let t = thread_idx_x();
    for round in 0..2 {
        for tile in &staging.tiles {
            for i in (t..TILE as u32).step_by(64) {
                tile.set(i, 47.0);
            }
        }
        fence_proxy_async();
        sync_threads();
        if t.is_multiple_of(32) {
            store_2d(y, [0, (64 * round + t) as i32], staging.tiles[t as usize / 32].slot::<TILE>(0));
            store_commit();
            store_wait_read::<0>();
        }
        if faulty == 0 {
            sync_threads();
        }
    }
}

/// Launches a kernel; gives the outcome, and whether the result is 47.
type Run = fn(&Config, u32) -> (Outcome, bool);

/// [`Run`] of a kernel that writes one word.
macro_rules! word {
    ($kernel:ident, $blocks:expr, $threads:expr) => {
        |config, faulty| {
            let mut y = Buffer::zeroed(1);
            let outcome = launch(config, $kernel, Grid::line($blocks, $threads), (faulty, &mut y));
            (outcome.expect("a valid launch"), y.to_vec() == [47])
        }
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
];

#[test]
fn reported_defects() {
    let mut verdicts = Verdicts::default();
    for &(name, kind, run) in DEFECTS {
        let schedules = schedules(30);
        let faulty: Vec<_> = schedules.iter().map(|config| run(config, 1).0).collect();
        // Threads that have met at two barriers wait for each other at the next one.
        let consequence = (kind == Kind::DivergentBarrier).then_some(("consequences", Kind::AbandonedBarrier));
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
