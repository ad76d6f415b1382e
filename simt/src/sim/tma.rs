//! Copies by TMA.

use simulator::device;

/// # Safety
/// `dst` and `bar` are null or in the block's shared memory, `map` is a map that the simulator encoded, of memory that
/// the launch binds under the map's tag.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn load<const RANK: usize>(
    dst: *mut u8,
    bytes: usize,
    map: *const [u64; 16],
    element: usize,
    at: [i32; RANK],
    bar: *mut u64,
) {
    // SAFETY: the caller's promise.
    unsafe { device::tensor_load(dst, bytes, &*map, element, &at, bar) }
}

/// # Safety
/// As for [`load`].
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn load_with_policy<const RANK: usize>(
    dst: *mut u8,
    bytes: usize,
    map: *const [u64; 16],
    element: usize,
    at: [i32; RANK],
    bar: *mut u64,
    _policy: u64,
) {
    // SAFETY: the caller's promise.
    unsafe { load(dst, bytes, map, element, at, bar) }
}

/// # Safety
/// As for [`load`].
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn load_multicast<const RANK: usize>(
    dst: *mut u8,
    bytes: usize,
    map: *const [u64; 16],
    element: usize,
    at: [i32; RANK],
    bar: *mut u64,
    mask: u16,
) {
    // SAFETY: the caller's promise.
    unsafe { device::tensor_load_multicast(dst, bytes, &*map, element, &at, bar, mask) }
}

/// # Safety
/// As for [`load`]; the memory may be written.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn store<const RANK: usize>(
    map: *const [u64; 16],
    element: usize,
    at: [i32; RANK],
    src: *const u8,
    bytes: usize,
) {
    // SAFETY: the caller's promise.
    unsafe { device::tensor_store(&*map, element, &at, src, bytes) }
}

#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn commit() {
    device::tensor_store_commit();
}
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn wait_group_read<const PENDING: u32>() {
    device::tensor_store_wait(PENDING, true);
}
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn wait_group<const PENDING: u32>() {
    device::tensor_store_wait(PENDING, false);
}

// Caches are not simulated.

#[cfg_attr(optimised, inline(always))]
pub(crate) fn prefetch(_map: *const [u64; 16]) {}
#[cfg_attr(optimised, inline(always))]
pub(crate) fn prefetch_box<const RANK: usize>(_map: *const [u64; 16], _at: [i32; RANK]) {}
#[cfg_attr(optimised, inline(always))]
pub(crate) fn evict_first() -> u64 {
    0
}
#[cfg_attr(optimised, inline(always))]
pub(crate) fn evict_normal() -> u64 {
    0
}
