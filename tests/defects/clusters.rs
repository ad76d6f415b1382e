//! Clusters: blocks that touch each other's shared memory too early, too late, or where there is none.

use crate::case::{Bench, Case, Group};
use simt::cluster::{cluster_rank, cluster_size, cluster_sync};
use simt::mbarrier::{Mbarriers, fence_mbarrier_init};
use simt::prelude::*;
use simt::tma::{Swizzle, TensorMap, load_2d_multicast};
use simt::warp::sync_warp;
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("clusters.rs"),
    cases: &[
        Case::new("stage that the other block still reads", Kind::AsyncRace, |b| sums(b, own_faulty)),
        Case::new("stage freed for the other block before it is read", Kind::AsyncRace, |b| sums(b, hasty_faulty)),
        Case::new("stage freed for the other block by one warp of two", Kind::AsyncRace, |b| sums(b, warp_faulty)),
        Case::new("stage freed for the other block by one lane", Kind::AsyncRace, |b| sums(b, lane_faulty)),
        Case::new("end before the other block's arrivals", Kind::Cluster, |b| ring(b, end_faulty)),
        Case::new("end before the other block's box", Kind::Cluster, |b| send(b, send_faulty)),
        Case::new("box for this block alone", Kind::AbandonedMbarrier, |b| halves(b, alone_faulty)),
        Case::new("bytes of the other block's half not expected", Kind::Mbarrier, |b| halves(b, bytes_faulty)),
        Case::new("mbarrier told to the block alone", Kind::Mbarrier, |b| greet(b, greet_faulty)),
        Case::new("mbarrier of which the copy engine is not told", Kind::ProxyFence, |b| halves(b, fence_faulty)),
        Case::new("rank beyond the cluster", Kind::Cluster, |b| greet(b, rank_faulty)),
        Case::new("mask beyond the cluster", Kind::Cluster, |b| halves(b, mask_faulty)),
        Case::new("exchange behind the barrier of the block", Kind::Race, |b| exchange(b, exchange_faulty)),
        Case::new("next turn without a barrier", Kind::Race, |b| exchange(b, turn_faulty)),
        Case::new("two barriers of the cluster", Kind::DivergentBarrier, |b| exchange(b, places_faulty)),
        Case::new("barrier of the block for that of the cluster", Kind::DivergentBarrier, |b| {
            exchange(b, mixed_faulty)
        }),
    ],
};

/// Threads: a warp that loads, two that add.
const BLOCK: u32 = 96;
/// Columns, one per adding thread; rows of a box, which is half of a tile; stages; tiles.
const COLS: u32 = 64;
const ROWS: u32 = 8;
const STAGES: u32 = 2;
const STEPS: u32 = 5;
const BOX: usize = 512;
const TILE: usize = 1024;
const BYTES: u32 = 4096;

#[repr(C, align(128))]
#[derive(Shared)]
struct Ring {
    stages: [SharedArray<f32, TILE>; STAGES as usize],
    full: Mbarriers<2>,
    empty: Mbarriers<2>,
}

/// Makes the ring's mbarriers; so many arrivals free a stage.
#[track_caller]
fn begin(ring: &Ring, freeing: u32) {
    make(ring, freeing);
    cluster_sync();
}

#[track_caller]
fn make(ring: &Ring, freeing: u32) {
    if thread_idx_x() == 0 {
        for stage in 0..STAGES {
            ring.full.init(stage, 1);
            ring.empty.init(stage, freeing);
        }
        fence_mbarrier_init();
    }
}

/// Loads this block's half of tile `step` for the blocks of `mask`.
#[track_caller]
fn load(ring: &Ring, x: &TensorMap<f32>, step: u32, mask: u16) {
    let (stage, rank) = (step % STAGES, cluster_rank());
    let place = ring.stages[stage as usize].slot::<BOX>(rank * BOX as u32);
    load_2d_multicast(place, x, [0, ((2 * step + rank) * ROWS) as i32], ring.full.at(stage), mask);
}

