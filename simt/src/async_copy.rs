//! Asynchronous copies from global to shared memory (`cp.async`, compute capability 8.0).
//!
//! A thread issues copies, commits them to a group with [`cp_async_commit`], and later waits for its groups. The thread
//! itself may read the bytes after the wait, other threads after a barrier that follows the wait.
//!
//! ```
//! use simt::{async_copy::*, prelude::*};
//!
//! /// Each block reverses its 128 elements of x into y.
//! #[kernel(block = (32))]
//! pub fn reverse(#[shared] section: &SharedArray<f32, 128>, x: VecRef<f32>, y: VecMut<f32>) {
//!     let (t, first) = (thread_idx_x(), block_idx_x() as usize * 128);
//!     cp_async(section.slot::<4>(4 * t), x.slot::<4>(first + 4 * t as usize));
//!     cp_async_commit();
//!     // … work that does not need the section …
//!     cp_async_wait_group::<0>();
//!     sync_threads();
//!     for i in (t..128).step_by(32) {
//!         y.set(first + i as usize, section.get(127 - i));
//!     }
//! }
//! ```

use core::marker::PhantomData;

use crate::{access::Access, arch, element::Element};

/// `N` elements of shared memory: the destination of a copy, or the source of a TMA store.
#[derive(Clone, Copy, Debug)]
pub struct SharedSlot<'a, T, const N: usize> {
    /// Null for elements outside their view, after the report: the copy then does nothing.
    ptr: *mut T,
    memory: PhantomData<&'a T>,
}

/// `N` elements of global memory: the source of a copy.
#[derive(Clone, Copy, Debug)]
pub struct GlobalSlot<'a, T, const N: usize> {
    /// Null for elements outside their view, after the report: the copy then does nothing.
    ptr: *const T,
    tag: u32,
    memory: PhantomData<&'a T>,
}

impl<T: Element, const N: usize> SharedSlot<'_, T, N> {
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub(crate) fn new<const D: usize>(access: Access<T, D>) -> Self {
        Self { ptr: access.address(true), memory: PhantomData }
    }

    #[cfg_attr(optimised, inline(always))]
    pub(crate) fn address(self) -> *mut T {
        self.ptr
    }
}

/// Shared memory for a box of a tensor map, of a number of elements that is known at run time: see [`tma`](crate::tma).
#[derive(Clone, Copy, Debug)]
pub struct SharedBox<'a, T> {
    /// Null for elements outside their view, after the report: the copy then does nothing.
    ptr: *mut T,
    len: u32,
    memory: PhantomData<&'a T>,
}

impl<T: Element> SharedBox<'_, T> {
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub(crate) fn new<const D: usize>(access: Access<T, D>, len: u32) -> Self {
        Self { ptr: access.address(true), len, memory: PhantomData }
    }
}

impl<'a, T: Element> SharedBox<'a, T> {
    /// The same bytes as elements of another type.
    #[cfg_attr(optimised, inline(always))]
    #[must_use]
    pub fn cast<U: Element>(self) -> SharedBox<'a, U> {
        SharedBox {
            ptr: self.ptr.cast(),
            len: self.len * size_of::<T>() as u32 / size_of::<U>() as u32,
            memory: PhantomData,
        }
    }
}

mod sealed {
    pub trait Sealed {}
}

/// Shared memory that TMA copies to or from: [`SharedSlot`] or [`SharedBox`].
pub trait TmaSlot<T>: sealed::Sealed + Copy {
    /// Its first element; null after a report.
    #[doc(hidden)]
    fn address(self) -> *mut T;
    /// Its number of elements.
    #[doc(hidden)]
    fn elements(self) -> usize;
}

impl<T, const N: usize> sealed::Sealed for SharedSlot<'_, T, N> {}
impl<T: Element, const N: usize> TmaSlot<T> for SharedSlot<'_, T, N> {
    #[cfg_attr(optimised, inline(always))]
    fn address(self) -> *mut T {
        self.ptr
    }
    #[cfg_attr(optimised, inline(always))]
    fn elements(self) -> usize {
        N
    }
}

impl<T> sealed::Sealed for SharedBox<'_, T> {}
impl<T: Element> TmaSlot<T> for SharedBox<'_, T> {
    #[cfg_attr(optimised, inline(always))]
    fn address(self) -> *mut T {
        self.ptr
    }
    #[cfg_attr(optimised, inline(always))]
    fn elements(self) -> usize {
        self.len as usize
    }
}

