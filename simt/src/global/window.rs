//! Rows within a vector or matrix, with any distance between them.

use core::{marker::PhantomData, ops::Deref};

use super::{MatMut, MatRef, VecMut, VecRef};
use crate::{
    access::{Access, Space, fits32},
    accessors::accessors,
    async_copy::SlotOrZero,
    element::{Element, Lanes, Vector},
};

/// A read-only view of `rows` × `cols` elements, element (r, c) at offset `r · ld + c`. Unlike a [`MatRef`] it is
/// created within a kernel, and `ld` is any 64-bit number: rows may overlap.
///
/// An access outside does not trap: a read returns a default, a write has no effect.
#[derive(Clone, Copy, Debug)]
pub struct Window<'a, T: Element> {
    ptr: *mut T,
    rows: u32,
    cols: u32,
    ld: u64,
    tag: u32,
    memory: PhantomData<&'a T>,
}

impl<'a, T: Element> MatRef<'a, T> {
    /// The whole matrix as a window.
    #[cfg_attr(optimised, inline(always))]
    pub fn window(&self) -> Window<'a, T> {
        let (ptr, rows, cols, ld, tag) = self.parts();
        Window { ptr, rows, cols, ld: ld as u64, tag, memory: PhantomData }
    }
}

impl<'a, T: Element> MatMut<'a, T> {
    /// The whole matrix as a window for writing.
    #[cfg_attr(optimised, inline(always))]
    pub fn window_mut(&self) -> WindowMut<'a, T> {
        WindowMut(MatRef::window(self))
    }
}

impl<'a, T: Element> VecRef<'a, T> {
    /// `rows` × `cols` elements, the first of them element `start`, with leading dimension `ld`; `None` if they are not
    /// all in the vector.
    #[cfg_attr(optimised, inline(always))]
    pub fn window(&self, start: u64, rows: u32, cols: u32, ld: u64) -> Option<Window<'a, T>> {
        // Below 2⁹⁶ + 2³² + 2⁶⁴: no overflow in 128 bits.
        let end = rows.saturating_sub(1) as u128 * ld as u128 + cols as u128 + start as u128;
        let ptr = self.as_ptr().cast_mut().wrapping_add(start as usize);
        (end <= self.len() as u128).then(|| Window { ptr, rows, cols, ld, tag: self.tag(), memory: PhantomData })
    }
}

impl<'a, T: Element> VecMut<'a, T> {
    /// [`VecRef::window`], for writing.
    #[cfg_attr(optimised, inline(always))]
    pub fn window_mut(&self, start: u64, rows: u32, cols: u32, ld: u64) -> Option<WindowMut<'a, T>> {
        self.window(start, rows, cols, ld).map(WindowMut)
    }
}

impl<'a, T: Element> Window<'a, T> {
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

