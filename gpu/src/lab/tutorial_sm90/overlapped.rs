//! C = A·B whose tiles TMA stores while the next ones are computed.
//!
//! ```text
//!   sums ──stmatrix──▶ box of 64 × 64 in shared memory ──TMA──▶ C        two boxes a warpgroup: one is filled
//!                                                                        while TMA reads the other
//! ```
//!
//! The threads of [`persistent`](super::persistent) store C themselves, two elements at a time: 128 instructions for
//! 64 × 256, each of which writes half of the sectors that it touches. Here a warp writes sums to shared memory by
//! `stmatrix`, the reverse of `ldmatrix`: four 8 × 8 matrices in one instruction, swizzled as TMA expects them. One
//! thread then has TMA store the box, in whole lines of 128 bytes, and nobody waits for it: the warpgroup fills its
//! other box, and after four of them goes on with the next tile. It waits where a box is filled again.
//!
//! `fence_proxy_async` and a barrier of the warpgroup's 128 threads are between the writes and the store: TMA does not
//! see them otherwise.
//!
//! Predicted on an H200 at 4096³: 780 TFLOP/s. Measured: 759, as `gemm_sm90_bf16_nn_128x256` (755). What that has more
//! shows at other shapes: the order of tiles where operands do not fit into the L2 cache, stream-K where the last round
//! is not full, and launches that begin before the one before has ended.

use half::bf16;
use simt::convert::bf16_pair_from_f32;
use simt::matrix::stmatrix;
use simt::prelude::*;
use simt::sync::{fence_proxy_async, named_barrier};
use simt::tma::{TensorMap, TensorMapMut, store_2d, store_commit, store_wait_read};
use simt::warpgroup::{WARPGROUP_SIZE, decrease_registers, increase_registers, warpgroup_id};
use simt::wgmma::Accumulators;

pub use super::consumers::{COLS, THREADS};
use super::consumers::{Stages, multiply};
use super::{DEPTH, ROWS};
use crate::gemm::sm90::pipeline::PipelineState;

/// Rows and columns of a box of C: 64 rows of 128 bytes.
pub const BOX_C: [u32; 2] = [64, 64];
const OF_C: usize = (BOX_C[0] * BOX_C[1]) as usize;

/// Shared memory: the stages, and two boxes of C for each consumer.
#[repr(C, align(1024))]
#[derive(Shared)]
pub struct Memory {
    ring: Stages,
    c: [SharedArray<bf16, OF_C>; 4],
}

/// C = A·B, in tiles of [`ROWS`] × [`COLS`], in any grid of one dimension; `extents` are m, n and k, k at least 1.
#[kernel(block = (THREADS), min_blocks = 1, registers = 168, barriers = 9)]
pub fn matmul_overlapped(
    #[shared] memory: &Memory,
    a: &TensorMap<bf16>,
    b: &TensorMap<bf16>,
    c: &TensorMapMut<bf16>,
    extents: [u32; 3],
) {
    let ([m, n, depth], ring) = (extents, &memory.ring);
    let (across, steps) = (n.div_ceil(COLS).max(1), depth.div_ceil(DEPTH));
    let tiles = m.div_ceil(ROWS) * across;
    ring.init(8);
    let warpgroup = warpgroup_id();
    if warpgroup == 0 {
        decrease_registers::<40>();
        if thread_idx_x() == 0 {
            let mut state = PipelineState::PRODUCER;
            let mut tile = block_idx_x();
            while tile < tiles {
                let (row, col) = (tile / across * ROWS, tile % across * COLS);
                for step in 0..steps {
                    ring.load(state, (a, b), [row, col, step * DEPTH]);
                    state.advance();
                }
                tile += grid_dim_x();
            }
        }
        return;
    }
    increase_registers::<232>();
    let consumer = warpgroup - 1;
    let mut state = PipelineState::CONSUMER;
    let mut tile = block_idx_x();
    while tile < tiles {
        let (row, col) = (tile / across * ROWS, tile % across * COLS);
        let mut sums = Accumulators::<256>::zeroed();
        multiply(ring, &mut sums, &mut state, consumer, steps);
        memory.store(c, &sums, consumer, (row + 64 * consumer, col));
        tile += grid_dim_x();
    }
    // Shared memory must outlive what TMA still reads.
    if thread_idx_x().is_multiple_of(WARPGROUP_SIZE) {
        store_wait_read::<0>();
    }
}

impl Memory {
    /// Stores the sums of a consumer to C from (`row`, `col`) on.
    #[inline(always)]
    fn store(&self, c: &TensorMapMut<bf16>, sums: &Accumulators<256>, consumer: u32, (row, col): (u32, u32)) {
        let (t, lane) = (thread_idx_x() % WARPGROUP_SIZE, thread_idx_x() % 32);
        // The row that this lane names: of the upper or the lower 8 × 8 of two, in the left or the right pair.
        let named = t / 32 * 16 + lane / 8 % 2 * 8 + lane % 8;
        sums.for_each_16_columns(|first, values| {
            let staged = &self.c[((consumer % 2) * 2 + first / 64 % 2) as usize];
            if first % 64 == 0 {
                // TMA has read what it stored from this box.
                if t == 0 {
                    store_wait_read::<1>();
                }
                named_barrier(consumer + 1, WARPGROUP_SIZE);
            }
            let vector = (first % 64 / 8 + lane / 16) ^ (named % 8);
            let pairs = [0, 2, 4, 6].map(|i| bf16_pair_from_f32(values[i], values[i + 1]));
            stmatrix::<4, false, _, 8>(staged.slot::<8>(named * 64 + vector * 8), pairs);
            if first % 64 == 48 {
                fence_proxy_async();
                named_barrier(consumer + 1, WARPGROUP_SIZE);
                if t == 0 {
                    store_2d(c, [(col + first - 48) as i32, row as i32], staged.slot::<OF_C>(0));
                    store_commit();
                }
            }
        });
    }
}
