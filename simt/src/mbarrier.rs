//! Barriers that are objects in shared memory (`mbarrier`, compute capability 9.0): they count arrivals of threads and
//! bytes of asynchronous copies, phase after phase.
//!
//! A phase of an mbarrier ends when as many arrivals have come as [`Mbarriers::init`] said and no expected byte is
//! outstanding; then the next begins by itself, with the same number of arrivals. Waiters name the *parity* of the
//! phase whose end they wait for: 0 for the first phase, 1 for the second, 0 for the third. A wait for the phase before
//! the first (parity 1 on a fresh mbarrier) is over at once, which spares the producer of a ring its special case.
//!
//! An arrival releases what the thread wrote, a wait that is over acquires what those who arrived wrote, and what the
//! copies brought.
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
    access::{Access, Space, fits32},
    arch,
    shared::Shared,
};

/// `N` mbarriers in shared memory, of 8 bytes each. An index outside is a trap on PTX, on the simulator a report.
#[repr(C, align(8))]
pub struct Mbarriers<const N: usize> {
    words: [UnsafeCell<u64>; N],
}

// SAFETY: `#[repr(C)]`, nothing but words behind `UnsafeCell`, for which any bits are valid.
unsafe impl<const N: usize> Shared for Mbarriers<N> {}

/// One mbarrier, for a copy that is to complete on it.
#[derive(Clone, Copy, Debug)]
pub struct MbarrierSlot<'a> {
    /// Null for an index outside the container, after the report: what is done with it is dropped.
    ptr: *mut u64,
    memory: PhantomData<&'a u64>,
}

impl MbarrierSlot<'_> {
    #[inline(always)]
    pub(crate) fn address(self) -> *mut u64 {
        self.ptr
    }
}

impl<const N: usize> Mbarriers<N> {
    /// Mbarrier `i`.
    #[inline(always)]
    #[track_caller]
    pub fn at(&self, i: u32) -> MbarrierSlot<'_> {
        let access: Access<u64, 1> = Access {
            space: Space::Shared,
            ptr: self.words.as_ptr().cast::<u64>().cast_mut().wrapping_add(i as usize),
            inside: fits32::<1>(i, N as u32),
            index: [u64::from(i)],
            extent: [N as u64],
        };
        MbarrierSlot { ptr: access.address(true), memory: PhantomData }
    }

    /// Makes mbarrier `i` ready for its first phase, each of whose phases takes `arrivals` arrivals, 1 to 2²⁰ − 1
    /// (`mbarrier.init`).
    ///
    /// By one thread, which then calls [`fence_mbarrier_init`]; the others touch it after a barrier of the block.
    #[inline(always)]
    #[track_caller]
    pub fn init(&self, i: u32, arrivals: u32) {
        // SAFETY: a word of the container, or null after a report; shared memory takes any bytes.
        unsafe { arch::mbarrier::init(self.at(i).ptr, arrivals) }
    }

    /// Arrives at mbarrier `i`, releasing what this thread wrote (`mbarrier.arrive`).
    #[inline(always)]
    #[track_caller]
    pub fn arrive(&self, i: u32) {
        // SAFETY: as for `init`; on a word that is no mbarrier the instruction's result is unspecified, within the
        // word.
        unsafe { arch::mbarrier::arrive(self.at(i).ptr) }
    }

    /// Arrives at mbarrier `i` of block `rank` of the cluster, which may be this one (`mapa`, `mbarrier.arrive`).
    ///
    /// It releases what this thread wrote or read to the copy engine and to the threads of that block, in the way that
    /// a ring needs: a stage that this thread has read may be loaded again. The block must not have exited, and its
    /// mbarrier must have been initialised before a [`cluster_sync`](crate::cluster::cluster_sync) that this thread has
    /// passed. A rank beyond the cluster ends the launch with an error.
    #[inline(always)]
    #[track_caller]
    pub fn arrive_at(&self, i: u32, rank: u32) {
        // SAFETY: as for `arrive`, at the same place of another block's shared memory.
        unsafe { arch::mbarrier::arrive_at(self.at(i).ptr, rank) }
    }

    /// Lets the present phase of mbarrier `i` wait for `bytes` more bytes of copies (`mbarrier.expect_tx`).
    #[inline(always)]
    #[track_caller]
    pub fn expect_tx(&self, i: u32, bytes: u32) {
        // SAFETY: as for `arrive`.
        unsafe { arch::mbarrier::expect_tx(self.at(i).ptr, bytes) }
    }

    /// [`Self::expect_tx`], then [`Self::arrive`], in one (`mbarrier.arrive.expect_tx`).
    #[inline(always)]
    #[track_caller]
    pub fn arrive_expect_tx(&self, i: u32, bytes: u32) {
        // SAFETY: as for `arrive`.
        unsafe { arch::mbarrier::arrive_expect_tx(self.at(i).ptr, bytes) }
    }

    /// Whether the phase of parity `parity`, 0 or 1, is over, without waiting (`mbarrier.test_wait.parity`).
    #[inline(always)]
    #[track_caller]
    pub fn test(&self, i: u32, parity: u32) -> bool {
        // SAFETY: as for `arrive`.
        unsafe { arch::mbarrier::test(self.at(i).ptr, parity) }
    }

    /// Waits until the phase of parity `parity`, 0 or 1, is over, and acquires what those who arrived released
    /// (`mbarrier.try_wait.parity`, in a loop).
    ///
    /// The threads of a warp may leave the wait at different times: a [`sync_warp`](crate::warp::sync_warp) must follow
    /// before one lane arrives anywhere in the name of all.
    #[inline(always)]
    #[track_caller]
    pub fn wait(&self, i: u32, parity: u32) {
        // SAFETY: as for `arrive`.
        unsafe { arch::mbarrier::wait(self.at(i).ptr, parity) }
    }

    /// Ends the life of mbarrier `i`, so that its 8 bytes may be used otherwise (`mbarrier.inval`). Nobody may be
    /// waiting at it, nor any copy be under way that completes on it.
    #[inline(always)]
    #[track_caller]
    pub fn invalidate(&self, i: u32) {
        // SAFETY: as for `arrive`.
        unsafe { arch::mbarrier::invalidate(self.at(i).ptr) }
    }
}

/// Makes this thread's [`Mbarriers::init`] visible to the copy engine, and to other blocks of the cluster
/// (`fence.mbarrier_init.release.cluster`).
#[inline(always)]
#[track_caller]
pub fn fence_mbarrier_init() {
    arch::mbarrier::fence_init();
}
