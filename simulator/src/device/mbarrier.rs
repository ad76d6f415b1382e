//! Mbarriers.

/// `mbarrier.init`.
#[track_caller]
pub fn mbarrier_init(_mbarrier: *mut u64, _arrivals: u32) {
    unimplemented!()
}
/// `mbarrier.arrive`, with the bytes to expect, if any.
#[track_caller]
pub fn mbarrier_arrive(_mbarrier: *mut u64, _bytes: Option<u32>) {
    unimplemented!()
}
/// `mbarrier.expect_tx`.
#[track_caller]
pub fn mbarrier_expect_tx(_mbarrier: *mut u64, _bytes: u32) {
    unimplemented!()
}
/// `mbarrier.test_wait.parity`.
#[track_caller]
pub fn mbarrier_test(_mbarrier: *mut u64, _parity: u32) -> bool {
    unimplemented!()
}
/// `mbarrier.try_wait.parity`, until it holds.
#[track_caller]
pub fn mbarrier_wait(_mbarrier: *mut u64, _parity: u32) {
    unimplemented!()
}
/// `mbarrier.inval`.
#[track_caller]
pub fn mbarrier_invalidate(_mbarrier: *mut u64) {
    unimplemented!()
}
/// `fence.mbarrier_init.release.cluster`.
#[track_caller]
pub fn fence_mbarrier_init() {
    unimplemented!()
}
