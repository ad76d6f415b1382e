//! From a warp's accumulators to C.
//!
//! 16 rows at a time go through shared memory that is the warp's own: so a warp writes neighbours of C, needs no
//! barrier of the block, and the epilogue stands in the program four times and not for each accumulator.

use simt::element::Vec2;
use simt::opaque;
use simt::prelude::*;
use simt::warp::sync_warp;

use super::config::Config;
use super::operand::line;
use crate::gemm::args::GemmArgs;
use crate::unroll::{each, unroll};

/// Elements from row to row in shared memory, of `blocks` blocks of 16 columns: a multiple of 2, for accesses of 16
/// bytes, that puts rows into different banks.
pub(super) const fn pitch(blocks: usize) -> u32 {
    16 * blocks as u32 + 4
}

/// Writes the warp's part of a tile, from row and column `first` of a matrix on.
#[inline(always)]
pub(super) fn store<K: Config, const MB: usize, const NB: usize, const LEN: usize>(
    staging: &SharedArray<f64, LEN>,
    sums: &[[[f64; 4]; 4]; 4],
    [row, col, matrix]: [u32; 3],
    gemm: &GemmArgs<'_, f64>,
) {
    // Places are computed again for each tile: kept, they would not fit into the registers.
    let thread = opaque(thread_idx_x());
    let (warp, lane) = (thread / 32 % 8, thread % 32);
    let at = |row: u32, col: u32| {
        let at = (warp * 16 + row) * pitch(NB) + col;
        // SAFETY: the staging memory has 16 rows of this pitch for each of 8 warps; callers name a column of the row.
        unsafe { core::hint::assert_unchecked((at as usize) < LEN) }
        at
    };
    let (g, t) = (lane / 4, lane % 4);
    unroll!(for mb in 0..4 {
        if mb < MB {
            unroll!(for i in 0..4 {
                if i < 2 * NB {
                    unroll!(for place in 0..4 {
                        let (down, right) = (place as u32 / 2, place as u32 % 2);
                        let (nb, half) = (i as u32 / 2, i as u32 % 2);
                        let (row, col) = (line::<K::A>(g, down), line::<K::B>(2 * t + right, half));
                        staging.set(at(row, nb * 16 + col), sums[mb][i][place]);
                    });
                }
            });
            sync_warp(u32::MAX);
            let from = [row + 16 * mb as u32, col, matrix];
            if gemm.has_pairs(gemm.n) {
                store_rows::<2, NB, LEN>(staging, at, lane, from, gemm);
            } else {
                store_rows::<1, NB, LEN>(staging, at, lane, from, gemm);
            }
            sync_warp(u32::MAX);
        }
    });
}

/// Writes 16 rows from shared memory, `LANES` elements by each lane.
#[inline(always)]
fn store_rows<const LANES: usize, const NB: usize, const LEN: usize>(
    staging: &SharedArray<f64, LEN>,
    at: impl Fn(u32, u32) -> u32,
    lane: u32,
    [row0, col0, matrix]: [u32; 3],
    gemm: &GemmArgs<'_, f64>,
) {
    let across = const { (16 * NB / LANES) as u32 };
    let (down, right) = (lane / across, lane % across * LANES as u32);
    let col = col0 + right;
    let mut line = down;
    while line < 16 {
        let row = row0 + line;
        if row < gemm.m && col < gemm.n {
            let (index, from) = (gemm.index(matrix, row, col), at(line, right));
            if LANES == 2 {
                gemm.store_pair(staging.get_vec::<2>(from / 2 * 2).lanes, index, (row, col));
            } else {
                gemm.store(staging.get(from), index, (row, col));
            }
        }
        line += if across > 32 { 1 } else { 32 / across };
    }
}

impl GemmArgs<'_, f64> {
    /// Whether two elements of C, whose columns begin at an even one, are both among the first `cols` columns or none
    /// is, and are one access.
    #[inline(always)]
    fn has_pairs(&self, cols: u32) -> bool {
        self.c.as_ptr().addr().is_multiple_of(16)
            && cols.is_multiple_of(2)
            && (self.ldc | self.stride_c).is_multiple_of(2)
    }

    /// [`Self::store`] of two neighbours in a row, the first of them element `at` of C, an even number.
    #[inline(always)]
    fn store_pair(&self, accumulators: [f64; 2], at: u64, (row, col): (u32, u32)) {
        let at = (at / 2) as usize;
        let mut old = [0.0; 2];
        if self.beta != 0.0 {
            old = self.c.vectors::<2>().get_or(at, Vec2::new([0.0; 2])).lanes;
        }
        let done = each!([0, 1], |i: u32| self.finish(accumulators[i as usize], || old[i as usize], (row, col + i)));
        self.c.vectors_mut::<2>().set_within(at, Vec2::new(done));
    }
}
