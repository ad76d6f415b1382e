//! Views of vectors.

use core::{marker::PhantomData, mem::offset_of, ops::Deref};

use crate::{
    access::{Access, Space, fits},
    accessors::accessors,
    arg_type::{ArgPart, ArgType},
    async_copy::GlobalSlot,
    element::{Element, Lanes, Vector},
    index::Index,
};

/// A read-only view of `len` consecutive elements of global memory.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VecRef<'a, T: Element> {
    ptr: *mut T,
    len: u64,
    tag: u32,
    pad: u32,
    memory: PhantomData<&'a T>,
}

// SAFETY: a view is an address with bounds, made to be shared between threads. Accesses go through `arch`, where data
// races are defined behaviour (see the module's documentation).
unsafe impl<T: Element> Send for VecRef<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Element> Sync for VecRef<'_, T> {}

impl<'a, T: Element> VecRef<'a, T> {
    /// This type as that of a kernel's argument.
    pub(crate) const ARG_TYPE: ArgType = ArgType {
        name: "VecRef",
        size: size_of::<Self>(),
        align: align_of::<Self>(),
        parts: &[
            ArgPart::element(T::TYPE),
            ArgPart { name: "ptr", offset: offset_of!(Self, ptr), ty: ArgType::ADDRESS },
            ArgPart { name: "len", offset: offset_of!(Self, len), ty: u64::TYPE },
            ArgPart { name: "tag", offset: offset_of!(Self, tag), ty: u32::TYPE },
        ],
    };

    /// A view of `len` elements at `ptr`, which belong to buffer `tag` of the launch.
    ///
    /// # Safety
    /// For as long as the view or a copy of it is used:
    /// - the elements are allocated in memory of the machine that runs the kernel, aligned to the element's alignment;
    /// - either nobody writes them, or only kernels access them, through views (on the simulator: in launches whose
    ///   binding `tag` is this memory).
    #[cfg_attr(optimised, inline(always))]
    pub const unsafe fn from_raw_parts(ptr: *const T, len: u64, tag: u32) -> Self {
        Self { ptr: ptr.cast_mut(), len, tag, pad: 0, memory: PhantomData }
    }

    /// Address of the first element.
    #[cfg_attr(optimised, inline(always))]
    pub const fn as_ptr(&self) -> *const T {
        self.ptr
    }

    /// Number of elements.
    #[cfg_attr(optimised, inline(always))]
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Index of the buffer among the launch's bindings.
    #[cfg_attr(optimised, inline(always))]
    pub(super) const fn tag(&self) -> u32 {
        self.tag
    }

    /// Whether there is no element.
    #[cfg_attr(optimised, inline(always))]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements in groups of `N`, without the remainder at the end. One access moves a group (`ld.global.v4.b32`
    /// for four `f32`). The address must be a multiple of the group's size: a hardware fault on PTX otherwise, a report
    /// on the simulator.
    #[cfg_attr(optimised, inline(always))]
    pub const fn vectors<const N: usize>(&self) -> VecRef<'a, Vector<T, N>>
    where
        T: Lanes<N>,
    {
        VecRef { ptr: self.ptr.cast(), len: self.len / N as u64, tag: self.tag, pad: 0, memory: PhantomData }
    }

    /// The same memory as elements of another type of the same size, as [`bits_as`](crate::element::bits_as) reads one.
    #[cfg_attr(optimised, inline(always))]
    pub const fn bits_as<U: Element>(&self) -> VecRef<'a, U> {
        const { assert!(size_of::<T>() == size_of::<U>() && align_of::<T>() == align_of::<U>()) };
        VecRef { ptr: self.ptr.cast(), len: self.len, tag: self.tag, pad: 0, memory: PhantomData }
    }

    /// The elements `start` to `start + len − 1`, or `None` if they are not all in the vector. Where `len` is a
    /// constant, the compiler removes bounds checks of indices that it knows to be below `len`.
    #[cfg_attr(optimised, inline(always))]
    pub fn part(&self, start: usize, len: usize) -> Option<VecRef<'a, T>> {
        let (start, len) = (start as u64, len as u64);
        let inside = start <= self.len && len <= self.len - start;
        inside.then(|| VecRef { ptr: self.ptr.wrapping_add(start as usize), len, ..*self })
    }

    /// Splits a vector of any alignment, like `align_to` of a slice, into a head, groups of `N` elements whose
    /// addresses are multiples of their size, and a tail. Head and tail have fewer than `N` elements each.
    #[cfg_attr(optimised, inline(always))]
    pub fn align_to<const N: usize>(&self) -> (VecRef<'a, T>, VecRef<'a, Vector<T, N>>, VecRef<'a, T>)
    where
        T: Lanes<N>,
    {
        let vector = const { size_of::<T>() * N };
        let misalignment = self.ptr.addr() % vector / size_of::<T>();
        let head = if misalignment == 0 { 0 } else { ((N - misalignment) as u64).min(self.len) };
        let left = self.len - head;
        let tail = left % N as u64;
        let part = |from, len| VecRef { ptr: self.ptr.wrapping_add(from as usize), len, ..*self };
        let body = part(head, left - tail);
        (part(0, head), body.vectors(), part(self.len - tail, tail))
    }

    #[cfg_attr(optimised, inline(always))]
    fn at<const LANES: usize>(&self, i: impl Index) -> Access<T, 1> {
        let i = i.index();
        Access {
            space: Space::Global { tag: self.tag },
            ptr: self.ptr.wrapping_add(i),
            inside: fits::<LANES>(i as u64, self.len),
            index: [i as u64],
            extent: [self.len],
        }
    }

    #[cfg_attr(optimised, inline(always))]
    fn vector_at<const LANES: usize>(&self, i: impl Index) -> Access<Vector<T, LANES>, 1>
    where
        T: Lanes<LANES>,
    {
        self.at::<LANES>(i).cast()
    }

    accessors!(get get_or get_cs: global "vector"[i: impl Index], inside "`i < self.len()`");

    /// Elements `i` to `i + N − 1` as the source of [`cp_async`](crate::async_copy::cp_async). Outside the vector: as
    /// for [`Self::get`].
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn slot<const N: usize>(&self, i: impl Index) -> GlobalSlot<'_, T, N> {
        GlobalSlot::new(self.at::<N>(i), self.tag)
    }
}

