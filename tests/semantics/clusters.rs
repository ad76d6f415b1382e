//! Clusters: ranks, what the cluster barrier orders, arrivals and TMA loads from other blocks.

use crate::{schedules, silent};
use simt::cluster::{cluster_rank, cluster_size, cluster_sync};
use simt::matrix::Tf32;
use simt::mbarrier::{Mbarriers, fence_mbarrier_init};
use simt::prelude::*;
use simt::sync::fence_proxy_async;
use simt::tma::{Swizzle, TensorMap, load_2d, load_2d_multicast};
use simt::warp::sync_warp;
use simt::warpgroup::{WARPGROUP_SIZE, warpgroup_id};
use simt::wgmma::{Accumulators, KMajor, Operand};
use simulator::{Config, Level, device};
use warpwright_tests::sim::{Buffer, Grid, launch};

/// Stores rank and size.
#[kernel(block = 32, cluster = 3)]
fn ranks(y: VecMut<u32>) {
    let block = (block_idx_z() * grid_dim_y() + block_idx_y()) * grid_dim_x() + block_idx_x();
    if thread_idx_x() == 0 {
        y.set(block as usize, 10 * cluster_size() + cluster_rank());
    }
}

#[test]
fn neighbours_along_x_are_a_cluster() {
    for config in schedules(5) {
        let mut y = Buffer::unwritten(36);
        let grid = Grid::new([6, 3, 2], [32, 1, 1]);
        silent(&launch(&config, ranks, grid, (&mut y,)).unwrap(), &config);
        assert_eq!(y.to_vec(), (0..36).map(|block| 30 + block % 3).collect::<Vec<u32>>(), "{config:?}");
    }
    assert_eq!((device::cluster_rank(), device::cluster_size()), (0, 1), "outside a launch");
}

#[test]
fn a_grid_must_be_whole_clusters() {
    let mut y = Buffer::unwritten(36);
    let error = launch(&Config::default(), ranks, Grid::line(4, 32), (&mut y,)).unwrap_err().to_string();
    assert!(error.contains("clusters of 3 in a grid of 4 blocks along x"), "{error}");
}

/// [`simt::cluster`] in a kernel without clusters.
#[kernel(block = 64)]
fn alone(#[shared] words: DynShared<u32>, y: VecMut<u32>) {
    words.set(thread_idx_x(), thread_idx_x() + cluster_rank());
    cluster_sync();
    y.set(index_1d(), words.get(63 - thread_idx_x()) + cluster_size());
}

#[test]
fn a_block_without_a_cluster_is_a_cluster_of_one() {
    for config in schedules(10) {
        let mut y = Buffer::unwritten(128);
        let grid = Grid::line(2, 64).shared(256);
        silent(&launch(&config, alone, grid, (&mut y,)).unwrap(), &config);
        assert_eq!(y.to_vec(), (0..128).map(|i| 64 - i % 64).collect::<Vec<u32>>(), "{config:?}");
    }
}

/// Blocks pass numbers on in global memory, by ordinary accesses. Some threads exit at the start, some before the end.
#[kernel(block = 96, cluster = 4)]
fn round(x: VecMut<u32>) {
    let (t, rank) = (thread_idx_x(), cluster_rank());
    if t == 95 || rank == 2 && t >= 64 {
        return;
    }
    let at = |rank: u32| ((block_idx_x() - cluster_rank() + rank) * 32 + t) as usize;
    if t < 32 {
        x.set(at(rank), 100 * rank + t);
    }
    for turn in 0..5 {
        cluster_sync();
        let value = if t < 32 { x.get(at((rank + 1) % 4)) + 1 } else { 0 };
        cluster_sync();
        if t < 32 {
            x.set(at(rank), value);
        } else if turn == 3 {
            return;
        }
    }
}

#[test]
fn the_barrier_of_the_cluster_orders_its_blocks() {
    for mut config in schedules(30) {
        for level in [Level::Off, Level::Checks, Level::Counters] {
            config.level = level;
            let mut x = Buffer::unwritten(12 * 32);
            silent(&launch(&config, round, Grid::line(12, 96), (&mut x,)).unwrap(), &config);
            let expected = (0..12 * 32).map(|i| 100 * ((i / 32 + 5) % 4) + i % 32 + 5);
            assert_eq!(x.to_vec(), expected.collect::<Vec<u32>>(), "{config:?}");
        }
    }
}

