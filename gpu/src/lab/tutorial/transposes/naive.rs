//! B = Aᵀ without shared memory: one matrix is accessed along rows, the other along columns.
//!
//! ```text
//!   by rows       A                    B               by columns    A                    B
//!          ┌────────────┐        ┌──────────┐                 ┌────────────┐        ┌──────────┐
//!          │ warp ────► │        │  w       │                 │  w         │        │ warp ──► │
//!          │            │        │  a       │                 │  a         │        │          │
//!          │            │        │  r       │                 │  r         │        │          │
//!          └────────────┘        │  p       │                 │  p         │        │          │
//!                                └──▼───────┘                 └──▼─────────┘        └──────────┘
//!            4 sectors            32 sectors                   32 sectors            4 sectors
//! ```
//!
//! Memory is accessed in sectors of 32 bytes. A row of 32 elements fills 4 of them; a column touches 32 and uses 4
//! bytes of each. The other 28 bytes are useful only if a cache keeps the sector until the neighbouring warps access
//! them.
//!
//! Per thread: one load and one store of 4 bytes.

use simt::prelude::*;

/// Elements of a block along a row: one warp.
pub const COLS: u32 = 32;
/// Rows of a block.
pub const ROWS: u32 = 16;

/// Blocks for [`transpose_naive_row`] of a matrix A of this shape. A grid is at most 65 535 blocks high: beyond 65 535
/// · [`ROWS`] rows, launch again on the rows below.
pub const fn grid_row(rows: u32, cols: u32) -> [u32; 3] {
    [cols.div_ceil(COLS), rows.div_ceil(ROWS), 1]
}

/// Blocks for [`transpose_naive_col`] of a matrix A of this shape: its blocks tile B. Beyond 65 535 · [`ROWS`] columns,
/// launch again on the columns to the right.
pub const fn grid_col(rows: u32, cols: u32) -> [u32; 3] {
    grid_row(cols, rows)
}

/// B = Aᵀ for any shape: `a` is m × n, `b` is n × m; elements outside A or B are skipped. Reads rows of A, writes
/// columns of B.
#[kernel(block = (COLS, ROWS), registers = 16, barriers = 0, global_load_bytes = 4, global_store_bytes = 4)]
pub fn transpose_naive_row(a: MatRef<f32>, b: MatMut<f32>) {
    let (row, col) = (block_idx_y() * ROWS + thread_idx_y(), block_idx_x() * COLS + thread_idx_x());
    if row < a.rows() && col < a.cols() {
        b.set_within(col, row, a.get(row, col));
    }
}

/// B = Aᵀ for any shape, as [`transpose_naive_row`]. Reads columns of A, writes rows of B.
#[kernel(block = (COLS, ROWS), registers = 16, barriers = 0, global_load_bytes = 4, global_store_bytes = 4)]
pub fn transpose_naive_col(a: MatRef<f32>, b: MatMut<f32>) {
    let (row, col) = (block_idx_y() * ROWS + thread_idx_y(), block_idx_x() * COLS + thread_idx_x());
    if col < a.rows() && row < a.cols() {
        b.set_within(row, col, a.get(col, row));
    }
}
