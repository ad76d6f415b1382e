//! Shared memory whose size the launch chooses.

use core::marker::PhantomData;

use crate::{
    access::{Access, Space},
    accessors::accessors,
    arch,
    async_copy::SharedSlot,
    element::{Element, Lanes, Vector},
};

/// All of the block's shared memory as an array, of as many elements as fit the bytes that the launch reserved.
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
    #[cfg_attr(optimised, inline(always))]
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Whether there is no element.
    #[cfg_attr(optimised, inline(always))]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first `len` elements. If there are fewer, the launch reserved too little: a trap on PTX; on the simulator a
    /// report, and all elements.
    ///
    /// The compiler then removes bounds checks of indices that it knows to be below `len`.
    #[cfg_attr(optimised, inline(always))]
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

    #[cfg_attr(optimised, inline(always))]
    fn at<const LANES: usize>(&self, i: u32) -> Access<T, 1> {
        Access::shared::<LANES>(self.base, i, self.len)
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

    accessors!(get set: shared "view"[i: u32], inside "`i < self.len()`");

    /// Elements `i` to `i + N − 1` as the destination of [`cp_async`](crate::async_copy::cp_async). Outside: as for
    /// [`Self::set`].
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn slot<const N: usize>(&self, i: u32) -> SharedSlot<'_, T, N> {
        SharedSlot::new(self.at::<N>(i))
    }
}
