//! A row of elements in shared memory.

use core::cell::UnsafeCell;

use super::{DynShared, Shared};
use crate::{
    access::{Access, Space, fits32},
    arch,
    async_copy::{SharedBox, SharedSlot},
    atomic::{Atomic, AtomicElement},
    element::{Element, Lanes, Vec4, Vector},
};

/// `N` elements, aligned to 16 bytes.
#[repr(C, align(16))]
pub struct SharedArray<T, const N: usize> {
    cells: [UnsafeCell<T>; N],
}

// SAFETY: elements take any bytes and lie behind `UnsafeCell`; `#[repr(C)]`; elements are `Copy`, nothing to drop.
unsafe impl<T: Element, const N: usize> Shared for SharedArray<T, N> {}

impl<T: Element, const N: usize> SharedArray<T, N> {
    /// The same bytes as a row of elements of another type, for a kernel that uses its memory again for something else.
    #[inline(always)]
    pub const fn cast<U: Element>(&self) -> DynShared<'_, U> {
        let elements = const { N * size_of::<T>() / size_of::<U>() };
        // SAFETY: no more bytes than the array has, which are shared memory of the block, aligned to 16.
        unsafe { DynShared::from_raw_parts(self.cells.as_ptr().cast_mut().cast(), elements as u32) }
    }

    #[inline(always)]
    fn at<const LANES: usize>(&self, i: u32) -> Access<T, 1> {
        Access {
            space: Space::Shared,
            ptr: self.cells.as_ptr().cast::<T>().cast_mut().wrapping_add(i as usize),
            inside: fits32::<LANES>(i, N as u32),
            index: [i as u64],
            extent: [N as u64],
        }
    }

    #[inline(always)]
    #[track_caller]
    fn vector_at<const LANES: usize>(&self, i: u32) -> Access<Vector<T, LANES>, 1>
    where
        T: Lanes<LANES>,
    {
        arch::memory::expect_aligned(i, LANES as u32);
        self.at::<LANES>(i).cast()
    }

    /// Element `i`. Outside the array: a trap on PTX; on the simulator a report, and zero.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self, i: u32) -> T {
        self.at::<1>(i).get()
    }

    /// Writes element `i`. Outside the array: a trap on PTX; on the simulator a report.
    #[inline(always)]
    #[track_caller]
    pub fn set(&self, i: u32, value: T) {
        self.at::<1>(i).set(value);
    }

    /// Element `i` without a check on PTX; the simulator still checks and reports.
    ///
    /// # Safety
    /// `i < N`.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn get_unchecked(&self, i: u32) -> T {
        // SAFETY: the caller's promise.
        unsafe { self.at::<1>(i).get_unchecked() }
    }

    /// Writes element `i` without a check on PTX; the simulator still checks and reports.
    ///
    /// # Safety
    /// `i < N`.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn set_unchecked(&self, i: u32, value: T) {
        // SAFETY: the caller's promise.
        unsafe { self.at::<1>(i).set_unchecked(value) }
    }

    /// Elements `i` to `i + L − 1` in one access. `i` must be a multiple of `L`; the hardware faults otherwise, the
    /// simulator reports.
    #[inline(always)]
    #[track_caller]
    pub fn get_vec<const L: usize>(&self, i: u32) -> Vector<T, L>
    where
        T: Lanes<L>,
    {
        self.vector_at(i).get()
    }

    /// Writes elements `i` to `i + L − 1` in one access; aligned as for [`Self::get_vec`].
    #[inline(always)]
    #[track_caller]
    pub fn set_vec<const L: usize>(&self, i: u32, value: Vector<T, L>)
    where
        T: Lanes<L>,
    {
        self.vector_at(i).set(value);
    }

    /// [`Self::get_vec`] of four elements.
    #[inline(always)]
    #[track_caller]
    pub fn get_vec4(&self, i: u32) -> Vec4<T>
    where
        T: Lanes<4>,
    {
        self.get_vec(i)
    }

    /// [`Self::set_vec`] of four elements.
    #[inline(always)]
    #[track_caller]
    pub fn set_vec4(&self, i: u32, value: Vec4<T>)
    where
        T: Lanes<4>,
    {
        self.set_vec(i, value);
    }

    /// Element `i` for atomic operations. Outside the array: as for [`Self::set`].
    #[inline(always)]
    #[track_caller]
    pub fn atomic(&self, i: u32) -> Atomic<'_, T>
    where
        T: AtomicElement,
    {
        Atomic::new(self.at::<1>(i))
    }

    /// Elements `i` to `i + L − 1` as the destination of [`cp_async`](crate::async_copy::cp_async). Outside the array:
    /// as for [`Self::set`].
    #[inline(always)]
    #[track_caller]
    pub fn slot<const L: usize>(&self, i: u32) -> SharedSlot<'_, T, L> {
        SharedSlot::new(self.at::<L>(i))
    }

    /// Elements `i` to `i + len − 1` as what TMA copies to or from. Outside the array: as for [`Self::set`].
    #[inline(always)]
    #[track_caller]
    pub fn tma_box(&self, i: u32, len: u32) -> SharedBox<'_, T> {
        let inside = i <= (N as u32).wrapping_sub(len) && len <= N as u32;
        SharedBox::new(Access { inside, ..self.at::<1>(i) }, len)
    }

    /// [`Self::slot`] for places that a loop computes anew in every round. On PTX the address is arithmetic of numbers, of which
    /// LLVM leaves an addition of 32 bits, where of an offset from a pointer it leaves four instructions, of 64.
    #[inline(always)]
    #[track_caller]
    pub fn slot_by_number<const L: usize>(&self, i: u32) -> SharedSlot<'_, T, L> {
        let ptr = arch::memory::offset_by_number(self.cells.as_ptr().cast::<T>().cast_mut(), i);
        SharedSlot::new(Access { ptr, ..self.at::<L>(i) })
    }
}
