//! B = Aᵀ for misaligned rows (rows that do not start at multiples of 16 bytes), at the speed of memory.
//!
//! Memory is written in sectors of 32 bytes: a sector that two requests write partially costs the cache a read, a merge
//! and a write back. So no sector of B is shared here, neither by two requests nor by two blocks. Row c of B starts
//! φ(c) elements after a sector boundary, with a different φ for every row; the part of the row that a block writes is
//! shifted down by φ(c).
//!
//! ```text
//!            A, columns c                       B, sectors
//!   row −  ┌───────────────┐          row c   ┊ ▒▒▒▒┊▒▒▒▒▒▒▒┊▒▒▒   ┊     The block at row₀ writes columns row₀ − φ(c)
//!   sector │· · · ▒ · · · ▒│              ·   ┊▒▒▒▒▒┊▒▒▒▒▒▒▒┊▒▒    ┊     to row₀ − φ(c) + HEIGHT − 1 of row c: whole
//!          ├▒─▒─▒─▒─▒─▒─▒─▒┤ row₀         ·   ┊   ▒▒┊▒▒▒▒▒▒▒┊▒▒▒▒▒ ┊     sectors, 16 bytes a lane, but for the ends of
//!          │▒ ▒ ▒ ▒ ▒ ▒ ▒ ▒│             ↑             ↑        ↑        the row of B.
//!          │▒ ▒ ▒ ▒ ▒ ▒ ▒  │          skewed        whole     skewed
//!          └───────────────┘ row₀ + HEIGHT
//! ```
//!
//! Therefore it reads one sector of rows more than it writes, 3 to 12 % of the tile; they are in the cache, because the
//! block above reads them too. Misaligned rows of A are read by aligned 16-byte vectors where elements are narrower
//! than 4 bytes, two vectors funnel-shifted into one, and otherwise element by element.
//!
//! | bytes | columns of A | rows of A + extra rows | shared memory | threads |
//! |---|---|---|---|---|
//! | 1 | 128 | 256 + 32 | 37 KiB | 288 |
//! | 2 | 128 | 128 + 16 | 37 KiB | 288 |
//! | 4 | 64 | 128 + 8 | 34 KiB | 512 |
//! | 8 | 64 | 64 + 4 | 35 KiB | 256 |
//! | 16 | 32 | 48 + 2 | 26 KiB | 320 |
//!
//! The shift by φ is done when the tile is read from shared memory. Whole words cost nothing, since a lane may read any
//! word; the remaining bytes are funnel-shifted from two words.

use simt::element::Vec4;
use simt::global::{Window, WindowMut};
use simt::prelude::*;

use super::funnel_shift::{FunnelShift, Tile, bank_order};

/// Rows of A that a block moves, of elements of 1, 2, 4, 8 and 16 bytes: the columns of B, a whole number of sectors.
pub const ROWS: [u32; 5] = [256, 128, 128, 64, 48];
/// Columns of A that a block moves.
pub const COLS: [u32; 5] = [128, 128, 64, 64, 32];

/// Blocks for a matrix A of this shape, of elements of `bytes` bytes (1, 2, 4, 8 or 16), ordered as in
/// [`swizzled::grid`](super::swizzled::grid). The last block along x writes the columns of B that the shift leaves.
pub const fn grid(bytes: usize, rows: u32, cols: u32) -> [u32; 3] {
    let size = bytes.trailing_zeros() as usize;
    let shift = 32 / bytes as u32 - 1;
    let tiles = rows.saturating_add(shift).div_ceil(ROWS[size]);
    [if rows == 0 { 0 } else { tiles }, cols.div_ceil(COLS[size]), 1]
}

/// Words in a row of the tile for `rows` rows of A: one sector more, rounded to an odd number.
const fn pitch<T: FunnelShift>(rows: u32) -> usize {
    ((rows + T::SECTOR) / T::PER_WORD + 1) as usize
}

