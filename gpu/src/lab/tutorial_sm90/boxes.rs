//! From sums in registers to boxes of C in shared memory, and from there to C by TMA.

use half::bf16;
use simt::convert::bf16_pair_from_f32;
use simt::matrix::stmatrix;
use simt::prelude::*;
use simt::sync::{fence_proxy_async, named_barrier};
use simt::tma::{TensorMapMut, store_2d, store_commit, store_wait_read};
use simt::warpgroup::WARPGROUP_SIZE;
use simt::wgmma::Accumulators;

use super::consumers::Stages;

/// Rows and columns of a box of C: 64 rows of 128 bytes.
pub const BOX_C: [u32; 2] = [64, 64];
const OF_C: usize = (BOX_C[0] * BOX_C[1]) as usize;

/// Shared memory: the stages, and two boxes of C for each consumer.
#[repr(C, align(1024))]
#[derive(Shared)]
pub struct Memory {
    pub(super) ring: Stages,
    c: [SharedArray<bf16, OF_C>; 4],
}

impl Memory {
    /// Stores the sums of a consumer to C from (`row`, `col`) on.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn store(
        &self,
        c: &TensorMapMut<bf16>,
        sums: &Accumulators<256>,
        consumer: u32,
        (row, col): (u32, u32),
    ) {
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
