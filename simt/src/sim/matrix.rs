//! Tensor core instructions of a warp.

use simulator::device::{self, TensorKind};

use crate::matrix::Code;

#[cfg_attr(optimised, inline(always))]
pub(super) const fn kind(code: Code) -> TensorKind {
    match code {
        Code::F16 => TensorKind::F16,
        Code::Bf16 => TensorKind::Bf16,
        Code::Tf32 => TensorKind::Tf32,
        Code::I8 => TensorKind::I8,
        Code::E4m3 => TensorKind::E4m3,
        Code::E5m2 => TensorKind::E5m2,
    }
}

/// # Safety
/// `row` is null, or the start of 16 bytes of the block's shared memory.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn load<const COUNT: usize, const TRANSPOSE: bool>(row: *const u8) -> [u32; COUNT] {
    // SAFETY: the caller's promise.
    let all = unsafe { device::matrix_load(row, COUNT, TRANSPOSE) };
    core::array::from_fn(|i| all[i])
}

/// # Safety
/// As for [`load`].
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) unsafe fn store<const COUNT: usize, const TRANSPOSE: bool>(row: *mut u8, fragments: [u32; COUNT]) {
    let all = core::array::from_fn(|i| fragments.get(i).copied().unwrap_or(0));
    // SAFETY: the caller's promise.
    unsafe { device::matrix_store(row, all, COUNT, TRANSPOSE) }
}

#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn multiply(code: Code, a: [u32; 4], b: [u32; 2], c: [f32; 4]) -> [f32; 4] {
    device::matrix_multiply(kind(code), a, b, c)
}

#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub(crate) fn multiply_f64(a: [f64; 8], b: [f64; 4], c: [f64; 4]) -> [f64; 4] {
    device::matrix_multiply_f64(a, b, c)
}
