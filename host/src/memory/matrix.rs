//! Matrices in device memory.

use std::fmt;
use std::ops::Range;

use ndarray::Array2;
use simt::element::Element;

use super::layout::layout_methods;
use super::view_pair::views_of;
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

    /// The buffer, including the elements between the rows.
    pub fn into_buffer(self) -> Buffer<T> {
        self.buffer
    }

    layout_methods!();

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
    /// On the simulator: [`crate::Error::Argument`] if nothing has written some of the elements, see
    /// [`BufferViewMut::assume_init`](crate::BufferViewMut::assume_init).
    pub fn download(&self) -> Result<Array2<T>> {
        self.view().download()
    }
}

impl<T: Element> MatrixView<'_, T> {
    /// A contiguous copy, on the device.
    ///
    /// # Errors
    /// As [`Device::alloc_matrix`].
    pub fn to_contiguous(self) -> Result<Matrix<T>> {
        let mut copy = self.device().alloc_matrix_on(self.device().queue(), self.rows(), self.cols())?;
        copy.view_mut().copy_from(self)?;
        Ok(copy)
    }
}

views_of! { Matrix => MatrixView, MatrixViewMut; }

impl<T: Element> fmt::Debug for Matrix<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Matrix<{}>({} on {})", std::any::type_name::<T>(), self.layout, self.device().name())
    }
}
