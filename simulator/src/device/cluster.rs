//! Clusters.

use super::{mbarrier_arrive, sync_threads, tensor_load};

/// The block's number in its cluster.
#[inline(always)]
pub fn cluster_rank() -> u32 {
    0
}

/// Blocks of the cluster.
#[inline(always)]
pub fn cluster_size() -> u32 {
    1
}

/// `barrier.cluster`.
#[inline(always)]
#[track_caller]
pub fn cluster_sync() {
    sync_threads();
}

/// `mbarrier.arrive` at the mbarrier at this place of another block of the cluster.
#[track_caller]
pub fn mbarrier_arrive_at(mbarrier: *mut u64, _rank: u32) {
    mbarrier_arrive(mbarrier, None);
}

/// [`tensor_load`] to the blocks of the mask.
///
/// # Safety
/// As there.
#[track_caller]
pub unsafe fn tensor_load_multicast(
    dst: *mut u8,
    bytes: usize,
    words: &[u64; 16],
    element: usize,
    at: &[i32],
    bar: *mut u64,
    _mask: u16,
) {
    // SAFETY: the caller's promise.
    unsafe { tensor_load(dst, bytes, words, element, at, bar) };
}
