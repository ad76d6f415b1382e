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
//! see them otherwise. All of this is in [`boxes`](super::boxes).
//!
//! Predicted on an H200 at 4096³: 780 TFLOP/s. Measured: 759, as `gemm_sm90_bf16_nn_128x256` (755). What that has more
//! shows at other shapes: the order of tiles where operands do not fit into the L2 cache, stream-K where the last round
//! is not full, and launches that begin before the one before has ended.

use half::bf16;
use simt::prelude::*;
use simt::tma::{TensorMap, TensorMapMut, store_wait_read};
use simt::warpgroup::{WARPGROUP_SIZE, decrease_registers, increase_registers, warpgroup_id};
use simt::wgmma::Accumulators;

pub use super::boxes::BOX_C;
use super::boxes::Memory;
use super::consumers::multiply;
pub use super::consumers::{COLS, THREADS};
use super::{DEPTH, ROWS};
use crate::gemm::sm90::pipeline::PipelineState;

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
