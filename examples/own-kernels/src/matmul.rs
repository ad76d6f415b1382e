//! c = a · b, one element per thread: each block reads tiles of a and b into shared memory.

use warpwright::prelude::*;

/// Rows and columns of a tile; threads of a block along each axis.
pub const TILE: u32 = 16;

/// A tile of each operand.
#[repr(C)]
#[derive(Shared)]
pub struct Tiles {
    a: SharedTile<f32, { TILE as usize }, { TILE as usize }>,
    b: SharedTile<f32, { TILE as usize }, { TILE as usize }>,
}

/// The columns of `a` are as many as the rows of `b`.
#[kernel(block = (TILE, TILE), barriers = 2)]
pub fn matmul(#[shared] tiles: &Tiles, a: MatRef<f32>, b: MatRef<f32>, c: MatMut<f32>) {
    let (x, y) = (thread_idx_x(), thread_idx_y());
    let (row, col) = (block_idx_y() * TILE + y, block_idx_x() * TILE + x);
    let mut sum = 0.0;
    for step in 0..a.cols().div_ceil(TILE) {
        let k = step * TILE;
        tiles.a.set(y, x, a.get_or(row, k + x, 0.0));
        tiles.b.set(y, x, b.get_or(k + y, col, 0.0));
        sync_threads();
        for k in 0..TILE {
            sum = fma(tiles.a.get(y, k), tiles.b.get(k, x), sum);
        }
        sync_threads();
    }
    c.set_within(row, col, sum);
}