    /// The same bytes as elements of another type of the same size and alignment.
    #[cfg_attr(optimised, inline(always))]
    pub const fn cast<U: Element>(self) -> Window<'a, U> {
        const { assert!(size_of::<T>() == size_of::<U>() && align_of::<T>() == align_of::<U>()) };
        let Self { ptr, rows, cols, ld, tag, .. } = self;
        Window { ptr: ptr.cast(), rows, cols, ld, tag, memory: PhantomData }
    }

    /// The `rows` × `cols` elements from (`row`, `col`) on, or `None` if they are not all in the window: see
    /// [`MatRef::part`].
    #[cfg_attr(optimised, inline(always))]
    pub fn part(&self, row: u32, col: u32, rows: u32, cols: u32) -> Option<Self> {
        let rows_fit = row <= self.rows && rows <= self.rows - row;
        let cols_fit = col <= self.cols && cols <= self.cols - col;
        (rows_fit && cols_fit).then(|| Self { ptr: self.ptr.wrapping_add(self.offset(row, col)), rows, cols, ..*self })
    }

    /// All elements to the right of and below (`row`, `col`), itself included; empty where that is outside.
    #[cfg_attr(optimised, inline(always))]
    #[must_use]
    pub fn rest(&self, row: u32, col: u32) -> Self {
        let (rows, cols) = (self.rows.saturating_sub(row), self.cols.saturating_sub(col));
        Self { ptr: self.ptr.wrapping_add(self.offset(row, col)), rows, cols, ..*self }
    }

    /// Whether the address of every row is a multiple of the size of `N` elements: see [`MatRef::has_aligned_rows`].
    #[cfg_attr(optimised, inline(always))]
    pub fn has_aligned_rows<const N: usize>(&self) -> bool
    where
        T: Lanes<N>,
    {
        self.ptr.addr().is_multiple_of(size_of::<T>() * N) && self.ld.is_multiple_of(N as u64)
    }

    /// The number of elements, 0 to `N − 1`, from the last address that is a multiple of the size of `N` elements to
    /// (`row`, `col`).
    #[cfg_attr(optimised, inline(always))]
    pub fn misalignment<const N: usize>(&self, row: u32, col: u32) -> u32
    where
        T: Lanes<N>,
    {
        (self.ptr.wrapping_add(self.offset(row, col)).addr() / size_of::<T>() % N) as u32
    }

    /// The number of elements from the start of the 32-byte sector to (`row`, `col`). Memory is written in sectors.
    #[cfg_attr(optimised, inline(always))]
    pub fn sector_misalignment(&self, row: u32, col: u32) -> u32 {
        (self.ptr.wrapping_add(self.offset(row, col)).addr() % 32 / size_of::<T>()) as u32
    }

    #[cfg_attr(optimised, inline(always))]
    const fn offset(&self, row: u32, col: u32) -> usize {
        (row as u64).wrapping_mul(self.ld).wrapping_add(col as u64) as usize
    }

    #[cfg_attr(optimised, inline(always))]
    fn at<const LANES: usize>(&self, row: u32, col: u32) -> Access<T, 2> {
        Access {
            space: Space::Global { tag: self.tag },
            ptr: self.ptr.wrapping_add(self.offset(row, col)),
            inside: row < self.rows && fits32::<LANES>(col, self.cols),
            index: [row as u64, col as u64],
            extent: [self.rows as u64, self.cols as u64],
        }
    }

    accessors!(
        get_or: global "window"[row: u32, col: u32],
        inside "`row < self.rows()` and `col < self.cols()`"
    );

    /// [`Self::get_or`] of data that is used once (`ld.global.cs`).
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn get_cs_or(&self, row: u32, col: u32, default: T) -> T {
        self.at::<1>(row, col).get_or_streaming(default)
    }

    /// Elements (`row`, `col`) to (`row`, `col + N − 1`) in one access, or `default` if they are not all in the window.
    /// Their address must be a multiple of their size: see [`MatRef::get_vec`].
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn get_vec_or<const N: usize>(&self, row: u32, col: u32, default: Vector<T, N>) -> Vector<T, N>
    where
        T: Lanes<N>,
    {
        self.at::<N>(row, col).cast().get_or(default)
    }

    /// [`Self::get_vec_or`] of data that is used once (`ld.global.cs`).
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn get_vec_cs_or<const N: usize>(&self, row: u32, col: u32, default: Vector<T, N>) -> Vector<T, N>
    where
        T: Lanes<N>,
    {
        self.at::<N>(row, col).cast().get_or_streaming(default)
    }

    /// Elements (`row`, `col`) to (`row`, `col + N − 1`) as the source of
    /// [`cp_async_or_zero`](crate::async_copy::cp_async_or_zero): zeros if they are not all in the window.
    #[cfg_attr(optimised, inline(always))]
    pub fn slot_or_zero<const N: usize>(&self, row: u32, col: u32) -> SlotOrZero<'a, T, N> {
        let is_inside = row < self.rows && self.cols.saturating_sub(col) >= N as u32;
        SlotOrZero::new(self.ptr.wrapping_add(self.offset(row, col)), is_inside, self.tag)
    }

    /// [`Self::slot_or_zero`] of `count` rows, every `stride`-th from `row` on, as a function of 0 to `count − 1`. One
    /// bounds check serves all of them: all are zeros if they are not all in the window.
    #[cfg_attr(optimised, inline(always))]
    #[expect(clippy::needless_bitwise_bool, reason = "a branch costs more than both comparisons")]
    pub fn slots_or_zero<const N: usize>(
        &self,
        (row, col): (u32, u32),
        count: u32,
        stride: u32,
    ) -> impl Fn(u32) -> SlotOrZero<'a, T, N> {
        let last = row.saturating_add(stride.saturating_mul(count.saturating_sub(1)));
        let is_inside = (last < self.rows) & (self.cols.saturating_sub(col) >= N as u32);
        let (first, step, tag) = (self.ptr.wrapping_add(self.offset(row, col)), self.offset(stride, 0), self.tag);
        move |i| SlotOrZero::new(first.wrapping_add(step.wrapping_mul(i as usize)), is_inside & (i < count), tag)
    }

    /// Elements (`row`, `col`) to (`row`, `col + N − 1`) in one access without a bounds check on PTX; the simulator
    /// still checks and reports. Their address must be a multiple of their size: see [`MatRef::get_vec`].
    ///
    /// # Safety
    /// `row < self.rows()` and `col + N <= self.cols()`.
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub unsafe fn get_vec_unchecked<const N: usize>(&self, row: u32, col: u32) -> Vector<T, N>
    where
        T: Lanes<N>,
    {
        // SAFETY: the caller's promise.
        unsafe { self.at::<N>(row, col).cast().get_unchecked() }
    }
}

