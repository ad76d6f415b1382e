//! An array in shared memory.

use core::cell::UnsafeCell;

use super::{DynShared, Parts, Shared};
use crate::{
    access::Access,
    accessors::accessors,
    arch,
    async_copy::{SharedBox, SharedSlot},
    element::{Element, Lanes, Vector},
};

/// `N` elements, aligned to 16 bytes.
#[repr(C, align(16))]
pub struct SharedArray<T, const N: usize> {
    cells: [UnsafeCell<T>; N],
}

// SAFETY: any bytes are valid elements, all in `UnsafeCell`s; `#[repr(C)]`; elements are `Copy`, so need no drop.
unsafe impl<T: Element, const N: usize> Shared for SharedArray<T, N> {
    const PARTS: Parts = Parts::Array { element: size_of::<T>() };
}

impl<T: Element, const N: usize> SharedArray<T, N> {
    /// The same bytes as elements of another type, for a kernel that reuses the memory for another purpose.
    #[cfg_attr(optimised, inline(always))]
    pub const fn cast<U: Element>(&self) -> DynShared<'_, U> {
        let elements = const { N * size_of::<T>() / size_of::<U>() };
        // SAFETY: no more bytes than the array has, which is in the block's shared memory and aligned to 16.
        unsafe { DynShared::from_raw_parts(self.cells.as_ptr().cast_mut().cast(), elements as u32) }
    }

    #[cfg_attr(optimised, inline(always))]
    fn at<const LANES: usize>(&self, i: u32) -> Access<T, 1> {
        Access::shared::<LANES>(self.cells.as_ptr().cast::<T>().cast_mut(), i, N as u32)
    }

    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    fn vector_at<const LANES: usize>(&self, i: u32) -> Access<Vector<T, LANES>, 1>
    where
        T: Lanes<LANES>,
    {
        arch::memory::expect_aligned(i, LANES as u32);
        self.at::<LANES>(i).cast()
    }

    accessors!(get set: shared "array"[i: u32], inside "`i < N`");

    /// Elements `i` to `i + L − 1` as the destination of [`cp_async`](crate::async_copy::cp_async). Outside the array:
    /// as for [`Self::set`].
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn slot<const L: usize>(&self, i: u32) -> SharedSlot<'_, T, L> {
        SharedSlot::new(self.at::<L>(i))
    }

    /// [`Self::get_vec`] without checks on PTX; the simulator still checks.
    ///
    /// # Safety
    /// `i + LANES <= N`, and the element's address is a multiple of the vector's size.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub unsafe fn get_vec_unchecked<const LANES: usize>(&self, i: u32) -> Vector<T, LANES>
    where
        T: Lanes<LANES>,
    {
        #[cfg(target_arch = "nvptx64")]
        let access = self.at::<LANES>(i).cast();
        #[cfg(not(target_arch = "nvptx64"))]
        let access = self.vector_at::<LANES>(i);
        // SAFETY: the caller's promise.
        unsafe { access.get_unchecked() }
    }

    /// [`Self::slot`] without a bounds check on PTX; the simulator still checks.
    ///
    /// # Safety
    /// `i + L <= N`.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub unsafe fn slot_unchecked<const L: usize>(&self, i: u32) -> SharedSlot<'_, T, L> {
        let access = self.at::<L>(i);
        SharedSlot::new(Access { inside: access.inside || cfg!(target_arch = "nvptx64"), ..access })
    }

    /// Elements `i` to `i + len − 1` as what TMA copies to or from. Outside the array: as for [`Self::set`].
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn tma_box(&self, i: u32, len: u32) -> SharedBox<'_, T> {
        let inside = i <= (N as u32).wrapping_sub(len) && len <= N as u32;
        SharedBox::new(Access { inside, ..self.at::<1>(i) }, len)
    }

    /// [`Self::slot`] for an index that changes in every iteration of a loop. On PTX the address is integer arithmetic,
    /// which LLVM reduces to one 32-bit addition; an offset from a pointer costs four instructions.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn slot_by_number<const L: usize>(&self, i: u32) -> SharedSlot<'_, T, L> {
        let ptr = arch::memory::offset_by_number(self.cells.as_ptr().cast::<T>().cast_mut(), i);
        SharedSlot::new(Access { ptr, ..self.at::<L>(i) })
    }
}
