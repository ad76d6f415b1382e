//! Mbarriers. A null address is that of an index outside its container, which was reported: nothing is done.

use crate::lane::{current, suspend};
use std::panic::Location;

/// `mbarrier.init`: each phase takes so many arrivals.
#[track_caller]
pub fn mbarrier_init(mbarrier: *mut u64, arrivals: u32) {
    if !mbarrier.is_null() {
        let lane = current();
        lane.block().mbarrier_init(&lane, mbarrier as usize, arrivals, Location::caller());
    }
}

/// `mbarrier.arrive`, with the bytes to expect before, if any.
#[track_caller]
pub fn mbarrier_arrive(mbarrier: *mut u64, bytes: Option<u32>) {
    if !mbarrier.is_null() {
        let lane = current();
        lane.block().mbarrier_arrive(&lane, mbarrier as usize, bytes, Location::caller());
    }
}

/// `mbarrier.expect_tx`.
#[track_caller]
pub fn mbarrier_expect_tx(mbarrier: *mut u64, bytes: u32) {
    if !mbarrier.is_null() {
        let lane = current();
        lane.block().mbarrier_expect(&lane, mbarrier as usize, bytes, Location::caller());
    }
}

/// `mbarrier.test_wait.parity`. Now and then lets others run, since this thread may be waiting for them.
#[track_caller]
pub fn mbarrier_test(mbarrier: *mut u64, parity: u32) -> bool {
    if mbarrier.is_null() {
        return true;
    }
    let (lane, location) = (current(), Location::caller());
    if lane.block().poll(&lane, location) {
        suspend(&lane);
    }
    lane.block().mbarrier_test(&lane, mbarrier as usize, parity, location)
}

/// `mbarrier.try_wait.parity`, until it holds.
#[inline(always)]
#[track_caller]
pub fn mbarrier_wait(mbarrier: *mut u64, parity: u32) {
    if !mbarrier.is_null() {
        let lane = current();
        lane.block().mbarrier_wait(&lane, mbarrier as usize, parity, Location::caller());
    }
}

/// `mbarrier.inval`.
#[track_caller]
pub fn mbarrier_invalidate(mbarrier: *mut u64) {
    if !mbarrier.is_null() {
        let lane = current();
        lane.block().mbarrier_invalidate(&lane, mbarrier as usize, Location::caller());
    }
}

/// `fence.mbarrier_init.release.cluster`.
#[track_caller]
pub fn fence_mbarrier_init() {
    let lane = current();
    lane.block().fence_mbarriers(&lane);
}
