//! Mbarriers.

use simulator::device;

/// # Safety
/// `mbarrier` is null, or the address of 8 bytes of the block's shared memory.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn init(mbarrier: *mut u64, arrivals: u32) {
    device::mbarrier_init(mbarrier, arrivals);
}
/// # Safety
/// As for [`init`].
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn arrive(mbarrier: *mut u64) {
    device::mbarrier_arrive(mbarrier, None);
}
/// # Safety
/// As for [`init`].
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn arrive_at(mbarrier: *mut u64, rank: u32) {
    device::mbarrier_arrive_at(mbarrier, rank);
}
/// # Safety
/// As for [`init`].
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn expect_tx(mbarrier: *mut u64, bytes: u32) {
    device::mbarrier_expect_tx(mbarrier, bytes);
}
/// # Safety
/// As for [`init`].
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn arrive_expect_tx(mbarrier: *mut u64, bytes: u32) {
    device::mbarrier_arrive(mbarrier, Some(bytes));
}
/// # Safety
/// As for [`init`].
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn test(mbarrier: *mut u64, parity: u32) -> bool {
    device::mbarrier_test(mbarrier, parity)
}
/// # Safety
/// As for [`init`].
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn wait(mbarrier: *mut u64, parity: u32) {
    device::mbarrier_wait(mbarrier, parity);
}
/// # Safety
/// As for [`init`].
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn invalidate(mbarrier: *mut u64) {
    device::mbarrier_invalidate(mbarrier);
}
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn fence_init() {
    device::fence_mbarrier_init();
}
