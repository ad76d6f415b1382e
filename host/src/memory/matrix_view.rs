//! Borrowed matrices.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use ndarray::{Array2, ArrayView2};
use simt::element::Element;

use super::layout::check_range;
use super::{Allocation, BufferView, Layout, Matrix, Region, bytes};
use crate::device::Device;
use crate::error::{ArgumentRule, BadArgument, Result};

/// A row-major matrix in a buffer, borrowed for reading.
#[derive(Clone, Copy)]
pub struct MatrixView<'a, T: Element> {
    allocation: &'a Allocation,
    layout: Layout,
    elements: PhantomData<&'a T>,
}

/// A row-major matrix in a buffer, borrowed for writing; what lies between its rows is not part of it.
pub struct MatrixViewMut<'a, T: Element> {
    allocation: &'a Allocation,
    layout: Layout,
    elements: PhantomData<&'a mut T>,
}

impl<'a, T: Element> MatrixView<'a, T> {
    /// The matrix of a layout that was checked against the allocation.
    pub(super) fn new(allocation: &'a Allocation, layout: Layout) -> Self {
        Self { allocation, layout, elements: PhantomData }
    }

    /// Shape, and place in the buffer.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.layout.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.layout.cols
    }

    /// Elements from the start of one row to the start of the next.
    pub fn ld(&self) -> usize {
        self.layout.ld
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.layout.is_empty()
    }

    /// The device that owns the memory.
    pub fn device(&self) -> &'a Device {
        self.allocation.device()
    }

    pub(crate) fn allocation(&self) -> &'a Allocation {
        self.allocation
    }

    /// The same places as elements of another type of the same size.
    pub(crate) fn bits<U: Element>(self) -> MatrixView<'a, U> {
        debug_assert_eq!(size_of::<T>(), size_of::<U>());
        MatrixView::new(self.allocation, self.layout)
    }

    /// Address of element (0, 0), on the machine that runs the kernels.
    pub(crate) fn address(&self) -> *const T {
        self.allocation.memory().base().cast::<T>().wrapping_add(self.layout.offset)
    }

    pub(crate) fn region(&self) -> Region {
        let Layout { rows, cols, ld, offset } = self.layout;
        let size = size_of::<T>();
        if self.is_empty() { Region::bytes(0, 0) } else { Region::rows(offset * size, rows, cols * size, ld * size) }
    }

    /// The given rows and columns.
    ///
    /// # Errors
    /// A range does not lie within the matrix.
    pub fn block(self, rows: Range<usize>, cols: Range<usize>) -> Result<Self> {
        Ok(Self::new(self.allocation, self.layout.part(rows, cols)?))
    }

    /// The elements one after the other, if no gap lies between the rows.
    pub fn as_contiguous(self) -> Option<BufferView<'a, T>> {
        let len = self.layout.rows * self.layout.cols;
        self.layout.is_contiguous().then(|| BufferView::new(self.allocation, self.layout.offset, len))
    }

    /// A copy without gaps, on the device.
    ///
    /// # Errors
    /// As [`Device::alloc_matrix`].
    pub fn to_contiguous(self) -> Result<Matrix<T>> {
        let mut copy = self.device().alloc_matrix(self.rows(), self.cols())?;
        copy.view_mut().copy_from(self)?;
        Ok(copy)
    }

    /// Copies the matrix to the host, after all work that writes it.
    ///
    /// # Errors
    /// [`crate::Error::DeviceLost`] if that work failed.
    pub fn download(self) -> Result<Array2<T>> {
        let (rows, cols) = (self.rows(), self.cols());
        let mut elements = bytes::zeros(rows * cols)?;
        let memory = self.allocation.memory();
        memory.read(self.device().queue(), &self.region(), bytes::of_mut(&mut elements))?;
        // Rows · cols elements fit this shape; the error of `ndarray` has no case of its own to show.
        Array2::from_shape_vec((rows, cols), elements).map_err(|error| {
            BadArgument::new(ArgumentRule::Extent, "download", "matrix")
                .expected("a shape that ndarray can hold")
                .found(format_args!("{rows} x {cols}: {error}"))
                .remedy("download parts of the matrix")
                .into()
        })
    }
}

impl<'a, T: Element> MatrixViewMut<'a, T> {
    /// The matrix of a layout that was checked against the allocation, its elements borrowed by nobody else.
    pub(super) fn new(allocation: &'a Allocation, layout: Layout) -> Self {
        Self { allocation, layout, elements: PhantomData }
    }