/// Block 0 writes and meets block 1 at the cluster barrier; block 1 then sets a flag for the other cluster.
#[kernel(block = 32, cluster = 2)]
fn relay(x: VecMut<u32>, flag: VecMut<u32>, y: VecMut<u32>) {
    let (t, block) = (thread_idx_x(), block_idx_x());
    if block == 0 {
        x.set(t as usize, 3 * t);
    }
    cluster_sync();
    if t == 0 && block == 1 {
        flag.atomic(0).store(1, Order::Release, Scope::Device);
    }
    if t == 0 && block == 2 {
        while flag.atomic(0).load(Order::Acquire, Scope::Device) == 0 {}
    }
    cluster_sync();
    if block == 3 {
        y.set(t as usize, x.get(t as usize));
    }
}

#[test]
fn atomics_pass_on_the_order_of_a_cluster_barrier() {
    for mut config in schedules(30) {
        for level in [Level::Off, Level::Checks] {
            config.level = level;
            let (mut x, mut flag, mut y) = (Buffer::unwritten(32), Buffer::new(&[0]), Buffer::unwritten(32));
            let outcome = launch(&config, relay, Grid::line(4, 32), (&mut x, &mut flag, &mut y)).unwrap();
            silent(&outcome, &config);
            assert_eq!(y.to_vec(), (0..32).map(|t| 3 * t).collect::<Vec<u32>>(), "{config:?}");
        }
    }
}

/// Columns, one per adding thread; rows of a box; boxes of a tile; stages.
const COLS: u32 = 64;
const ROWS: u32 = 4;
const BOX: usize = 256;
const STAGES: u32 = 2;
const BOX_BYTES: u32 = 1024;

#[repr(C, align(128))]
#[derive(Shared)]
struct Ring {
    stages: [SharedArray<f32, 1024>; STAGES as usize],
    full: Mbarriers<2>,
    empty: Mbarriers<2>,
}

/// Initialises the mbarriers, with so many arrivals.
fn begin(ring: &Ring, filling: u32, freeing: u32) {
    if thread_idx_x() == 0 {
        for stage in 0..STAGES {
            ring.full.init(stage, filling);
            ring.empty.init(stage, freeing);
        }
        fence_mbarrier_init();
    }
    cluster_sync();
}

/// A thread's column in the tile of a stage of so many rows.
fn column(ring: &Ring, stage: u32, rows: u32) -> f32 {
    let at = |row| row * COLS + thread_idx_x() - 32;
    let sum = (0..rows).fold(0.0, |sum, row| sum + ring.stages[stage as usize].get(at(row)));
    // TMA will write there again.
    fence_proxy_async();
    sum
}

/// Each of 4 blocks multicasts a quarter of each tile. Every warp that has read a tile arrives at all blocks.
#[kernel(block = 96, cluster = 4)]
fn quarters(#[shared] ring: &Ring, x: &TensorMap<f32>, steps: u32, y: VecMut<f32>) {
    begin(ring, 1, 8);
    let (t, rank) = (thread_idx_x(), cluster_rank());
    if t == 0 {
        for step in 0..steps {
            let stage = step % STAGES;
            ring.empty.wait(stage, (step / STAGES + 1) % 2);
            ring.full.arrive_expect_tx(stage, 4 * BOX_BYTES);
            let place = ring.stages[stage as usize].slot::<BOX>(rank * BOX as u32);
            load_2d_multicast(place, x, [0, ((4 * step + rank) * ROWS) as i32], ring.full.at(stage), 15);
        }
    } else if t >= 32 {
        let mut sum = 0.0;
        for step in 0..steps {
            let stage = step % STAGES;
            ring.full.wait(stage, step / STAGES % 2);
            sum += column(ring, stage, 4 * ROWS);
            sync_warp(u32::MAX);
            if t < 36 || (64..68).contains(&t) {
                ring.empty.arrive_at(stage, t % 4);
            }
        }
        y.set((rank * COLS + t - 32) as usize, sum);
    }
    cluster_sync();
}

/// The first block loads each tile for both. The second arrives when it is ready for the next; threads that have read a
/// tile arrive at the first alone.
#[kernel(block = 96, cluster = 2)]
fn leader(#[shared] ring: &Ring, x: &TensorMap<f32>, steps: u32, y: VecMut<f32>) {
    begin(ring, 1, 4);
    let (t, rank) = (thread_idx_x(), cluster_rank());
    // In the first phases no load can have been issued yet: the barrier comes after them.
    if t == 32 {
        (0..STAGES).for_each(|stage| ring.full.arrive_expect_tx(stage, BOX_BYTES));
    }
    cluster_sync();
    if t == 0 && rank == 0 {
        for step in 0..steps {
            let stage = step % STAGES;
            ring.empty.wait(stage, (step / STAGES + 1) % 2);
            let place = ring.stages[stage as usize].slot::<BOX>(0);
            load_2d_multicast(place, x, [0, (step * ROWS) as i32], ring.full.at(stage), 3);
        }
    } else if t >= 32 {
        let mut sum = 0.0;
        for step in 0..steps {
            let stage = step % STAGES;
            ring.full.wait(stage, step / STAGES % 2);
            sum += column(ring, stage, ROWS);
            // The next phase's bytes are expected before the first block hears that they may come.
            if t == 32 && step + STAGES < steps {
                ring.full.arrive_expect_tx(stage, BOX_BYTES);
            }
            sync_warp(u32::MAX);
            if t % 32 == 0 {
                ring.empty.arrive_at(stage, 0);
            }
        }
        y.set((rank * COLS + t - 32) as usize, sum);
        // Phases that nobody fills: none is left open.
    }
    cluster_sync();
}