/// Expects the bytes of a tile.
#[track_caller]
fn expect(ring: &Ring, step: u32) {
    ring.full.arrive_expect_tx(step % STAGES, BYTES);
}

/// Waits for tile `step`.
#[track_caller]
fn await_tile(ring: &Ring, step: u32) {
    ring.full.wait(step % STAGES, step / STAGES % 2);
}

/// Waits until tile `step` may be loaded.
#[track_caller]
fn await_room(ring: &Ring, step: u32) {
    ring.empty.wait(step % STAGES, (step / STAGES % 2) ^ 1);
}

/// The sum of a column of tile `step`.
#[track_caller]
fn add(ring: &Ring, step: u32, col: u32) -> f32 {
    let stage = &ring.stages[(step % STAGES) as usize];
    let mut sum = 0.0;
    for row in 0..2 * ROWS {
        sum += stage.get(row * COLS + col);
    }
    sum
}

/// One lane of the warp tells block `rank` that all have done with tile `step`.
#[track_caller]
fn free(ring: &Ring, step: u32, rank: u32) {
    if thread_idx_x().is_multiple_of(32) {
        ring.empty.arrive_at(step % STAGES, rank);
    }
}

/// The sums of the columns, twice. All wait until both blocks have each tile, so that no block is a phase ahead.
#[kernel(block = BLOCK, cluster = 2)]
fn sums_mended(#[shared] ring: &Ring, x: &TensorMap<f32>, y: VecMut<f32>) {
    begin(ring, 4);
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            await_room(ring, step);
            expect(ring, step);
            load(ring, x, step, 3);
        }
        await_tile(ring, step);
        cluster_sync();
        if t >= 32 {
            sum += add(ring, step, t - 32);
            sync_warp(u32::MAX);
            free(ring, step, 0);
            free(ring, step, 1);
        }
    }
    cluster_sync();
    if t >= 32 {
        y.set((cluster_rank() * COLS + t - 32) as usize, sum);
    }
}

#[kernel(block = BLOCK, cluster = 2)]
fn own_faulty(#[shared] ring: &Ring, x: &TensorMap<f32>, y: VecMut<f32>) {
    begin(ring, 2);
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS - 1 {
        if t == 0 {
            await_room(ring, step);
            expect(ring, step);
            load(ring, x, step, 3); // FAULT: the other block's warps are not asked
        }
        await_tile(ring, step);
        if step < STAGES {
            cluster_sync();
        }
        if t >= 32 {
            sum += add(ring, step, t - 32); // FAULT
            sync_warp(u32::MAX);
            free(ring, step, cluster_rank());
        }
    }
    cluster_sync();
    if t >= 32 {
        y.set((cluster_rank() * COLS + t - 32) as usize, sum);
    }
}

#[kernel(block = BLOCK, cluster = 2)]
fn hasty_faulty(#[shared] ring: &Ring, x: &TensorMap<f32>, y: VecMut<f32>) {
    begin(ring, 4);
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            await_room(ring, step);
            expect(ring, step);
            load(ring, x, step, 3); // FAULT
        } else if t >= 32 {
            await_tile(ring, step);
            if !t.is_multiple_of(32) {
                sum += add(ring, step, t - 32);
            }
            sync_warp(u32::MAX);
            free(ring, step, 1 - cluster_rank());
            if t.is_multiple_of(32) {
                sum += add(ring, step, t - 32); // FAULT: the other block may fill it already
            }
            sync_warp(u32::MAX);
            free(ring, step, cluster_rank());
        }
    }
    cluster_sync();
    if t >= 32 {
        y.set((cluster_rank() * COLS + t - 32) as usize, sum);
    }
}

#[kernel(block = BLOCK, cluster = 2)]
fn warp_faulty(#[shared] ring: &Ring, x: &TensorMap<f32>, y: VecMut<f32>) {
    begin(ring, 3);
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS - 1 {
        if t == 0 {
            await_room(ring, step);
            expect(ring, step);
            load(ring, x, step, 3); // FAULT
        }
        await_tile(ring, step);
        if step < STAGES {
            cluster_sync();
        }
        if t >= 32 {
            sum += add(ring, step, t - 32); // FAULT
            sync_warp(u32::MAX);
            free(ring, step, cluster_rank());
            if t < 64 {
                free(ring, step, 1 - cluster_rank());
            }
        }
    }
    cluster_sync();
    if t >= 32 {
        y.set((cluster_rank() * COLS + t - 32) as usize, sum);
    }
}