    /// Shape, and place in the buffer.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.layout.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.layout.cols
    }

    /// Elements from the start of one row to the start of the next.
    pub fn ld(&self) -> usize {
        self.layout.ld
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.layout.is_empty()
    }

    /// The device that owns the memory.
    pub fn device(&self) -> &'a Device {
        self.allocation.device()
    }

    /// The same matrix, for reading.
    pub fn view(&self) -> MatrixView<'_, T> {
        MatrixView::new(self.allocation, self.layout)
    }

    /// [`MatrixView::bits`], for writing.
    pub(crate) fn bits_mut<U: Element>(self) -> MatrixViewMut<'a, U> {
        debug_assert_eq!(size_of::<T>(), size_of::<U>());
        MatrixViewMut::new(self.allocation, self.layout)
    }

    /// The same matrix, for writing, for a shorter time.
    pub fn view_mut(&mut self) -> MatrixViewMut<'_, T> {
        MatrixViewMut::new(self.allocation, self.layout)
    }

    pub(crate) fn allocation(&self) -> &'a Allocation {
        self.allocation
    }

    /// The given rows and columns.
    ///
    /// # Errors
    /// A range does not lie within the matrix.
    pub fn block(self, rows: Range<usize>, cols: Range<usize>) -> Result<Self> {
        Ok(Self::new(self.allocation, self.layout.part(rows, cols)?))
    }

    /// The rows before `row`, and those from there on.
    ///
    /// # Errors
    /// `row` is past the end.
    pub fn split_at_row(self, row: usize) -> Result<(Self, Self)> {
        check_range("split_at_row", "row", &(row..self.rows()), self.rows())?;
        let (rows, cols) = (self.rows(), self.cols());
        let above = Self::new(self.allocation, self.layout.part(0..row, 0..cols)?);
        Ok((above, Self::new(self.allocation, self.layout.part(row..rows, 0..cols)?)))
    }

    /// Overwrites the matrix with host data of the same shape.
    ///
    /// # Errors
    /// `data` has another shape.
    pub fn write(&mut self, data: ArrayView2<T>) -> Result<()> {
        self.check_shape("write", "data", data.nrows(), data.ncols())?;
        let rows = data.as_standard_layout();
        let memory = self.allocation.memory();
        memory.write(self.device().queue(), &self.view().region(), bytes::of(rows.as_slice().unwrap_or_default()))
    }

    /// Sets the elements to zero; what lies between the rows stays.
    ///
    /// # Errors
    /// The driver refuses.
    pub fn zero(&mut self) -> Result<()> {
        self.allocation.memory().zero(self.device().queue(), &self.view().region())
    }

    /// Overwrites the matrix with one of the same shape, on the device.
    ///
    /// # Errors
    /// `source` has another shape, or is on another device.
    pub fn copy_from<'s>(&mut self, source: impl Into<MatrixView<'s, T>>) -> Result<()>
    where
        T: 's,
    {
        let source = source.into();
        self.check_shape("copy_from", "source", source.rows(), source.cols())?;
        self.device().check_same(source.device(), "copy_from", "source")?;
        let memory = self.allocation.memory();
        memory.copy(self.device().queue(), self.view().region(), source.allocation.memory(), source.region())
    }

    fn check_shape(&self, call: &str, argument: &str, rows: usize, cols: usize) -> Result<()> {
        if (rows, cols) == (self.rows(), self.cols()) {
            return Ok(());
        }
        Err(BadArgument::new(ArgumentRule::Shape, call, argument)
            .expected(format_args!("{} x {}", self.rows(), self.cols()))
            .found(format_args!("{rows} x {cols}"))
            .remedy("take a block of the larger side, so that both have one shape")
            .into())
    }
}

impl<'a, T: Element> From<&'a Matrix<T>> for MatrixView<'a, T> {
    fn from(matrix: &'a Matrix<T>) -> Self {
        matrix.view()
    }
}

impl<'a, T: Element> From<&'a mut Matrix<T>> for MatrixViewMut<'a, T> {
    fn from(matrix: &'a mut Matrix<T>) -> Self {
        matrix.view_mut()
    }
}

impl<'a, T: Element> From<&MatrixView<'a, T>> for MatrixView<'a, T> {
    fn from(view: &MatrixView<'a, T>) -> Self {
        *view
    }
}

impl<'a, T: Element> From<&'a MatrixViewMut<'_, T>> for MatrixView<'a, T> {
    fn from(view: &'a MatrixViewMut<'_, T>) -> Self {
        view.view()
    }
}

impl<'a, T: Element> From<&'a mut MatrixViewMut<'_, T>> for MatrixViewMut<'a, T> {
    fn from(view: &'a mut MatrixViewMut<'_, T>) -> Self {
        view.view_mut()
    }
}

impl<T: Element> fmt::Debug for MatrixView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MatrixView<{}>({})", std::any::type_name::<T>(), self.layout)
    }
}

impl<T: Element> fmt::Debug for MatrixViewMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MatrixViewMut<{}>({})", std::any::type_name::<T>(), self.layout)
    }
}