/// A writable view of `len` consecutive elements of global memory. It is read as a [`VecRef`].
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct VecMut<'a, T: Element>(VecRef<'a, T>);

impl<T: Element> VecMut<'_, T> {
    /// This type as that of a kernel's argument.
    pub(crate) const ARG_TYPE: ArgType = ArgType { name: "VecMut", ..VecRef::<T>::ARG_TYPE };
}

impl<'a, T: Element> Deref for VecMut<'a, T> {
    type Target = VecRef<'a, T>;

    #[cfg_attr(optimised, inline(always))]
    fn deref(&self) -> &VecRef<'a, T> {
        &self.0
    }
}

impl<'a, T: Element> VecMut<'a, T> {
    /// A view of `len` elements at `ptr`, which belong to buffer `tag` of the launch.
    ///
    /// # Safety
    /// As for [`VecRef::from_raw_parts`]; the memory may be written.
    #[cfg_attr(optimised, inline(always))]
    pub const unsafe fn from_raw_parts(ptr: *mut T, len: u64, tag: u32) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { VecRef::from_raw_parts(ptr, len, tag) })
    }

    /// Address of the first element.
    #[cfg_attr(optimised, inline(always))]
    pub const fn as_mut_ptr(&self) -> *mut T {
        self.0.ptr
    }

    /// [`VecRef::vectors`], for writing.
    #[cfg_attr(optimised, inline(always))]
    pub const fn vectors_mut<const N: usize>(&self) -> VecMut<'a, Vector<T, N>>
    where
        T: Lanes<N>,
    {
        VecMut(self.0.vectors())
    }

    /// [`VecRef::bits_as`], for writing.
    #[cfg_attr(optimised, inline(always))]
    pub const fn bits_as<U: Element>(&self) -> VecMut<'a, U> {
        VecMut(self.0.bits_as())
    }

    /// [`VecRef::part`], for writing.
    #[cfg_attr(optimised, inline(always))]
    pub fn part_mut(&self, start: usize, len: usize) -> Option<VecMut<'a, T>> {
        self.0.part(start, len).map(VecMut)
    }

    accessors!(set set_within set_cs: global "vector"[i: impl Index], inside "`i < self.len()`");
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;
    use crate::element::Vec4;

    #[test]
    fn align_to_splits_at_aligned_addresses() {
        let memory = [Vec4::<f32>::new([0.0; 4]); 8];
        for start in 0..5 {
            for len in 0..20 {
                let ptr = memory.as_ptr().cast::<f32>().wrapping_add(start);
                // SAFETY: never accessed.
                let view = unsafe { VecRef::from_raw_parts(ptr, len as u64, 3) };
                let (head, body, tail) = view.align_to::<4>();
                assert_eq!(head.len() + 4 * body.len() + tail.len(), len, "start {start}, {len} elements");
                assert!(head.len() < 4 && tail.len() < 4, "start {start}, {len} elements");
                assert!(body.is_empty() || body.as_ptr().is_aligned(), "start {start}, {len} elements");
                assert_eq!(head.as_ptr(), ptr);
                assert_eq!(body.as_ptr().cast(), ptr.wrapping_add(head.len()));
                assert_eq!(tail.as_ptr(), ptr.wrapping_add(len - tail.len()));
            }
        }
    }

    #[test]
    fn layout_matches_the_ptx_parameter() {
        assert_eq!((size_of::<VecRef<f32>>(), align_of::<VecRef<f32>>()), (24, 8));
        assert_eq!((size_of::<VecMut<u8>>(), align_of::<VecMut<u8>>()), (24, 8));
        assert_eq!(core::mem::offset_of!(VecRef<f32>, ptr), 0);
        assert_eq!(core::mem::offset_of!(VecRef<f32>, len), 8);
        assert_eq!(core::mem::offset_of!(VecRef<f32>, tag), 16);
    }
}
