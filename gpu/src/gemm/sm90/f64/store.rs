//! From a warp's accumulators to C.
//!
//! Lane 4·g + t has of a block of 16 rows two rows and of each of them two columns in eight. Of an MN-major B these are
//! neighbours ([`line`]); of a K-major one lanes exchange one of the two for that: t with t + 2.
//!
//! ```text
//!   K-major: columns of lane t        exchanged
//!      t = 0 │ 0 2                     0 1
//!          1 │ 4 6                     4 5
//!          2 │ 1 3                     2 3
//!          3 │ 5 7                     6 7
//! ```
//!
//! So a lane writes 16 bytes at once, four lanes two whole sectors of 32.

use simt::element::Vec2;
use simt::opaque;
use simt::prelude::*;
use simt::warp::{FULL_MASK, WARP_SIZE, warp_shuffle_xor};

use super::config::Config;
use super::operand::{Operand, line};
use crate::gemm::args::{ACTIVATION, BIAS_PER_COLUMN, BIAS_PER_ROW, GemmArgs};
use crate::unroll::{each, unroll};

/// The first of two neighbouring columns of a block of B that lane t of a group writes, for `half` 0 and 1.
#[cfg_attr(optimised, inline(always))]
const fn column<B: Operand>(t: u32, half: u32) -> u32 {
    let [by_t, by_half] = if B::K_MAJOR { [4, 8] } else { [8, 4] };
    t % 2 * by_t + t / 2 * 2 + half * by_half
}

/// What lane t of a group writes from there on, of the accumulators that it has.
#[cfg_attr(optimised, inline(always))]
fn neighbours<B: Operand>(own: [f64; 2], t: u32) -> [f64; 2] {
    if !B::K_MAJOR {
        return own;
    }
    let is_first = t < 2;
    let (sent, kept) = if is_first { (own[1], own[0]) } else { (own[0], own[1]) };
    let (received, _) = warp_shuffle_xor(FULL_MASK, sent, 2, WARP_SIZE);
    if is_first { [kept, received] } else { [received, kept] }
}

/// Writes the warp's part of a tile, from row and column `first` of a matrix on.
#[cfg_attr(optimised, inline(always))]
pub(super) fn store<K: Config, const MB: usize, const NB: usize>(
    sums: &[[[f64; 4]; 4]; 4],
    [row0, col0, matrix]: [u32; 3],
    gemm: &GemmArgs<'_, f64>,
) {
    // Places are computed again for each tile: kept, they would not fit into the registers.
    let lane = opaque(thread_idx_x()) % 32;
    let (g, t) = (lane / 4, lane % 4);
    let (has_pairs, is_plain) = (gemm.has_pairs(gemm.n), gemm.is_plain());
    // A loop at run time: its body stands in the program once.
    let mut block = opaque(0);
    while block < MB as u32 {
        let of_block = |i: usize, place: usize| {
            let all = each!([0, 1, 2, 3], |mb: usize| sums[mb][i][place]);
            let mut sum = all[0];
            unroll!(for mb in 1..4 {
                if mb < MB {
                    sum = if block == mb as u32 { all[mb] } else { sum };
                }
            });
            sum
        };
        unroll!(for down in 0..2 {
            let row = row0 + block * 16 + line::<K::A>(g, down as u32);
            let first = gemm.index(matrix, row, 0);
            let col = |i: usize| col0 + i as u32 / 2 * 16 + column::<K::B>(t, i as u32 % 2);
            let mut pairs = [[0.0; 2]; 4];
            unroll!(for i in 0..4 {
                if i < 2 * NB {
                    pairs[i] = neighbours::<K::B>([of_block(i, 2 * down), of_block(i, 2 * down + 1)], t);
                }
            });
            if row < gemm.m {
                if !is_plain {
                    let mut old = [[0.0; 2]; 4];
                    if gemm.beta != 0.0 {
                        gemm.load_pairs::<NB>(&mut old, first, col, has_pairs);
                    }
                    unroll!(for i in 0..4 {
                        if i < 2 * NB {
                            pairs[i] = each!([0, 1], |of: usize| {
                                gemm.finish(pairs[i][of], || old[i][of], (row, col(i) + of as u32))
                            });
                        }
                    });
                }
                gemm.store_pairs::<NB>(&pairs, first, col, has_pairs);
            }
        });
        block += 1;
    }
}

impl GemmArgs<'_, f64> {
    /// Whether C is the product itself.
    #[cfg_attr(optimised, inline(always))]
    fn is_plain(&self) -> bool {
        self.alpha.to_bits() == 1.0_f64.to_bits()
            && self.beta == 0.0
            && self.flags & (BIAS_PER_COLUMN | BIAS_PER_ROW | ACTIVATION) == 0
    }

    /// Whether two elements of C, whose columns begin at an even one, are both among the first `cols` columns or none
    /// is, and are one access.
    #[cfg_attr(optimised, inline(always))]
    fn has_pairs(&self, cols: u32) -> bool {
        self.c.as_ptr().addr().is_multiple_of(16)
            && cols.is_multiple_of(2)
            && (self.ldc | self.stride_c).is_multiple_of(2)
    }

    /// Loads what is in the matrix of `NB` × 2 pairs of a row of C, which begins with element `first`: pair i is in
    /// columns `col(i)` and the next.
    #[cfg_attr(optimised, inline(always))]
    fn load_pairs<const NB: usize>(
        &self,
        pairs: &mut [[f64; 2]; 4],
        first: u64,
        col: impl Fn(usize) -> u32,
        has_pairs: bool,
    ) {
        let (first, n) = (first as usize, self.n as usize);
        if has_pairs {
            let Some(row) = self.c.vectors::<2>().part(first / 2, n / 2) else { return };
            unroll!(for i in 0..4 {
                if i < 2 * NB {
                    pairs[i] = row.get_or(col(i) as usize / 2, Vec2::new([0.0; 2])).lanes;
                }
            });
        } else {
            let Some(row) = self.c.part(first, n) else { return };
            unroll!(for i in 0..4 {
                if i < 2 * NB {
                    pairs[i] = each!([0, 1], |of: usize| row.get_or(col(i) as usize + of, 0.0));
                }
            });
        }
    }

    /// Stores what is in the matrix of them.
    #[cfg_attr(optimised, inline(always))]
    fn store_pairs<const NB: usize>(
        &self,
        pairs: &[[f64; 2]; 4],
        first: u64,
        col: impl Fn(usize) -> u32,
        has_pairs: bool,
    ) {
        let (first, n) = (first as usize, self.n as usize);
        if has_pairs {
            let Some(row) = self.c.vectors_mut::<2>().part_mut(first / 2, n / 2) else { return };
            unroll!(for i in 0..4 {
                if i < 2 * NB {
                    row.set_within(col(i) as usize / 2, Vec2::new(pairs[i]));
                }
            });
        } else {
            let Some(row) = self.c.part_mut(first, n) else { return };
            unroll!(for i in 0..4 {
                unroll!(for of in 0..2 {
                    if i < 2 * NB {
                        row.set_within(col(i) as usize + of, pairs[i][of]);
                    }
                });
            });
        }
    }
}
