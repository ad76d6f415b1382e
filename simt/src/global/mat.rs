//! Views of matrices.

use core::{marker::PhantomData, mem::offset_of, ops::Deref};

use crate::{
    access::{Access, Space, fits32},
    accessors::accessors,
    arg_type::{ArgPart, ArgType},
    async_copy::GlobalSlot,
    element::{Element, Lanes, Vector},
};

/// A read-only view of a row-major `rows` × `cols` matrix in global memory. Element (r, c) has offset `r · ld + c`; the
/// leading dimension `ld` is at least `cols`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct MatRef<'a, T: Element> {
    ptr: *mut T,
    rows: u32,
    cols: u32,
    ld: u32,
    tag: u32,
    memory: PhantomData<&'a T>,
}

// SAFETY: a view is an address with bounds, made to be shared between threads. Accesses go through `arch`, where data
// races are defined behaviour (see the module's documentation).
unsafe impl<T: Element> Send for MatRef<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Element> Sync for MatRef<'_, T> {}

impl<'a, T: Element> MatRef<'a, T> {
    /// This type as that of a kernel's argument.
    pub(crate) const ARG_TYPE: ArgType = ArgType {
        name: "MatRef",
        size: size_of::<Self>(),
        align: align_of::<Self>(),
        parts: &[
            ArgPart::element(T::TYPE),
            ArgPart { name: "ptr", offset: offset_of!(Self, ptr), ty: ArgType::ADDRESS },
            ArgPart { name: "rows", offset: offset_of!(Self, rows), ty: u32::TYPE },
            ArgPart { name: "cols", offset: offset_of!(Self, cols), ty: u32::TYPE },
            ArgPart { name: "ld", offset: offset_of!(Self, ld), ty: u32::TYPE },
            ArgPart { name: "tag", offset: offset_of!(Self, tag), ty: u32::TYPE },
        ],
    };

    /// A view of a `rows` × `cols` matrix at `ptr` with leading dimension `ld`, in buffer `tag` of the launch.
    ///
    /// # Safety
    /// For as long as the view or a copy of it is used:
    /// - every element is allocated in memory of the machine that runs the kernel, aligned to the element's alignment;
    /// - either nobody writes them, or only kernels access them, through views (on the simulator: in launches whose
    ///   binding `tag` is this memory).
    #[cfg_attr(optimised, inline(always))]
    pub const unsafe fn from_raw_parts(ptr: *const T, rows: u32, cols: u32, ld: u32, tag: u32) -> Self {
        Self { ptr: ptr.cast_mut(), rows, cols, ld, tag, memory: PhantomData }
    }

    /// Address of element (0, 0).
    #[cfg_attr(optimised, inline(always))]
    pub const fn as_ptr(&self) -> *const T {
        self.ptr
    }

    /// Address, rows, columns, leading dimension, tag.
    #[cfg_attr(optimised, inline(always))]
    pub(super) const fn parts(&self) -> (*mut T, u32, u32, u32, u32) {
        (self.ptr, self.rows, self.cols, self.ld, self.tag)
    }

    /// Number of rows.
    #[cfg_attr(optimised, inline(always))]
    pub const fn rows(&self) -> u32 {
        self.rows
    }

    /// Number of columns.
    #[cfg_attr(optimised, inline(always))]
    pub const fn cols(&self) -> u32 {
        self.cols
    }

    /// Leading dimension: elements from the start of one row to the start of the next.
    #[cfg_attr(optimised, inline(always))]
    pub const fn ld(&self) -> u32 {
        self.ld
    }

