//! Asynchronous copies.

use simulator::device;

use crate::element::Element;

/// # Safety
/// Both addresses are null, or inside allocated memory of their space.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn copy<T, const N: usize>(dst: *mut T, src: *const T, tag: u32) {
    if dst.is_null() || src.is_null() {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe { device::cp_async(dst.cast(), Some((src.cast(), tag)), (N * size_of::<T>()) as u32) }
}

/// # Safety
/// `dst` is null or inside shared memory; if `is_inside`, `N` elements at `src` are inside allocated global memory.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn copy_or_zero<T: Element, const N: usize>(dst: *mut T, src: *const T, tag: u32, is_inside: bool) {
    if is_inside {
        // SAFETY: the caller's promise.
        return unsafe { copy::<T, N>(dst, src, tag) };
    }
    if !dst.is_null() {
        // SAFETY: the caller's promise.
        unsafe { device::cp_async(dst.cast(), None, (N * size_of::<T>()) as u32) }
    }
}

/// # Safety
/// If `is_inside`, `dst` is null or inside shared memory, and `N` elements at `src` are inside allocated global memory.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn copy_if<T: Element, const N: usize>(dst: *mut T, src: *const T, tag: u32, is_inside: bool) {
    if is_inside {
        // SAFETY: the caller's promise.
        unsafe { copy::<T, N>(dst, src, tag) }
    }
}

#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn commit() {
    device::cp_async_commit();
}
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn wait_group<const PENDING: u32>() {
    device::cp_async_wait_group(PENDING);
}
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn wait_all() {
    device::cp_async_wait_all();
}
