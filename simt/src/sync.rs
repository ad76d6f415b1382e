//! Memory order, fences and named barriers. The barrier of the whole block is
//! [`sync_threads`](crate::thread::sync_threads).
//!
//! ```
//! use simt::{
//!     prelude::*,
//!     sync::{named_barrier, named_barrier_arrive},
//! };
//!
//! /// The first warp of each block loads 32 elements and goes on; the second waits for them and squares them.
//! #[kernel(block = 64)]
//! pub fn squares(#[shared] loaded: &SharedArray<f32, 32>, x: VecRef<f32>, y: VecMut<f32>) {
//!     let (lane, i) = (thread_idx_x() % 32, 32 * block_idx_x() + thread_idx_x() % 32);
//!     if branch(thread_idx_x() < 32) {
//!         loaded.set(lane, x.get(i as usize));
//!         named_barrier_arrive(1, 64);
//!     } else {
//!         named_barrier(1, 64);
//!         y.set(i as usize, loaded.get(lane) * loaded.get(lane));
//!     }
//! }
//! ```

use crate::arch;

/// Memory order of an atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The operation is atomic and orders no other access.
    Relaxed,
    /// What the releasing thread wrote before the release is visible to this thread afterwards.
    Acquire,
    /// What this thread wrote before is visible to threads that acquire the value.
    Release,
    /// [`Self::Acquire`] and [`Self::Release`].
    AcqRel,
}

/// The threads with which an atomic operation or a fence synchronises. Other threads may see its effects in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The threads of this block (`.cta`).
    Block,
    /// All threads on this GPU (`.gpu`).
    Device,
    /// All threads of the machine, including other GPUs and the CPU (`.sys`).
    System,
}

/// Orders this thread's memory accesses before the fence before those after it, for the threads of `scope` that
/// synchronise with it through an atomic operation (`fence.acq_rel`).
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn fence(scope: Scope) {
    arch::sync::fence(scope);
}

/// Orders this thread's ordinary accesses to shared memory before later accesses by TMA and `wgmma`, which use the
/// async proxy (`fence.proxy.async.shared::cta`, compute capability 9.0).
///
/// Each thread that wrote data for a [TMA store](crate::tma) or a `wgmma` operand calls it before the barrier after
/// which one thread starts the store or the warpgroup the multiplication. So does each thread that read, by ordinary
/// loads, what a TMA copy overwrites after that barrier.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn fence_proxy_async() {
    arch::sync::fence_proxy_async();
}

/// Waits until `threads` threads of the block, this one included, have arrived at barrier `id`, and orders their memory
/// accesses (`bar.sync id, threads`).
///
/// `id` is 0 to 15; [`sync_threads`](crate::thread::sync_threads) uses barrier 0. `threads` is a multiple of the warp
/// size. All lanes of a warp must call it together.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn named_barrier(id: u32, threads: u32) {
    arch::sync::named_barrier(id, threads);
}

/// Arrives at barrier `id` with this thread's warp, without waiting (`bar.arrive id, threads`).
///
/// A producer arrives, its consumers wait: what the producer wrote before is visible to threads that call
/// [`named_barrier`] with the same `id` and `threads`. The rules of [`named_barrier`] apply.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn named_barrier_arrive(id: u32, threads: u32) {
    arch::sync::named_barrier_arrive(id, threads);
}
