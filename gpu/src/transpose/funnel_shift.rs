//! Loads and stores of misaligned rows by funnel shifts, for each element size: used by [`super::misaligned`].
//!
//! The tile is an array of the words of [`super::tile_layout`], padded instead of swizzled. Its rows are rows of B, an
//! odd number of words apart: lanes that write one word each of neighbouring columns of A write different banks,
//! whatever the element size. Rows are stored in a different order than in B ([`bank_order`]), so that rows a quarter
//! of the tile apart start in different banks modulo 4: a warp reads 8 vectors, word by word, from each of four such
//! rows.

use simt::element::{Vec2, Vec4, bits_as};
use simt::global::{Window, WindowMut};
use simt::math::byte_perm;
use simt::prelude::*;

use super::tile_layout::{TileElement, VectorBits, transpose_bytes_4x4, transpose_halves_2x2};
use crate::unroll::{each, from_fn};

/// Shared memory for `C` columns of A by `P` words of rows of A, the last of which is padding.
pub type Tile<T, const C: usize, const P: usize> = SharedTile<<T as TileElement>::Word, C, P>;

/// The position of row `row` in a tile of `rows` rows.
#[cfg_attr(optimised, inline(always))]
pub const fn bank_order(row: u32, rows: usize) -> u32 {
    row ^ (row / (rows as u32 / 4) % 4)
}

/// An element of 1, 2, 4, 8 or 16 bytes: loads of misaligned rows of A, and reads from the tile at any element.
pub trait FunnelShift: TileElement {
    /// Elements in a sector of 32 bytes.
    const SECTOR: u32 = 2 * Self::PER_VECTOR;

    /// Reads `C` columns of A from (`row`, `col`) on, as many rows as the tile holds; elements outside A are zero.
    fn fill<const C: usize, const P: usize, const THREADS: usize>(
        tile: &Tile<Self, C, P>,
        a: &Window<Self>,
        row: u32,
        col: u32,
    );
    /// Reads 16 bytes of row `row` of the tile, starting at element [`Self::SECTOR`]` + right - past`.
    fn take<const C: usize, const P: usize>(tile: &Tile<Self, C, P>, row: u32, right: u32, past: u32) -> VectorBits;
    /// Writes the elements of a vector that are inside B, from column `start - past` of row `row` on.
    fn store_partial(to: &WindowMut<Self>, row: u32, start_past: (u32, u32), vector: VectorBits);
}

/// 16 of 32 bytes, starting at byte `past`.
#[cfg_attr(optimised, inline(always))]
fn funnel_shift_16(low: VectorBits, high: VectorBits, past: u32) -> VectorBits {
    let [a, b, c, d] = low;
    let [e, f, g, h] = high;
    let [a, b, c, d, e, f] = if past & 8 == 0 { [a, b, c, d, e, f] } else { [c, d, e, f, g, h] };
    let [a, b, c, d, e] = if past & 4 == 0 { [a, b, c, d, e] } else { [b, c, d, e, f] };
    let selector = 0x3210 + 0x1111 * (past & 3);
    [byte_perm(a, b, selector), byte_perm(b, c, selector), byte_perm(c, d, selector), byte_perm(d, e, selector)]
}

