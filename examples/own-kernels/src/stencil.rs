//! One step of the heat equation: each inner element becomes the mean of its four neighbours.

use warpwright::prelude::*;

/// Threads of a block along each axis.
pub const TILE: u32 = 16;

/// The border of `to` is that of `from`.
#[kernel(block = (TILE, TILE), registers = 40)]
pub fn stencil(from: MatRef<f32>, to: MatMut<f32>) {
    let (row, col) = (block_idx_y() * TILE + thread_idx_y(), block_idx_x() * TILE + thread_idx_x());
    if branch(row < from.rows() && col < from.cols()) {
        let inner = row > 0 && col > 0 && row + 1 < from.rows() && col + 1 < from.cols();
        let value = if branch(inner) {
            let vertical = from.get(row - 1, col) + from.get(row + 1, col);
            0.25 * (vertical + (from.get(row, col - 1) + from.get(row, col + 1)))
        } else {
            from.get(row, col)
        };
        to.set_within(row, col, value);
    }
}
