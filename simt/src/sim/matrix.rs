//! Tensor cores, by warp.

use crate::matrix::Code;

/// # Safety
/// `row` is null, or the start of 16 bytes of the block's shared memory.
#[inline(always)]
#[track_caller]
pub(crate) unsafe fn load<const COUNT: usize, const TRANSPOSE: bool>(_row: *const u8) -> [u32; COUNT] {
    todo!()
}
/// # Safety
/// As for [`load`].
#[inline(always)]
#[track_caller]
pub(crate) unsafe fn store<const COUNT: usize, const TRANSPOSE: bool>(_row: *mut u8, _v: [u32; COUNT]) {
    todo!()
}
#[inline(always)]
#[track_caller]
pub(crate) fn multiply(_code: Code, _a: [u32; 4], _b: [u32; 2], _c: [f32; 4]) -> [f32; 4] {
    todo!()
}
