//! Clusters: accesses to another block's shared memory too early, too late, or beyond the cluster.

use crate::case::{Bench, Case, Group};
use simt::cluster::{cluster_rank, cluster_size, cluster_sync};
use simt::mbarrier::{Mbarriers, fence_mbarrier_init};
use simt::prelude::*;
use simt::sync::fence_proxy_async;
use simt::tma::{Swizzle, TensorMap, load_2d_multicast};
use simt::warp::sync_warp;
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("clusters.rs"),
    cases: &[
        Case::new("stage overwritten while the other block reads it", Kind::AsyncRace, |b| sums(b, own_faulty)),
        Case::new("stage released to the other block before it is read", Kind::AsyncRace, |b| {
            sums(b, early_release_faulty)
        }),
        Case::new("stage released to the other block by one warp of two", Kind::AsyncRace, |b| sums(b, warp_faulty)),
        Case::new("stage released to the other block by one lane without sync_warp", Kind::AsyncRace, |b| {
            sums(b, lane_faulty)
        }),
        Case::new("exit before the other block's arrivals", Kind::Cluster, |b| pipelined(b, end_faulty)),
        Case::new("exit before the other block's multicast", Kind::Cluster, |b| send(b, send_faulty)),
        Case::new("multicast to this block only", Kind::AbandonedMbarrier, |b| halves(b, alone_faulty)),
        Case::new("bytes of the other block's multicast not expected", Kind::Mbarrier, |b| halves(b, bytes_faulty)),
        Case::new("mbarrier initialisation without a cluster barrier", Kind::Mbarrier, |b| notify(b, notify_faulty)),
        Case::new("mbarrier of a multicast without a fence", Kind::ProxyFence, |b| halves(b, fence_faulty)),
        Case::new("rank beyond the cluster", Kind::Cluster, |b| notify(b, rank_faulty)),
        Case::new("mask beyond the cluster", Kind::Cluster, |b| halves(b, mask_faulty)),
        Case::new("exchange after a block barrier instead of a cluster barrier", Kind::Race, |b| {
            exchange(b, exchange_faulty)
        }),
        Case::new("next round without a cluster barrier", Kind::Race, |b| exchange(b, round_faulty)),
        Case::new("cluster barriers at two places", Kind::DivergentBarrier, |b| exchange(b, two_places_faulty)),
        Case::new("block barrier of some threads before the cluster barrier", Kind::DivergentBarrier, |b| {
            exchange(b, mixed_faulty)
        }),
    ],
};

/// Threads: a producer warp, two consumer warps.
const BLOCK: u32 = 96;
/// Columns, one per consumer thread; rows of a box, which is half of a tile; stages; tiles.
const COLS: u32 = 64;
const ROWS: u32 = 8;
const STAGES: u32 = 2;
const STEPS: u32 = 5;
const BOX: usize = 512;
const TILE: usize = 1024;
const BYTES: u32 = 4096;

#[repr(C, align(128))]
#[derive(Shared)]
struct Pipeline {
    stages: [SharedArray<f32, TILE>; STAGES as usize],
    full: Mbarriers<2>,
    empty: Mbarriers<2>,
}

/// Initialises the mbarriers; `arrivals` arrivals release a stage.
#[track_caller]
fn init_barriers(pipeline: &Pipeline, arrivals: u32) {
    init_barriers_of_block(pipeline, arrivals);
    cluster_sync();
}

#[track_caller]
fn init_barriers_of_block(pipeline: &Pipeline, arrivals: u32) {
    if thread_idx_x() == 0 {
        for stage in 0..STAGES {
            pipeline.full.init(stage, 1);
            pipeline.empty.init(stage, arrivals);
        }
        fence_mbarrier_init();
    }
}

/// Loads this block's half of tile `step` for the blocks of `mask`.
#[track_caller]
fn load(pipeline: &Pipeline, x: &TensorMap<f32>, step: u32, mask: u16) {
    let (stage, rank) = (step % STAGES, cluster_rank());
    let slot = pipeline.stages[stage as usize].slot::<BOX>(rank * BOX as u32);
    load_2d_multicast(slot, x, [0, ((2 * step + rank) * ROWS) as i32], pipeline.full.at(stage), mask);
}

