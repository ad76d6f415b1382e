//! Moves one tile from A through shared memory to B, transposed, for every element size.
//!
//! ```text
//!   A                              shared memory, rows of B          B
//!  ┌──┬──┬──┬──┐  4 rows, 16 bytes  ┌──┬──┬──┬──┐                  ┌──┬──┬──┬──┐
//!  │▒▒│  │  │  │  of each a thread  │  │▒▒│  │  │   16 bytes a     │▒▒│  │  │  │
//!  ├──┼──┼──┼──┤ ────────────────►  ├──┼──┼──┼──┤ ──────────────►  ├──┼──┼──┼──┤
//!  │  │  │  │  │  transposed in     │  │  │  │▒▒│   thread, 4      │▒▒│  │  │  │
//!  └──┴──┴──┴──┘  registers         └──┴──┴──┴──┘   times          └──┴──┴──┴──┘
//! ```
//!
//! Where the whole tile is in the matrix and its rows start at multiples of 16 bytes, a thread has four independent
//! 16-byte loads in flight, and four stores. This is decided for loads and stores separately.
//!
//! Elsewhere the lanes of a warp take neighbouring *words* ([`super::tile_layout`]). A row of 1- or 2-byte elements
//! that does not start at a multiple of 4 bytes is read by aligned words: a word of the tile overlaps two of them, and
//! the neighbouring lane reads the second one too, so that it comes from the cache. Such a row is also written by
//! aligned words, each made of two words of the tile; the elements at both ends are written one by one. Single-element
//! accesses throughout would take four times, or twice, as many requests as an SM's memory pipeline can issue in the
//! time in which memory moves the bytes. A thread has several words in flight before it writes the first one to the
//! tile.

use simt::global::{Window, WindowMut};
use simt::prelude::*;

use super::tile_layout::TileElement;
use crate::unroll::from_fn;

/// Shared memory for `C` columns of A by `W` words of rows of A.
pub type Tile<T, const C: usize, const W: usize> = SharedTile<<T as TileElement>::Word, C, W>;

/// Threads for such a tile: each moves 64 bytes.
pub const fn threads<T: TileElement>(cols: usize, words: usize) -> u32 {
    (cols * words * size_of::<T::Word>() / 64) as u32
}

/// Reads the tile of A at (`row`, `col`), of which `rows` rows are needed; elements outside A are 0. Where a thread
/// does not load vectors, it has `BATCH` squares of elements in flight.
#[cfg_attr(optimised, inline(always))]
pub fn fill<T: TileElement, const C: usize, const W: usize, const BATCH: usize>(
    tile: &Tile<T, C, W>,
    a: &Window<T>,
    (row, col): (u32, u32),
    rows: u32,
) {
    let (t, threads) = (thread_idx_x(), threads::<T>(C, W));
    let (height, width) = (W as u32 * T::PER_WORD, C as u32);
    if let Some(part) = a.part(row, col, height, width).filter(T::has_aligned_vectors) {
        // Eight neighbouring vectors of a row; then the groups of rows whose words form one vector of the tile; then
        // the rest.
        let (parts, across) = (T::PER_WORD, width / T::PER_VECTOR);
        let vector = t % 8 + 8 * (t / (8 * parts) % (across / 8));
        let group = t / 8 % parts + parts * (t / (parts * across));
        let load = |i| T::load_vector(&part, 4 * group + i, T::PER_VECTOR * vector);
        T::put_vectors(tile, 4 * group, T::PER_VECTOR * vector, [load(0), load(1), load(2), load(3)]);
        return;
    }
    let across = width / T::PER_WORD;
    let position = |square: u32| (square / across * T::PER_WORD, square % across * T::PER_WORD);
    // The end is not a constant, so the loop is not unrolled: its addresses would not fit in the registers.
    let (mut first, end) = (0, rows.min(height).div_ceil(T::PER_WORD) * across);
    while first < end {
        // The remainder changes no value; it tells the compiler that the position is in the tile.
        let inside = |i: usize| position((first + i as u32 * threads + t) % (across * W as u32));
        let outside = |i: usize| {
            let (down, right) = inside(i);
            (row.saturating_add(down), col.saturating_add(right))
        };
        let mut whole = true;
        for i in 0..BATCH {
            let (row, col) = outside(i);
            whole &= T::words_in_bounds(a, row, col);
        }
        if whole {
            let squares: [T::Square; BATCH] = from_fn(|i| {
                let (row, col) = outside(i);
                T::load_words(a, row, col)
            });
            #[allow(clippy::needless_range_loop, reason = "an iterator over the array would keep it in local memory")]
            for i in 0..BATCH {
                let (down, right) = inside(i);
                T::put_square(tile, down, right, squares[i]);
            }
        } else {
            for i in 0..BATCH {
                let ((down, right), (row, col)) = (inside(i), outside(i));
                T::put_square(tile, down, right, T::load_elements(a, row, col));
            }
        }
        first += threads * BATCH as u32;
    }
}

/// Writes the tile to B at (`row`, `col`); elements outside B are skipped.
#[cfg_attr(optimised, inline(always))]
pub fn drain<T: TileElement, const C: usize, const W: usize>(
    tile: &Tile<T, C, W>,
    b: &WindowMut<T>,
    (row, col): (u32, u32),
) {
    let (t, threads) = (thread_idx_x(), threads::<T>(C, W));
    let (height, width, words) = (C as u32, W as u32 * T::PER_WORD, W as u32);
    let Some(part) = b.part_mut(row, col, height, width) else {
        for first in (0..height * words).step_by(threads as usize) {
            let word = (first + t) % (height * words);
            let (down, right) = (word / words, word % words);
            let (to_row, to_col) = (row.saturating_add(down), col.saturating_add(right * T::PER_WORD));
            if to_row >= b.rows() {
                break;
            }
            // Columns outside B may not have been filled.
            if to_col < b.cols() {
                T::store_elements(tile, (down, right), b, to_row, to_col);
            }
        }
        return;
    };
    if T::has_aligned_vectors(&part) {
        let vectors = words / T::WORDS;
        let (y, vector) = (t / vectors, t % vectors);
        // A thread's rows are a word of elements apart, so the order of words in each vector is a constant.
        let down = |i| y / T::PER_WORD * (4 * T::PER_WORD) + i * T::PER_WORD + y % T::PER_WORD;
        let take = |i| T::take_vector(tile, down(i), vector);
        let taken = [take(0), take(1), take(2), take(3)];
        for i in 0..4 {
            T::store_vector(&part, down(i), T::PER_VECTOR * vector, taken[i as usize]);
        }
        return;
    }
    for first in (0..height * words).step_by(threads as usize) {
        let word = (first + t) % (height * words);
        T::store_word(tile, &part, word / words, word % words);
    }
    if T::PER_WORD > 1 {
        for first in (0..height * T::PER_WORD).step_by(threads as usize) {
            let end = first + t;
            if end < height * T::PER_WORD {
                T::store_edge(tile, &part, end / T::PER_WORD, end % T::PER_WORD);
            }
        }
    }
}
