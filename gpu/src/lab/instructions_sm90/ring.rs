//! A ring of stages between one warp that has boxes loaded and others that use them.

use simt::{
    mbarrier::{Mbarriers, fence_mbarrier_init},
    prelude::*,
    tma::{TensorMap, load_2d},
    warp::sync_warp,
};

/// Warps that use boxes.
pub const CONSUMERS: u32 = 2;

/// Threads of a block: a warp that loads, then the consumers.
pub const BLOCK: u32 = 32 + 32 * CONSUMERS;

/// TmaTensor in flight or in use.
pub const STAGES: u32 = 3;

/// Columns of a box, one per consuming thread; a box has [`ROWS`] rows.
pub const COLS: u32 = 32 * CONSUMERS;

/// Rows of a box.
pub const ROWS: u32 = 8;

/// Elements of a box.
pub const BOX: usize = (ROWS * COLS) as usize;

/// The stages, and for each an mbarrier that says it is full and one that says all have done with it.
#[repr(C, align(128))]
#[derive(Shared)]
pub struct Ring {
    stages: [SharedArray<f32, BOX>; STAGES as usize],
    full: Mbarriers<{ STAGES as usize }>,
    empty: Mbarriers<{ STAGES as usize }>,
}

/// `sums[c]` becomes the sum of column c of `x`, for the [`COLS`] columns of this block, added from top to bottom. `x` has
/// `rows` rows and is cut into boxes of [`ROWS`] × [`COLS`]. One block per [`COLS`] columns.
#[kernel(block = (BLOCK), barriers = 1)]
pub fn box_ring_sums(#[shared] ring: &Ring, x: &TensorMap<f32>, rows: u32, sums: VecMut<f32>) {
    let t = thread_idx_x();
    if t == 0 {
        for stage in 0..STAGES {
            ring.full.init(stage, 1);
            ring.empty.init(stage, CONSUMERS);
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
                ring.empty.wait(stage, parity);
                ring.full.arrive_expect_tx(stage, (BOX * 4) as u32);
                let at = [left as i32, (step * ROWS) as i32];
                load_2d(ring.stages[stage as usize].slot::<BOX>(0), x, at, ring.full.at(stage));
                (stage, parity) = next(stage, parity);
            }
        }
        return;
    }

    let col = t - 32;
    let mut sum = 0.0;
    let (mut stage, mut parity) = (0, 0);
    for _ in 0..steps {
        ring.full.wait(stage, parity);
        for row in 0..ROWS {
            sum += ring.stages[stage as usize].get(row * COLS + col);
        }
        // All lanes have read before one of them says so.
        sync_warp(u32::MAX);
        if col.is_multiple_of(32) {
            ring.empty.arrive(stage);
        }
        (stage, parity) = next(stage, parity);
    }
    sums.set_within((left + col) as usize, sum);
}

/// The next stage, and the parity of the phase to wait for there.
#[inline(always)]
fn next(stage: u32, parity: u32) -> (u32, u32) {
    if stage + 1 == STAGES { (0, parity ^ 1) } else { (stage + 1, parity) }
}
