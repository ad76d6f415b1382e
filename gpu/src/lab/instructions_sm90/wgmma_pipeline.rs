//! A pipeline of stages between a producer warpgroup that issues TMA loads and consumer warpgroups that issue `wgmma`:
//! a minimal GEMM main loop.

use half::bf16;
use simt::{
    mbarrier::{Mbarriers, fence_mbarrier_init},
    prelude::*,
    tma::{TensorMap, load_2d},
    warpgroup::{WARPGROUP_SIZE, warpgroup_id},
    wgmma::{Accumulators, KMajor, Operand, Swizzle},
};

/// Consumer warpgroups, 64 rows of C each.
pub const CONSUMERS: u32 = 2;

/// Threads of a block: the producer warpgroup, then the consumers.
pub const BLOCK: u32 = WARPGROUP_SIZE * (1 + CONSUMERS);

/// Stages: pairs of boxes in flight or in use.
const STAGES: u32 = 2;

/// Rows of C, and of a box of A.
pub const ROWS: u32 = 64 * CONSUMERS;

/// Columns of C: rows of B, and of a box of it.
pub const COLS: u32 = 32;

/// Extent along k of a box: 128 bytes.
pub const DEPTH: u32 = 64;

/// Bytes from 8 rows of a box to the next 8.
const STRIDE: u32 = 8 * 128;

/// The stages, each with an mbarrier for "full" and one for "empty".
#[repr(C, align(1024))]
#[derive(Shared)]
pub struct Pipeline {
    a: [SharedArray<bf16, { (ROWS * DEPTH) as usize }>; STAGES as usize],
    b: [SharedArray<bf16, { (COLS * DEPTH) as usize }>; STAGES as usize],
    full: Mbarriers<{ STAGES as usize }>,
    empty: Mbarriers<{ STAGES as usize }>,
}

/// `c` ([`ROWS`] × [`COLS`]) becomes `a` ([`ROWS`] × k) times the transpose of `b` ([`COLS`] × k), in `steps` steps of
/// [`DEPTH`] along k. TMA boxes have these shapes and [`Swizzle::B128`]. One block.
///
/// One `wgmma` group stays in flight while its warpgroup waits for the operands of the next; the group before it is
/// then complete, and its stage is released.
#[kernel(block = (BLOCK), min_blocks = 1, barriers = 1)]
pub fn wgmma_pipeline(
    #[shared] pipeline: &Pipeline,
    a: &TensorMap<bf16>,
    b: &TensorMap<bf16>,
    steps: u32,
    c: MatMut<f32>,
) {
    let t = thread_idx_x();
    if t == 0 {
        for stage in 0..STAGES {
            pipeline.full.init(stage, 1);
            pipeline.empty.init(stage, CONSUMERS);
        }
        fence_mbarrier_init();
    }
    sync_threads();

    let warpgroup = warpgroup_id();
    if warpgroup == 0 {
        if t == 0 {
            let (mut stage, mut parity) = (0, 1);
            for step in 0..steps {
                pipeline.empty.wait(stage, parity);
                pipeline.full.arrive_expect_tx(stage, (ROWS + COLS) * DEPTH * 2);
                let (at, full) = ([(step * DEPTH) as i32, 0], pipeline.full.at(stage));
                load_2d(pipeline.a[stage as usize].slot::<{ (ROWS * DEPTH) as usize }>(0), a, at, full);
                load_2d(pipeline.b[stage as usize].slot::<{ (COLS * DEPTH) as usize }>(0), b, at, full);
                (stage, parity) = next(stage, parity);
            }
        }
        return;
    }

    let consumer = warpgroup - 1;
    let mut d = Accumulators::<{ COLS as usize }>::zeroed();
    let (mut stage, mut parity) = (0, 0);
    for step in 0..steps {
        pipeline.full.wait(stage, parity);
        // No bounds check of the stage remains here, and `advance` has none: before a trap, the compiler would wait for
        // the `wgmma` group in flight.
        let of_a = Operand::new(pipeline.a[stage as usize].slot::<8>(0), 0, STRIDE, Swizzle::B128);
        let of_a = of_a.advance(consumer * 8 * STRIDE);
        let of_b = Operand::new(pipeline.b[stage as usize].slot::<8>(0), 0, STRIDE, Swizzle::B128);
        d.multiply::<bf16, 4, KMajor, KMajor, 1>(of_a, of_b, step == 0);
        // The group of the previous step is complete for the whole warpgroup, so one thread may release its stage.
        if t.is_multiple_of(WARPGROUP_SIZE) && step > 0 {
            pipeline.empty.arrive(if stage == 0 { STAGES - 1 } else { stage - 1 });
        }
        (stage, parity) = next(stage, parity);
    }
    d.wait::<0>();
    let (row, col) = Accumulators::<{ COLS as usize }>::position(0);
    d.for_each_8_columns(|first, [a, b, e, f]| {
        c.set_within(consumer * 64 + row, first + col, a);
        c.set_within(consumer * 64 + row, first + col + 1, b);
        c.set_within(consumer * 64 + row + 8, first + col, e);
        c.set_within(consumer * 64 + row + 8, first + col + 1, f);
    });
}

/// The next stage, and the parity of the phase to wait for there.
#[cfg_attr(optimised, inline(always))]
fn next(stage: u32, parity: u32) -> (u32, u32) {
    if stage + 1 == STAGES { (0, parity ^ 1) } else { (stage + 1, parity) }
}