    /// The `rows` × `cols` elements from (`row`, `col`) on, or `None` if they are not all in the matrix. Where the
    /// extents are constants, the compiler removes bounds checks of indices that it knows to be below them.
    #[cfg_attr(optimised, inline(always))]
    pub fn part(&self, row: u32, col: u32, rows: u32, cols: u32) -> Option<MatRef<'a, T>> {
        let rows_fit = row <= self.rows && rows <= self.rows - row;
        let cols_fit = col <= self.cols && cols <= self.cols - col;
        let offset = row as u64 * self.ld as u64 + col as u64;
        (rows_fit && cols_fit).then(|| MatRef { ptr: self.ptr.wrapping_add(offset as usize), rows, cols, ..*self })
    }

    /// Whether the address of every row is a multiple of the size of `N` elements: vector accesses of `N` elements are
    /// then aligned at every column that is a multiple of `N`.
    #[cfg_attr(optimised, inline(always))]
    pub fn has_aligned_rows<const N: usize>(&self) -> bool
    where
        T: Lanes<N>,
    {
        self.ptr.addr().is_multiple_of(size_of::<T>() * N) && self.ld.is_multiple_of(N as u32)
    }

    #[cfg_attr(optimised, inline(always))]
    fn at<const LANES: usize>(&self, row: u32, col: u32) -> Access<T, 2> {
        let offset = row as u64 * self.ld as u64 + col as u64;
        Access {
            space: Space::Global { tag: self.tag },
            ptr: self.ptr.wrapping_add(offset as usize),
            inside: row < self.rows && fits32::<LANES>(col, self.cols),
            index: [row as u64, col as u64],
            extent: [self.rows as u64, self.cols as u64],
        }
    }

    #[cfg_attr(optimised, inline(always))]
    fn vector_at<const LANES: usize>(&self, row: u32, col: u32) -> Access<Vector<T, LANES>, 2>
    where
        T: Lanes<LANES>,
    {
        self.at::<LANES>(row, col).cast()
    }

    accessors!(
        get get_or get_cs: global "matrix"[row: u32, col: u32],
        inside "`row < self.rows()` and `col < self.cols()`"
    );

    /// Elements (`row`, `col`) to (`row`, `col + N − 1`) as the source of [`cp_async`](crate::async_copy::cp_async).
    /// Outside the matrix: as for [`Self::get`].
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn slot<const N: usize>(&self, row: u32, col: u32) -> GlobalSlot<'_, T, N> {
        GlobalSlot::new(self.at::<N>(row, col), self.tag)
    }
}

/// A writable view of a matrix in global memory with the layout of [`MatRef`]. It is read as a [`MatRef`].
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct MatMut<'a, T: Element>(MatRef<'a, T>);

impl<T: Element> MatMut<'_, T> {
    /// This type as that of a kernel's argument.
    pub(crate) const ARG_TYPE: ArgType = ArgType { name: "MatMut", ..MatRef::<T>::ARG_TYPE };
}

impl<'a, T: Element> Deref for MatMut<'a, T> {
    type Target = MatRef<'a, T>;

    #[cfg_attr(optimised, inline(always))]
    fn deref(&self) -> &MatRef<'a, T> {
        &self.0
    }
}

impl<'a, T: Element> MatMut<'a, T> {
    /// A view of a `rows` × `cols` matrix at `ptr` with leading dimension `ld`, in buffer `tag` of the launch.
    ///
    /// # Safety
    /// As for [`MatRef::from_raw_parts`]; the elements may be written, and rows do not overlap (`ld >= cols` or
    /// `rows <= 1`).
    #[cfg_attr(optimised, inline(always))]
    pub const unsafe fn from_raw_parts(ptr: *mut T, rows: u32, cols: u32, ld: u32, tag: u32) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { MatRef::from_raw_parts(ptr, rows, cols, ld, tag) })
    }

    /// Address of element (0, 0).
    #[cfg_attr(optimised, inline(always))]
    pub const fn as_mut_ptr(&self) -> *mut T {
        self.0.ptr
    }

    /// [`MatRef::part`], for writing.
    #[cfg_attr(optimised, inline(always))]
    pub fn part_mut(&self, row: u32, col: u32, rows: u32, cols: u32) -> Option<MatMut<'a, T>> {
        self.0.part(row, col, rows, cols).map(MatMut)
    }

    accessors!(
        set set_within set_cs: global "matrix"[row: u32, col: u32],
        inside "`row < self.rows()` and `col < self.cols()`"
    );
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn layout_matches_the_ptx_parameter() {
        assert_eq!((size_of::<MatRef<f32>>(), align_of::<MatRef<f32>>()), (24, 8));
        assert_eq!((size_of::<MatMut<f64>>(), align_of::<MatMut<f64>>()), (24, 8));
        let offsets = [
            core::mem::offset_of!(MatRef<f32>, ptr),
            core::mem::offset_of!(MatRef<f32>, rows),
            core::mem::offset_of!(MatRef<f32>, cols),
            core::mem::offset_of!(MatRef<f32>, ld),
            core::mem::offset_of!(MatRef<f32>, tag),
        ];
        assert_eq!(offsets, [0, 8, 12, 16, 20]);
    }
}
