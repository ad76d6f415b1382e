//! Shared memory whose size the launch chooses.

use core::marker::PhantomData;

use crate::{
    access::{Access, Space, fits32},
    arch,
    async_copy::SharedSlot,
    atomic::{Atomic, AtomicElement},
    element::{Element, Lanes, Vec4, Vector},
};

/// All of the block's shared memory as a row of elements: as many as the launch reserved bytes for.
#[derive(Clone, Copy, Debug)]
pub struct DynShared<'a, T: Element> {
    base: *mut T,
    len: u32,
    memory: PhantomData<&'a T>,
}

impl<T: Element> DynShared<'_, T> {
    /// `len` elements of shared memory at `base`.
    ///
    /// # Safety
    /// The memory is shared memory of this block, aligned to 16 bytes, for as long as the view lives, and is accessed
    /// through this crate only.
    pub(crate) const unsafe fn from_raw_parts(base: *mut T, len: u32) -> Self {
        Self { base, len, memory: PhantomData }
    }

    /// Number of elements.
    #[inline(always)]
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Whether there is no element.
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first `len` elements. Where there are fewer, the launch reserved too little: a trap on PTX; on the simulator a
    /// report, and those that there are.
    ///
    /// Bounds checks that follow from a comparison with `len` then disappear.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn first(self, len: u32) -> Self {
        if len <= self.len {
            Self { len, ..self }
        } else {
            arch::memory::outside(Space::Shared, false, [len as u64 - 1], [self.len as u64]);
            self
        }
    }

    #[inline(always)]
    fn at<const LANES: usize>(&self, i: u32) -> Access<T, 1> {
        Access {
            space: Space::Shared,
            ptr: self.base.wrapping_add(i as usize),
            inside: fits32::<LANES>(i, self.len),
            index: [i as u64],
            extent: [self.len as u64],
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

    /// Element `i`. Outside: a trap on PTX; on the simulator a report, and zero.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self, i: u32) -> T {
        self.at::<1>(i).get()
    }

    /// Writes element `i`. Outside: a trap on PTX; on the simulator a report.
    #[inline(always)]
    #[track_caller]
    pub fn set(&self, i: u32, value: T) {
        self.at::<1>(i).set(value);
    }

    /// Element `i` without a check on PTX; the simulator still checks and reports.
    ///
    /// # Safety
    /// `i < self.len()`.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn get_unchecked(&self, i: u32) -> T {
        // SAFETY: the caller's promise.
        unsafe { self.at::<1>(i).get_unchecked() }
    }

    /// Writes element `i` without a check on PTX; the simulator still checks and reports.
    ///
    /// # Safety
    /// `i < self.len()`.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn set_unchecked(&self, i: u32, value: T) {
        // SAFETY: the caller's promise.
        unsafe { self.at::<1>(i).set_unchecked(value) }
    }

    /// Elements `i` to `i + N − 1` in one access. `i` must be a multiple of `N`; the hardware faults otherwise, the
    /// simulator reports.
    #[inline(always)]
    #[track_caller]
    pub fn get_vec<const N: usize>(&self, i: u32) -> Vector<T, N>
    where
        T: Lanes<N>,
    {
        self.vector_at(i).get()
    }

    /// Writes elements `i` to `i + N − 1` in one access; aligned as for [`Self::get_vec`].
    #[inline(always)]
    #[track_caller]
    pub fn set_vec<const N: usize>(&self, i: u32, value: Vector<T, N>)
    where
        T: Lanes<N>,
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

    /// Element `i` for atomic operations. Outside: as for [`Self::set`].
    #[inline(always)]
    #[track_caller]
    pub fn atomic(&self, i: u32) -> Atomic<'_, T>
    where
        T: AtomicElement,
    {
        Atomic::new(self.at::<1>(i))
    }

    /// Elements `i` to `i + N − 1` as the destination of [`cp_async`](crate::async_copy::cp_async). Outside: as for
    /// [`Self::set`].
    #[inline(always)]
    #[track_caller]
    pub fn slot<const N: usize>(&self, i: u32) -> SharedSlot<'_, T, N> {
        SharedSlot::new(self.at::<N>(i))
    }
}
