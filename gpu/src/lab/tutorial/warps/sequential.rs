//! One sum per section by a tree that adds the upper half to the lower, with sequential addressing: as many additions
//! as [`reduce_interleaved`](super::interleaved::reduce_interleaved), by neighbouring threads.
//!
//! ```text
//!  section   a b c d e f g h      T threads hold T elements; missing ones are 0. Thread t adds the element
//!  stride 4  A B C D              `stride` to its right if t < stride. The active threads are the first
//!  stride 2  A B                  ones: whole warps go idle, and a warp diverges only in the last five
//!  stride 1  A                    steps.
//! ```
//!
//! Per block of T threads: T loads of 4 bytes, 1 store, T − 1 additions in log₂ T steps, 1 + log₂ T barriers.
//! Neighbouring lanes access neighbouring words: no bank conflict. For a section of 512, divergent warps in its 9
//! steps: 0, 0, 0, 0, 1, 1, 1, 1, 1. [`reduce_sum_dynamic`](crate::reduce::dynamic::reduce_sum_dynamic) is the same
//! kernel, among the reductions.

use simt::prelude::*;

/// `sums[b]` = sum of the elements `b`·T to (`b` + 1)·T − 1 of `x`, in `f32`, for each block `b` of T threads.
///
/// `section` has T elements; the one trap in the PTX is for a launch that reserves fewer. The costs above are for a
/// power of two T; the sum is right for any T. Blocks for n elements: [`grid`](crate::reduce::dynamic::grid).
#[kernel(max_threads = 1024, registers = 16, barriers = 2, traps = 1, global_load_bytes = 4, global_store_bytes = 4)]
pub fn reduce_sequential(#[shared] section: DynShared<f32>, x: VecRef<f32>, sums: VecMut<f32>) {
    let (t, threads) = (thread_idx_x(), block_dim_x());
    let section = section.first(threads);
    section.set(t, x.get_or(index_1d(), 0.0));
    sync_threads();
    let mut stride = threads.next_power_of_two() / 2;
    while stride > 0 {
        if branch(t < stride && t + stride < threads) {
            section.set(t, section.get(t) + section.get(t + stride));
        }
        sync_threads();
        stride /= 2;
    }
    if branch(t == 0) {
        sums.set_within(block_idx_x() as usize, section.get(0));
    }
}
