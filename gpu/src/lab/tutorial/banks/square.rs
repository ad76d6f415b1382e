//! A square tile, written along its rows and read along its columns, with and without a word of padding per row.
//!
//! ```text
//!   write: warp ty, lane tx            read: warp ty, lane tx
//!   ┌────────────────┐                 ┌────────────────┐
//!   │ warp 0 ──────► │                 │ w  w           │     element (tx, ty): word tx·pitch + ty,
//!   │ warp 1 ──────► │ 32 rows         │ 0  1  …        │     in bank (tx·pitch + ty) mod 32
//!   │      …         │                 │ ▼  ▼           │
//!   └────────────────┘                 └────────────────┘
//! ```
//!
//! Neighbouring lanes write neighbouring words: degree 1, whatever the pitch. They read words one pitch apart, of which
//! gcd(pitch, 32) are in the same bank: 32 with a pitch of 32, one with 33.
//!
//! Per thread: one store and one load of 4 bytes in shared memory, one store in global memory, one barrier. The padding
//! costs 128 bytes per tile.

use simt::prelude::*;

/// Rows and columns of the tile; a warp is one row.
pub const SIDE: u32 = 32;

/// Elements that a kernel writes: one per thread.
pub const THREADS: u32 = SIDE * SIDE;

/// Tile of 32 rows that are `PITCH` elements apart, of which 32 are used.
pub type Tile<const PITCH: usize> = SharedTile<i32, { SIDE as usize }, PITCH>;

/// Elements of shared memory that a launch reserves for a tile whose rows are `pitch` elements apart.
pub const fn shared_elements(pitch: u32) -> usize {
    (SIDE * pitch) as usize
}

/// `out[32·r + c]` = 32·c + r for r, c < 32: the numbered tile, transposed. Rows are 32 words apart, reads have a
/// conflict degree of 32. Elements outside `out` are skipped. One block; more would write the same values again.
#[kernel(block = (SIDE, SIDE), registers = 16, barriers = 1, global_store_bytes = 4)]
pub fn set_row_read_col(#[shared] tile: &Tile<32>, out: VecMut<i32>) {
    write_rows_read_columns(tile, out);
}

/// [`set_row_read_col`] with rows 33 words apart: no conflicts.
#[kernel(block = (SIDE, SIDE), registers = 16, barriers = 1, global_store_bytes = 4)]
pub fn set_row_read_col_pad(#[shared] tile: &Tile<33>, out: VecMut<i32>) {
    write_rows_read_columns(tile, out);
}

#[cfg_attr(optimised, inline(always))]
fn write_rows_read_columns<const PITCH: usize>(tile: &Tile<PITCH>, out: VecMut<i32>) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let thread = ty * SIDE + tx;
    tile.set(ty, tx, thread as i32);
    sync_threads();
    out.set_within(thread as usize, tile.get(tx, ty));
}

/// [`set_row_read_col`] in shared memory sized at launch, [`shared_elements`] of 32: the kernel computes the layout
/// itself. The one trap in the PTX is for a launch that reserves less.
#[kernel(block = (SIDE, SIDE), registers = 16, barriers = 1, traps = 1, global_store_bytes = 4)]
pub fn set_row_read_col_dyn(#[shared] words: DynShared<i32>, out: VecMut<i32>) {
    write_rows_read_columns_at_pitch::<32>(words, out);
}

/// [`set_row_read_col_pad`] in shared memory sized at launch, [`shared_elements`] of 33.
#[kernel(block = (SIDE, SIDE), registers = 16, barriers = 1, traps = 1, global_store_bytes = 4)]
pub fn set_row_read_col_dyn_pad(#[shared] words: DynShared<i32>, out: VecMut<i32>) {
    write_rows_read_columns_at_pitch::<33>(words, out);
}

/// Three indices: along a row of the tile, along a column, and the thread's number, which does not include the padding.
#[cfg_attr(optimised, inline(always))]
fn write_rows_read_columns_at_pitch<const PITCH: u32>(words: DynShared<i32>, out: VecMut<i32>) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let words = words.first(SIDE * PITCH);
    let (in_row, in_column, thread) = (ty * PITCH + tx, tx * PITCH + ty, ty * SIDE + tx);
    words.set(in_row, thread as i32);
    sync_threads();
    out.set_within(thread as usize, words.get(in_column));
}