/// Rows of A in a row of the tile, without the extra sector.
const fn height<T: FunnelShift>(pitch: usize) -> u32 {
    (pitch as u32 - 1) * T::PER_WORD - T::SECTOR
}

/// Writes the tile to B: row `col + i` of B is row [`bank_order`]`(i)` of the tile; `row` is the first column of B
/// before the shift.
#[cfg_attr(optimised, inline(always))]
fn drain<T: FunnelShift, const C: usize, const P: usize, const THREADS: usize>(
    tile: &Tile<T, C, P>,
    b: &WindowMut<T>,
    (row, col): (u32, u32),
) {
    // A warp writes 128 bytes of each of four rows a quarter of the tile apart: these have the same φ and different
    // banks.
    let (quarter, runs) = (C as u32 / 4, height::<T>(P) / (8 * T::PER_VECTOR));
    for first in (0..8 * C as u32 * runs).step_by(THREADS) {
        let item = first + thread_idx_x();
        let (k, in_quarter, run, y) = (item % 8, item / 8 % 4, item / 32 % runs, item / (32 * runs) % quarter);
        let (down, right) = (in_quarter * quarter + y, T::PER_VECTOR * (8 * run + k));
        let to = col.saturating_add(down);
        if item < 8 * C as u32 * runs && to < b.rows() {
            let past = b.sector_misalignment(to, 0) % T::SECTOR;
            let vector = T::take(tile, bank_order(down, C), right, past);
            let (start, whole) = (row.saturating_add(right), b.cols());
            if start >= past && whole >= T::PER_VECTOR && start - past <= whole - T::PER_VECTOR {
                T::store_vector(b, to, start - past, vector);
            } else {
                T::store_partial(b, to, (start, past), vector);
            }
        }
    }
}

#[cfg_attr(optimised, inline(always))]
fn transpose<T: FunnelShift, const C: usize, const P: usize, const THREADS: usize>(
    tile: &Tile<T, C, P>,
    a: &Window<T>,
    b: &WindowMut<T>,
) {
    let (row, col) = (block_idx_x().saturating_mul(height::<T>(P)), block_idx_y() * C as u32);
    // The extra sector of the first block is outside A: its row indices wrap around and are out of bounds.
    T::fill::<C, P, THREADS>(tile, a, row.wrapping_sub(T::SECTOR), col);
    sync_threads();
    drain::<T, C, P, THREADS>(tile, b, (row, col));
}

macro_rules! kernels {
    ($(
        $(#[$doc:meta])+
        $name:ident: $t:ty, $cols:literal x $rows:literal, $threads:literal, $blocks:literal, $registers:literal;
    )+) => {$(
        $(#[$doc])+
        #[kernel(block = ($threads), min_blocks = $blocks, registers = $registers, barriers = 1)]
        pub fn $name(#[shared] tile: &Tile<$t, $cols, { pitch::<$t>($rows) }>, a: MatRef<$t>, b: MatMut<$t>) {
            transpose::<$t, $cols, { pitch::<$t>($rows) }, $threads>(tile, &a.window(), &b.window_mut());
        }
    )+};
}

kernels! {
    /// B = Aᵀ for any shape of 1-byte elements: `a` is m × n, `b` is n × m. Elements outside A are 0, elements outside
    /// B are skipped.
    transpose_misaligned_b8: u8, 128 x 256, 288, 4, 56;
    /// [`transpose_misaligned_b8`] for 2-byte elements.
    transpose_misaligned_b16: u16, 128 x 128, 288, 4, 56;
    /// [`transpose_misaligned_b8`] for 4-byte elements.
    transpose_misaligned_b32: f32, 64 x 128, 512, 3, 40;
    /// [`transpose_misaligned_b8`] for 8-byte elements.
    transpose_misaligned_b64: u64, 64 x 64, 256, 4, 64;
    /// [`transpose_misaligned_b8`] for 16-byte elements.
    transpose_misaligned_b128: Vec4<u32>, 32 x 48, 320, 5, 40;
}
