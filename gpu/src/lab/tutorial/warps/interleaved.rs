//! One sum per section by a tree that adds neighbours first, with interleaved addressing: the active threads are spread
//! over all warps.
//!
//! ```text
//!  section   a b c d e f g h      T threads hold T elements; missing ones are 0. Thread t adds the element
//!  stride 1  A   C   E   G        `stride` to its right if t is a multiple of 2·stride. The active threads
//!  stride 2  A       E            are further apart in each step: every warp stays active for five steps
//!  stride 4  A                    with 16, 8, 4, 2, 1 of its lanes, and every step diverges.
//! ```
//!
//! Per block of T threads: T loads of 4 bytes, 1 store, T − 1 additions in log₂ T steps, 1 + log₂ T barriers. A warp's
//! lanes stay within 32 neighbouring words of shared memory: no bank conflict. For a section of 512, divergent warps in
//! its 9 steps: 16, 16, 16, 16, 16, 8, 4, 2, 1.

use simt::prelude::*;

/// `sums[b]` = sum of the elements `b`·T to (`b` + 1)·T − 1 of `x`, in `f32`, for each block `b` of T threads.
///
/// `section` has T elements; the one trap in the PTX is for a launch that reserves fewer. The costs above are for a
/// power of two T; the sum is right for any T. Blocks for n elements: [`grid`](crate::reduce::dynamic::grid).
#[kernel(max_threads = 1024, registers = 16, barriers = 2, traps = 1, global_load_bytes = 4, global_store_bytes = 4)]
pub fn reduce_interleaved(#[shared] section: DynShared<f32>, x: VecRef<f32>, sums: VecMut<f32>) {
    let (t, threads) = (thread_idx_x(), block_dim_x());
    let section = section.first(threads);
    section.set(t, x.get_or(index_1d(), 0.0));
    sync_threads();
    let mut stride = 1;
    while stride < threads {
        if branch(t.is_multiple_of(2 * stride) && t + stride < threads) {
            section.set(t, section.get(t) + section.get(t + stride));
        }
        sync_threads();
        stride *= 2;
    }
    if branch(t == 0) {
        sums.set_within(block_idx_x() as usize, section.get(0));
    }
}
