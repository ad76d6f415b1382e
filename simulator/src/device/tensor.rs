//! Boxes.

/// `cp.async.bulk.tensor` to shared memory.
///
/// # Safety
/// As `simt` says.
#[track_caller]
pub unsafe fn tensor_load(
    _dst: *mut u8,
    _bytes: usize,
    _map: &[u64; 16],
    _element: usize,
    _at: &[i32],
    _bar: *mut u64,
) {
    unimplemented!()
}
/// `cp.async.bulk.tensor` to global memory.
///
/// # Safety
/// As `simt` says.
#[track_caller]
pub unsafe fn tensor_store(_map: &[u64; 16], _element: usize, _at: &[i32], _src: *const u8, _bytes: usize) {
    unimplemented!()
}
/// `cp.async.bulk.commit_group`.
#[track_caller]
pub fn tensor_store_commit() {
    unimplemented!()
}
/// `cp.async.bulk.wait_group`, `.read`.
#[track_caller]
pub fn tensor_store_wait(_pending: u32, _read: bool) {
    unimplemented!()
}
/// `fence.proxy.async`.
#[track_caller]
pub fn fence_proxy_async() {
    crate::lane::current().block().advance_clock();
}
