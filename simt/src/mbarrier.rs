//! Barriers in shared memory (`mbarrier`, compute capability 9.0). An mbarrier counts arrivals of threads and bytes of
//! asynchronous copies, phase after phase.
//!
//! A phase completes when the number of arrivals given to [`Mbarriers::init`] is reached and no expected byte is
//! pending; the next phase starts at once, with the same number of arrivals. A wait names the *parity* of the phase
//! whose completion it waits for: 0 for the first phase, 1 for the second, 0 for the third. A wait for parity 1 on a
//! fresh mbarrier returns at once, so that the producer of a pipeline needs no special case for its first round.
//!
//! An arrival releases what the thread wrote. A wait that returns acquires what the arriving threads and the copies
//! wrote.
//!
//! ```
//! use simt::{mbarrier::*, prelude::*, tma::*};
//!
//! #[repr(C, align(128))]
//! #[derive(Shared)]
//! pub struct Stage {
//!     tile: SharedArray<f32, 1024>,
//!     full: Mbarriers<1>,
//! }
//!
//! /// The sum of each 32 × 32 tile of `x`, in a grid of as many blocks as there are tiles in x and y.
//! #[kernel(block = (32))]
//! pub fn tile_sums(#[shared] stage: &Stage, x: &TensorMap<f32>, sums: VecMut<f32>) {
//!     let lane = thread_idx_x();
//!     if lane == 0 {
//!         stage.full.init(0, 1);
//!         fence_mbarrier_init();
//!     }
//!     sync_threads();
//!     if lane == 0 {
//!         stage.full.arrive_expect_tx(0, 4096);
//!         let at = [block_idx_x() as i32 * 32, block_idx_y() as i32 * 32];
//!         load_2d(stage.tile.slot::<1024>(0), x, at, stage.full.at(0));
//!     }
//!     stage.full.wait(0, 0);
//!     let sum = (0..32).fold(0.0, |sum, row| sum + stage.tile.get(row * 32 + lane));
//!     let block = block_idx_y() * grid_dim_x() + block_idx_x();
//!     sums.atomic(block as usize).fetch_add(sum, Order::Relaxed, Scope::Device);
//! }
//! ```

use core::{cell::UnsafeCell, marker::PhantomData};

use crate::{
    access::Access,
    arch,
    shared::{Parts, Shared},
};

/// `N` mbarriers in shared memory, of 8 bytes each. An index outside is a trap on PTX, a report on the simulator.
#[repr(C, align(8))]
pub struct Mbarriers<const N: usize> {
    barriers: [UnsafeCell<u64>; N],
}

// SAFETY: `#[repr(C)]`, only integers in `UnsafeCell`s, for which any bits are valid.
unsafe impl<const N: usize> Shared for Mbarriers<N> {
    const PARTS: Parts = Parts::Array { element: 8 };
}

/// One mbarrier, on which a copy completes.
#[derive(Clone, Copy, Debug)]
pub struct MbarrierSlot<'a> {
    /// Null for an index outside, after the report: operations on it then have no effect.
    ptr: *mut u64,
    memory: PhantomData<&'a u64>,
}

impl MbarrierSlot<'_> {
    #[cfg_attr(optimised, inline(always))]
    pub(crate) fn address(self) -> *mut u64 {
        self.ptr
    }
}

impl<const N: usize> Mbarriers<N> {
    /// Mbarrier `i`.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn at(&self, i: u32) -> MbarrierSlot<'_> {
        let access = Access::shared::<1>(self.barriers.as_ptr().cast::<u64>().cast_mut(), i, N as u32);
        MbarrierSlot { ptr: access.address(true), memory: PhantomData }
    }

    /// Initialises mbarrier `i` with phases of `arrivals` arrivals, 1 to 2²⁰ − 1 (`mbarrier.init`).
    ///
    /// Called by one thread, which then calls [`fence_mbarrier_init`]. Other threads use it after a barrier of the
    /// block.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn init(&self, i: u32, arrivals: u32) {
        // SAFETY: an mbarrier of this struct, or null after a report; any bytes are valid in shared memory.
        unsafe { arch::mbarrier::init(self.at(i).ptr, arrivals) }
    }

    /// Arrives at mbarrier `i`, releasing what this thread wrote (`mbarrier.arrive`).
    ///
    /// It does not wait for loads: a TMA copy that it permits may overwrite what a load before it has still to read. So
    /// each thread that has read a pipeline stage by ordinary loads first calls
    /// [`fence_proxy_async`](crate::sync::fence_proxy_async).
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn arrive(&self, i: u32) {
        // SAFETY: as for `init`; if these 8 bytes are not an mbarrier, the result is unspecified, but no other memory
        // is accessed.
        unsafe { arch::mbarrier::arrive(self.at(i).ptr) }
    }

    /// Arrives at mbarrier `i` of block `rank` of the cluster, which may be this one (`mapa`, `mbarrier.arrive`).
    ///
    /// It releases what this thread wrote or read to TMA and to the threads of that block: a pipeline stage that this
    /// thread has read may be loaded again. The block must not have exited, and its mbarrier must have been initialised
    /// before a [`cluster_sync`](crate::cluster::cluster_sync) that this thread has passed. A rank outside the cluster
    /// ends the launch with an error.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn arrive_at(&self, i: u32, rank: u32) {
        // SAFETY: as for `arrive`, at the same place of another block's shared memory.
        unsafe { arch::mbarrier::arrive_at(self.at(i).ptr, rank) }
    }

    /// Makes the current phase of mbarrier `i` expect `bytes` more bytes of copies (`mbarrier.expect_tx`).
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn expect_tx(&self, i: u32, bytes: u32) {
        // SAFETY: as for `arrive`.
        unsafe { arch::mbarrier::expect_tx(self.at(i).ptr, bytes) }
    }

    /// [`Self::expect_tx`] and [`Self::arrive`] in one instruction (`mbarrier.arrive.expect_tx`).
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn arrive_expect_tx(&self, i: u32, bytes: u32) {
        // SAFETY: as for `arrive`.
        unsafe { arch::mbarrier::arrive_expect_tx(self.at(i).ptr, bytes) }
    }

    /// Whether the phase of parity `parity`, 0 or 1, is complete, without waiting (`mbarrier.test_wait.parity`).
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn test(&self, i: u32, parity: u32) -> bool {
        // SAFETY: as for `arrive`.
        unsafe { arch::mbarrier::test(self.at(i).ptr, parity) }
    }

    /// Waits until the phase of parity `parity`, 0 or 1, is complete, and acquires what the arrivals released
    /// (`mbarrier.try_wait.parity`, in a loop).
    ///
    /// The threads of a warp may leave the wait at different times: before one lane arrives on behalf of the warp, a
    /// [`sync_warp`](crate::warp::sync_warp) must follow.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn wait(&self, i: u32, parity: u32) {
        // SAFETY: as for `arrive`.
        unsafe { arch::mbarrier::wait(self.at(i).ptr, parity) }
    }

    /// Invalidates mbarrier `i`, so that its 8 bytes may be reused (`mbarrier.inval`). No thread may be waiting on it,
    /// and no copy that completes on it may be in flight.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn invalidate(&self, i: u32) {
        // SAFETY: as for `arrive`.
        unsafe { arch::mbarrier::invalidate(self.at(i).ptr) }
    }
}

/// Makes this thread's [`Mbarriers::init`] visible to TMA and to other blocks of the cluster
/// (`fence.mbarrier_init.release.cluster`).
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn fence_mbarrier_init() {
    arch::mbarrier::fence_init();
}
