//! The transpose of a matrix through tiles of shared memory, so that reads and writes of global memory are along rows.

use warpwright::prelude::*;
use warpwright::simt::element::{Element, zeroed};

/// Rows and columns of a tile; threads of a block along each axis.
pub const TILE: u32 = 32;

/// A tile with a column more than it needs: the elements of a column lie in different banks.
#[repr(C)]
#[derive(Shared)]
pub struct Tile<T: Element> {
    values: SharedTile<T, { TILE as usize }, { TILE as usize + 1 }>,
}

/// `to` has as many rows as `from` has columns.
#[kernel(instances(<f32>, <f64>), block = (TILE, TILE), registers = 32, barriers = 1)]
pub fn transpose<T: Element>(#[shared] tile: &Tile<T>, from: MatRef<T>, to: MatMut<T>) {
    let (x, y) = (thread_idx_x(), thread_idx_y());
    let (row, col) = (block_idx_y() * TILE, block_idx_x() * TILE);
    tile.values.set(y, x, from.get_or(row + y, col + x, zeroed()));
    sync_threads();
    to.set_within(col + y, row + x, tile.values.get(x, y));
}
