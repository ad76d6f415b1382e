//! Which thread belongs to which warp.
//!
//! ```text
//!  block 8 × 8           x ─►           Threads are numbered x fastest, then y, then z, and assigned to warps
//!            y  0 │ 0 1 2 3 4 5 6 7 │   in that order, 32 each: of 8 × 8 threads, rows 0 to 3 are warp 0 and
//!            │  … │      warp 0     │   rows 4 to 7 warp 1. A block of 48 threads has a warp of 32 and one
//!            ▼  3 │ …           31  │   of 16: its other 16 lanes are idle and cost as much.
//!               4 │      warp 1     │
//! ```
//!
//! Per thread: two stores of 4 bytes.

use simt::{
    prelude::*,
    warp::{lane_id, warp_id},
};

/// Thread (x, y, z) of block b writes its warp's number in the block, and its lane, as the hardware numbers it, to
/// element b·T + (z·Y + y)·X + x of `warps` and `lanes`, for blocks of any shape with X · Y · Z = T threads in a grid
/// along x. Elements outside the outputs are skipped.
#[kernel(max_threads = 1024, registers = 16, barriers = 0, global_store_bytes = 4)]
pub fn warp_partition(warps: VecMut<u32>, lanes: VecMut<u32>) {
    let Dim3 { x, y, z } = thread_idx();
    let dim = block_dim();
    let in_block = (z * dim.y + y) * dim.x + x;
    let i = block_idx_x() as usize * (dim.x * dim.y * dim.z) as usize + in_block as usize;
    warps.set_within(i, warp_id());
    lanes.set_within(i, lane_id());
}
