//! Asynchronous copies.

use simulator::device;

/// # Safety
/// Both addresses are null, or inside allocated memory of their space.
#[inline(always)]
#[track_caller]
pub(crate) unsafe fn copy<T, const N: usize>(dst: *mut T, src: *const T, tag: u32) {
    if dst.is_null() || src.is_null() {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe { device::cp_async(dst.cast(), src.cast(), tag, (N * size_of::<T>()) as u32) }
}

#[inline(always)]
#[track_caller]
pub(crate) fn commit() {
    device::cp_async_commit();
}
#[inline(always)]
#[track_caller]
pub(crate) fn wait_group<const PENDING: u32>() {
    device::cp_async_wait_group(PENDING);
}
#[inline(always)]
#[track_caller]
pub(crate) fn wait_all() {
    device::cp_async_wait_all();
}
