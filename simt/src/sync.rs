//! Memory order, fences and named barriers. The barrier of the whole block is
//! [`sync_threads`](crate::thread::sync_threads).

use crate::arch;

/// Memory order of an atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The operation is atomic and orders nothing else.
    Relaxed,
    /// What the releasing thread wrote before is visible to this thread afterwards.
    Acquire,
    /// What this thread wrote before is visible to whoever acquires the value.
    Release,
    /// Both.
    AcqRel,
}

/// The set of threads that an atomic operation or a fence speaks to. Threads outside it may see torn order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The threads of this block (`.cta`).
    Block,
    /// All threads on this GPU (`.gpu`).
    Device,
    /// All threads of the machine: other GPUs and the CPU included (`.sys`).
    System,
}

/// Orders this thread's memory accesses before the fence before those after it, as seen by the threads of `scope`
/// that synchronise with it through an atomic operation (`fence.acq_rel`).
#[inline(always)]
#[track_caller]
pub fn fence(scope: Scope) {
    arch::sync::fence(scope);
}

/// Orders this thread's ordinary accesses to shared memory before the fence before what the copy engine and the tensor
/// cores, which go past the ordinary path, access afterwards (`fence.proxy.async.shared::cta`, compute capability 9.0).
///
/// Each thread that wrote what a [`store`](crate::tma) or a matrix product is to read calls it, and then synchronises
/// with the thread that starts the one or the other: write, this fence, barrier, store.
#[inline(always)]
#[track_caller]
pub fn fence_proxy_async() {
    arch::sync::fence_proxy_async();
}

/// Waits until `threads` threads of the block have reached barrier `id`, this one included, and orders their accesses
/// to memory (`bar.sync id, threads`).
///
/// `id` is 0 to 15; barrier 0 is the one that [`sync_threads`](crate::thread::sync_threads) uses. `threads` is a
/// multiple of the warp size. All lanes of a warp must call it together.
#[inline(always)]
#[track_caller]
pub fn named_barrier(id: u32, threads: u32) {
    arch::sync::named_barrier(id, threads);
}

/// Counts this thread's warp as arrived at barrier `id` and goes on without waiting (`bar.arrive id, threads`).
///
/// The producer's half of a hand-over: what it wrote before is visible to those who wait by [`named_barrier`] with the
/// same `id` and `threads`. The rules of [`named_barrier`] hold.
#[inline(always)]
#[track_caller]
pub fn named_barrier_arrive(id: u32, threads: u32) {
    arch::sync::named_barrier_arrive(id, threads);
}
