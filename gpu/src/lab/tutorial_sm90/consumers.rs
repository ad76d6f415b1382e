//! C = A·B with two consumer warpgroups and tiles of 128 × 256: each multiplies 64 rows by the same 256 columns.
//!
//! ```text
//!                                  ┌─▶ consumer 0: rows  0 to  63 of A · B        232 registers a thread
//!   producer ─▶ [ stages: A, B ] ──┤
//!   40 registers                   └─▶ consumer 1: rows 64 to 127 of A · B        232
//! ```
//!
//! An instruction of 256 columns reads 64 × 16 of A and 16 × 256 of B, 10 KiB, and multiplies for 128 clocks: 80 bytes
//! a clock of the 128 that shared memory delivers. One of 128 columns reads 6 KiB in 64 clocks, 96 a clock; to either
//! come the bytes that TMA writes. Tiles of 128 × 256 also need a quarter fewer bytes from the L2 cache than twice 128
//! × 128.
//!
//! A thread has 128 sums of 64 × 256. An SM has 65 536 registers: 384 threads start with 168 each, then the producer's
//! warpgroup, which needs few, gives back all but 40, and the consumers take 232 (*setmaxnreg*).
//!
//! Predicted on an H200 at 4096³: 680 TFLOP/s. With one block an SM, nothing is multiplied while the first loads of a
//! block are under way and while C is stored: a tenth of the time. Measured: 682.

use half::bf16;
use simt::prelude::*;
use simt::tma::TensorMap;
use simt::warpgroup::{WARPGROUP_SIZE, decrease_registers, increase_registers, warpgroup_id};
use simt::wgmma::{Accumulators, KMajor, MnMajor};

use super::ring::{HALF_OF_A, Ring};
use super::store::store;
use super::{DEPTH, OF_B, ROWS};
use crate::gemm::sm90::pipeline::PipelineState;

/// Columns of C per block: four boxes of B.
pub const COLS: u32 = 256;
/// Threads of a block: the producer's warpgroup and two consumers.
pub const THREADS: u32 = 3 * WARPGROUP_SIZE;
/// Stages of 48 KiB.
pub(super) const STAGES: usize = 4;
/// The stages of a block.
pub(super) type Stages = Ring<{ 4 * OF_B }, STAGES>;

/// C = A·B, in tiles of [`ROWS`] × [`COLS`]; `depth` is k, at least 1.
#[kernel(block = (THREADS), min_blocks = 1, registers = 168, barriers = 1)]
pub fn matmul_consumers(
    #[shared] ring: &Stages,
    a: &TensorMap<bf16>,
    b: &TensorMap<bf16>,
    depth: u32,
    c: MatMut<bf16>,
) {
    let (row, col, steps) = (block_idx_y() * ROWS, block_idx_x() * COLS, depth.div_ceil(DEPTH));
    ring.init(8);
    let warpgroup = warpgroup_id();
    if warpgroup == 0 {
        decrease_registers::<40>();
        if thread_idx_x() == 0 {
            let mut state = PipelineState::PRODUCER;
            for step in 0..steps {
                ring.load(state, (a, b), [row, col, step * DEPTH]);
                state.advance();
            }
        }
        return;
    }
    increase_registers::<232>();
    let consumer = warpgroup - 1;
    let (mut sums, mut state) = (Accumulators::<256>::zeroed(), PipelineState::CONSUMER);
    multiply(ring, &mut sums, &mut state, consumer, steps);
    store(c, &sums, (row + 64 * consumer, col));
}

/// Multiplies `steps` stages, at least one: `sums` becomes the product of this consumer's 64 rows of A and all of B.
#[cfg_attr(optimised, inline(always))]
pub(super) fn multiply(
    ring: &Stages,
    sums: &mut Accumulators<256>,
    state: &mut PipelineState<STAGES>,
    consumer: u32,
    steps: u32,
) {
    // Starts the products of a stage; those of the stage before are complete then.
    let mut start = |sums: &mut Accumulators<256>, fresh: bool| {
        ring.full.wait(state.stage(), state.parity);
        let (of_a, of_b) = ring.operands(*state);
        sums.multiply::<bf16, 4, KMajor, MnMajor, 1>(of_a.advance(consumer * HALF_OF_A), of_b, fresh);
        let started = *state;
        state.advance();
        started
    };
    let mut last = start(sums, true);
    for _ in 1..steps {
        let next = start(sums, false);
        ring.release(last);
        last = next;
    }
    sums.wait::<0>();
    ring.release(last);
}