/// Implements [`FunnelShift`] for elements of less than 4 bytes, `$lanes` of them in a word and `$all` in a vector;
/// `$put` transposes one word from each of four rows and writes the result.
macro_rules! narrow {
    (
        $t:ty: $lanes:literal, $all:literal, $digits:literal,
        |$tile:ident, $word:ident, $col:ident, $words:ident| $put:expr
    ) => {
        impl FunnelShift for $t {
            /// A lane loads 16 bytes of each of four rows, with all eight vectors in flight at once. The lanes of a
            /// warp load 128 or 256 bytes of rows at four or two positions in the tile: the fewest bank conflicts of
            /// the variants tried.
            #[cfg_attr(optimised, inline(always))]
            fn fill<const C: usize, const P: usize, const THREADS: usize>(
                tile: &Tile<Self, C, P>,
                a: &Window<Self>,
                row: u32,
                col: u32,
            ) {
                let (across, groups) = (C as u32 / $all, (P as u32 - 1) * $lanes / 4);
                let positions = 32 / across;
                // The loop has a break, so that it is not unrolled.
                for first in (0..across * groups).step_by(THREADS) {
                    let item = first + thread_idx_x();
                    if item >= across * groups {
                        break;
                    }
                    let (vector_col, position) = (item % across, item / across);
                    let group = position % positions * (groups / positions) + position / positions;
                    let (down, right) = (4 * group, $all * vector_col);
                    let (row, col) = (row.wrapping_add(down), col.saturating_add(right));
                    let put = |at: u32, $words: [u32; 4]| {
                        let ($tile, $word, $col) = (tile, down / $lanes, right + $lanes * at);
                        $put
                    };
                    let past = each!([0, 1, 2, 3], |i| a.misalignment::<$all>(row.wrapping_add(i), col));
                    let next = |i: usize| if past[i] == 0 { 0 } else { $all };
                    let mut whole = col < a.cols();
                    for i in 0..4 {
                        let room = a.cols().wrapping_sub(col).wrapping_add(past[i]);
                        whole &= row.wrapping_add(i as u32) < a.rows() && past[i] <= col && room >= next(i) + $all;
                    }
                    if whole {
                        let load = |i: usize, on: u32| {
                            // SAFETY: `whole` says that both vectors are inside a row of A.
                            let vector = unsafe { a.get_vec_unchecked::<$all>(row + i as u32, col - past[i] + on) };
                            bits_as::<_, Vec4<u32>>(vector).lanes
                        };
                        let rows = each!([0, 1, 2, 3], |i| (load(i, 0), load(i, next(i))));
                        let rows = each!([0, 1, 2, 3], |i: usize| {
                            funnel_shift_16(rows[i].0, rows[i].1, past[i] * (16 / $all))
                        });
                        for word in 0..4 {
                            put(word as u32, each!(rows, |row| row[word]));
                        }
                    } else {
                        for word in 0..4 {
                            put(
                                word,
                                each!([0, 1, 2, 3], |i| {
                                    let mut elements = 0;
                                    for k in 0..$lanes {
                                        let element =
                                            a.get_or(row.wrapping_add(i), col.saturating_add($lanes * word + k), 0);
                                        elements |= u32::from(element) << (32 / $lanes * k);
                                    }
                                    elements
                                }),
                            );
                        }
                    }
                }
            }

            #[cfg_attr(optimised, inline(always))]
            fn take<const C: usize, const P: usize>(
                tile: &Tile<Self, C, P>,
                row: u32,
                right: u32,
                past: u32,
            ) -> VectorBits {
                let first = (Self::SECTOR + right) / $lanes - past / $lanes;
                let [a, b, c, d, e] = each!([0, 1, 2, 3, 4], |i| tile.get(row, first + i - 1));
                let selector = 0x7654 - $digits * (past % $lanes);
                [
                    byte_perm(a, b, selector),
                    byte_perm(b, c, selector),
                    byte_perm(c, d, selector),
                    byte_perm(d, e, selector),
                ]
            }

            #[cfg_attr(optimised, inline(always))]
            fn store_partial(to: &WindowMut<Self>, row: u32, (start, past): (u32, u32), vector: VectorBits) {
                for word in 0..4 {
                    for k in 0..$lanes {
                        let col = start.saturating_add($lanes * word + k);
                        if col >= past {
                            to.set_within(row, col - past, (vector[word as usize] >> (32 / $lanes * k)) as Self);
                        }
                    }
                }
            }
        }
    };
}

narrow!(u8: 4, 16, 0x1111, |tile, word, col, words| {
    let transposed = transpose_bytes_4x4(words);
    for i in 0..4 {
        tile.set(bank_order(col + i, C), word, transposed[i as usize]);
    }
});
narrow!(u16: 2, 8, 0x2222, |tile, word, col, words| {
    let [a, b, c, d] = words;
    let (low, high) = (transpose_halves_2x2([a, b]), transpose_halves_2x2([c, d]));
    for i in 0..2 {
        tile.set(bank_order(col + i, C), word, low[i as usize]);
        tile.set(bank_order(col + i, C), word + 1, high[i as usize]);
    }
});

/// Implements [`FunnelShift`] for elements that are words, of which a thread has `$batch` in flight.
macro_rules! wide {
    ($t:ty: $batch:literal, |$at:ident| $take:expr, |$vector:ident| $elements:expr) => {
        impl FunnelShift for $t {
            #[cfg_attr(optimised, inline(always))]
            fn fill<const C: usize, const P: usize, const THREADS: usize>(
                tile: &Tile<Self, C, P>,
                a: &Window<Self>,
                row: u32,
                col: u32,
            ) {
                let (height, cols, step) = (P as u32 - 1, C as u32, THREADS as u32 / C as u32);
                let (down, right) = (thread_idx_x() / cols, thread_idx_x() % cols);
                let load = |i: usize| {
                    let row = row.wrapping_add(down + i as u32 * step);
                    Self::load_words(a, row, col.saturating_add(right))
                };
                let words: [_; $batch] = from_fn(load);
                #[allow(
                    clippy::needless_range_loop,
                    reason = "an iterator over the array would keep it in local memory"
                )]
                for i in 0..$batch {
                    let down = down + i as u32 * step;
                    if down < height {
                        tile.set(bank_order(right, C), down, words[i]);
                    }
                }
            }

            #[cfg_attr(optimised, inline(always))]
            fn take<const C: usize, const P: usize>(
                tile: &Tile<Self, C, P>,
                row: u32,
                right: u32,
                past: u32,
            ) -> VectorBits {
                let first = Self::SECTOR + right - past;
                let $at = |i| tile.get(row, first + i);
                $take
            }

            #[cfg_attr(optimised, inline(always))]
            fn store_partial(to: &WindowMut<Self>, row: u32, (start, past): (u32, u32), $vector: VectorBits) {
                let elements = $elements;
                for i in 0..Self::PER_VECTOR {
                    let col = start.saturating_add(i);
                    if col >= past {
                        to.set_within(row, col - past, elements[i as usize]);
                    }
                }
            }
        }
    };
}

wide!(f32: 17, |at| [at(0), at(1), at(2), at(3)], |vector| each!(vector, f32::from_bits));
wide!(u64: 17, |at| bits_as::<_, Vec4<u32>>(Vec2::new([at(0), at(1)])).lanes, |vector| {
    bits_as::<_, Vec2<u64>>(Vec4::new(vector)).lanes
});
wide!(Vec4<u32>: 5, |at| at(0).lanes, |vector| [Self::new(vector)]);
