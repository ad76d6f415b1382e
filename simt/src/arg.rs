//! Kernel arguments.

use crate::{
    arg_type::{ArgPart, ArgType},
    element::Element,
    global::{MatMut, MatRef, VecMut, VecRef},
    tma::{TensorMap, TensorMapMut},
};

/// Values that a launch passes to a kernel: views of global memory, tensor maps, numbers of 4 or 8 bytes, arrays of
/// numbers, and structs of views and numbers. A kernel indexes an array argument by constants: for any other index the
/// compiler copies the array to local memory first.
///
/// # Safety
/// The type has the same layout on the host and on the GPU, contains no reference to host memory, and any thread may
/// hold a copy of it. [`In`](Self::In) is the same type but for lifetimes, and all of its lifetimes are `'launch`: what
/// gives access to memory of the launch cannot be in a type without one. [`TYPE`](Self::TYPE) describes the type: its
/// name, its layout and all of its parts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a kernel",
    label = "not a kernel argument",
    note = "arguments are `VecRef<T>`, `VecMut<T>`, `MatRef<T>`, `MatMut<T>`, `&TensorMap<T>`, `&TensorMapMut<T>`, \
            `u32`, `i32`, `u64`, `i64`, `f32`, `f64` and arrays of them",
    note = "several of them may be one struct with `#[repr(C)] #[derive(Clone, Copy, KernelArg)]`",
    note = "shared memory is not a launch argument: mark the first parameter `#[shared]`"
)]
pub unsafe trait KernelArg: Copy + Send + Sync {
    /// The type in the kernel's body, whose lifetimes end with the launch, whatever those of `Self` are.
    type In<'launch>;

    /// The type's name and layout, by which a launch knows whether PTX was compiled from the same kernel.
    const TYPE: ArgType;

    /// The hash of [`TYPE`](Self::TYPE), for `#[kernel]`; implementations leave it as it is. A constant of the type is
    /// computed once, not in each kernel.
    #[doc(hidden)]
    const HASH: u64 = Self::TYPE.hash();
}

/// A struct of arguments with `#[derive(KernelArg)]`: how a launch builds it.
#[cfg(not(target_arch = "nvptx64"))]
pub trait StructArg: KernelArg {
    /// The types of its fields in order, as a tuple.
    type Fields;
    /// The names of its fields.
    const NAMES: &'static [&'static str];
    /// The struct with these fields.
    fn from_fields(fields: Self::Fields) -> Self;
}

macro_rules! numbers {
    ($($t:ty)+) => {$(
        // SAFETY: a number of 4 or 8 bytes.
        unsafe impl KernelArg for $t {
            type In<'launch> = Self;
            const TYPE: ArgType = <Self as Element>::TYPE;
        }
        // SAFETY: such numbers in order of address.
        unsafe impl<const N: usize> KernelArg for [$t; N] {
            type In<'launch> = Self;
            const TYPE: ArgType = ArgType {
                name: "array",
                size: size_of::<Self>(),
                align: align_of::<Self>(),
                parts: &[ArgPart::element(<$t as Element>::TYPE)],
            };
        }
    )+};
}
numbers! { u32 i32 u64 i64 f32 f64 }

// SAFETY: views are `#[repr(C)]` with fields of fixed width, made to be copied to every thread.
unsafe impl<T: Element> KernelArg for VecRef<'_, T> {
    type In<'launch> = VecRef<'launch, T>;
    const TYPE: ArgType = Self::ARG_TYPE;
}
// SAFETY: as above.
unsafe impl<T: Element> KernelArg for VecMut<'_, T> {
    type In<'launch> = VecMut<'launch, T>;
    const TYPE: ArgType = Self::ARG_TYPE;
}
// SAFETY: as above.
unsafe impl<T: Element> KernelArg for MatRef<'_, T> {
    type In<'launch> = MatRef<'launch, T>;
    const TYPE: ArgType = Self::ARG_TYPE;
}
// SAFETY: as above.
unsafe impl<T: Element> KernelArg for MatMut<'_, T> {
    type In<'launch> = MatMut<'launch, T>;
    const TYPE: ArgType = Self::ARG_TYPE;
}
// SAFETY: 128 bytes, read by TMA only; the macro ensures that a kernel takes it by reference.
unsafe impl<T: Element> KernelArg for TensorMap<'_, T> {
    type In<'launch> = TensorMap<'launch, T>;
    const TYPE: ArgType = Self::ARG_TYPE;
}
// SAFETY: as above.
unsafe impl<T: Element> KernelArg for TensorMapMut<'_, T> {
    type In<'launch> = TensorMapMut<'launch, T>;
    const TYPE: ArgType = Self::ARG_TYPE;
}
