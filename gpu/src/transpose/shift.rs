//! Elements by size, on their way through a tile whose rows leave it shifted: see [`super::shifted`].
//!
//! The tile is kept in the units of [`super::cell`]. Its rows are rows of B, an odd number of units apart: lanes that write a
//! unit each of neighbouring columns of A write different banks, whatever the unit. Rows are in another order than in B, so
//! that those a quarter of the tile apart start in different banks modulo 4: a warp reads 8 chunks, unit by unit, of each of
//! four such rows.

use simt::element::{Vec2, Vec4, bits_as};
use simt::global::{Window, WindowMut};
use simt::math::byte_perm;
use simt::prelude::*;

use super::cell::{Cell, Chunk, turned_bytes, turned_halves};

/// Shared memory for `C` columns of A by `P` units of its rows, of which the last is empty.
pub type Tile<T, const C: usize, const P: usize> = SharedTile<<T as Cell>::Unit, C, P>;

/// Where row `row` of `rows` lies in the tile.
#[inline(always)]
pub const fn spread(row: u32, rows: usize) -> u32 {
    row ^ (row / (rows as u32 / 4) % 4)
}

/// An element of 1, 2, 4, 8 or 16 bytes.
pub trait Shift: Cell {
    /// Elements in a sector of 32 bytes.
    const SECTOR: u32 = 2 * Self::PER_CHUNK;

    /// Reads `C` columns of A from (`row`, `col`) on, as many rows as the tile holds; zero for what A lacks.
    fn fill<const C: usize, const P: usize, const THREADS: usize>(
        tile: &Tile<Self, C, P>,
        a: &Window<Self>,
        row: u32,
        col: u32,
    );
    /// 16 bytes of row `row` of the tile, from the element on that is [`Self::SECTOR`]` + right - past`th.
    fn take<const C: usize, const P: usize>(tile: &Tile<Self, C, P>, row: u32, right: u32, past: u32) -> Chunk;
    /// Writes those elements of a chunk that B has, from column `start - past` of row `row` on.
    fn store_part(to: &WindowMut<Self>, row: u32, start_past: (u32, u32), chunk: Chunk);
}

/// 16 bytes from byte `past` on of 32.
#[inline(always)]
fn shifted(low: Chunk, high: Chunk, past: u32) -> Chunk {
    let [a, b, c, d] = low;
    let [e, f, g, h] = high;
    let [a, b, c, d, e, f] = if past & 8 == 0 { [a, b, c, d, e, f] } else { [c, d, e, f, g, h] };
    let [a, b, c, d, e] = if past & 4 == 0 { [a, b, c, d, e] } else { [b, c, d, e, f] };
    let selector = 0x3210 + 0x1111 * (past & 3);
    [byte_perm(a, b, selector), byte_perm(b, c, selector), byte_perm(c, d, selector), byte_perm(d, e, selector)]
}

