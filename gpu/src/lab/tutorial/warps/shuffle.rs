//! One sum per section: by a tree in shared memory down to 32 values, then by shuffles.
//!
//! ```text
//!  section    ├──────── T ────────┤     Strides from T / 2 to 32 as in
//!             ╰── + ──╯                 [`reduce_sequential`](super::sequential::reduce_sequential).
//!  warp 0     ├ 32 ┤                    Then lane t holds value t and reads the register of lane t + stride:
//!             16 8 4 2 1                no memory, no barrier, the same additions.
//! ```
//!
//! Per block of T threads: T loads of 4 bytes, 1 store, T − 1 additions used for the sum; log₂ T − 5 steps in
//! shared memory with 1 + log₂ T − 5 barriers, and 5 shuffles. The bits are those of `reduce_sequential`.

use simt::{
    prelude::*,
    warp::{FULL_MASK, WARP_SIZE, warp_shuffle_idx, warp_size},
};

/// `sums[b]` = sum of the elements `b`·T to (`b` + 1)·T − 1 of `x`, in `f32`, for each block `b` of T threads.
///
/// `section` has T elements; the one trap in the PTX is for a launch that reserves fewer. The costs above are for a
/// power of two T; the sum is right for any T. Blocks for n elements: [`grid`](crate::reduce::dynamic::grid).
#[kernel(max_threads = 1024, registers = 16, barriers = 2, traps = 1, global_load_bytes = 4, global_store_bytes = 4)]
pub fn reduce_shuffle(#[shared] section: DynShared<f32>, x: VecRef<f32>, sums: VecMut<f32>) {
    let (t, threads) = (thread_idx_x(), block_dim_x());
    let section = section.first(threads);
    section.set(t, x.get_or(index_1d(), 0.0));
    sync_threads();
    let mut stride = threads.next_power_of_two() / 2;
    while stride >= warp_size() {
        if branch(t < stride && t + stride < threads) {
            section.set(t, section.get(t) + section.get(t + stride));
        }
        sync_threads();
        stride /= 2;
    }
    if branch(t < warp_size()) {
        let lanes = threads.min(warp_size());
        let mask = FULL_MASK >> (WARP_SIZE - lanes);
        let mut sum = section.get(t);
        while stride > 0 {
            // If the block has no lane t + stride, the lane reads its own value.
            let inside = t + stride < lanes;
            let (other, _) = warp_shuffle_idx(mask, sum, if inside { t + stride } else { t }, warp_size());
            if inside {
                sum += other;
            }
            stride /= 2;
        }
        if branch(t == 0) {
            sums.set_within(block_idx_x() as usize, sum);
        }
    }
}