/// Each block loads its own tiles, but is released by the other one: threads that have read a tile arrive at the other
/// block, whose thread 1 passes the arrival on.
#[kernel(block = 96, cluster = 2)]
fn detour(#[shared] ring: &Ring, x: &TensorMap<f32>, steps: u32, y: VecMut<f32>) {
    // `empty` has two phases per tile: the arrivals of two warps of the other block, then that of its thread 1.
    begin(ring, 1, 2);
    let (t, rank) = (thread_idx_x(), cluster_rank());
    let (mine, others) = (0, 1);
    if t == 0 {
        for step in 0..steps {
            if step > 0 {
                ring.empty.wait(mine, (step - 1) % 2);
            }
            ring.full.arrive_expect_tx(0, BOX_BYTES);
            load_2d(ring.stages[0].slot::<BOX>(0), x, [0, (step * ROWS) as i32], ring.full.at(0));
        }
    } else if t == 1 {
        for step in 0..steps {
            ring.empty.wait(others, step % 2);
            ring.empty.arrive_at(mine, 1 - rank);
            ring.empty.arrive_at(mine, 1 - rank);
        }
    } else if t >= 32 {
        let mut sum = 0.0;
        for step in 0..steps {
            ring.full.wait(0, step % 2);
            sum += column(ring, 0, ROWS);
            sync_warp(u32::MAX);
            if t % 32 == 0 {
                ring.empty.arrive_at(others, 1 - rank);
            }
        }
        y.set((rank * COLS + t - 32) as usize, sum);
    }
    cluster_sync();
}

/// A load by the other block may overwrite what a block has written by ordinary stores, after a fence and the barrier.
#[kernel(block = 96, cluster = 2)]
fn overwritten(#[shared] ring: &Ring, x: &TensorMap<f32>, _steps: u32, y: VecMut<f32>) {
    let (t, rank) = (thread_idx_x(), cluster_rank());
    ring.stages[0].set(t, -1.0);
    fence_proxy_async();
    begin(ring, 1, 1);
    if t == 0 {
        ring.full.arrive_expect_tx(0, BOX_BYTES);
        let mask = 1 << (1 - rank);
        load_2d_multicast(ring.stages[0].slot::<BOX>(0), x, [0, 0], ring.full.at(0), mask);
    }
    ring.full.wait(0, 0);
    if t >= 32 {
        y.set((rank * COLS + t - 32) as usize, column(ring, 0, ROWS));
    }
}

type Sums = simt::Kernel<(TensorMap<'static, f32>, u32, VecMut<'static, f32>)>;

/// Checks the sums of the columns of `boxes` boxes in `steps` steps that each block of a cluster stores; two clusters.
fn sums(kernel: Sums, blocks: u32, boxes: u32, steps: u32) {
    let rows = boxes * ROWS;
    let x: Vec<f32> = (0..rows * COLS).map(|i| (i % 1009) as f32).collect();
    let cols = COLS as usize;
    let expected: Vec<f32> = (0..blocks as usize * cols).map(|i| x.iter().skip(i % cols).step_by(cols).sum()).collect();
    let x = Buffer::new(&x);
    for mut config in schedules(40) {
        for level in [Level::Off, Level::Checks] {
            config.level = level;
            let mut y = Buffer::unwritten(expected.len());
            let map = x.matrix(rows, COLS).tma(ROWS, COLS, Swizzle::None);
            silent(&launch(&config, kernel, Grid::line(blocks, 96), (map, steps, &mut y)).unwrap(), &config);
            assert_eq!(y.to_vec(), expected, "{config:?}");
        }
    }
}

#[test]
fn four_blocks_load_for_each_other() {
    for steps in [1, 2, 3, 9] {
        sums(quarters, 4, 4 * steps, steps);
    }
}

#[test]
fn one_block_loads_for_two() {
    for steps in [2, 3, 10] {
        sums(leader, 2, steps, steps);
    }
}

