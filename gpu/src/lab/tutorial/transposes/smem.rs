//! B = Aᵀ through a rectangular tile in shared memory, whose rows are not padded.
//!
//! ```text
//!     A, 32 columns                 tile                     B, 16 columns
//!  ┌──────────────────┐     ┌──────────────────┐            ┌────────┐
//!  │ warp 0 ────────► │ ──► │ warp 0 ────────► │ 16 rows    │ warp 0 │
//!  │ warp 1 ────────► │     │ warp 1 ────────► │        ──► │ ──► ──►│ 32 rows
//!  └──────────────────┘     └──────────────────┘            │ warp 1 │
//!                            then a warp reads two          │ ──► ──►│
//!                            columns: ││ ▼▼                 └────────┘
//! ```
//!
//! Columns are read from shared memory, where no sectors are wasted: a warp reads one row of A, 4 sectors, and writes
//! two rows of B, 2 sectors each. The cost: the 16 elements of a column are 32 words apart, all in one bank, so a read
//! has a conflict degree of 16.
//!
//! Per thread: one load and one store of 4 bytes, one of each in shared memory, one barrier.

use simt::prelude::*;

/// Columns of A per block: a warp reads a row of 32.
pub const COLS: u32 = 32;
/// Rows of A per block: a warp writes two rows of B.
pub const ROWS: u32 = 16;

/// Tile of 16 rows without padding.
pub type Tile = SharedTile<f32, { ROWS as usize }, { COLS as usize }>;

/// Blocks for a matrix A of this shape. A grid is at most 65 535 blocks high: beyond 65 535 · [`ROWS`] rows, launch
/// again on the rows below.
pub const fn grid(rows: u32, cols: u32) -> [u32; 3] {
    [cols.div_ceil(COLS), rows.div_ceil(ROWS), 1]
}

/// B = Aᵀ for any shape: `a` is m × n, `b` is n × m. Elements outside `b` are skipped; if `b` is larger than Aᵀ, the
/// last tiles are filled with zeros.
///
/// Load and store are guarded separately, with the barrier outside both: every thread reaches it, whatever the shape.
#[kernel(block = (COLS, ROWS), registers = 24, barriers = 1, global_load_bytes = 4, global_store_bytes = 4)]
pub fn transpose_smem(#[shared] tile: &Tile, a: MatRef<f32>, b: MatMut<f32>) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let (row0, col0) = (block_idx_y() * ROWS, block_idx_x() * COLS);
    tile.set(ty, tx, a.get_or(row0 + ty, col0 + tx, 0.0));
    sync_threads();
    // The same threads in rows of 16: 32 rows of B.
    let thread = ty * COLS + tx;
    let (row, col) = (thread / ROWS, thread % ROWS);
    b.set_within(col0 + row, row0 + col, tile.get(col, row));
}
