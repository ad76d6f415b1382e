//! One tile's way from A through shared memory to B, for every size of element.
//!
//! ```text
//!   A                              shared memory, rows of B          B
//!  ┌──┬──┬──┬──┐  4 rows, 16 bytes  ┌──┬──┬──┬──┐                  ┌──┬──┬──┬──┐
//!  │▒▒│  │  │  │  of each a thread  │  │▒▒│  │  │   16 bytes a     │▒▒│  │  │  │
//!  ├──┼──┼──┼──┤ ────────────────►  ├──┼──┼──┼──┤ ──────────────►  ├──┼──┼──┼──┤
//!  │  │  │  │  │  turned over in    │  │  │  │▒▒│   thread, 4      │▒▒│  │  │  │
//!  └──┴──┴──┴──┘  registers         └──┴──┴──┴──┘   times          └──┴──┴──┴──┘
//! ```
//!
//! Where a whole tile lies in the matrix and its rows start at multiples of 16 bytes, a thread has four independent 16-byte
//! loads under way, and four stores. Each side decides for itself.
//!
//! Elsewhere the lanes of a warp take neighbouring *units*, of 4 bytes or one element. A row of bytes or 2-byte elements that
//! starts beside a multiple of 4 bytes is read by its aligned words: a unit lies in two of them, of which the neighbour reads
//! the second too, so that it comes from the cache; and it is written by them, each made of two units of the tile, the ends
//! apart. Reading or writing such elements one by one would take four times, or twice, as many requests as the memory
//! pipeline of a multiprocessor can take in the time in which the memory moves the bytes. A thread has several units under
//! way before it writes the first to the tile.

use simt::global::{Window, WindowMut};
use simt::prelude::*;

use super::cell::Cell;

/// Shared memory for `C` columns of A by `W` units of its rows.
pub type Tile<T, const C: usize, const W: usize> = SharedTile<<T as Cell>::Unit, C, W>;

/// Threads for such a tile: each takes 64 bytes.
pub const fn threads<T: Cell>(cols: usize, units: usize) -> u32 {
    (cols * units * size_of::<T::Unit>() / 64) as u32
}

/// Reads the tile of A at (`row`, `col`), of which `rows` rows are needed; what A lacks counts as 0. A thread has `BATCH`
/// units or squares of units under way where it does not have chunks.
#[inline(always)]
pub fn fill<T: Cell, const C: usize, const W: usize, const BATCH: usize>(
    tile: &Tile<T, C, W>,
    a: &Window<T>,
    (row, col): (u32, u32),
    rows: u32,
) {
    let (t, threads) = (thread_idx_x(), threads::<T>(C, W));
    let (height, width) = (W as u32 * T::PER_UNIT, C as u32);
    if let Some(part) = a.part(row, col, height, width).filter(T::is_chunked) {
        // Lanes that write parts of one chunk of the tile at once, then 8 columns of chunks, then the rest.
        let (parts, across) = (T::PER_UNIT, width / T::PER_CHUNK);
        let chunk = t % 8 + 8 * (t / (8 * parts) % (across / 8));
        let group = t / 8 % parts + parts * (t / (parts * across));
        let load = |i| T::load_chunk(&part, 4 * group + i, T::PER_CHUNK * chunk);
        T::put_chunks(tile, 4 * group, T::PER_CHUNK * chunk, [load(0), load(1), load(2), load(3)]);
        return;
    }
    let across = width / T::PER_UNIT;
    let place = |block: u32| (block / across * T::PER_UNIT, block % across * T::PER_UNIT);
    // The end is no constant, so that the loop is not unrolled: its addresses would not fit the registers.
    let (mut first, end) = (0, rows.min(height).div_ceil(T::PER_UNIT) * across);
    while first < end {
        // The remainder changes nothing but what the compiler knows: that this is a place in the tile.
        let inside = |i: usize| place((first + i as u32 * threads + t) % (across * W as u32));
        let outside = |i: usize| {
            let (down, right) = inside(i);
            (row.saturating_add(down), col.saturating_add(right))
        };
        let mut whole = true;
        for i in 0..BATCH {
            let (row, col) = outside(i);
            whole &= T::is_whole(a, row, col);
        }
        if whole {
            let blocks: [T::Block; BATCH] = core::array::from_fn(|i| {
                let (row, col) = outside(i);
                T::load_words(a, row, col)
            });
            #[allow(clippy::needless_range_loop, reason = "an iterator over the array would have it in local memory")]
            for i in 0..BATCH {
                let (down, right) = inside(i);
                T::put_block(tile, down, right, blocks[i]);
            }
        } else {
            for i in 0..BATCH {
                let ((down, right), (row, col)) = (inside(i), outside(i));
                T::put_block(tile, down, right, T::load_elements(a, row, col));
            }
        }
        first += threads * BATCH as u32;
    }
}

/// Writes the tile to B at (`row`, `col`); what B lacks is left out.
#[inline(always)]
pub fn drain<T: Cell, const C: usize, const W: usize>(tile: &Tile<T, C, W>, b: &WindowMut<T>, (row, col): (u32, u32)) {
    let (t, threads) = (thread_idx_x(), threads::<T>(C, W));
    let (height, width, units) = (C as u32, W as u32 * T::PER_UNIT, W as u32);
    let Some(part) = b.part_mut(row, col, height, width) else {
        for first in (0..height * units).step_by(threads as usize) {
            let unit = (first + t) % (height * units);
            let (down, right) = (unit / units, unit % units);
            let (to_row, to_col) = (row.saturating_add(down), col.saturating_add(right * T::PER_UNIT));
            if to_row >= b.rows() {
                break;
            }
            // What B lacks the tile may lack, too.
            if to_col < b.cols() {
                T::store_elements(tile, (down, right), b, to_row, to_col);
            }
        }
        return;
    };
    if T::is_chunked(&part) {
        let chunks = units / T::UNITS;
        let (y, chunk) = (t / chunks, t % chunks);
        // A thread's rows differ in their unit alone, so that the order of units in a chunk is a constant.
        let down = |i| y / T::PER_UNIT * (4 * T::PER_UNIT) + i * T::PER_UNIT + y % T::PER_UNIT;
        let take = |i| T::take_chunk(tile, down(i), chunk);
        let taken = [take(0), take(1), take(2), take(3)];
        for i in 0..4 {
            T::store_chunk(&part, down(i), T::PER_CHUNK * chunk, taken[i as usize]);
        }
        return;
    }
    for first in (0..height * units).step_by(threads as usize) {
        let unit = (first + t) % (height * units);
        T::store_unit(tile, &part, unit / units, unit % units);
    }
    if T::PER_UNIT > 1 {
        for first in (0..height * T::PER_UNIT).step_by(threads as usize) {
            let end = first + t;
            if end < height * T::PER_UNIT {
                T::store_end(tile, &part, end / T::PER_UNIT, end % T::PER_UNIT);
            }
        }
    }
}
