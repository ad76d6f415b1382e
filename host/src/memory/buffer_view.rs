//! Borrowed vectors.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use simt::element::Element;

use super::layout::check_range;
use super::{Allocation, Buffer, Layout, MatrixView, MatrixViewMut, Region, bytes};
use crate::device::Device;
use crate::error::{ArgumentRule, BadArgument, Result};

/// Elements of a buffer, borrowed for reading.
#[derive(Clone, Copy)]
pub struct BufferView<'a, T: Element> {
    allocation: &'a Allocation,
    offset: usize,
    len: usize,
    elements: PhantomData<&'a T>,
}

/// Elements of a buffer, borrowed for writing.
pub struct BufferViewMut<'a, T: Element> {
    allocation: &'a Allocation,
    offset: usize,
    len: usize,
    elements: PhantomData<&'a mut T>,
}

impl<'a, T: Element> BufferView<'a, T> {
    /// `len` elements from element `offset` of the allocation on, which lie in it.
    pub(super) fn new(allocation: &'a Allocation, offset: usize, len: usize) -> Self {
        Self { allocation, offset, len, elements: PhantomData }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device that owns the memory.
    pub fn device(&self) -> &'a Device {
        self.allocation.device()
    }

    pub(crate) fn allocation(&self) -> &'a Allocation {
        self.allocation
    }

    /// Address of the first element on the machine that runs the kernels, for other CUDA libraries: on a GPU a `CUdeviceptr`,
    /// which the host cannot read. See [`Stream::as_raw`](crate::Stream::as_raw) for what its user owes.
    pub fn device_ptr(&self) -> *const T {
        self.address()
    }

    /// Address of the first element, on the machine that runs the kernels.
    pub(crate) fn address(&self) -> *const T {
        self.allocation.memory().base().cast::<T>().wrapping_add(self.offset)
    }

    /// The first element's number in the allocation.
    pub(super) fn start(&self) -> usize {
        self.offset
    }

    pub(crate) fn region(&self) -> Region {
        Region::bytes(self.offset * size_of::<T>(), self.len * size_of::<T>())
    }

    /// The same bytes as elements of another type of the same size: any bytes are an element.
    pub(crate) fn cast<U: Element>(self) -> BufferView<'a, U> {
        const { assert!(size_of::<T>() == size_of::<U>(), "elements of one size") };
        BufferView::new(self.allocation, self.offset, self.len)
    }

    /// The same bytes as words of 4, of which elements have one or more.
    pub(crate) fn words(self) -> BufferView<'a, u32> {
        let words = const {
            assert!(size_of::<T>() >= 4, "elements of whole words");
            size_of::<T>() / 4
        };
        BufferView::new(self.allocation, self.offset * words, self.len * words)
    }

    /// No elements, for an argument of a kernel that is left out.
    pub(crate) fn nothing<U: Element>(&self) -> BufferView<'a, U> {
        BufferView::new(self.allocation, 0, 0)
    }

    /// The elements of `range`, counted from the start of this view.
    ///
    /// # Errors
    /// The range does not lie within the view.
    pub fn slice(self, range: Range<usize>) -> Result<Self> {
        check_range("slice", "range", &range, self.len)?;
        Ok(Self::new(self.allocation, self.offset + range.start, range.len()))
    }

    /// These elements as a matrix of the given layout, its offset counted from the start of this view.
    ///
    /// # Errors
    /// The layout does not fit: leading dimension below the columns, too few elements, an extent above `u32::MAX`.
    pub fn as_matrix(self, layout: Layout) -> Result<MatrixView<'a, T>> {
        layout.check("as_matrix", self.len)?;
        Ok(MatrixView::new(self.allocation, layout.offset(self.offset + layout.offset)))
    }

    /// Copies the elements to the host, after all work that writes them.
    ///
    /// # Errors
    /// [`crate::Error::DeviceLost`] if that work failed.
    pub fn download(self) -> Result<Vec<T>> {
        let mut elements = bytes::zeros(self.len)?;
        self.download_into(&mut elements)?;
        Ok(elements)
    }

    /// Copies the elements to `out`, after all work that writes them.
    ///
    /// # Errors
    /// `out` has another length; [`crate::Error::DeviceLost`] if that work failed.
    pub fn download_into(self, out: &mut [T]) -> Result<()> {
        check_len("download_into", "out", self.len, out.len())?;
        let memory = self.allocation.memory();
        memory.read(self.device().queue(), &self.region(), bytes::of_mut(out))
    }
}

impl<'a, T: Element> BufferViewMut<'a, T> {
    /// `len` elements from element `offset` of the allocation on, which lie in it and nobody else borrows.
    pub(super) fn new(allocation: &'a Allocation, offset: usize, len: usize) -> Self {
        Self { allocation, offset, len, elements: PhantomData }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device that owns the memory.
    pub fn device(&self) -> &'a Device {
        self.allocation.device()
    }

    /// As [`BufferView::device_ptr`], to be written through.
    pub fn device_ptr(&mut self) -> *mut T {
        self.view().address().cast_mut()
    }

