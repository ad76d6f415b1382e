//! A = Aᵀ for square matrices, without additional memory.
//!
//! ```text
//!        j                       A block reads tiles (i, j) and (j, i) into shared memory, then writes each
//!   ┌──┬──┬──┬──┐                one transposed to the position of the other. Nothing is written before both
//!   │╲ │  │ij│  │ i              are read: one barrier. A tile on the diagonal is processed alone. A block
//!   ├──┼──┼──┼──┤                accesses no element of another block's tiles, so blocks run in any order; for
//!   │  │╲ │  │  │                this, aligned words are read only where the whole word is in the tile.
//!   ├──┼──┼──┼──┤
//!   │ji│  │╲ │  │ j              The triangle of t·(t + 1) / 2 pairs is folded into a rectangle: of its t + 1
//!   ├──┼──┼──┼──┤                columns, row y of the triangle fills t − y, row t − 1 − y the other y + 1.
//!   │  │  │  │╲ │
//!   └──┴──┴──┴──┘
//! ```
//!
//! Tiles are square: 128, 64, 64, 32 and 32 elements wide for 1, 2, 4, 8 and 16 bytes.

use simt::element::Vec4;
use simt::prelude::*;

use super::tile::{Tile, drain, fill, threads};
use super::tile_layout::TileElement;

/// Rows and columns of a tile of elements of 1, 2, 4, 8 and 16 bytes.
pub const TILE: [u32; 5] = [128, 64, 64, 32, 32];

/// Blocks for an n × n matrix of elements of `bytes` bytes: 1, 2, 4, 8 or 16.
pub const fn grid(bytes: usize, n: u32) -> [u32; 3] {
    let tiles = n.div_ceil(TILE[bytes.trailing_zeros() as usize]);
    if tiles == 0 { [0, 0, 0] } else { [tiles + 1, tiles.div_ceil(2), 1] }
}

/// Row and column of the tile, on or above the diagonal, of block (`x`, `y`) in a matrix of `tiles` × `tiles`.
#[cfg_attr(optimised, inline(always))]
fn pair(x: u32, y: u32, tiles: u32) -> Option<(u32, u32)> {
    let long = tiles.saturating_sub(y);
    if x < long {
        return Some((y, y + x));
    }
    // If the number of rows is odd, the middle one has no partner.
    let row = long.wrapping_sub(1);
    (y < row).then(|| (row, row + (x - long)))
}

#[cfg_attr(optimised, inline(always))]
fn transpose<T: TileElement, const C: usize, const W: usize, const BATCH: usize>(
    tiles: &[Tile<T, C, W>; 2],
    a: MatMut<T>,
) {
    let (edge, n) = (C as u32, a.rows().min(a.cols()));
    let Some((i, j)) = pair(block_idx_x(), block_idx_y(), n.div_ceil(edge)) else { return };
    let (i, j) = (i * edge, j * edge);
    let (height, width) = (edge.min(n.saturating_sub(i)), edge.min(n.saturating_sub(j)));
    let window = a.window_mut();
    let parts = (window.part_mut(i, j, height, width), window.part_mut(j, i, width, height));
    let (Some(upper), Some(lower)) = parts else { return };

    // Loops instead of two calls: two inlined copies of the code would not fit in the registers.
    let count = if i == j { 1 } else { 2 };
    for k in 0..count {
        let (tile, part) = if k == 0 { (&tiles[0], &upper) } else { (&tiles[1], &lower) };
        fill::<T, C, W, BATCH>(tile, part, (0, 0), part.rows());
    }
    sync_threads();
    for k in 0..count {
        let (tile, part) = if k == 0 { (&tiles[0], &lower) } else { (&tiles[1], &upper) };
        drain::<T, C, W>(tile, part, (0, 0));
    }
}

/// A = Aᵀ for an n × n matrix of 1-byte elements. If the matrix is not square, its largest square at (0, 0) is
/// transposed.
#[kernel(block = (threads::<u8>(128, 32)), min_blocks = 6, registers = 40, barriers = 1)]
pub fn transpose_in_place_b8(#[shared] tiles: &[Tile<u8, 128, 32>; 2], a: MatMut<u8>) {
    transpose::<u8, 128, 32, 1>(tiles, a);
}

/// [`transpose_in_place_b8`] for 2-byte elements.
#[kernel(block = (threads::<u16>(64, 32)), min_blocks = 12, registers = 40, barriers = 1)]
pub fn transpose_in_place_b16(#[shared] tiles: &[Tile<u16, 64, 32>; 2], a: MatMut<u16>) {
    transpose::<u16, 64, 32, 1>(tiles, a);
}

/// [`transpose_in_place_b8`] for 4-byte elements.
#[kernel(block = (threads::<f32>(64, 64)), min_blocks = 6, registers = 40, barriers = 1)]
pub fn transpose_in_place_b32(#[shared] tiles: &[Tile<f32, 64, 64>; 2], a: MatMut<f32>) {
    transpose::<f32, 64, 64, 8>(tiles, a);
}

/// [`transpose_in_place_b8`] for 8-byte elements.
#[kernel(block = (threads::<u64>(32, 32)), min_blocks = 12, registers = 40, barriers = 1)]
pub fn transpose_in_place_b64(#[shared] tiles: &[Tile<u64, 32, 32>; 2], a: MatMut<u64>) {
    transpose::<u64, 32, 32, 4>(tiles, a);
}

/// [`transpose_in_place_b8`] for 16-byte elements.
#[kernel(block = (threads::<Vec4<u32>>(32, 32)), min_blocks = 6, registers = 40, barriers = 1)]
pub fn transpose_in_place_b128(#[shared] tiles: &[Tile<Vec4<u32>, 32, 32>; 2], a: MatMut<Vec4<u32>>) {
    transpose::<Vec4<u32>, 32, 32, 2>(tiles, a);
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_pair_of_tiles_belongs_to_exactly_one_block() {
        for tiles in 1..20 {
            let [x, y, _] = grid(4, tiles * 64 - 5);
            let pairs: Vec<_> = (0..x).flat_map(|x| (0..y).filter_map(move |y| pair(x, y, tiles))).collect();
            let set: BTreeSet<_> = pairs.iter().copied().collect();
            assert_eq!(pairs.len(), set.len(), "{tiles} tiles: a pair occurs twice");
            assert_eq!(set, (0..tiles).flat_map(|i| (i..tiles).map(move |j| (i, j))).collect(), "{tiles} tiles");
        }
    }
}
