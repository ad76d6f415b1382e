//! Matrices in device memory.

use std::fmt;
use std::ops::Range;

use ndarray::Array2;
use simt::element::Element;

use super::{Buffer, Layout, MatrixView, MatrixViewMut};
use crate::device::Device;
use crate::error::Result;

/// A row-major matrix in the memory of a device: a [`Buffer`] and the [`Layout`] of the matrix in it.
pub struct Matrix<T: Element> {
    buffer: Buffer<T>,
    layout: Layout,
}

impl<T: Element> Matrix<T> {
    /// The matrix of the given layout in `buffer`.
    ///
    /// # Errors
    /// The layout does not fit: leading dimension below the columns, too few elements, an extent above `u32::MAX`.
    pub fn from_buffer(buffer: Buffer<T>, layout: Layout) -> Result<Self> {
        layout.check("Matrix::from_buffer", buffer.len())?;
        Ok(Self { buffer, layout })
    }

    /// The buffer, with whatever lies between the rows.
    pub fn into_buffer(self) -> Buffer<T> {
        self.buffer
    }

    /// Shape and place in the buffer.
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
    pub fn device(&self) -> &Device {
        self.buffer.device()
    }

    /// The whole matrix, for reading.
    pub fn view(&self) -> MatrixView<'_, T> {
        MatrixView::new(self.buffer.view().allocation(), self.layout)
    }

    /// The whole matrix, for writing.
    pub fn view_mut(&mut self) -> MatrixViewMut<'_, T> {
        MatrixViewMut::new(self.buffer.view_mut().allocation(), self.layout)
    }

    /// The given rows and columns, for reading.
    ///
    /// # Errors
    /// A range does not lie within the matrix.
    pub fn block(&self, rows: Range<usize>, cols: Range<usize>) -> Result<MatrixView<'_, T>> {
        self.view().block(rows, cols)
    }

    /// The given rows and columns, for writing.
    ///
    /// # Errors
    /// A range does not lie within the matrix.
    pub fn block_mut(&mut self, rows: Range<usize>, cols: Range<usize>) -> Result<MatrixViewMut<'_, T>> {
        self.view_mut().block(rows, cols)
    }

    /// Copies the matrix to the host, after all work that writes it.
    ///
    /// # Errors
    /// [`crate::Error::DeviceLost`] if that work failed.
    pub fn download(&self) -> Result<Array2<T>> {
        self.view().download()
    }
}

impl<T: Element> fmt::Debug for Matrix<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Matrix<{}>({} on {})", std::any::type_name::<T>(), self.layout, self.device().name())
    }
}
