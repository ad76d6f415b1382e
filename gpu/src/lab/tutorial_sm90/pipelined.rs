//! C = A·B by two kinds of warps: a *producer* loads, a *consumer* warpgroup multiplies, and a ring of stages in shared
//! memory ([`ring`](super::ring)) lies between them.
//!
//! ```text
//!   producer:  wait until empty ─▶ load A, B ─▶ next stage        consumer:  wait until full ─▶ wgmma ─▶ release
//!
//!                      stage 0        stage 1        stage 2
//!              ┌─▶ [ A B full empty | A B full empty | A B full empty ] ─┐
//!              └─────────────────────────────────────────────────────────┘
//! ```
//!
//! Each stage has two mbarriers. *full* completes when the bytes of a step have arrived, *empty* when the consumer's
//! four warps have read them. The producer is up to three steps ahead, so that the latency of memory passes while
//! earlier steps are multiplied. The consumer starts the products of a step before those of the step before are
//! complete: tensor cores always have work. No barrier of the block is left in the loop.
//!
//! Predicted on an H200 at 4096³: 600 TFLOP/s, bound by what the tensor cores read from shared memory: instructions of
//! 128 columns take as long to read their operands as to multiply them. Measured: 659.

use half::bf16;
use simt::prelude::*;
use simt::tma::TensorMap;
use simt::warp::lane_id;
use simt::warpgroup::{WARPGROUP_SIZE, warpgroup_id};
use simt::wgmma::{Accumulators, KMajor, MnMajor};

use super::ring::{HALF_OF_A, Ring};
use super::store::store;
use super::{DEPTH, OF_B, ROWS};
use crate::gemm::sm90::pipeline::PipelineState;

/// Columns of C per block: two boxes of B.
pub const COLS: u32 = 128;
/// Threads of a block: the consumer warpgroup and the producer warp.
pub const THREADS: u32 = WARPGROUP_SIZE + 32;
/// Stages: 32 KiB each, so that an SM holds two blocks.
const STAGES: usize = 3;

/// C = A·B, in tiles of [`ROWS`] × [`COLS`]; `depth` is k, at least 1.
#[kernel(block = (THREADS), min_blocks = 2, registers = 200, barriers = 1)]
pub fn matmul_pipelined(
    #[shared] ring: &Ring<{ 2 * OF_B }, STAGES>,
    a: &TensorMap<bf16>,
    b: &TensorMap<bf16>,
    depth: u32,
    c: MatMut<bf16>,
) {
    let (row, col, steps) = (block_idx_y() * ROWS, block_idx_x() * COLS, depth.div_ceil(DEPTH));
    ring.init(4);
    if warpgroup_id() == 1 {
        if lane_id() == 0 {
            let mut state = PipelineState::PRODUCER;
            for step in 0..steps {
                ring.load(state, (a, b), [row, col, step * DEPTH]);
                state.advance();
            }
        }
        return;
    }
    let (mut upper, mut lower) = (Accumulators::<128>::zeroed(), Accumulators::<128>::zeroed());
    let mut state = PipelineState::CONSUMER;
    let mut before = state;
    for step in 0..steps {
        ring.full.wait(state.stage(), state.parity);
        let (of_a, of_b) = ring.operands(state);
        upper.multiply::<bf16, 4, KMajor, MnMajor, 1>(of_a, of_b, false);
        // One group is in flight, the one just started: those of the stage before are complete.
        if step > 0 {
            ring.release(before);
        }
        lower.multiply::<bf16, 4, KMajor, MnMajor, 1>(of_a.advance(HALF_OF_A), of_b, false);
        before = state;
        state.advance();
    }
    upper.wait::<0>();
    lower.wait::<0>();
    store(c, &upper, (row, col));
    store(c, &lower, (row + 64, col));
}