/// Expects the bytes of a tile.
#[track_caller]
fn expect(pipeline: &Pipeline, step: u32) {
    pipeline.full.arrive_expect_tx(step % STAGES, BYTES);
}

/// Waits for tile `step`.
#[track_caller]
fn wait_full(pipeline: &Pipeline, step: u32) {
    pipeline.full.wait(step % STAGES, step / STAGES % 2);
}

/// Waits until tile `step` may be loaded.
#[track_caller]
fn wait_empty(pipeline: &Pipeline, step: u32) {
    pipeline.empty.wait(step % STAGES, (step / STAGES % 2) ^ 1);
}

/// The sum of a column of tile `step`.
#[track_caller]
fn add(pipeline: &Pipeline, step: u32, col: u32) -> f32 {
    let stage = &pipeline.stages[(step % STAGES) as usize];
    let mut sum = 0.0;
    for row in 0..2 * ROWS {
        sum += stage.get(row * COLS + col);
    }
    // TMA will write there again.
    fence_proxy_async();
    sum
}

/// One lane of the warp releases the stage of tile `step` to block `rank`.
#[track_caller]
fn release(pipeline: &Pipeline, step: u32, rank: u32) {
    if thread_idx_x().is_multiple_of(32) {
        pipeline.empty.arrive_at(step % STAGES, rank);
    }
}

/// The sums of the columns, in both blocks. A cluster barrier in each step keeps both blocks in the same phase.
#[kernel(block = BLOCK, cluster = 2)]
fn sums_fixed(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barriers(pipeline, 4);
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            wait_empty(pipeline, step);
            expect(pipeline, step);
            load(pipeline, x, step, 3);
        }
        wait_full(pipeline, step);
        cluster_sync();
        if t >= 32 {
            sum += add(pipeline, step, t - 32);
            sync_warp(u32::MAX);
            release(pipeline, step, 0);
            release(pipeline, step, 1);
        }
    }
    cluster_sync();
    if t >= 32 {
        y.set((cluster_rank() * COLS + t - 32) as usize, sum);
    }
}

#[kernel(block = BLOCK, cluster = 2)]
fn own_faulty(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barriers(pipeline, 2);
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS - 1 {
        if t == 0 {
            wait_empty(pipeline, step);
            expect(pipeline, step);
            load(pipeline, x, step, 3); // FAULT: does not wait for the other block's warps
        }
        wait_full(pipeline, step);
        if step < STAGES {
            cluster_sync();
        }
        if t >= 32 {
            sum += add(pipeline, step, t - 32); // FAULT
            sync_warp(u32::MAX);
            release(pipeline, step, cluster_rank());
        }
    }
    cluster_sync();
    if t >= 32 {
        y.set((cluster_rank() * COLS + t - 32) as usize, sum);
    }
}

#[kernel(block = BLOCK, cluster = 2)]
fn early_release_faulty(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barriers(pipeline, 4);
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            wait_empty(pipeline, step);
            expect(pipeline, step);
            load(pipeline, x, step, 3); // FAULT
        } else if t >= 32 {
            wait_full(pipeline, step);
            if !t.is_multiple_of(32) {
                sum += add(pipeline, step, t - 32);
            }
            sync_warp(u32::MAX);
            release(pipeline, step, 1 - cluster_rank());
            if t.is_multiple_of(32) {
                sum += add(pipeline, step, t - 32); // FAULT: the other block may load into it already
            }
            sync_warp(u32::MAX);
            release(pipeline, step, cluster_rank());
        }
    }
    cluster_sync();
    if t >= 32 {
        y.set((cluster_rank() * COLS + t - 32) as usize, sum);
    }
}

#[kernel(block = BLOCK, cluster = 2)]
fn warp_faulty(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barriers(pipeline, 3);
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS - 1 {
        if t == 0 {
            wait_empty(pipeline, step);
            expect(pipeline, step);
            load(pipeline, x, step, 3); // FAULT
        }
        wait_full(pipeline, step);
        if step < STAGES {
            cluster_sync();
        }
        if t >= 32 {
            sum += add(pipeline, step, t - 32); // FAULT
            sync_warp(u32::MAX);
            release(pipeline, step, cluster_rank());
            if t < 64 {
                release(pipeline, step, 1 - cluster_rank());
            }
        }
    }
    cluster_sync();
    if t >= 32 {
        y.set((cluster_rank() * COLS + t - 32) as usize, sum);
    }
}

