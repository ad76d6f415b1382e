//! Voting barriers, named barriers, and the warp barrier.

use simt::{
    prelude::*,
    sync::{named_barrier, named_barrier_arrive},
    warp::{FULL_MASK, WARP_SIZE, lane_id, sync_warp},
};

/// Threads of a block of [`named_barrier_pipeline`] and [`warp_rotate`]: two warps.
pub const BLOCK: u32 = 2 * WARP_SIZE;

/// Each thread `i` of the grid writes to row `i` of `out`, for the `x` of its block: how many are odd, whether all are,
/// whether any is.
#[kernel(barriers = 3)]
pub fn barrier_votes(x: VecRef<u32>, out: MatMut<u32>) {
    let i = index_1d();
    let odd = x.get_or(i, 0) % 2 == 1;
    let row = i as u32;
    out.set_within(row, 0, sync_threads_count(odd));
    out.set_within(row, 1, sync_threads_and(odd) as u32);
    out.set_within(row, 2, sync_threads_or(odd) as u32);
}

/// Named barrier for a full buffer.
const FULL: u32 = 1;
/// Named barrier for an empty buffer.
const EMPTY: u32 = 2;

/// `out[i] = x[i ^ 31]`: warp 0 of a block writes row after row of 32 elements to a buffer, warp 1 reads each row in
/// reverse. The producer waits only for an empty buffer, the consumer only for a full one.
#[kernel(block = (BLOCK))]
pub fn named_barrier_pipeline(
    #[shared] buffer: &SharedArray<u32, { WARP_SIZE as usize }>,
    x: VecRef<u32>,
    out: VecMut<u32>,
) {
    let lane = lane_id();
    let rows = x.len() / WARP_SIZE as usize;
    if thread_idx_x() < WARP_SIZE {
        for row in 0..rows {
            if row > 0 {
                named_barrier(EMPTY, BLOCK);
            }
            buffer.set(lane, x.get_or(row * WARP_SIZE as usize + lane as usize, 0));
            named_barrier_arrive(FULL, BLOCK);
        }
    } else {
        for row in 0..rows {
            named_barrier(FULL, BLOCK);
            out.set_within(row * WARP_SIZE as usize + lane as usize, buffer.get(lane ^ (WARP_SIZE - 1)));
            if row + 1 < rows {
                named_barrier_arrive(EMPTY, BLOCK);
            }
        }
    }
}

/// `out[i]` = `x` of the next lane in the warp of thread `i`, lane 0 after lane 31, through shared memory.
#[kernel(block = (BLOCK), barriers = 0)]
pub fn warp_rotate(#[shared] cells: &SharedArray<u32, { BLOCK as usize }>, x: VecRef<u32>, out: VecMut<u32>) {
    let (i, t, lane) = (index_1d(), thread_idx_x(), lane_id());
    cells.set(t, x.get_or(i, 0));
    sync_warp(FULL_MASK);
    out.set_within(i, cells.get((t & !31) + (lane + 1) % WARP_SIZE));
}
