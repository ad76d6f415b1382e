//! A tile of 16 rows and 32 columns, written along its rows and read along its columns.
//!
//! ```text
//!   write: a warp is a row             read: a warp is two columns
//!   ┌──────────────────────┐           ┌──────────────────────┐
//!   │ warp 0 ────────────► │           │ w0  w1               │     thread t reads element (t mod 16, t / 16):
//!   │ warp 1 ────────────► │ 16 rows   │ ││  ││  …            │     lanes 0 … 15 one column, lanes 16 … 31
//!   │        …             │           │ ▼▼  ▼▼               │     the next
//!   └──────────────────────┘           └──────────────────────┘
//! ```
//!
//! A column has 16 elements, so thread (ty, tx) cannot read element (tx, ty) as in a square tile: the position is
//! computed from the thread's number. A warp's two columns c and c + 1 are in banks (r·pitch + c) mod 32 and the next
//! ones, r = 0 … 15. With a pitch of 32, the 16 rows share one bank: 16 words each from 2 banks. With 33, the columns
//! overlap in 15 of 17 banks, 2 words each; with 34, all 32 banks are different.
//!
//! Per thread: one store and one load of 4 bytes in shared memory, one store in global memory, one barrier.

use simt::prelude::*;

/// Columns of the tile; a warp writes one row.
pub const COLS: u32 = 32;
/// Rows of the tile; a warp reads two columns.
pub const ROWS: u32 = 16;

/// Elements that a kernel writes: one per thread.
pub const THREADS: u32 = ROWS * COLS;

/// Tile of 16 rows that are `PITCH` elements apart, of which 32 are used.
pub type Tile<const PITCH: usize> = SharedTile<i32, { ROWS as usize }, PITCH>;

/// Elements of shared memory that a launch reserves for a tile whose rows are `pitch` elements apart.
pub const fn shared_elements(pitch: u32) -> usize {
    (ROWS * pitch) as usize
}

/// `out[16·c + r]` = 32·r + c for r < 16, c < 32: the numbered tile, transposed. Rows are 32 words apart, reads have a
/// conflict degree of 16. Elements outside `out` are skipped. One block; more would write the same values again.
#[kernel(block = (COLS, ROWS), registers = 16, barriers = 1, global_store_bytes = 4)]
pub fn set_row_read_col_rect(#[shared] tile: &Tile<32>, out: VecMut<i32>) {
    write_rows_read_columns(tile, out);
}

/// [`set_row_read_col_rect`] with rows 33 words apart: reads have a conflict degree of 2.
#[kernel(block = (COLS, ROWS), registers = 16, barriers = 1, global_store_bytes = 4)]
pub fn set_row_read_col_rect_pad1(#[shared] tile: &Tile<33>, out: VecMut<i32>) {
    write_rows_read_columns(tile, out);
}

/// [`set_row_read_col_rect`] with rows 34 words apart: no conflicts.
#[kernel(block = (COLS, ROWS), registers = 16, barriers = 1, global_store_bytes = 4)]
pub fn set_row_read_col_rect_pad2(#[shared] tile: &Tile<34>, out: VecMut<i32>) {
    write_rows_read_columns(tile, out);
}

#[cfg_attr(optimised, inline(always))]
fn write_rows_read_columns<const PITCH: usize>(tile: &Tile<PITCH>, out: VecMut<i32>) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let thread = ty * COLS + tx;
    tile.set(ty, tx, thread as i32);
    sync_threads();
    let (column, row) = (thread / ROWS, thread % ROWS);
    out.set_within(thread as usize, tile.get(row, column));
}

/// [`set_row_read_col_rect`] in shared memory sized at launch, [`shared_elements`] of 32. The one trap in the PTX is
/// for a launch that reserves less.
#[kernel(block = (COLS, ROWS), registers = 16, barriers = 1, traps = 1, global_store_bytes = 4)]
pub fn set_row_read_col_rect_dyn(#[shared] words: DynShared<i32>, out: VecMut<i32>) {
    write_rows_read_columns_at_pitch::<32>(words, out);
}

/// [`set_row_read_col_rect_pad2`] in shared memory sized at launch, [`shared_elements`] of 34.
#[kernel(block = (COLS, ROWS), registers = 16, barriers = 1, traps = 1, global_store_bytes = 4)]
pub fn set_row_read_col_rect_dyn_pad2(#[shared] words: DynShared<i32>, out: VecMut<i32>) {
    write_rows_read_columns_at_pitch::<34>(words, out);
}

/// The kernel computes the layout itself; the thread's number does not include the padding.
#[cfg_attr(optimised, inline(always))]
fn write_rows_read_columns_at_pitch<const PITCH: u32>(words: DynShared<i32>, out: VecMut<i32>) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let words = words.first(ROWS * PITCH);
    let thread = ty * COLS + tx;
    words.set(ty * PITCH + tx, thread as i32);
    sync_threads();
    let (column, row) = (thread / ROWS, thread % ROWS);
    out.set_within(thread as usize, words.get(row * PITCH + column));
}
