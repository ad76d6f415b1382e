//! c = a · b of `f16` on tensor cores, with sums in `f32`: each warp computes a tile of 16 × 8 by `mma.sync`.
//!
//! ```text
//!              b, 16 × 8        a step along k
//!   a, 16 × 16 ┌───────┐        2 · 32 lanes load 16 bytes of rows by ldmatrix
//!   ┌────────┐ │       │        1 mma.sync: 2 · 16 · 8 · 16 floating-point operations
//!   │        │ c, 16 × 8
//!   └────────┘
//! ```

use warpwright::half::f16;
use warpwright::prelude::*;
use warpwright::simt::matrix::{ldmatrix, mma_sync};
use warpwright::simt::warp::lane_id;

/// Threads of a block: one warp.
pub const THREADS: u32 = 32;
/// Rows of a tile of c.
pub const ROWS: u32 = 16;
/// Columns of a tile of c.
pub const COLS: u32 = 8;
/// Extent of a step along k, that of one instruction.
const DEPTH: u32 = 16;

/// A tile of each operand.
#[repr(C)]
#[derive(Shared)]
pub struct Tiles {
    a: SharedTile<f16, { ROWS as usize }, { DEPTH as usize }>,
    b: SharedTile<f16, { DEPTH as usize }, { COLS as usize }>,
}

/// The columns of `a` are as many as the rows of `b`.
#[kernel(block = THREADS)]
pub fn mma(#[shared] tiles: &Tiles, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
    let lane = lane_id();
    let (row, col) = (block_idx_y() * ROWS, block_idx_x() * COLS);
    let mut sums = [0.0_f32; 4];
    for step in 0..a.cols().div_ceil(DEPTH) {
        let k = step * DEPTH;
        for i in 0..ROWS * DEPTH / THREADS {
            let (y, x) = (2 * i + lane / DEPTH, lane % DEPTH);
            tiles.a.set(y, x, a.get_or(row + y, k + x, f16::ZERO));
        }
        for i in 0..DEPTH * COLS / THREADS {
            let (y, x) = (4 * i + lane / COLS, lane % COLS);
            tiles.b.set(y, x, b.get_or(k + y, col + x, f16::ZERO));
        }
        sync_threads();
        let left = ldmatrix::<4, false, _, 8>(tiles.a.slot::<8>(lane % 16, lane / 16 * 8));
        let right = ldmatrix::<2, true, _, 8>(tiles.b.slot::<8>(lane % 16, 0));
        sums = mma_sync::<f16>(left, right, sums);
        // The next step writes what this one read.
        sync_threads();
    }
    // This lane's part of c: two neighbours, and the two 8 rows below.
    let (y, x) = (row + lane / 4, col + 2 * (lane % 4));
    c.set_within(y, x, sums[0]);
    c.set_within(y, x + 1, sums[1]);
    c.set_within(y + 8, x, sums[2]);
    c.set_within(y + 8, x + 1, sums[3]);
}