impl<'a, T: Element, const N: usize> SharedSlot<'a, T, N> {
    /// The same bytes as `M` elements of another type.
    #[cfg_attr(optimised, inline(always))]
    #[must_use]
    pub fn cast<U: Element, const M: usize>(self) -> SharedSlot<'a, U, M> {
        const { assert!(N * size_of::<T>() == M * size_of::<U>(), "the same bytes") }
        SharedSlot { ptr: self.ptr.cast(), memory: PhantomData }
    }
}

impl<T: Element, const N: usize> GlobalSlot<'_, T, N> {
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub(crate) fn new<const D: usize>(access: Access<T, D>, tag: u32) -> Self {
        Self { ptr: access.address(false), tag, memory: PhantomData }
    }
}

/// Starts to copy `N` elements, 4, 8 or 16 bytes, from global to shared memory. Both addresses must be multiples of
/// that size: a hardware fault on PTX otherwise, a report on the simulator. 16 bytes bypass the L1 cache (`.cg`), fewer
/// do not (`.ca`).
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn cp_async<T: Element, const N: usize>(dst: SharedSlot<T, N>, src: GlobalSlot<T, N>) {
    const {
        assert!(matches!(N * size_of::<T>(), 4 | 8 | 16), "an asynchronous copy moves 4, 8 or 16 bytes");
    }
    // SAFETY: both are null or inside views, whose constructors guarantee their memory.
    unsafe { arch::async_copy::copy::<T, N>(dst.ptr, src.ptr, src.tag) }
}

/// `N` elements of global memory that read as zeros if they are outside their view.
#[derive(Clone, Copy, Debug)]
pub struct SlotOrZero<'a, T, const N: usize> {
    ptr: *const T,
    is_inside: bool,
    tag: u32,
    memory: PhantomData<&'a T>,
}

impl<T: Element, const N: usize> SlotOrZero<'_, T, N> {
    /// The `N` elements at `ptr`. If `is_inside`, they are inside a view, whose constructor guarantees their memory.
    #[cfg_attr(optimised, inline(always))]
    pub(crate) fn new(ptr: *const T, is_inside: bool, tag: u32) -> Self {
        Self { ptr, is_inside, tag, memory: PhantomData }
    }
}

/// [`cp_async`] that writes `N` zeros to shared memory if the source is outside its view (`cp.async` with a source size
/// of 0). The zeros, too, must be waited for.
///
/// The instruction also takes source sizes between 0 and `N`. They are not used here: compute-sanitizer checks the
/// whole `N` elements and would report a source at the end of an allocation.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn cp_async_or_zero<T: Element, const N: usize>(dst: SharedSlot<T, N>, src: SlotOrZero<T, N>) {
    const {
        assert!(matches!(N * size_of::<T>(), 4 | 8 | 16), "an asynchronous copy moves 4, 8 or 16 bytes");
    }
    // SAFETY: the source, if inside, and the destination, unless null, are inside views, whose constructors guarantee
    // their memory.
    unsafe { arch::async_copy::copy_or_zero::<T, N>(dst.ptr, src.ptr, src.tag, src.is_inside) }
}

/// [`cp_async`] that does nothing if the source is outside its view: a predicated instruction, no branch.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn cp_async_if_inside<T: Element, const N: usize>(dst: SharedSlot<T, N>, src: SlotOrZero<T, N>) {
    const {
        assert!(matches!(N * size_of::<T>(), 4 | 8 | 16), "an asynchronous copy moves 4, 8 or 16 bytes");
    }
    // SAFETY: the source, if inside, and the destination, unless null, are inside views, whose constructors guarantee
    // their memory.
    unsafe { arch::async_copy::copy_if::<T, N>(dst.ptr, src.ptr, src.tag, src.is_inside) }
}

/// Commits the copies that this thread has started since the last commit to a group (`cp.async.commit_group`).
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn cp_async_commit() {
    arch::async_copy::commit();
}

/// Waits until at most the `PENDING` latest groups of this thread are in flight (`cp.async.wait_group`).
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn cp_async_wait_group<const PENDING: u32>() {
    arch::async_copy::wait_group::<PENDING>();
}

/// Waits for all copies of this thread, committed or not (`cp.async.wait_all`).
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn cp_async_wait_all() {
    arch::async_copy::wait_all();
}