#[test]
fn order_of_a_block_reaches_it_through_another() {
    for steps in [1, 2, 7] {
        sums(detour, 2, steps, steps);
    }
}

#[test]
fn a_load_may_go_to_the_other_block_alone() {
    sums(overwritten, 2, 1, 1);
}

/// Rows of A of a block, columns of C, extent along k of a box.
const A_ROWS: usize = 64;
const B_ROWS: usize = 32;
const DEPTH: usize = 32;

#[repr(C, align(1024))]
#[derive(Shared)]
struct Operands {
    a: [SharedArray<f32, { A_ROWS * DEPTH }>; STAGES as usize],
    b: [SharedArray<f32, { B_ROWS * DEPTH }>; STAGES as usize],
    full: Mbarriers<2>,
    empty: Mbarriers<2>,
}

/// C = A·Bᵀ; each block of a cluster has 64 rows of C, loads its rows of A, and multicasts half of B. A product still
/// reads one stage when the stage before is released.
#[kernel(block = 256, cluster = 2)]
fn product(#[shared] ring: &Operands, a: &TensorMap<f32>, b: &TensorMap<f32>, steps: u32, c: MatMut<f32>) {
    let (t, rank, warpgroup) = (thread_idx_x(), cluster_rank(), warpgroup_id());
    if t == 0 {
        for stage in 0..STAGES {
            ring.full.init(stage, 1);
            ring.empty.init(stage, 2);
        }
        fence_mbarrier_init();
    }
    cluster_sync();
    if t == 0 {
        for step in 0..steps {
            let stage = step % STAGES;
            ring.empty.wait(stage, (step / STAGES + 1) % 2);
            ring.full.arrive_expect_tx(stage, ((A_ROWS + B_ROWS) * DEPTH * 4) as u32);
            let left = step as i32 * DEPTH as i32;
            let (to_a, to_b) = (&ring.a[stage as usize], &ring.b[stage as usize]);
            load_2d(to_a.slot::<{ A_ROWS * DEPTH }>(0), a, [left, rank as i32 * 64], ring.full.at(stage));
            let half = to_b.slot::<{ B_ROWS * DEPTH / 2 }>(rank * (B_ROWS * DEPTH / 2) as u32);
            load_2d_multicast(half, b, [left, rank as i32 * 16], ring.full.at(stage), 3);
        }
    } else if warpgroup == 1 {
        let mut d = Accumulators::<B_ROWS>::zeroed();
        for step in 0..steps {
            let stage = step % STAGES;
            ring.full.wait(stage, step / STAGES % 2);
            let of_a = Operand::new(ring.a[stage as usize].slot::<4>(0), 0, 1024, Swizzle::B128);
            let of_b = Operand::new(ring.b[stage as usize].slot::<4>(0), 0, 1024, Swizzle::B128);
            d.multiply::<Tf32, 4, KMajor, KMajor, 1>(of_a, of_b, step == 0);
            if t.is_multiple_of(WARPGROUP_SIZE) && step > 0 {
                let before = (step - 1) % STAGES;
                ring.empty.arrive_at(before, 0);
                ring.empty.arrive_at(before, 1);
            }
        }
        d.wait::<0>();
        d.for_each(|i, value| {
            let (row, col) = Accumulators::<B_ROWS>::position(i);
            c.set(rank * 64 + row, col, value);
        });
    }
    cluster_sync();
}

#[test]
fn products_of_multicast_operands() {
    let (rows, cols) = (2 * A_ROWS, B_ROWS);
    for steps in [1, 2, 5] {
        let k = steps * DEPTH;
        let small = |n: usize, of: usize| (0..n).map(|i| (i % of) as f32 - 3.0).collect::<Vec<f32>>();
        let (a, b) = (small(rows * k, 7), small(cols * k, 11));
        let element = |i: usize| (0..k).map(|j| a[i / cols * k + j] * b[i % cols * k + j]).sum::<f32>();
        let expected: Vec<f32> = (0..rows * cols).map(element).collect();
        let (a, b) = (Buffer::new(&a), Buffer::new(&b));
        for config in schedules(20) {
            let mut c = Buffer::unwritten(rows * cols);
            let of_a = a.matrix(rows as u32, k as u32).tma(A_ROWS as u32, DEPTH as u32, Swizzle::B128);
            let of_b = b.matrix(cols as u32, k as u32).tma(B_ROWS as u32 / 2, DEPTH as u32, Swizzle::B128);
            let arguments = (of_a, of_b, steps as u32, c.matrix_mut(rows as u32, cols as u32));
            silent(&launch(&config, product, Grid::line(2, 256), arguments).unwrap(), &config);
            assert_eq!(c.to_vec(), expected, "{config:?}");
        }
    }
}