#[kernel(block = BLOCK, cluster = 2)]
fn lane_faulty(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barriers(pipeline, 4);
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            wait_empty(pipeline, step);
            expect(pipeline, step);
            load(pipeline, x, step, 3); // FAULT
        } else if t >= 32 {
            wait_full(pipeline, step);
            sum += add(pipeline, step, t - 32); // FAULT: no sync_warp before the arrival
            release(pipeline, step, 1 - cluster_rank());
            sync_warp(u32::MAX);
            release(pipeline, step, cluster_rank());
        }
    }
    cluster_sync();
    if t >= 32 {
        y.set((cluster_rank() * COLS + t - 32) as usize, sum);
    }
}

/// The same without a barrier in each step.
#[kernel(block = BLOCK, cluster = 2)]
fn pipelined_fixed(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barriers(pipeline, 4);
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            wait_empty(pipeline, step);
            expect(pipeline, step);
            load(pipeline, x, step, 3);
        } else if t >= 32 {
            wait_full(pipeline, step);
            sum += add(pipeline, step, t - 32);
            sync_warp(u32::MAX);
            release(pipeline, step, 0);
            release(pipeline, step, 1);
        }
    }
    if t >= 32 {
        y.set((cluster_rank() * COLS + t - 32) as usize, sum);
    }
    cluster_sync();
}

#[kernel(block = BLOCK, cluster = 2)]
fn end_faulty(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barriers(pipeline, 4);
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            wait_empty(pipeline, step);
            expect(pipeline, step);
            load(pipeline, x, step, 3);
        } else if t >= 32 {
            wait_full(pipeline, step);
            sum += add(pipeline, step, t - 32);
            sync_warp(u32::MAX);
            release(pipeline, step, 0); // FAULT: that block may have exited
            release(pipeline, step, 1); // FAULT
        }
    }
    if t >= 32 {
        y.set((cluster_rank() * COLS + t - 32) as usize, sum);
    }
}

type Sums = simt::Kernel<(TensorMap<'static, f32>, VecMut<'static, f32>)>;

fn sums(bench: &mut Bench, faulty: Sums) -> bool {
    run(bench, faulty, sums_fixed, STEPS)
}

fn pipelined(bench: &mut Bench, faulty: Sums) -> bool {
    run(bench, faulty, pipelined_fixed, STEPS)
}

fn halves(bench: &mut Bench, faulty: Sums) -> bool {
    run(bench, faulty, halves_fixed, 1)
}

fn run(bench: &mut Bench, faulty: Sums, fixed: Sums, steps: u32) -> bool {
    let (rows, cols) = (2 * steps * ROWS, COLS as usize);
    let x: Vec<f32> = (0..rows * COLS).map(|i| (i % 1009) as f32).collect();
    let expected: Vec<f32> = (0..2 * cols).map(|i| x.iter().skip(i % cols).step_by(cols).sum()).collect();
    let (x, mut y) = (Buffer::new(&x), Buffer::unwritten(2 * cols));
    let boxes = x.matrix(rows, COLS).tma(ROWS, COLS, Swizzle::None);
    bench.launch((faulty, fixed), Grid::line(2, BLOCK), (boxes, &mut y));
    y.to_vec() == expected
}

/// Loads one tile, half of it by each block. Both loads are issued before either block waits.
#[track_caller]
fn tile(pipeline: &Pipeline, x: &TensorMap<f32>, mask: u16) {
    if thread_idx_x() == 0 {
        load(pipeline, x, 0, mask);
    }
    cluster_sync();
}

/// The sums of one tile.
#[kernel(block = BLOCK, cluster = 2)]
fn halves_fixed(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barriers(pipeline, 4);
    let t = thread_idx_x();
    tile(pipeline, x, 3);
    if t == 0 {
        expect(pipeline, 0);
    } else if t >= 32 {
        wait_full(pipeline, 0);
        y.set((cluster_rank() * COLS + t - 32) as usize, add(pipeline, 0, t - 32));
    }
}