#[kernel(block = BLOCK, cluster = 2)]
fn lane_faulty(#[shared] ring: &Ring, x: &TensorMap<f32>, y: VecMut<f32>) {
    begin(ring, 4);
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            await_room(ring, step);
            expect(ring, step);
            load(ring, x, step, 3); // FAULT
        } else if t >= 32 {
            await_tile(ring, step);
            sum += add(ring, step, t - 32); // FAULT: no sync_warp before one lane speaks for all
            free(ring, step, 1 - cluster_rank());
            sync_warp(u32::MAX);
            free(ring, step, cluster_rank());
        }
    }
    cluster_sync();
    if t >= 32 {
        y.set((cluster_rank() * COLS + t - 32) as usize, sum);
    }
}

/// The same without a barrier in each step, as a pipeline has it.
#[kernel(block = BLOCK, cluster = 2)]
fn ring_mended(#[shared] ring: &Ring, x: &TensorMap<f32>, y: VecMut<f32>) {
    begin(ring, 4);
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            await_room(ring, step);
            expect(ring, step);
            load(ring, x, step, 3);
        } else if t >= 32 {
            await_tile(ring, step);
            sum += add(ring, step, t - 32);
            sync_warp(u32::MAX);
            free(ring, step, 0);
            free(ring, step, 1);
        }
    }
    if t >= 32 {
        y.set((cluster_rank() * COLS + t - 32) as usize, sum);
    }
    cluster_sync();
}

#[kernel(block = BLOCK, cluster = 2)]
fn end_faulty(#[shared] ring: &Ring, x: &TensorMap<f32>, y: VecMut<f32>) {
    begin(ring, 4);
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            await_room(ring, step);
            expect(ring, step);
            load(ring, x, step, 3);
        } else if t >= 32 {
            await_tile(ring, step);
            sum += add(ring, step, t - 32);
            sync_warp(u32::MAX);
            free(ring, step, 0); // FAULT: that block may have ended
            free(ring, step, 1); // FAULT
        }
    }
    if t >= 32 {
        y.set((cluster_rank() * COLS + t - 32) as usize, sum);
    }
}

