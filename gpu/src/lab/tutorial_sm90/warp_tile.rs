//! A warp's part of a tile of 128 × 128, multiplied by `mma.sync`.

use half::bf16;
use simt::async_copy::SharedSlot;
use simt::matrix::{ldmatrix, mma_sync};
use simt::prelude::*;
use simt::warp::lane_id;

use super::store::store_pair;
use crate::unroll::unroll;

/// Eight neighbours of shared memory: a row of an 8 × 8 matrix of `ldmatrix`.
type Eight<'a> = SharedSlot<'a, bf16, 8>;

/// The sums of a warp: 64 × 32 of the block's 128 × 128, as 4 × 4 results of `mma.sync` of 16 × 8. The block's 8 warps
/// are arranged 2 × 4.
pub(super) struct WarpTile {
    sums: [[[f32; 4]; 4]; 4],
}

impl WarpTile {
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn zeroed() -> Self {
        Self { sums: const { [[[0.0; 4]; 4]; 4] } }
    }

    /// Row and column of the warp's part in the block's tile.
    #[cfg_attr(optimised, inline(always))]
    fn place() -> (u32, u32) {
        let warp = thread_idx_x() / 32 % 8;
        (warp / 4 * 64, warp % 4 * 32)
    }

    /// Adds the products of 16 steps along k, from `k` on. `a` and `b` give the eight elements of the tiles from a row
    /// and a column on.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn multiply<'s>(
        &mut self,
        k: u32,
        a: impl Fn(u32, u32) -> Eight<'s>,
        b: impl Fn(u32, u32) -> Eight<'s>,
    ) {
        let ((row, col), lane) = (Self::place(), lane_id());
        // Rows of B are rows of k, but a fragment of B has two steps of k in a register: each 8 × 8 is transposed.
        let of_b = |right| ldmatrix::<4, true, _, 8>(b(k + lane % 16, col + right + lane / 16 % 2 * 8));
        let (left, right) = (of_b(0), of_b(16));
        unroll!(for i in 0..4 {
            let of_a = ldmatrix::<4, false, _, 8>(a(row + 16 * i as u32 + lane % 16, k + lane / 16 % 2 * 8));
            unroll!(for j in 0..4 {
                let of_b = if j < 2 { left } else { right };
                self.sums[i][j] = mma_sync::<bf16>(of_a, [of_b[j % 2 * 2], of_b[j % 2 * 2 + 1]], self.sums[i][j]);
            });
        });
    }

    /// Stores the sums to the tile of C whose first element is (`row`, `col`).
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn store(&self, c: MatMut<bf16>, (row, col): (u32, u32)) {
        let ((down, right), lane) = (Self::place(), lane_id());
        let (row, col) = (row + down + lane / 4, col + right + lane % 4 * 2);
        unroll!(for i in 0..4 {
            unroll!(for j in 0..4 {
                let ([first, second, below, last], row, col) =
                    (self.sums[i][j], row + 16 * i as u32, col + 8 * j as u32);
                store_pair(c, (row, col), [first, second]);
                store_pair(c, (row + 8, col), [below, last]);
            });
        });
    }
}
