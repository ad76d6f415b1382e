//! One sum per block of threads, in shared memory whose size the launch chooses.
//!
//! ```text
//!  section   a b c d e f g h      T threads hold T elements; missing ones are 0.
//!  stride 4  ╰─┼─┼─┼─╯ │ │ │      Stride by stride the upper half is added to the
//!            A B C D              lower: the threads that still add are neighbours,
//!  stride 2  ╰─┼─╯ │              so whole warps go idle, and only a warp with
//!            A B                  fewer than 32 adders diverges.
//!  stride 1  ╰─╯
//!            A
//! ```
//!
//! Per block of T threads: T loads of 4 bytes, 1 store, T − 1 additions, 1 + log₂ T barriers. Neighbouring lanes access
//! neighbouring words: no bank conflict. n elements leave ⌈n/T⌉ sums; launch again on these until one is left.

use simt::prelude::*;

/// Blocks for n elements in blocks of `threads`; at least one, so that the sum of nothing is 0.
pub const fn grid(n: usize, threads: u32) -> [u32; 3] {
    let blocks = n.div_ceil(threads as usize);
    [if blocks == 0 { 1 } else { blocks as u32 }, 1, 1]
}

/// `sums[b]` = sum of the elements `b`·T to (`b` + 1)·T − 1 of `x`, in `f32`, for each block `b` of T threads.
///
/// `section` has T elements; one trap is left, for a launch that reserved fewer. T is a power of two for the figures above; the sum is right for any.
#[kernel(max_threads = 1024, registers = 24, barriers = 2, traps = 1, global_load_bytes = 4, global_store_bytes = 4)]
pub fn reduce_sum_dynamic(#[shared] section: DynShared<f32>, x: VecRef<f32>, sums: VecMut<f32>) {
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
