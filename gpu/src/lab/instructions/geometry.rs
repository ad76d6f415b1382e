//! Thread and block indices, and clocks.

use simt::{
    prelude::*,
    warp::{lane_id, warp_id, warp_size},
};

/// Numbers that [`thread_geometry`] writes per thread.
pub const FIELDS: usize = 16;

/// Thread number `i` of the grid (blocks in order x, y, z; within a block likewise) writes to `out[i]`: the thread's
/// and the block's index in x, y, z; the extents of block and grid in x, y, z; `index_in_block`, `warp_id`, `lane_id`,
/// `warp_size`.
#[kernel]
pub fn thread_geometry(out: MatMut<u32>) {
    let (thread, block, dim, grid) = (thread_idx(), block_idx(), block_dim(), grid_dim());
    let block_number = (block.z * grid.y + block.y) * grid.x + block.x;
    let row = block_number * (dim.x * dim.y * dim.z) + index_in_block();
    let fields: [u32; FIELDS] = [
        thread.x,
        thread.y,
        thread.z,
        block.x,
        block.y,
        block.z,
        dim.x,
        dim.y,
        dim.z,
        grid.x,
        grid.y,
        grid.z,
        index_in_block(),
        warp_id(),
        lane_id(),
        warp_size(),
    ];
    for (col, field) in fields.into_iter().enumerate() {
        out.set_within(row, col as u32, field);
    }
}

/// `out[4·i]`, `out[4·i + 1]`: the clock before and after a barrier in thread `i` of the grid; then the global timer
/// before and after it. The second of each pair is not less than the first.
#[kernel(barriers = 1)]
pub fn clocks(out: VecMut<u64>) {
    let (clock_before, timer_before) = (clock(), global_timer());
    nanosleep(1000);
    sync_threads();
    let i = 4 * index_1d();
    out.set_within(i, clock_before);
    out.set_within(i + 1, clock());
    out.set_within(i + 2, timer_before);
    out.set_within(i + 3, global_timer());
}
