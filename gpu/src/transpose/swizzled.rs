//! B = Aᵀ at the speed of memory, for elements of 1, 2, 4, 8 and 16 bytes.
//!
//! A block moves one tile, by [`fill`] and [`drain`]: 16 bytes a lane for loads and stores where rows are aligned to 16
//! bytes, a swizzle instead of padding against bank conflicts ([`super::tile_layout`]), one barrier. The kernels move
//! bits; the types in their signatures stand for all elements of the same size.
//!
//! | bytes | tile of A, rows × columns | contiguous bytes in A and B | shared memory | threads |
//! |---|---|---|---|---|
//! | 1 | 256 × 128 | 128, 256 | 32 KiB | 512 |
//! | 2 | 128 × 128 | 256, 256 | 32 KiB | 512 |
//! | 4 | 64 × 64 | 256, 256 | 16 KiB | 256 |
//! | 8 | 32 × 64 | 512, 256 | 16 KiB | 256 |
//! | 16 | 32 × 32 | 512, 512 | 16 KiB | 256 |
//!
//! For each tile, a thread does four loads and four stores of 16 bytes; the 1536 threads of an SM have 96 KiB in
//! flight.

use simt::element::Vec4;
use simt::prelude::*;

use super::tile::{Tile, drain, fill, threads};
use super::tile_layout::TileElement;

/// Rows of A in a tile of elements of 1, 2, 4, 8 and 16 bytes.
pub const ROWS: [u32; 5] = [256, 128, 64, 32, 32];
/// Columns of A in a tile.
pub const COLS: [u32; 5] = [128, 128, 64, 64, 32];

/// Blocks for a matrix A of this shape, of 4-byte elements. A grid is at most 65 535 blocks high: beyond so many tiles,
/// launch again on the columns to the right.
///
/// Blocks that run at the same time are below one another in A, so that they write neighbouring segments of the same
/// rows of B: on an H200, `f32` reaches 97 % of a copy's speed, against 94.5 % in the other order.
pub const fn grid(rows: u32, cols: u32) -> [u32; 3] {
    grid_of(4, rows, cols)
}

/// [`grid`] for elements of `bytes` bytes: 1, 2, 4, 8 or 16.
pub const fn grid_of(bytes: usize, rows: u32, cols: u32) -> [u32; 3] {
    let size = bytes.trailing_zeros() as usize;
    [rows.div_ceil(ROWS[size]), cols.div_ceil(COLS[size]), 1]
}

#[cfg_attr(optimised, inline(always))]
fn transpose<T: TileElement, const C: usize, const W: usize, const BATCH: usize>(
    tile: &Tile<T, C, W>,
    a: MatRef<T>,
    b: MatMut<T>,
) {
    let (row, col) = (block_idx_x() * W as u32 * T::PER_WORD, block_idx_y() * C as u32);
    fill::<T, C, W, BATCH>(tile, &a.window(), (row, col), b.cols().saturating_sub(row));
    sync_threads();
    drain::<T, C, W>(tile, &b.window_mut(), (col, row));
}

/// B = Aᵀ for any shape of 1-byte elements: `a` is m × n, `b` is n × m. Elements outside A are 0, elements outside B
/// are skipped.
#[kernel(block = (threads::<u8>(128, 64)), min_blocks = 3, registers = 40, barriers = 1)]
pub fn transpose_b8(#[shared] tile: &Tile<u8, 128, 64>, a: MatRef<u8>, b: MatMut<u8>) {
    transpose::<u8, 128, 64, 2>(tile, a, b);
}

/// [`transpose_b8`] for 2-byte elements.
#[kernel(block = (threads::<u16>(128, 64)), min_blocks = 3, registers = 40, barriers = 1)]
pub fn transpose_b16(#[shared] tile: &Tile<u16, 128, 64>, a: MatRef<u16>, b: MatMut<u16>) {
    transpose::<u16, 128, 64, 2>(tile, a, b);
}

/// [`transpose_b8`] for 4-byte elements.
#[kernel(block = (threads::<f32>(64, 64)), min_blocks = 6, registers = 40, barriers = 1)]
pub fn transpose_b32(#[shared] tile: &Tile<f32, 64, 64>, a: MatRef<f32>, b: MatMut<f32>) {
    transpose::<f32, 64, 64, 8>(tile, a, b);
}

/// [`transpose_b8`] for 8-byte elements.
#[kernel(block = (threads::<u64>(64, 32)), min_blocks = 6, registers = 40, barriers = 1)]
pub fn transpose_b64(#[shared] tile: &Tile<u64, 64, 32>, a: MatRef<u64>, b: MatMut<u64>) {
    transpose::<u64, 64, 32, 8>(tile, a, b);
}

/// [`transpose_b8`] for 16-byte elements.
#[kernel(block = (threads::<Vec4<u32>>(32, 32)), min_blocks = 6, registers = 40, barriers = 1)]
pub fn transpose_b128(#[shared] tile: &Tile<Vec4<u32>, 32, 32>, a: MatRef<Vec4<u32>>, b: MatMut<Vec4<u32>>) {
    transpose::<Vec4<u32>, 32, 32, 4>(tile, a, b);
}
