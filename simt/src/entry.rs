//! What a kernel's entry says of the block to the optimiser. For `#[kernel]` only.

#[cfg(target_arch = "nvptx64")]
use core::hint::assert_unchecked;

#[cfg(target_arch = "nvptx64")]
use crate::thread::{block_dim, thread_idx};
#[cfg(not(target_arch = "nvptx64"))]
use crate::thread::{thread_idx_x, thread_idx_y, thread_idx_z};

/// The block has this shape.
///
/// # Safety
/// That is true of the launch.
#[cfg(target_arch = "nvptx64")]
#[cfg_attr(optimised, inline(always))]
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
#[cfg(target_arch = "nvptx64")]
#[cfg_attr(optimised, inline(always))]
pub unsafe fn assume_at_most(threads: u32) {
    let (thread, block) = (thread_idx(), block_dim());
    // SAFETY: the caller's promise; a thread's index is less than the extent of its block.
    unsafe {
        assert_unchecked(block.x <= threads && block.y <= threads && block.z <= threads);
        assert_unchecked(thread.x < block.x && thread.y < block.y && thread.z < block.z);
    }
}

/// The block has no more threads along an axis than here. On the simulator, so that accesses by the thread's index need
/// no check of the bounds, as in PTX.
///
/// # Panics
/// It has more: a launch that did not compare its block with what the kernel declares.
#[cfg(not(target_arch = "nvptx64"))]
#[cfg_attr(optimised, inline(always))]
pub fn check_block(declared @ [x, y, z]: [u32; 3]) {
    // One after the other: of a combination of the three the compiler learns the ranges too late for the body's loops.
    if thread_idx_x() >= x {
        other_block(declared);
    }
    if thread_idx_y() >= y {
        other_block(declared);
    }
    if thread_idx_z() >= z {
        other_block(declared);
    }
}

#[cfg(not(target_arch = "nvptx64"))]
#[cold]
#[inline(never)]
fn other_block([x, y, z]: [u32; 3]) -> ! {
    panic!("the kernel declares blocks of {x} × {y} × {z} threads; launch it with blocks of that shape");
}

#[cfg(test)]
mod tests {
    use super::check_block;

    /// Outside a launch there is thread 0 of each axis.
    #[test]
    fn a_thread_of_the_declared_block_goes_on() {
        check_block([1; 3]);
        check_block([8, 4, 2]);
    }

    #[test]
    fn a_thread_beyond_the_declared_block_panics_with_its_shape() {
        for declared in [[0, 4, 2], [8, 0, 2], [8, 4, 0]] {
            let payload = std::panic::catch_unwind(|| check_block(declared)).expect_err("no thread is in such a block");
            let [x, y, z] = declared;
            let text = payload.downcast::<String>().expect("a text");
            assert!(text.contains(&format!("declares blocks of {x} × {y} × {z} threads")), "{text}");
        }
    }
}
