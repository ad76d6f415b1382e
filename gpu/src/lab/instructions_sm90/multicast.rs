//! Multicast TMA loads: boxes that blocks of a cluster load for each other.

use simt::{
    cluster::{cluster_rank, cluster_sync},
    mbarrier::{Mbarriers, fence_mbarrier_init},
    prelude::*,
    sync::fence_proxy_async,
    tma::{TensorMap, load_2d_multicast, load_3d_multicast},
    warp::sync_warp,
};

/// Consumer warps.
pub const CONSUMERS: u32 = 2;

/// Threads of a block: a producer warp, then the consumers.
pub const BLOCK: u32 = 32 + 32 * CONSUMERS;

/// Stages: tiles in flight or in use.
pub const STAGES: u32 = 3;

/// Columns of a tile, one per consuming thread.
pub const COLS: u32 = 32 * CONSUMERS;

/// Rows of a box, which is half of a tile.
pub const ROWS: u32 = 8;

/// Elements of a box.
pub const BOX: usize = (ROWS * COLS) as usize;

/// Elements of a tile: one box from each block.
const TILE: usize = 2 * BOX;

/// The stages, each with an mbarrier for "full" and one for "empty", on which the consumers of both blocks arrive.
#[repr(C, align(128))]
#[derive(Shared)]
pub struct Pipeline {
    stages: [SharedArray<f32, TILE>; STAGES as usize],
    full: Mbarriers<{ STAGES as usize }>,
    empty: Mbarriers<{ STAGES as usize }>,
}

/// `sums[r · cols + c]`, for rank r of a cluster, becomes the sum of column c of `x`, added from top to bottom, for the
/// [`COLS`] columns of this cluster. `x` has `cols` columns, a multiple of [`COLS`], and `rows` rows, and is divided
/// into boxes of [`ROWS`] × [`COLS`]. Each block loads one of every two boxes for both blocks. One cluster per [`COLS`]
/// columns.
#[kernel(block = (BLOCK), cluster = 2, barriers = 2)]
pub fn multicast_pipeline_sums(
    #[shared] pipeline: &Pipeline,
    x: &TensorMap<f32>,
    rows: u32,
    cols: u32,
    sums: VecMut<f32>,
) {
    let t = thread_idx_x();
    if t == 0 {
        for stage in 0..STAGES {
            pipeline.full.init(stage, 1);
            pipeline.empty.init(stage, 2 * CONSUMERS);
        }
        fence_mbarrier_init();
    }
    cluster_sync();

    let rank = cluster_rank() % 2;
    let steps = rows.div_ceil(2 * ROWS);
    let left = block_idx_x() / 2 * COLS;
    if t == 0 {
        let (mut stage, mut parity) = (0, 1);
        for step in 0..steps {
            // The consumers of both blocks have released the stage, which this block loads in both.
            pipeline.empty.wait(stage, parity);
            pipeline.full.arrive_expect_tx(stage, (TILE * 4) as u32);
            let at = [left as i32, ((2 * step + rank) * ROWS) as i32];
            let slot = pipeline.stages[stage as usize].slot::<BOX>(rank * BOX as u32);
            load_2d_multicast(slot, x, at, pipeline.full.at(stage), 0b11);
            (stage, parity) = next(stage, parity);
        }
    } else if t >= 32 {
        let col = t - 32;
        let mut sum = 0.0;
        let (mut stage, mut parity) = (0, 0);
        for _ in 0..steps {
            pipeline.full.wait(stage, parity);
            for row in 0..2 * ROWS {
                sum += pipeline.stages[stage as usize].get(row * COLS + col);
            }
            // All lanes have read before one of them arrives, in both blocks: TMA must not overtake a load.
            fence_proxy_async();
            sync_warp(u32::MAX);
            if col.is_multiple_of(32) {
                pipeline.empty.arrive_at(stage, 0);
                pipeline.empty.arrive_at(stage, 1);
            }
            (stage, parity) = next(stage, parity);
        }
        sums.set_within((rank * cols + left + col) as usize, sum);
    }
    // The other block may still arrive on this block's mbarriers.
    cluster_sync();
}

/// The next stage, and the parity of the phase to wait for there.
#[cfg_attr(optimised, inline(always))]
fn next(stage: u32, parity: u32) -> (u32, u32) {
    if stage + 1 == STAGES { (0, parity ^ 1) } else { (stage + 1, parity) }
}

/// Threads of a block of [`multicast_planes`].
pub const PLANE_BLOCK: u32 = 32;

/// Columns and rows of a plane's box.
pub const PLANE: (u32, u32) = (16, 4);

/// Elements of a plane's box.
pub const PLANE_BOX: usize = (PLANE.0 * PLANE.1) as usize;

/// Blocks of a cluster of [`multicast_planes`].
pub const PLANE_CLUSTER: u32 = 4;

/// A plane from each block of the cluster.
#[repr(C, align(128))]
#[derive(Shared)]
pub struct Planes {
    planes: [SharedArray<f32, PLANE_BOX>; PLANE_CLUSTER as usize],
    full: Mbarriers<1>,
}

/// Rank r of a cluster loads the box at (0, 0, block x) of `x` for itself and for rank r + 1 (rank 0 after the last).
/// `y[2 · block x ·`[`PLANE_BOX`]`…]` becomes this block's own box, then that of rank r − 1.
#[kernel(block = (PLANE_BLOCK), cluster = PLANE_CLUSTER, barriers = 1)]
pub fn multicast_planes(#[shared] shared: &Planes, x: &TensorMap<f32>, y: VecMut<f32>) {
    let (t, rank) = (thread_idx_x(), cluster_rank() % PLANE_CLUSTER);
    let (next, last) = ((rank + 1) % PLANE_CLUSTER, (rank + PLANE_CLUSTER - 1) % PLANE_CLUSTER);
    if t == 0 {
        shared.full.init(0, 1);
        fence_mbarrier_init();
    }
    cluster_sync();
    if t == 0 {
        shared.full.arrive_expect_tx(0, 2 * (PLANE_BOX * 4) as u32);
        let slot = shared.planes[rank as usize].slot::<PLANE_BOX>(0);
        load_3d_multicast(slot, x, [0, 0, block_idx_x() as i32], shared.full.at(0), 1 << rank | 1 << next);
    }
    shared.full.wait(0, 0);
    // No other block accesses a block that has received both boxes, so it may exit.
    let start = block_idx_x() as usize * 2 * PLANE_BOX;
    for i in [t, t + PLANE_BLOCK] {
        y.set_within(start + i as usize, shared.planes[rank as usize].get(i));
        y.set_within(start + PLANE_BOX + i as usize, shared.planes[last as usize].get(i));
    }
}
