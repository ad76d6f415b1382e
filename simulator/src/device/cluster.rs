//! Clusters: blocks that run together and access each other's shared memory.

use crate::block::{Block, TmaRequest};
use crate::lane::current;
use crate::mutation::{Change, mutated};
use crate::overflow::enter;
use std::panic::Location;

/// The block's number in its cluster.
#[inline(always)]
pub fn cluster_rank() -> u32 {
    let lane = current();
    let geometry = lane.geometry();
    geometry.block_idx[0] % geometry.cluster
}

/// Blocks of the cluster.
#[inline(always)]
pub fn cluster_size() -> u32 {
    current().geometry().cluster
}

/// `barrier.cluster`, arrival and wait.
#[inline(always)]
#[track_caller]
pub fn cluster_sync() {
    if mutated(Location::caller(), Change::Remove) {
        return;
    }
    let lane = enter();
    Block::of(&lane).cluster_sync(&lane, Location::caller());
}

/// `mbarrier.arrive` at the corresponding mbarrier of block `rank` of the cluster. A null address means an index
/// outside its container, which was reported.
#[track_caller]
pub fn mbarrier_arrive_at(mbarrier: *mut u64, rank: u32) {
    if !mbarrier.is_null() && !mutated(Location::caller(), Change::Remove) {
        let lane = enter();
        Block::of(&lane).mbarrier_arrive_at(&lane, mbarrier as usize, rank, Location::caller());
    }
}

/// [`tensor_load`](super::tensor_load) with multicast: to the corresponding tile, completing on the corresponding
/// mbarrier, of each block of the cluster whose bit is set in `mask`.
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
    mask: u16,
) {
    let (lane, address, location) = (enter(), dst as usize, Location::caller());
    let request = TmaRequest { words, element, at, address, bytes, location };
    Block::of(&lane).issue_multicast(&lane, &request, bar as usize, mask);
}
