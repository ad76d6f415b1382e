//! Mbarriers. A null address means an index outside its container, which was reported: nothing is done.

use crate::block::Block;
use crate::lane::suspend;
use crate::mutation::{self, Change, mutated};
use crate::overflow::enter;
use std::panic::Location;

/// `mbarrier.init`: each phase expects so many arrivals.
#[track_caller]
pub fn mbarrier_init(mbarrier: *mut u64, arrivals: u32) {
    if !mbarrier.is_null() {
        let lane = enter();
        let Block { state, async_proxy, .. } = Block::of(&lane);
        async_proxy.mbarrier_init(state, &lane, mbarrier as usize, arrivals, Location::caller());
    }
}

/// `mbarrier.arrive`, after `expect_tx` of `bytes`, if any.
#[track_caller]
pub fn mbarrier_arrive(mbarrier: *mut u64, bytes: Option<u32>) {
    if !mbarrier.is_null() && !mutated(Location::caller(), Change::Remove) {
        let lane = enter();
        let Block { state, async_proxy, .. } = Block::of(&lane);
        async_proxy.mbarrier_arrive(state, &lane, mbarrier as usize, bytes, Location::caller());
    }
}

/// `mbarrier.expect_tx`.
#[track_caller]
pub fn mbarrier_expect_tx(mbarrier: *mut u64, bytes: u32) {
    if !mbarrier.is_null() && !mutated(Location::caller(), Change::Remove) {
        let lane = enter();
        let Block { state, async_proxy, .. } = Block::of(&lane);
        async_proxy.mbarrier_expect(state, &lane, mbarrier as usize, bytes, Location::caller());
    }
}

/// `mbarrier.test_wait.parity`. At times lets other threads run, since this one may be waiting for them.
#[track_caller]
pub fn mbarrier_test(mbarrier: *mut u64, parity: u32) -> bool {
    let location = Location::caller();
    if mbarrier.is_null() || mutated(location, Change::Remove) {
        return true;
    }
    let (lane, parity) = (enter(), mutation::parity(location, parity));
    if Block::of(&lane).state.poll(&lane, location, Some(mbarrier as usize)) {
        suspend(&lane);
    }
    let Block { state, async_proxy, .. } = Block::of(&lane);
    async_proxy.mbarrier_test(state, &lane, mbarrier as usize, parity, location)
}

/// `mbarrier.try_wait.parity`, until it holds.
#[inline(always)]
#[track_caller]
pub fn mbarrier_wait(mbarrier: *mut u64, parity: u32) {
    let location = Location::caller();
    if !mbarrier.is_null() && !mutated(location, Change::Remove) {
        let (lane, parity) = (enter(), mutation::parity(location, parity));
        let Block { state, async_proxy, .. } = Block::of(&lane);
        async_proxy.mbarrier_wait(state, &lane, mbarrier as usize, parity, location);
    }
}

/// `mbarrier.inval`.
#[track_caller]
pub fn mbarrier_invalidate(mbarrier: *mut u64) {
    if !mbarrier.is_null() {
        let lane = enter();
        let Block { state, async_proxy, .. } = Block::of(&lane);
        async_proxy.mbarrier_invalidate(state, &lane, mbarrier as usize, Location::caller());
    }
}

/// `fence.mbarrier_init.release.cluster`.
#[track_caller]
pub fn fence_mbarrier_init() {
    if mutated(Location::caller(), Change::Remove) {
        return;
    }
    let lane = enter();
    let Block { state, async_proxy, .. } = Block::of(&lane);
    async_proxy.fence_mbarriers(state, &lane);
}
