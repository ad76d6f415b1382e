//! What may be an argument of a kernel.

use crate::{
    element::Element,
    global::{MatMut, MatRef, VecMut, VecRef},
    tma::{TensorMap, TensorMapMut},
};

/// Values that a launch passes to a kernel: views of global memory, tensor maps, numbers of 4 or 8 bytes and arrays of them. A kernel
/// indexes an array argument by constants: by anything else the compiler would first copy it to local memory.
///
/// # Safety
/// The type is laid out in the same way on the host and on the GPU, contains no reference to host memory, and any
/// thread may hold a copy of it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a kernel",
    label = "no kernel argument",
    note = "arguments are `VecRef<T>`, `VecMut<T>`, `MatRef<T>`, `MatMut<T>`, `&TensorMap<T>`, `&TensorMapMut<T>`, `u32`, `i32`, `u64`, `i64`, `f32`, `f64` and arrays of them",
    note = "several of them may be one struct with `#[repr(C)] #[derive(Clone, Copy, KernelArg)]`",
    note = "shared memory is no launch argument: mark the first parameter `#[shared]`"
)]
pub unsafe trait KernelArg: Copy + Send + Sync {}

/// An argument made of several, by `#[derive(KernelArg)]`: what a launch builds it from.
#[cfg(not(target_arch = "nvptx64"))]
pub trait StructArg: KernelArg {
    /// The types of its fields, a tuple in their order.
    type Fields;
    /// Their names.
    const NAMES: &'static [&'static str];
    /// The struct with these fields.
    fn from_fields(fields: Self::Fields) -> Self;
}

macro_rules! numbers {
    ($($t:ty)+) => {$(
        // SAFETY: a number of 4 or 8 bytes.
        unsafe impl KernelArg for $t {}
        // SAFETY: such numbers one after the other.
        unsafe impl<const N: usize> KernelArg for [$t; N] {}
    )+};
}
numbers! { u32 i32 u64 i64 f32 f64 }

// SAFETY: views are `#[repr(C)]` with fields of fixed width, made for being copied to every thread.
unsafe impl<T: Element> KernelArg for VecRef<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Element> KernelArg for VecMut<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Element> KernelArg for MatRef<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Element> KernelArg for MatMut<'_, T> {}
// SAFETY: 128 bytes without a pointer of the host's language, read by the copy engine alone; the macro has a kernel take it
// by reference.
unsafe impl<T: Element> KernelArg for TensorMap<T> {}
// SAFETY: as above.
unsafe impl<T: Element> KernelArg for TensorMapMut<T> {}
