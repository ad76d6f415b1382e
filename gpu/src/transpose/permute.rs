//! A permutation of dimensions whose fastest one changes: a batch of transpositions between any strides.
//!
//! The host brings a permutation of up to six dimensions into this form: dimension 0 is contiguous in `a`, dimension 1
//! is contiguous in `b`, and the other dimensions, up to four, are the batch. For each batch index a matrix of
//! `extents[1]` × `extents[0]` elements is transposed tile by tile.
//!
//! ```text
//!   N C H W → N H W C:   dimension 0 = H·W, 1 = C, 2 = N      a block: one tile of one image
//! ```
//!
//! A block computes its tile and batch indices from its number in the grid, by one 32-bit division for each dimension
//! with more than one index. That is about a hundred instructions for a thread that moves 64 bytes. Six blocks share an
//! SM, so the loads of the others keep memory busy meanwhile. Nested loops in a block would save the divisions but
//! unbalance the blocks; here every block moves one tile, whatever the extents.

use simt::element::Vec4;
use simt::prelude::*;

use super::swizzled::COLS;
use super::tile::{Tile, drain, fill, threads};
use super::tile_layout::TileElement;
use crate::unroll::each;

/// Rows of A in a tile of elements of 1, 2, 4, 8 and 16 bytes: as in [`super::swizzled`], but fewer for 1 byte, because
/// images often have few channels.
const ROWS: [u32; 5] = [128, 128, 64, 32, 32];

/// Most dimensions.
pub const DIMS: usize = 6;

/// Blocks for elements of `bytes` bytes (1, 2, 4, 8 or 16) and these extents, each along x and y.
pub const fn grid(bytes: usize, extents: [u32; DIMS]) -> [u64; 2] {
    let size = bytes.trailing_zeros() as usize;
    let [cols, rows, a, b, c, d] = extents;
    let images = (a as u64).saturating_mul(b as u64).saturating_mul(c as u64).saturating_mul(d as u64);
    [images.saturating_mul(cols.div_ceil(COLS[size]) as u64), rows.div_ceil(ROWS[size]) as u64]
}

/// Removes and returns the lowest digit of a mixed-radix number.
#[cfg_attr(optimised, inline(always))]
fn digit(rest: &mut u32, extent: u32) -> u32 {
    if extent <= 1 {
        return 0;
    }
    let digit = *rest % extent;
    *rest /= extent;
    digit
}

#[cfg_attr(optimised, inline(always))]
fn permute<T: TileElement, const C: usize, const W: usize, const BATCH: usize>(
    tile: &Tile<T, C, W>,
    a: VecRef<T>,
    b: VecMut<T>,
    extents: [u32; DIMS],
    a_strides: [u64; DIMS],
    b_strides: [u64; DIMS],
) {
    let [cols, rows, ..] = extents;
    let mut rest = block_idx_x();
    let (row, col) = (block_idx_y() * W as u32 * T::PER_WORD, digit(&mut rest, cols.div_ceil(C as u32)) * C as u32);
    let index = each!([2, 3, 4, 5], |dimension: usize| digit(&mut rest, extents[dimension]) as u64);
    let start = |strides: [u64; DIMS]| {
        let along = |i: usize| index[i].wrapping_mul(strides[i + 2]);
        along(0).wrapping_add(along(1)).wrapping_add(along(2)).wrapping_add(along(3))
    };
    let windows = (
        a.window(start(a_strides), rows, cols, a_strides[1]),
        b.window_mut(start(b_strides), cols, rows, b_strides[0]),
    );
    let (Some(a), Some(b)) = windows else { return };
    fill::<T, C, W, BATCH>(tile, &a, (row, col), rows.saturating_sub(row));
    sync_threads();
    drain::<T, C, W>(tile, &b, (col, row));
}

/// `b[i₀·b_strides[0] + i₁ + …] = a[i₀ + i₁·a_strides[1] + …]` for all indices below `extents`, of 1-byte elements.
/// Unused dimensions have extent 1; `a_strides[0]` and `b_strides[1]` are ignored. A matrix of the batch that is not
/// entirely inside `a` and `b` is skipped.
#[kernel(block = (threads::<u8>(128, 32)), min_blocks = 6, registers = 40, barriers = 1)]
pub fn permute_b8(
    #[shared] tile: &Tile<u8, 128, 32>,
    a: VecRef<u8>,
    b: VecMut<u8>,
    extents: [u32; 6],
    a_strides: [u64; 6],
    b_strides: [u64; 6],
) {
    permute::<u8, 128, 32, 2>(tile, a, b, extents, a_strides, b_strides);
}

/// [`permute_b8`] for 2-byte elements.
#[kernel(block = (threads::<u16>(128, 64)), min_blocks = 3, registers = 40, barriers = 1)]
pub fn permute_b16(
    #[shared] tile: &Tile<u16, 128, 64>,
    a: VecRef<u16>,
    b: VecMut<u16>,
    extents: [u32; 6],
    a_strides: [u64; 6],
    b_strides: [u64; 6],
) {
    permute::<u16, 128, 64, 2>(tile, a, b, extents, a_strides, b_strides);
}

/// [`permute_b8`] for 4-byte elements.
#[kernel(block = (threads::<f32>(64, 64)), min_blocks = 6, registers = 40, barriers = 1)]
pub fn permute_b32(
    #[shared] tile: &Tile<f32, 64, 64>,
    a: VecRef<f32>,
    b: VecMut<f32>,
    extents: [u32; 6],
    a_strides: [u64; 6],
    b_strides: [u64; 6],
) {
    permute::<f32, 64, 64, 8>(tile, a, b, extents, a_strides, b_strides);
}

/// [`permute_b8`] for 8-byte elements.
#[kernel(block = (threads::<u64>(64, 32)), min_blocks = 6, registers = 40, barriers = 1)]
pub fn permute_b64(
    #[shared] tile: &Tile<u64, 64, 32>,
    a: VecRef<u64>,
    b: VecMut<u64>,
    extents: [u32; 6],
    a_strides: [u64; 6],
    b_strides: [u64; 6],
) {
    permute::<u64, 64, 32, 8>(tile, a, b, extents, a_strides, b_strides);
}

/// [`permute_b8`] for 16-byte elements.
#[kernel(block = (threads::<Vec4<u32>>(32, 32)), min_blocks = 6, registers = 40, barriers = 1)]
pub fn permute_b128(
    #[shared] tile: &Tile<Vec4<u32>, 32, 32>,
    a: VecRef<Vec4<u32>>,
    b: VecMut<Vec4<u32>>,
    extents: [u32; 6],
    a_strides: [u64; 6],
    b_strides: [u64; 6],
) {
    permute::<Vec4<u32>, 32, 32, 4>(tile, a, b, extents, a_strides, b_strides);
}