#[kernel(block = BLOCK, cluster = 2)]
fn alone_faulty(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barriers(pipeline, 4); // FAULT
    let t = thread_idx_x();
    tile(pipeline, x, 1 << cluster_rank());
    if t == 0 {
        expect(pipeline, 0);
    } else if t >= 32 {
        wait_full(pipeline, 0); // FAULT: the other half is only in the other block
        y.set((cluster_rank() * COLS + t - 32) as usize, add(pipeline, 0, t - 32));
    }
}

#[kernel(block = BLOCK, cluster = 2)]
fn bytes_faulty(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barriers(pipeline, 4); // FAULT
    let t = thread_idx_x();
    tile(pipeline, x, 3); // FAULT: only half of the bytes is expected
    if t == 0 {
        pipeline.full.arrive_expect_tx(0, BYTES / 2);
    } else if t >= 32 {
        wait_full(pipeline, 0);
        y.set((cluster_rank() * COLS + t - 32) as usize, add(pipeline, 0, t - 32));
    }
}

#[kernel(block = BLOCK, cluster = 2)]
fn fence_faulty(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, y: VecMut<f32>) {
    let t = thread_idx_x();
    if t == 0 {
        pipeline.full.init(0, 1); // FAULT: no fence
    }
    cluster_sync();
    tile(pipeline, x, 3); // FAULT
    if t == 0 {
        expect(pipeline, 0);
    } else if t >= 32 {
        wait_full(pipeline, 0);
        y.set((cluster_rank() * COLS + t - 32) as usize, add(pipeline, 0, t - 32));
    }
}

#[kernel(block = BLOCK, cluster = 2)]
fn mask_faulty(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barriers(pipeline, 4);
    let t = thread_idx_x();
    tile(pipeline, x, 7); // FAULT: the cluster has two blocks
    if t == 0 {
        expect(pipeline, 0);
    } else if t >= 32 {
        wait_full(pipeline, 0);
        y.set((cluster_rank() * COLS + t - 32) as usize, add(pipeline, 0, t - 32));
    }
}

/// Rank 0 loads a tile for itself and for rank 1, which does not use it.
#[kernel(block = BLOCK, cluster = 2)]
fn send_fixed(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barriers(pipeline, 4);
    let t = thread_idx_x();
    if t == 0 {
        pipeline.full.arrive_expect_tx(0, BYTES / 2);
    }
    if cluster_rank() == 0 {
        if t == 0 {
            load(pipeline, x, 0, 3);
        }
        wait_full(pipeline, 0);
        if t < COLS {
            y.set(t as usize, pipeline.stages[0].get(t));
        }
    } else {
        wait_full(pipeline, 0);
    }
}

#[kernel(block = BLOCK, cluster = 2)]
fn send_faulty(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barriers(pipeline, 4);
    let t = thread_idx_x();
    if t == 0 {
        pipeline.full.arrive_expect_tx(0, BYTES / 2);
    }
    if cluster_rank() == 0 {
        if t == 0 {
            load(pipeline, x, 0, 3); // FAULT: rank 1 does not wait for it
        }
        wait_full(pipeline, 0);
        if t < COLS {
            y.set(t as usize, pipeline.stages[0].get(t));
        }
    }
}

fn send(bench: &mut Bench, faulty: Sums) -> bool {
    let x: Vec<f32> = (0..BOX).map(|i| i as f32).collect();
    let (boxed, mut y) = (Buffer::new(&x), Buffer::unwritten(COLS as usize));
    let boxes = boxed.matrix(ROWS, COLS).tma(ROWS, COLS, Swizzle::None);
    bench.launch((faulty, send_fixed), Grid::line(2, BLOCK), (boxes, &mut y));
    y.to_vec() == x[..COLS as usize]
}

#[repr(C)]
#[derive(Shared)]
struct Signal {
    arrived: Mbarriers<1>,
}