/// Elements of less than 4 bytes, `$lanes` of them a unit and `$all` a chunk; `$put` turns a word from each of four rows over
/// and writes it.
macro_rules! narrow {
    ($t:ty: $lanes:literal, $all:literal, $digits:literal, |$tile:ident, $unit:ident, $col:ident, $words:ident| $put:expr) => {
        impl Shift for $t {
            /// A lane takes 16 bytes of each of four rows, all eight pieces under way at once. The lanes of a warp take 128
            /// bytes of rows, or 256, at two or four places in the tile: of all that was tried, the fewest conflicts.
            #[inline(always)]
            fn fill<const C: usize, const P: usize, const THREADS: usize>(
                tile: &Tile<Self, C, P>,
                a: &Window<Self>,
                row: u32,
                col: u32,
            ) {
                let (across, groups) = (C as u32 / $all, (P as u32 - 1) * $lanes / 4);
                let places = 32 / across;
                // The end is no constant to the compiler, so that the loop is not unrolled.
                for first in (0..across * groups).step_by(THREADS) {
                    let item = first + thread_idx_x();
                    if item >= across * groups {
                        break;
                    }
                    let (part, place) = (item % across, item / across);
                    let group = place % places * (groups / places) + place / places;
                    let (down, right) = (4 * group, $all * part);
                    let (row, col) = (row.wrapping_add(down), col.saturating_add(right));
                    let put = |at: u32, $words: [u32; 4]| {
                        let ($tile, $unit, $col) = (tile, down / $lanes, right + $lanes * at);
                        $put
                    };
                    let past = [0, 1, 2, 3].map(|i| a.past_alignment::<$all>(row.wrapping_add(i), col));
                    let next = |i: usize| if past[i] == 0 { 0 } else { $all };
                    let mut whole = col < a.cols();
                    for i in 0..4 {
                        let room = a.cols().wrapping_sub(col).wrapping_add(past[i]);
                        whole &= row.wrapping_add(i as u32) < a.rows() && past[i] <= col && room >= next(i) + $all;
                    }
                    if whole {
                        let load = |i: usize, on: u32| {
                            // SAFETY: both pieces are whole, in a row of A.
                            let piece = unsafe { a.get_vec_unchecked::<$all>(row + i as u32, col - past[i] + on) };
                            bits_as::<_, Vec4<u32>>(piece).lanes
                        };
                        let rows = [0, 1, 2, 3].map(|i| (load(i, 0), load(i, next(i))));
                        let rows = [0, 1, 2, 3].map(|i| shifted(rows[i].0, rows[i].1, past[i] * (16 / $all)));
                        for word in 0..4 {
                            put(word as u32, rows.map(|row| row[word]));
                        }
                    } else {
                        for word in 0..4 {
                            put(
                                word,
                                [0, 1, 2, 3].map(|i| {
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

            #[inline(always)]
            fn take<const C: usize, const P: usize>(tile: &Tile<Self, C, P>, row: u32, right: u32, past: u32) -> Chunk {
                let first = (Self::SECTOR + right) / $lanes - past / $lanes;
                let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|i| tile.get(row, first + i - 1));
                let selector = 0x7654 - $digits * (past % $lanes);
                [
                    byte_perm(a, b, selector),
                    byte_perm(b, c, selector),
                    byte_perm(c, d, selector),
                    byte_perm(d, e, selector),
                ]
            }

            #[inline(always)]
            fn store_part(to: &WindowMut<Self>, row: u32, (start, past): (u32, u32), chunk: Chunk) {
                for word in 0..4 {
                    for k in 0..$lanes {
                        let col = start.saturating_add($lanes * word + k);
                        if col >= past {
                            to.set_within(row, col - past, (chunk[word as usize] >> (32 / $lanes * k)) as Self);
                        }
                    }
                }
            }
        }
    };
}

narrow!(u8: 4, 16, 0x1111, |tile, unit, col, words| {
    let turned = turned_bytes(words);
    for i in 0..4 {
        tile.set(spread(col + i, C), unit, turned[i as usize]);
    }
});
narrow!(u16: 2, 8, 0x2222, |tile, unit, col, words| {
    let [a, b, c, d] = words;
    let (low, high) = (turned_halves([a, b]), turned_halves([c, d]));
    for i in 0..2 {
        tile.set(spread(col + i, C), unit, low[i as usize]);
        tile.set(spread(col + i, C), unit + 1, high[i as usize]);
    }
});

/// Elements that are units. `$batch` of them a thread has under way.
macro_rules! wide {
    ($t:ty: $batch:literal, |$at:ident| $take:expr, |$chunk:ident| $elements:expr) => {
        impl Shift for $t {
            #[inline(always)]
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
                let units: [_; $batch] = core::array::from_fn(load);
                #[allow(
                    clippy::needless_range_loop,
                    reason = "an iterator over the array would have it in local memory"
                )]
                for i in 0..$batch {
                    let down = down + i as u32 * step;
                    if down < height {
                        tile.set(spread(right, C), down, units[i]);
                    }
                }
            }

            #[inline(always)]
            fn take<const C: usize, const P: usize>(tile: &Tile<Self, C, P>, row: u32, right: u32, past: u32) -> Chunk {
                let first = Self::SECTOR + right - past;
                let $at = |i| tile.get(row, first + i);
                $take
            }

            #[inline(always)]
            fn store_part(to: &WindowMut<Self>, row: u32, (start, past): (u32, u32), $chunk: Chunk) {
                let elements = $elements;
                for i in 0..Self::PER_CHUNK {
                    let col = start.saturating_add(i);
                    if col >= past {
                        to.set_within(row, col - past, elements[i as usize]);
                    }
                }
            }
        }
    };
}

wide!(f32: 17, |at| [at(0), at(1), at(2), at(3)], |chunk| chunk.map(f32::from_bits));
wide!(u64: 17, |at| bits_as::<_, Vec4<u32>>(Vec2::new([at(0), at(1)])).lanes, |chunk| {
    bits_as::<_, Vec2<u64>>(Vec4::new(chunk)).lanes
});
wide!(Vec4<u32>: 5, |at| at(0).lanes, |chunk| [Self::new(chunk)]);
