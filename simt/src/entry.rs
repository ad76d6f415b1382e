//! What a kernel's PTX entry asserts to the optimiser. For `#[kernel]` only.

use core::hint::assert_unchecked;

use crate::thread::{block_dim, thread_idx};

/// The block has this shape.
///
/// # Safety
/// That is true of the launch.
#[inline(always)]
pub unsafe fn assume_block([x, y, z]: [u32; 3]) {
    let (thread, block) = (thread_idx(), block_dim());
    // SAFETY: the caller's promise; a thread's index is less than the extent of its block.
    unsafe {
        assert_unchecked(block.x == x && block.y == y && block.z == z);
        assert_unchecked(thread.x < x && thread.y < y && thread.z < z);
    }
}

/// The block has at most `threads` threads.
///
/// # Safety
/// That is true of the launch.
#[inline(always)]
pub unsafe fn assume_at_most(threads: u32) {
    let (thread, block) = (thread_idx(), block_dim());
    // SAFETY: the caller's promise; a thread's index is less than the extent of its block.
    unsafe {
        assert_unchecked(block.x <= threads && block.y <= threads && block.z <= threads);
        assert_unchecked(thread.x < block.x && thread.y < block.y && thread.z < block.z);
    }
}
