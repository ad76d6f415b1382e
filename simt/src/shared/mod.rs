//! Shared memory: the kernel's `#[shared]` parameter gives the block's shared memory a layout.
//!
//! A layout is a `#[repr(C)]` struct of [`SharedTile`]s and [`SharedArray`]s with `#[derive(Shared)]`. A kernel whose
//! shared memory depends on the launch takes a [`DynShared`] instead.
//!
//! All threads of the block hold the same reference, so `set` takes `&self`. Between two barriers an element may either
//! be written by one thread or be read by any number of threads; anything else is a data race, a bug of the kernel. On
//! a GPU a racing reader gets the old or the new value of each 4 bytes; the simulator reports the race with both lines.
//! At the start of a block the contents are unspecified: the simulator reports a read of an element that no thread of
//! the block has written.
//!
//! ```
//! use simt::prelude::*;
//!
//! const THREADS: u32 = 128;
//!
//! /// Each block reverses its 128 elements of x.
//! #[kernel(block = THREADS)]
//! pub fn reverse(#[shared] copy: &SharedArray<f32, { THREADS as usize }>, x: VecMut<f32>) {
//!     let (thread, i) = (thread_idx_x(), index_1d());
//!     copy.set(thread, x.get(i));
//!     sync_threads();
//!     x.set(i, copy.get(THREADS - 1 - thread));
//! }
//! ```
//!
//! Threads are counted in `u32`, and so are the elements of shared memory; lengths in types are `usize`, as everywhere
//! in Rust. A constant that is both is best a `u32`, with the length written `{ THREADS as usize }`.

mod array;
mod dynamic;
mod parts;
mod spec;
mod tile;

pub use array::SharedArray;
pub use dynamic::DynShared;
#[doc(hidden)]
pub use parts::{Field, Parts};
pub use simt_macros::Shared;
pub use spec::SharedSpec;
pub use tile::SharedTile;

use crate::{arch, element::Element};

/// A layout of shared memory.
///
/// Derive it: `#[derive(Shared)]` checks the conditions below.
///
/// # Safety
/// The type is `#[repr(C)]`, any bytes are valid for it, all of its contents are in `UnsafeCell`s, and it needs no
/// drop.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a layout of shared memory",
    label = "cannot be in shared memory",
    note = "build the layout from `SharedTile<T, ROWS, COLS>`, `SharedArray<T, N>` \
            and structs with `#[repr(C)] #[derive(Shared)]`"
)]
pub unsafe trait Shared: 'static {
    /// What it consists of, for the simulator's reports.
    #[doc(hidden)]
    const PARTS: Parts = Parts::Whole;
}

// SAFETY: an array of a layout is the layout repeated.
unsafe impl<S: Shared, const N: usize> Shared for [S; N] {
    const PARTS: Parts = Parts::Copies { size: size_of::<S>(), parts: &S::PARTS };
}

/// Types of a kernel's `#[shared]` parameter: `&T` where `T` is [`Shared`], or [`DynShared`].
///
/// # Safety
/// [`Self::take`] uses no more shared memory than [`Self::SPEC`] requests. [`In`](Self::In) is the same type but for
/// lifetimes, and all of its lifetimes are `'launch`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a `#[shared]` parameter",
    label = "not a view of shared memory",
    note = "write `#[shared] name: &Layout` with a `#[derive(Shared)]` struct, \
            or `#[shared] name: DynShared<T>` where the launch chooses the size"
)]
pub unsafe trait SharedParam: Sized {
    /// The type in the kernel's body, whose lifetimes end with the launch, whatever those of `Self` are.
    type In<'launch>;

    /// The shared memory that the launch reserves.
    const SPEC: SharedSpec;

    /// The block's shared memory with this layout.
    ///
    /// # Safety
    /// Called once per thread, by the kernel's entry, in a launch that reserved what [`Self::SPEC`] says; the value
    /// does not outlive the thread.
    #[doc(hidden)]
    unsafe fn take<'launch>() -> Self::In<'launch>;
}

/// Least alignment of a block's shared memory, enough for every vector access.
const BASE_ALIGN: usize = 16;

// SAFETY: `arch` returns the start of memory that holds a `T`, or does not return.
unsafe impl<T: Shared> SharedParam for &T {
    type In<'launch> = &'launch T;

    const SPEC: SharedSpec = SharedSpec::Fixed {
        bytes: size_of::<T>(),
        align: if align_of::<T>() > BASE_ALIGN { align_of::<T>() } else { BASE_ALIGN },
    };

    #[cfg_attr(optimised, inline(always))]
    unsafe fn take<'launch>() -> &'launch T {
        // SAFETY: the launch made it large enough and aligned (the simulator checks); any bytes are valid; all contents
        // are in `UnsafeCell`s, so that the threads' references may coexist.
        unsafe { &*arch::memory::shared_layout::<T>() }
    }
}

// SAFETY: the length is computed from the bytes that the launch reserved.
unsafe impl<T: Element> SharedParam for DynShared<'_, T> {
    type In<'launch> = DynShared<'launch, T>;

    const SPEC: SharedSpec = SharedSpec::PerLaunch { element: size_of::<T>(), align: BASE_ALIGN };

    #[cfg_attr(optimised, inline(always))]
    unsafe fn take<'launch>() -> DynShared<'launch, T> {
        let (base, bytes) = arch::memory::shared_elements::<T>();
        // SAFETY: `bytes` bytes aligned to 16 belong to this block for as long as its threads run.
        unsafe { DynShared::from_raw_parts(base.cast(), (bytes / size_of::<T>()) as u32) }
    }
}

/// Start of the block's shared memory, aligned to 16 bytes and as large as the launch reserved: the same memory as that
/// of a `#[shared]` parameter. The name is that of `cuda_std`; kernels without `unsafe` use a `#[shared]` parameter.
///
#[cfg_attr(optimised, inline(always))]
pub fn dynamic_shared_mem<T: Element>() -> *mut T {
    arch::memory::shared_bytes().0.cast()
}