type Sums = simt::Kernel<(TensorMap<f32>, VecMut<'static, f32>)>;

fn sums(bench: &mut Bench, faulty: Sums) -> bool {
    run(bench, faulty, sums_mended, STEPS)
}

fn ring(bench: &mut Bench, faulty: Sums) -> bool {
    run(bench, faulty, ring_mended, STEPS)
}

fn halves(bench: &mut Bench, faulty: Sums) -> bool {
    run(bench, faulty, halves_mended, 1)
}

fn run(bench: &mut Bench, faulty: Sums, mended: Sums, steps: u32) -> bool {
    let (rows, cols) = (2 * steps * ROWS, COLS as usize);
    let x: Vec<f32> = (0..rows * COLS).map(|i| (i % 1009) as f32).collect();
    let expected: Vec<f32> = (0..2 * cols).map(|i| x.iter().skip(i % cols).step_by(cols).sum()).collect();
    let (x, mut y) = (Buffer::new(&x), Buffer::unwritten(2 * cols));
    let boxes = x.matrix(rows, COLS).tma(ROWS, COLS, Swizzle::None);
    bench.launch((faulty, mended), Grid::line(2, BLOCK), (boxes, &mut y));
    y.to_vec() == expected
}

/// One tile, of which each block loads half. Both have been sent for before either is expected.
#[track_caller]
fn tile(ring: &Ring, x: &TensorMap<f32>, mask: u16) {
    if thread_idx_x() == 0 {
        load(ring, x, 0, mask);
    }
    cluster_sync();
}

/// The sums of one tile.
#[kernel(block = BLOCK, cluster = 2)]
fn halves_mended(#[shared] ring: &Ring, x: &TensorMap<f32>, y: VecMut<f32>) {
    begin(ring, 4);
    let t = thread_idx_x();
    tile(ring, x, 3);
    if t == 0 {
        expect(ring, 0);
    } else if t >= 32 {
        await_tile(ring, 0);
        y.set((cluster_rank() * COLS + t - 32) as usize, add(ring, 0, t - 32));
    }
}

#[kernel(block = BLOCK, cluster = 2)]
fn alone_faulty(#[shared] ring: &Ring, x: &TensorMap<f32>, y: VecMut<f32>) {
    begin(ring, 4); // FAULT
    let t = thread_idx_x();
    tile(ring, x, 1 << cluster_rank());
    if t == 0 {
        expect(ring, 0);
    } else if t >= 32 {
        await_tile(ring, 0); // FAULT: the other half comes to the other block
        y.set((cluster_rank() * COLS + t - 32) as usize, add(ring, 0, t - 32));
    }
}

#[kernel(block = BLOCK, cluster = 2)]
fn bytes_faulty(#[shared] ring: &Ring, x: &TensorMap<f32>, y: VecMut<f32>) {
    begin(ring, 4); // FAULT
    let t = thread_idx_x();
    tile(ring, x, 3); // FAULT: half of what comes is expected
    if t == 0 {
        ring.full.arrive_expect_tx(0, BYTES / 2);
    } else if t >= 32 {
        await_tile(ring, 0);
        y.set((cluster_rank() * COLS + t - 32) as usize, add(ring, 0, t - 32));
    }
}

#[kernel(block = BLOCK, cluster = 2)]
fn fence_faulty(#[shared] ring: &Ring, x: &TensorMap<f32>, y: VecMut<f32>) {
    let t = thread_idx_x();
    if t == 0 {
        ring.full.init(0, 1); // FAULT: no fence
    }
    cluster_sync();
    tile(ring, x, 3); // FAULT
    if t == 0 {
        expect(ring, 0);
    } else if t >= 32 {
        await_tile(ring, 0);
        y.set((cluster_rank() * COLS + t - 32) as usize, add(ring, 0, t - 32));
    }
}

#[kernel(block = BLOCK, cluster = 2)]
fn mask_faulty(#[shared] ring: &Ring, x: &TensorMap<f32>, y: VecMut<f32>) {
    begin(ring, 4);
    let t = thread_idx_x();
    tile(ring, x, 7); // FAULT: there are two blocks
    if t == 0 {
        expect(ring, 0);
    } else if t >= 32 {
        await_tile(ring, 0);
        y.set((cluster_rank() * COLS + t - 32) as usize, add(ring, 0, t - 32));
    }
}

/// Rank 0 loads a tile for itself and, of no use to it, for rank 1.
#[kernel(block = BLOCK, cluster = 2)]
fn send_mended(#[shared] ring: &Ring, x: &TensorMap<f32>, y: VecMut<f32>) {
    begin(ring, 4);
    let t = thread_idx_x();
    if t == 0 {
        ring.full.arrive_expect_tx(0, BYTES / 2);
    }
    if cluster_rank() == 0 {
        if t == 0 {
            load(ring, x, 0, 3);
        }
        await_tile(ring, 0);
        if t < COLS {
            y.set(t as usize, ring.stages[0].get(t));
        }
    } else {
        await_tile(ring, 0);
    }
}

#[kernel(block = BLOCK, cluster = 2)]
fn send_faulty(#[shared] ring: &Ring, x: &TensorMap<f32>, y: VecMut<f32>) {
    begin(ring, 4);
    let t = thread_idx_x();
    if t == 0 {
        ring.full.arrive_expect_tx(0, BYTES / 2);
    }
    if cluster_rank() == 0 {
        if t == 0 {
            load(ring, x, 0, 3); // FAULT: rank 1 does not wait for it
        }
        await_tile(ring, 0);
        if t < COLS {
            y.set(t as usize, ring.stages[0].get(t));
        }
    }
}

fn send(bench: &mut Bench, faulty: Sums) -> bool {
    let x: Vec<f32> = (0..BOX).map(|i| i as f32).collect();
    let (boxed, mut y) = (Buffer::new(&x), Buffer::unwritten(COLS as usize));
    let boxes = boxed.matrix(ROWS, COLS).tma(ROWS, COLS, Swizzle::None);
    bench.launch((faulty, send_mended), Grid::line(2, BLOCK), (boxes, &mut y));
    y.to_vec() == x[..COLS as usize]
}

#[repr(C)]
#[derive(Shared)]
struct Bell {
    rings: Mbarriers<1>,
}

/// Each block is greeted by the next one of its cluster, and leaves its rank.
#[kernel(block = 32, cluster = 2)]
fn greet_mended(#[shared] bell: &Bell, y: VecMut<u32>) {
    if thread_idx_x() == 0 {
        bell.rings.init(0, 1);
    }
    cluster_sync();
    if thread_idx_x() == 0 {
        bell.rings.arrive_at(0, (cluster_rank() + 1) % cluster_size());
        bell.rings.wait(0, 0);
        y.set(block_idx_x() as usize, cluster_rank());
    }
}

#[kernel(block = 32, cluster = 2)]
fn greet_faulty(#[shared] bell: &Bell, y: VecMut<u32>) {
    if thread_idx_x() == 0 {
        bell.rings.init(0, 1); // FAULT
    }
    sync_threads();
    if thread_idx_x() == 0 {
        bell.rings.arrive_at(0, (cluster_rank() + 1) % cluster_size()); // FAULT: there may be no mbarrier yet
        y.set(block_idx_x() as usize, cluster_rank());
    }
    cluster_sync();
}

#[kernel(block = 32, cluster = 2)]
fn rank_faulty(#[shared] bell: &Bell, y: VecMut<u32>) {
    if thread_idx_x() == 0 {
        bell.rings.init(0, 1);
    }
    cluster_sync();
    if thread_idx_x() == 0 {
        bell.rings.arrive_at(0, cluster_rank() + 1); // FAULT: the last rank has no next one
        y.set(block_idx_x() as usize, cluster_rank());
    }
    cluster_sync();
}

fn greet(bench: &mut Bench, faulty: simt::Kernel<(VecMut<'static, u32>,)>) -> bool {
    let mut y = Buffer::unwritten(6);
    bench.launch((faulty, greet_mended), Grid::line(6, 32), (&mut y,));
    y.to_vec() == [0, 1, 0, 1, 0, 1]
}

/// The element of `x` that the thread fetches: the one opposite to its own, of the other block.
fn theirs() -> usize {
    ((block_idx_x() ^ 1) * 32 + 31 - thread_idx_x()) as usize
}

/// Two turns in which each thread doubles what the one opposite in the other block has.
#[kernel(block = 32, cluster = 2)]
fn exchange_mended(x: VecMut<u32>) {
    for _ in 0..2 {
        let value = 2 * x.get(theirs());
        cluster_sync();
        x.set(index_1d(), value);
        cluster_sync();
    }
}

#[kernel(block = 32, cluster = 2)]
fn exchange_faulty(x: VecMut<u32>) {
    for _ in 0..2 {
        let value = 2 * x.get(theirs()); // FAULT
        sync_threads();
        x.set(index_1d(), value); // FAULT
        cluster_sync();
    }
}

#[kernel(block = 32, cluster = 2)]
fn turn_faulty(x: VecMut<u32>) {
    for _ in 0..2 {
        let value = 2 * x.get(theirs()); // FAULT
        cluster_sync();
        x.set(index_1d(), value); // FAULT
    }
}

#[kernel(block = 32, cluster = 2)]
fn places_faulty(x: VecMut<u32>) {
    for _ in 0..2 {
        let value = 2 * x.get(theirs());
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
    let value = 2 * x.get(theirs());
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
    bench.launch((faulty, exchange_mended), Grid::line(4, 32), (&mut y,));
    y.to_vec() == x.iter().map(|x| 4 * x).collect::<Vec<_>>()
}
