//! One sum per block, in shared memory of a size chosen at launch.
//!
//! ```text
//!  section   a b c d e f g h      T threads hold T elements; missing ones are 0.
//!  stride 4  ╰─┼─┼─┼─╯ │ │ │      In every step the upper half is added to the
//!            A B C D              lower half. The active threads are neighbours, so
//!  stride 2  ╰─┼─╯ │              whole warps go idle, and only a warp with fewer
//!            A B                  than 32 active threads diverges.
//!  stride 1  ╰─╯
//!            A
//! ```
//!
//! Per block of T threads: T loads of 4 bytes, 1 store, T − 1 additions, 1 + log₂ T barriers. Neighbouring lanes access
//! neighbouring words: no bank conflict. n elements give ⌈n/T⌉ sums; launch again on these until one is left.

use simt::prelude::*;

/// Blocks of `threads` threads for n elements; at least one, so that the sum of no elements is 0.
pub const fn grid(n: usize, threads: u32) -> [u32; 3] {
    let blocks = n.div_ceil(threads as usize);
    [if blocks == 0 { 1 } else { blocks as u32 }, 1, 1]
}

/// `sums[b]` = sum of the elements `b`·T to (`b` + 1)·T − 1 of `x`, in `f32`, for each block `b` of T threads.
///
/// `section` has T elements; the one trap in the PTX is for a launch that reserves fewer. The costs above are for a
/// power of two T; the sum is right for any T.
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
