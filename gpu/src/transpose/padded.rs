//! B = Aᵀ through a rectangular tile in shared memory, with rows padded against bank conflicts.
//!
//! ```text
//!     A, 32 columns                  B, 16 columns
//!  ┌──────────────────┐            ┌────────┐        A block of 32 × 16 threads reads 16
//!  │ warp 0 ────────► │ 16 rows    │ warp 0 │        rows of 32 elements and writes 32
//!  │ warp 1 ────────► │            │ ──► ──►│ 32     rows of 16. A warp reads one row of
//!  └──────────────────┘            │ warp 1 │ rows   A and writes two rows of B: both
//!                                  │ ──► ──►│        sides are coalesced.
//!                                  └────────┘
//! ```
//!
//! Per thread: one load and one store of 4 bytes in global and in shared memory, one barrier. The write to the tile is
//! along a row and has no bank conflict. The read is along two neighbouring columns c and c + 1 of 16 rows: element (r,
//! c) is in bank (r·pitch + c) mod 32. With a pitch of 32, the 16 rows share one bank (16 words each from 2 banks);
//! with 33, the columns overlap in 15 of 17 banks, 2 words each; with 34, all 32 banks are different.

use simt::prelude::*;

/// Columns of A in a tile: a warp reads a row of 32.
pub const COLS: u32 = 32;
/// Rows of A in a tile: half as many as columns, so a warp writes two rows of B.
pub const ROWS: u32 = 16;

/// Tile of 16 rows that are `PITCH` elements apart, of which 32 are used.
pub type Tile<const PITCH: usize> = SharedTile<f32, { ROWS as usize }, PITCH>;

/// Blocks for a matrix A of this shape. A grid is at most 65 535 blocks high: beyond 65 535 · [`ROWS`] rows, launch
/// again on the rows below.
pub const fn grid(rows: u32, cols: u32) -> [u32; 3] {
    [cols.div_ceil(COLS), rows.div_ceil(ROWS), 1]
}

/// B = Aᵀ for any shape: `a` is m × n, `b` is n × m; elements outside A or B are skipped. Rows are padded by one
/// element: reads from the tile have a conflict degree of 2.
#[kernel(block = (COLS, ROWS), registers = 24, barriers = 1, global_load_bytes = 4, global_store_bytes = 4)]
pub fn transpose_smem_pad1(#[shared] tile: &Tile<33>, a: MatRef<f32>, b: MatMut<f32>) {
    transpose_smem_pad(tile, a, b);
}

/// [`transpose_smem_pad1`] with rows padded by two elements: no conflicts.
#[kernel(block = (COLS, ROWS), registers = 24, barriers = 1, global_load_bytes = 4, global_store_bytes = 4)]
pub fn transpose_smem_pad2(#[shared] tile: &Tile<34>, a: MatRef<f32>, b: MatMut<f32>) {
    transpose_smem_pad(tile, a, b);
}

/// Load and store are guarded separately, so every thread reaches the barrier between them, whatever the shape.
#[cfg_attr(optimised, inline(always))]
fn transpose_smem_pad<const PITCH: usize>(tile: &Tile<PITCH>, a: MatRef<f32>, b: MatMut<f32>) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let (row0, col0) = (block_idx_y() * ROWS, block_idx_x() * COLS);
    tile.set(ty, tx, a.get_or(row0 + ty, col0 + tx, 0.0));
    sync_threads();
    // The same threads in rows of 16: 32 rows of B.
    let thread = ty * COLS + tx;
    let (row, col) = (thread / ROWS, thread % ROWS);
    b.set_within(col0 + row, row0 + col, tile.get(col, row));
}
