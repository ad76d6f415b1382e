//! A pipeline of stages between a producer warp that issues TMA loads and consumer warps.

use simt::{
    mbarrier::{Mbarriers, fence_mbarrier_init},
    prelude::*,
    sync::fence_proxy_async,
    tma::{TensorMap, load_2d},
    warp::sync_warp,
};

/// Consumer warps.
pub const CONSUMERS: u32 = 2;

/// Threads of a block: the producer warp, then the consumers.
pub const BLOCK: u32 = 32 + 32 * CONSUMERS;

/// Stages: boxes in flight or in use.
pub const STAGES: u32 = 3;

/// Columns of a box, one per consuming thread; a box has [`ROWS`] rows.
pub const COLS: u32 = 32 * CONSUMERS;

/// Rows of a box.
pub const ROWS: u32 = 8;

/// Elements of a box.
pub const BOX: usize = (ROWS * COLS) as usize;

/// The stages, each with an mbarrier for "full" and one for "empty".
#[repr(C, align(128))]
#[derive(Shared)]
pub struct Pipeline {
    stages: [SharedArray<f32, BOX>; STAGES as usize],
    full: Mbarriers<{ STAGES as usize }>,
    empty: Mbarriers<{ STAGES as usize }>,
}

/// `sums[c]` becomes the sum of column c of `x`, for the [`COLS`] columns of this block, added from top to bottom. `x`
/// has `rows` rows and is divided into boxes of [`ROWS`] × [`COLS`]. One block per [`COLS`] columns.
#[kernel(block = (BLOCK), barriers = 1)]
pub fn tma_pipeline_sums(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, rows: u32, sums: VecMut<f32>) {
    let t = thread_idx_x();
    if t == 0 {
        for stage in 0..STAGES {
            pipeline.full.init(stage, 1);
            pipeline.empty.init(stage, CONSUMERS);
        }
        fence_mbarrier_init();
    }
    sync_threads();

    let steps = rows.div_ceil(ROWS);
    let left = block_idx_x() * COLS;
    if t < 32 {
        if t == 0 {
            let (mut stage, mut parity) = (0, 1);
            for step in 0..steps {
                pipeline.empty.wait(stage, parity);
                pipeline.full.arrive_expect_tx(stage, (BOX * 4) as u32);
                let at = [left as i32, (step * ROWS) as i32];
                load_2d(pipeline.stages[stage as usize].slot::<BOX>(0), x, at, pipeline.full.at(stage));
                (stage, parity) = next(stage, parity);
            }
        }
        return;
    }

    let col = t - 32;
    let mut sum = 0.0;
    let (mut stage, mut parity) = (0, 0);
    for _ in 0..steps {
        pipeline.full.wait(stage, parity);
        for row in 0..ROWS {
            sum += pipeline.stages[stage as usize].get(row * COLS + col);
        }
        // All lanes have read before one of them arrives: TMA must not overtake a load.
        fence_proxy_async();
        sync_warp(u32::MAX);
        if col.is_multiple_of(32) {
            pipeline.empty.arrive(stage);
        }
        (stage, parity) = next(stage, parity);
    }
    sums.set_within((left + col) as usize, sum);
}

/// The next stage, and the parity of the phase to wait for there.
#[cfg_attr(optimised, inline(always))]
fn next(stage: u32, parity: u32) -> (u32, u32) {
    if stage + 1 == STAGES { (0, parity ^ 1) } else { (stage + 1, parity) }
}
