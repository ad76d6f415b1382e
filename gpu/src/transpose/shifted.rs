//! B = Aᵀ where rows begin anywhere, at the speed of memory.
//!
//! Memory is written in sectors of 32 bytes: a sector that two requests write a part of each costs the cache a reading, a
//! merging and a writing back. So no sector of B is shared here, neither by two requests nor by two blocks. Row c of B begins
//! φ(c) elements past a sector, for every row another φ; what a block writes of it is shifted down by φ(c).
//!
//! ```text
//!            A, columns c                       B, sectors
//!   row −  ┌───────────────┐          row c   ┊ ▒▒▒▒┊▒▒▒▒▒▒▒┊▒▒▒   ┊     A block of row₀ writes columns row₀ − φ(c)
//!   sector │· · · ▒ · · · ▒│              ·   ┊▒▒▒▒▒┊▒▒▒▒▒▒▒┊▒▒    ┊     to row₀ − φ(c) + HEIGHT − 1 of row c: whole
//!          ├▒─▒─▒─▒─▒─▒─▒─▒┤ row₀         ·   ┊   ▒▒┊▒▒▒▒▒▒▒┊▒▒▒▒▒ ┊     sectors, 16 bytes a lane, but for the ends of
//!          │▒ ▒ ▒ ▒ ▒ ▒ ▒ ▒│             ↑             ↑        ↑        the row of B itself.
//!          │▒ ▒ ▒ ▒ ▒ ▒ ▒  │          skewed        whole     skewed
//!          └───────────────┘ row₀ + HEIGHT
//! ```
//!
//! For that it reads a sector's worth of rows more than it writes, 3 to 12 % of the tile, which the cache has: the block above
//! reads them, too. Rows of A that begin anywhere are read by aligned 16 bytes where elements are narrow, two pieces shifted
//! into one, and by elements where they fill a bank of shared memory.
//!
//! | bytes | columns of A | rows of A, and those more | shared memory | threads |
//! |---|---|---|---|---|
//! | 1 | 128 | 256 + 32 | 37 KiB | 288 |
//! | 2 | 128 | 128 + 16 | 37 KiB | 288 |
//! | 4 | 64 | 128 + 8 | 34 KiB | 512 |
//! | 8 | 64 | 64 + 4 | 35 KiB | 256 |
//! | 16 | 32 | 48 + 2 | 26 KiB | 320 |
//!
//! All shifting by φ is done on the way out of shared memory, by words: which words a lane takes costs nothing, and the bytes
//! that are left, two words into one.

use simt::element::Vec4;
use simt::global::{Window, WindowMut};
use simt::prelude::*;

use super::shift::{Shift, Tile, spread};

/// Rows of A that a block moves, of elements of 1, 2, 4, 8 and 16 bytes: the columns of B, a whole number of sectors.
pub const ROWS: [u32; 5] = [256, 128, 128, 64, 48];
/// Columns of A that a block moves.
pub const COLS: [u32; 5] = [128, 128, 64, 64, 32];

/// Blocks for a matrix A of this shape, of elements of `bytes` bytes (1, 2, 4, 8 or 16), ordered as in
/// [`swizzled::grid`](super::swizzled::grid): the last of them take what the shift leaves.
pub const fn grid(bytes: usize, rows: u32, cols: u32) -> [u32; 3] {
    let size = bytes.trailing_zeros() as usize;
    let shift = 32 / bytes as u32 - 1;
    let tiles = rows.saturating_add(shift).div_ceil(ROWS[size]);
    [if rows == 0 { 0 } else { tiles }, cols.div_ceil(COLS[size]), 1]
}

/// Units of a tile's row for `rows` rows of A: a sector more, and an odd number.
const fn pitch<T: Shift>(rows: u32) -> usize {
    ((rows + T::SECTOR) / T::PER_UNIT + 1) as usize
}

/// Rows of A that lie in a row of the tile, but for the sector more.
const fn height<T: Shift>(pitch: usize) -> u32 {
    (pitch as u32 - 1) * T::PER_UNIT - T::SECTOR
}

/// Writes the tile to B: its row `col + i` is row [`spread`]`(i)` of the tile, `row` the first column before the shift.
#[inline(always)]
fn drain<T: Shift, const C: usize, const P: usize, const THREADS: usize>(
    tile: &Tile<T, C, P>,
    b: &WindowMut<T>,
    (row, col): (u32, u32),
) {
    // A warp writes 128 bytes of each of four rows, a quarter of the tile apart: of one φ, and in different banks.
    let (quarter, runs) = (C as u32 / 4, height::<T>(P) / (8 * T::PER_CHUNK));
    for first in (0..8 * C as u32 * runs).step_by(THREADS) {
        let item = first + thread_idx_x();
        let (k, line, run, y) = (item % 8, item / 8 % 4, item / 32 % runs, item / (32 * runs) % quarter);
        let (down, right) = (line * quarter + y, T::PER_CHUNK * (8 * run + k));
        let to = col.saturating_add(down);
        if item < 8 * C as u32 * runs && to < b.rows() {
            let past = b.past_sector(to, 0) % T::SECTOR;
            let chunk = T::take(tile, spread(down, C), right, past);
            let (start, whole) = (row.saturating_add(right), b.cols());
            if start >= past && whole >= T::PER_CHUNK && start - past <= whole - T::PER_CHUNK {
                T::store_chunk(b, to, start - past, chunk);
            } else {
                T::store_part(b, to, (start, past), chunk);
            }
        }
    }
}

#[inline(always)]
fn transpose<T: Shift, const C: usize, const P: usize, const THREADS: usize>(
    tile: &Tile<T, C, P>,
    a: &Window<T>,
    b: &WindowMut<T>,
) {
    let (row, col) = (block_idx_x().saturating_mul(height::<T>(P)), block_idx_y() * C as u32);
    // The first block's sector more lies outside A: there indices wrap round to the far end.
    T::fill::<C, P, THREADS>(tile, a, row.wrapping_sub(T::SECTOR), col);
    sync_threads();
    drain::<T, C, P, THREADS>(tile, b, (row, col));
}

macro_rules! kernels {
    ($($(#[$doc:meta])+ $name:ident: $t:ty, $cols:literal x $rows:literal, $threads:literal, $blocks:literal, $registers:literal;)+) => {$(
        $(#[$doc])+
        #[kernel(block = ($threads), min_blocks = $blocks, registers = $registers, barriers = 1)]
        pub fn $name(#[shared] tile: &Tile<$t, $cols, { pitch::<$t>($rows) }>, a: MatRef<$t>, b: MatMut<$t>) {
            transpose::<$t, $cols, { pitch::<$t>($rows) }, $threads>(tile, &a.window(), &b.window_mut());
        }
    )+};
}

kernels! {
    /// B = Aᵀ for any shape of 1-byte elements: `a` is m × n, `b` is n × m. What A lacks counts as 0, what B lacks is left out.
    transpose_shifted_b8: u8, 128 x 256, 288, 4, 56;
    /// [`transpose_shifted_b8`] for 2-byte elements.
    transpose_shifted_b16: u16, 128 x 128, 288, 4, 56;
    /// [`transpose_shifted_b8`] for 4-byte elements.
    transpose_shifted_b32: f32, 64 x 128, 512, 3, 40;
    /// [`transpose_shifted_b8`] for 8-byte elements.
    transpose_shifted_b64: u64, 64 x 64, 256, 4, 64;
    /// [`transpose_shifted_b8`] for 16-byte elements.
    transpose_shifted_b128: Vec4<u32>, 32 x 48, 320, 5, 40;
}