/// A writable [`Window`].
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct WindowMut<'a, T: Element>(Window<'a, T>);

impl<'a, T: Element> Deref for WindowMut<'a, T> {
    type Target = Window<'a, T>;

    #[cfg_attr(optimised, inline(always))]
    fn deref(&self) -> &Window<'a, T> {
        &self.0
    }
}

impl<'a, T: Element> WindowMut<'a, T> {
    /// [`Window::cast`], for writing.
    #[cfg_attr(optimised, inline(always))]
    pub const fn cast_mut<U: Element>(self) -> WindowMut<'a, U> {
        WindowMut(self.0.cast())
    }

    /// [`Window::part`], for writing.
    #[cfg_attr(optimised, inline(always))]
    pub fn part_mut(&self, row: u32, col: u32, rows: u32, cols: u32) -> Option<Self> {
        self.0.part(row, col, rows, cols).map(Self)
    }

    accessors!(
        set_within: global "window"[row: u32, col: u32],
        inside "`row < self.rows()` and `col < self.cols()`"
    );

    /// [`Self::set_within`] of data that this kernel does not use again (`st.global.cs`).
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn set_cs_within(&self, row: u32, col: u32, value: T) -> bool {
        self.0.at::<1>(row, col).set_within_streaming(value)
    }

    /// Writes elements (`row`, `col`) to (`row`, `col + N − 1`) in one access if all of them are in the window; returns
    /// whether they are. Their address must be a multiple of their size: see [`MatRef::get_vec`].
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn set_vec_within<const N: usize>(&self, row: u32, col: u32, value: Vector<T, N>) -> bool
    where
        T: Lanes<N>,
    {
        self.0.at::<N>(row, col).cast().set_within(value)
    }

    /// [`Self::set_vec_within`] of data that this kernel does not use again (`st.global.cs`).
    #[cfg_attr(optimised, inline(always))]
    #[track_caller]
    pub fn set_vec_cs_within<const N: usize>(&self, row: u32, col: u32, value: Vector<T, N>) -> bool
    where
        T: Lanes<N>,
    {
        self.0.at::<N>(row, col).cast().set_within_streaming(value)
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn a_window_outside_its_vector_is_none() {
        // SAFETY: never accessed.
        let vector = unsafe { VecRef::<u16>::from_raw_parts(core::ptr::without_provenance(64), 20, 0) };
        let fits = |start, rows, cols, ld| vector.window(start, rows, cols, ld).is_some();
        assert!(fits(0, 4, 5, 5) && fits(2, 3, 4, 7) && fits(20, 0, 0, 9) && fits(0, 1, 20, u64::MAX));
        assert!(!fits(1, 4, 5, 5) && !fits(3, 3, 4, 7) && !fits(21, 0, 0, 9) && !fits(0, 2, 1, u64::MAX));
        assert!(!fits(u64::MAX, u32::MAX, u32::MAX, u64::MAX));
    }

    #[test]
    fn misalignment_counts_elements() {
        // SAFETY: never accessed.
        let vector = unsafe { VecRef::<u8>::from_raw_parts(core::ptr::without_provenance(64), 100, 0) };
        let window = vector.window(3, 4, 5, 9).expect("44 elements");
        let elements: [u32; 4] = core::array::from_fn(|row| window.misalignment::<4>(row as u32, 1));
        assert_eq!(elements, [0, 1, 2, 3]);
        let elements: [u32; 4] = core::array::from_fn(|row| window.sector_misalignment(row as u32, 1));
        assert_eq!(elements, [4, 13, 22, 31]);
        assert!(!window.has_aligned_rows::<4>());
        assert!(vector.window(8, 4, 5, 16).expect("61 elements").has_aligned_rows::<8>());
        let inner = window.part(1, 2, 3, 3).expect("the end of the window");
        assert_eq!((inner.rows(), inner.cols(), inner.misalignment::<16>(0, 0)), (3, 3, 14));
        assert!(window.part(1, 2, 3, 4).is_none() && window.part(2, 2, 3, 3).is_none());
        let rest = window.rest(1, 2);
        assert_eq!((rest.rows(), rest.cols(), rest.misalignment::<16>(0, 0)), (3, 3, 14));
        assert_eq!((window.rest(4, 5).rows(), window.rest(5, 9).cols()), (0, 0));
    }
}