/// Each block is notified by the next one of its cluster, and writes its rank.
#[kernel(block = 32, cluster = 2)]
fn notify_fixed(#[shared] signal: &Signal, y: VecMut<u32>) {
    if thread_idx_x() == 0 {
        signal.arrived.init(0, 1);
    }
    cluster_sync();
    if thread_idx_x() == 0 {
        signal.arrived.arrive_at(0, (cluster_rank() + 1) % cluster_size());
        signal.arrived.wait(0, 0);
        y.set(block_idx_x() as usize, cluster_rank());
    }
}

#[kernel(block = 32, cluster = 2)]
fn notify_faulty(#[shared] signal: &Signal, y: VecMut<u32>) {
    if thread_idx_x() == 0 {
        signal.arrived.init(0, 1); // FAULT
    }
    sync_threads();
    if thread_idx_x() == 0 {
        signal.arrived.arrive_at(0, (cluster_rank() + 1) % cluster_size()); // FAULT: may not be initialised
        y.set(block_idx_x() as usize, cluster_rank());
    }
    cluster_sync();
}

#[kernel(block = 32, cluster = 2)]
fn rank_faulty(#[shared] signal: &Signal, y: VecMut<u32>) {
    if thread_idx_x() == 0 {
        signal.arrived.init(0, 1);
    }
    cluster_sync();
    if thread_idx_x() == 0 {
        signal.arrived.arrive_at(0, cluster_rank() + 1); // FAULT: there is no rank after the last
        y.set(block_idx_x() as usize, cluster_rank());
    }
    cluster_sync();
}

fn notify(bench: &mut Bench, faulty: simt::Kernel<(VecMut<'static, u32>,)>) -> bool {
    let mut y = Buffer::unwritten(6);
    bench.launch((faulty, notify_fixed), Grid::line(6, 32), (&mut y,));
    y.to_vec() == [0, 1, 0, 1, 0, 1]
}

/// The element of `x` that the thread reads: the opposite one in the other block.
fn opposite() -> usize {
    ((block_idx_x() ^ 1) * 32 + 31 - thread_idx_x()) as usize
}

/// Two rounds in which each thread replaces its element by twice the opposite one of the other block.
#[kernel(block = 32, cluster = 2)]
fn exchange_fixed(x: VecMut<u32>) {
    for _ in 0..2 {
        let value = 2 * x.get(opposite());
        cluster_sync();
        x.set(index_1d(), value);
        cluster_sync();
    }
}

#[kernel(block = 32, cluster = 2)]
fn exchange_faulty(x: VecMut<u32>) {
    for _ in 0..2 {
        let value = 2 * x.get(opposite()); // FAULT
        sync_threads();
        x.set(index_1d(), value); // FAULT
        cluster_sync();
    }
}

#[kernel(block = 32, cluster = 2)]
fn round_faulty(x: VecMut<u32>) {
    for _ in 0..2 {
        let value = 2 * x.get(opposite()); // FAULT
        cluster_sync();
        x.set(index_1d(), value); // FAULT
    }
}

#[kernel(block = 32, cluster = 2)]
fn two_places_faulty(x: VecMut<u32>) {
    for _ in 0..2 {
        let value = 2 * x.get(opposite());
        if cluster_rank() == 0 {
            cluster_sync(); // FAULT
        }
        if cluster_rank() == 1 {
            cluster_sync(); // FAULT
        }
        x.set(index_1d(), value);
        cluster_sync();
    }
}

#[kernel(block = 32, cluster = 2)]
fn mixed_faulty(x: VecMut<u32>) {
    let value = 2 * x.get(opposite());
    if thread_idx_x() < 16 {
        cluster_sync(); // FAULT
    } else {
        sync_threads(); // FAULT
        cluster_sync(); // FAULT
    }
    x.set(index_1d(), value);
}

fn exchange(bench: &mut Bench, faulty: simt::Kernel<(VecMut<'static, u32>,)>) -> bool {
    let x: Vec<u32> = (0..128).collect();
    let mut y = Buffer::new(&x);
    bench.launch((faulty, exchange_fixed), Grid::line(4, 32), (&mut y,));
    y.to_vec() == x.iter().map(|x| 4 * x).collect::<Vec<_>>()
}