    /// The same elements, for reading.
    pub fn view(&self) -> BufferView<'_, T> {
        BufferView::new(self.allocation, self.offset, self.len)
    }

    /// The same elements, for writing, for a shorter time.
    pub fn view_mut(&mut self) -> BufferViewMut<'_, T> {
        BufferViewMut::new(self.allocation, self.offset, self.len)
    }

    /// As [`BufferView::cast`].
    pub(crate) fn cast<U: Element>(self) -> BufferViewMut<'a, U> {
        const { assert!(size_of::<T>() == size_of::<U>(), "elements of one size") };
        BufferViewMut::new(self.allocation, self.offset, self.len)
    }

    /// The same bytes, which begin at a multiple of 8, as words of 8; one that is cut off is left out.
    pub(crate) fn pairs(self) -> BufferViewMut<'a, u64> {
        const { assert!(size_of::<T>() == 4, "two elements to a word") }
        debug_assert!(self.offset.is_multiple_of(2), "words are aligned");
        BufferViewMut::new(self.allocation, self.offset / 2, self.len / 2)
    }

    pub(crate) fn allocation(&self) -> &'a Allocation {
        self.allocation
    }

    /// The first element's number in the allocation.
    pub(super) fn start(&self) -> usize {
        self.offset
    }

    /// As [`BufferView::nothing`].
    pub(crate) fn nothing<U: Element>(&self) -> BufferViewMut<'a, U> {
        BufferViewMut::new(self.allocation, 0, 0)
    }

    /// The elements of `range`, counted from the start of this view.
    ///
    /// # Errors
    /// The range does not lie within the view.
    pub fn slice(self, range: Range<usize>) -> Result<Self> {
        check_range("slice", "range", &range, self.len)?;
        Ok(Self::new(self.allocation, self.offset + range.start, range.len()))
    }

    /// The elements before `middle`, and those from there on.
    ///
    /// Work on the two halves keeps the order of the calls even on different streams: what is tracked is the whole buffer.
    ///
    /// # Errors
    /// `middle` is past the end.
    pub fn split_at(self, middle: usize) -> Result<(Self, Self)> {
        check_range("split_at", "middle", &(middle..self.len), self.len)?;
        let before = Self::new(self.allocation, self.offset, middle);
        Ok((before, Self::new(self.allocation, self.offset + middle, self.len - middle)))
    }

    /// These elements as a matrix of the given layout, its offset counted from the start of this view.
    ///
    /// # Errors
    /// As [`BufferView::as_matrix`].
    pub fn as_matrix(self, layout: Layout) -> Result<MatrixViewMut<'a, T>> {
        layout.check("as_matrix", self.len)?;
        Ok(MatrixViewMut::new(self.allocation, layout.offset(self.offset + layout.offset)))
    }

    /// Overwrites the elements with host data.
    ///
    /// # Errors
    /// `data` has another length.
    pub fn write(&mut self, data: &[T]) -> Result<()> {
        check_len("write", "data", self.len, data.len())?;
        let memory = self.allocation.memory();
        memory.write(self.device().queue(), &self.view().region(), bytes::of(data))
    }

    /// Sets the elements to zero.
    ///
    /// # Errors
    /// The driver refuses.
    pub fn zero(&mut self) -> Result<()> {
        self.allocation.memory().zero(self.device().queue(), &self.view().region())
    }

    /// Overwrites the elements with those of `source`, on the device.
    ///
    /// # Errors
    /// `source` has another length, or is on another device.
    pub fn copy_from<'s>(&mut self, source: impl Into<BufferView<'s, T>>) -> Result<()>
    where
        T: 's,
    {
        let source = source.into();
        check_len("copy_from", "source", self.len, source.len())?;
        self.device().check_same(source.device(), "copy_from", "source")?;
        let memory = self.allocation.memory();
        memory.copy(self.device().queue(), self.view().region(), source.allocation.memory(), source.region())
    }
}

/// Refuses host data of another length.
pub(super) fn check_len(call: &str, argument: &str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(BadArgument::new(ArgumentRule::Length, call, argument)
        .expected(format_args!("{expected} elements"))
        .found(found)
        .remedy("take a slice of the longer side, so that both have one length")
        .into())
}

impl<'a, T: Element> From<&'a Buffer<T>> for BufferView<'a, T> {
    fn from(buffer: &'a Buffer<T>) -> Self {
        buffer.view()
    }
}

impl<'a, T: Element> From<&'a mut Buffer<T>> for BufferViewMut<'a, T> {
    fn from(buffer: &'a mut Buffer<T>) -> Self {
        buffer.view_mut()
    }
}

impl<'a, T: Element> From<&BufferView<'a, T>> for BufferView<'a, T> {
    fn from(view: &BufferView<'a, T>) -> Self {
        *view
    }
}

impl<'a, T: Element> From<&'a BufferViewMut<'_, T>> for BufferView<'a, T> {
    fn from(view: &'a BufferViewMut<'_, T>) -> Self {
        view.view()
    }
}

impl<'a, T: Element> From<&'a mut BufferViewMut<'_, T>> for BufferViewMut<'a, T> {
    fn from(view: &'a mut BufferViewMut<'_, T>) -> Self {
        view.view_mut()
    }
}

impl<T: Element> fmt::Debug for BufferView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BufferView<{}>({} elements from {} on)", std::any::type_name::<T>(), self.len, self.offset)
    }
}

impl<T: Element> fmt::Debug for BufferViewMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BufferViewMut<{}>({} elements from {} on)", std::any::type_name::<T>(), self.len, self.offset)
    }
}
