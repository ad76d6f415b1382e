//! Indices of a thread in its block and grid, the barrier of the block, and clocks.
//!
//! ```
//! use simt::prelude::*;
//!
//! /// For each block whether all of its elements of `x` are finite.
//! #[kernel(block = 256)]
//! pub fn finite_blocks(x: VecRef<f32>, flags: VecMut<u32>) {
//!     let is_finite = x.get_or(index_1d(), 0.0).is_finite();
//!     // All threads of the block take part, those beyond the end of `x` too.
//!     let all = sync_threads_and(is_finite);
//!     if branch(thread_idx_x() == 0) {
//!         flags.set(block_idx_x() as usize, all as u32);
//!     }
//! }
//! ```

use crate::{
    arch,
    sync::{Scope, fence},
};

/// Three extents or indices, x fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim3 {
    /// Along x, the fastest dimension.
    pub x: u32,
    /// Along y.
    pub y: u32,
    /// Along z.
    pub z: u32,
}

macro_rules! geometry {
    ($($what:literal: $x:ident $y:ident $z:ident $all:ident;)*) => {$(
        #[doc = concat!($what, ", along x.")]
        #[cfg_attr(optimised, inline(always))]
        pub fn $x() -> u32 {
            arch::thread::$x()
        }

        #[doc = concat!($what, ", along y.")]
        #[cfg_attr(optimised, inline(always))]
        pub fn $y() -> u32 {
            arch::thread::$y()
        }

        #[doc = concat!($what, ", along z.")]
        #[cfg_attr(optimised, inline(always))]
        pub fn $z() -> u32 {
            arch::thread::$z()
        }

        #[doc = concat!($what, ".")]
        #[cfg_attr(optimised, inline(always))]
        pub fn $all() -> Dim3 {
            Dim3 { x: $x(), y: $y(), z: $z() }
        }
    )*};
}

geometry! {
    "Index of the thread in its block": thread_idx_x thread_idx_y thread_idx_z thread_idx;
    "Index of the block in the grid": block_idx_x block_idx_y block_idx_z block_idx;
    "Threads of a block": block_dim_x block_dim_y block_dim_z block_dim;
    "Blocks of the grid": grid_dim_x grid_dim_y grid_dim_z grid_dim;
}

/// Index of the thread in a grid of one dimension: `block_idx_x · block_dim_x + thread_idx_x`.
///
/// 64 bits wide, where `cuda_std` has 32: a grid of more than 2³² threads does not wrap.
#[cfg_attr(optimised, inline(always))]
pub fn index_1d() -> usize {
    block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize
}

/// Indices of the thread in a grid of two dimensions, as (x, y).
#[cfg_attr(optimised, inline(always))]
pub fn index_2d() -> (usize, usize) {
    (index_1d(), block_idx_y() as usize * block_dim_y() as usize + thread_idx_y() as usize)
}

/// Linear index of the thread in its block, x fastest, then y, then z.
#[cfg_attr(optimised, inline(always))]
pub fn index_in_block() -> u32 {
    arch::thread::index_in_block()
}

/// Whether this is thread (0, 0, 0) of block (0, 0, 0).
#[cfg_attr(optimised, inline(always))]
pub fn first() -> bool {
    let (thread, block) = (thread_idx(), block_idx());
    (thread.x | thread.y | thread.z | block.x | block.y | block.z) == 0
}

/// Waits until every thread of the block has arrived; what each wrote to memory before is visible to all of them
/// afterwards (`bar.sync 0`). All threads of the block must reach the same call.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn sync_threads() {
    arch::thread::sync_threads();
}

/// [`sync_threads`] that returns the number of threads of the block for which `predicate` holds.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn sync_threads_count(predicate: bool) -> u32 {
    arch::thread::sync_threads_count(predicate)
}

/// [`sync_threads`] that returns whether `predicate` holds for all threads of the block.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn sync_threads_and(predicate: bool) -> bool {
    arch::thread::sync_threads_and(predicate)
}

/// [`sync_threads`] that returns whether `predicate` holds for any thread of the block.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn sync_threads_or(predicate: bool) -> bool {
    arch::thread::sync_threads_or(predicate)
}

/// [`fence`] with [`Scope::Device`].
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn device_fence() {
    fence(Scope::Device);
}

/// [`device_fence`] under its second name in `cuda_std`.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn grid_fence() {
    fence(Scope::Device);
}

/// [`fence`] with [`Scope::System`].
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn system_fence() {
    fence(Scope::System);
}

/// Sleeps for about `nanoseconds`, at most 1 ms: for loops that wait for another block. On the simulator it lets other
/// threads run.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn nanosleep(nanoseconds: u32) {
    arch::thread::nanosleep(nanoseconds);
}

/// Clock of the SM, in cycles since an arbitrary start. On the simulator: the block's logical clock.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn clock() -> u64 {
    arch::thread::clock()
}

/// Clock of the whole GPU, in nanoseconds; its resolution depends on the GPU (about 1 µs is common). On the simulator:
/// the block's logical clock.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn global_timer() -> u64 {
    arch::thread::global_timer()
}
