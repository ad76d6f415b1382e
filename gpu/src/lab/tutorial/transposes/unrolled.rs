//! B = Aᵀ, two neighbouring tiles per block: each thread has two loads in flight before the barrier, and two stores
//! after it.
//!
//! ```text
//!     A, 2 · 32 columns                                     B, 16 columns
//!  ┌──────────────────┬──────────────────┐                 ┌────────┐
//!  │ warp 0 ────────► │ warp 0 ────────► │ 16 rows         │ warp 0 │
//!  │ warp 1 ────────► │ warp 1 ────────► │                 │ ──► ──►│ 32 rows
//!  └──────────────────┴──────────────────┘                 │ …      │
//!                                                          ├────────┤
//!   in shared memory both are one tile of 16 rows,         │ warp 0 │
//!   2 · 32 + padding words apart                           │ ──► ──►│ 32 rows
//!                                                          │ …      │
//!                                                          └────────┘
//! ```
//!
//! With two loads in flight, the same number of threads requests twice as many bytes. Half as many blocks are launched,
//! and two elements share the index arithmetic.
//!
//! A warp reads two neighbouring columns of 16 rows. A pitch of 65 is 1 modulo 32: the columns overlap in 15 of 17
//! banks, 2 words each. A pitch of 66 is 2 modulo 32: all 32 banks are different.
//!
//! Per thread: two loads and two stores of 4 bytes, two of each in shared memory, one barrier.

use simt::prelude::*;

/// Columns of one tile: a warp reads a row of 32.
pub const COLS: u32 = 32;
/// Rows of a tile: a warp writes two rows of B.
pub const ROWS: u32 = 16;
/// Tiles of a block, neighbours in a row of A.
pub const TILES: u32 = 2;

/// Tile of 16 rows that are `PITCH` elements apart, of which 64 are used.
pub type Tile<const PITCH: usize> = SharedTile<f32, { ROWS as usize }, PITCH>;

/// Blocks for a matrix A of this shape. A grid is at most 65 535 blocks high: beyond 65 535 · [`ROWS`] rows, launch
/// again on the rows below.
pub const fn grid(rows: u32, cols: u32) -> [u32; 3] {
    [cols.div_ceil(TILES * COLS), rows.div_ceil(ROWS), 1]
}

/// B = Aᵀ for any shape: `a` is m × n, `b` is n × m. Elements outside `b` are skipped; if `b` is larger than Aᵀ, the
/// last tiles are filled with zeros. Rows of the tile are padded by one element: reads have a conflict degree of 2.
#[kernel(block = (COLS, ROWS), registers = 24, barriers = 1, global_load_bytes = 4, global_store_bytes = 4)]
pub fn transpose_smem_unroll_pad1(#[shared] tile: &Tile<65>, a: MatRef<f32>, b: MatMut<f32>) {
    transpose_smem_unroll_pad(tile, a, b);
}

/// [`transpose_smem_unroll_pad1`] with rows padded by two elements: no conflicts.
#[kernel(block = (COLS, ROWS), registers = 24, barriers = 1, global_load_bytes = 4, global_store_bytes = 4)]
pub fn transpose_smem_unroll_pad2(#[shared] tile: &Tile<66>, a: MatRef<f32>, b: MatMut<f32>) {
    transpose_smem_unroll_pad(tile, a, b);
}

/// Every access is guarded separately, and all threads reach the barrier, whatever the shape.
#[cfg_attr(optimised, inline(always))]
fn transpose_smem_unroll_pad<const PITCH: usize>(tile: &Tile<PITCH>, a: MatRef<f32>, b: MatMut<f32>) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let (row0, col0) = (block_idx_y() * ROWS, block_idx_x() * (TILES * COLS));
    // Both loads before the stores, so that they are in flight together.
    let left = a.get_or(row0 + ty, col0 + tx, 0.0);
    let right = a.get_or(row0 + ty, col0 + COLS + tx, 0.0);
    tile.set(ty, tx, left);
    tile.set(ty, COLS + tx, right);
    sync_threads();
    // The same threads in rows of 16: twice 32 rows of B.
    let thread = ty * COLS + tx;
    let (row, col) = (thread / ROWS, thread % ROWS);
    b.set_within(col0 + row, row0 + col, tile.get(col, row));
    b.set_within(col0 + COLS + row, row0 + col, tile.get(col, COLS + row));
}
