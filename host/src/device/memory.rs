//! Memory of a device: allocation, uploads.

use simt::element::Element;

use super::Device;
use crate::error::{ArgumentRule, BadArgument, Result};
use crate::memory::{Buffer, HostData, Layout, Matrix, PinnedBuffer};

impl Device {
    /// A buffer of `len` elements that nothing has written yet.
    ///
    /// On a GPU its elements are whatever the memory held before (any bits are a number); on the simulator, a kernel that
    /// reads one before it is written is reported.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`], or more bytes than there are addresses.
    pub fn alloc<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        Buffer::alloc(self, len)
    }

    /// A buffer of `len` zeros.
    ///
    /// # Errors
    /// As [`Device::alloc`].
    pub fn alloc_zeros<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        let mut buffer = Buffer::alloc(self, len)?;
        buffer.view_mut().zero()?;
        Ok(buffer)
    }

    /// A `rows` × `cols` matrix without gaps that nothing has written yet; see [`Device::alloc`].
    ///
    /// # Errors
    /// As [`Device::alloc`]; an extent above `u32::MAX`.
    pub fn alloc_matrix<T: Element>(&self, rows: usize, cols: usize) -> Result<Matrix<T>> {
        Matrix::from_buffer(self.alloc(elements("alloc_matrix", rows, cols)?)?, Layout::contiguous(rows, cols))
    }

    /// A `rows` × `cols` matrix of zeros without gaps.
    ///
    /// # Errors
    /// As [`Device::alloc_matrix`].
    pub fn alloc_matrix_zeros<T: Element>(&self, rows: usize, cols: usize) -> Result<Matrix<T>> {
        let buffer = self.alloc_zeros(elements("alloc_matrix_zeros", rows, cols)?)?;
        Matrix::from_buffer(buffer, Layout::contiguous(rows, cols))
    }

    /// Copies host data to the device: a slice, array, `Vec` or one-dimensional `ndarray` array gives a [`Buffer`], a
    /// two-dimensional one a [`Matrix`], whatever the order of its elements in memory.
    ///
    /// ```
    /// use ndarray::array;
    /// let device = warpwright::Device::simulator();
    /// let vector = device.upload(&[1_i32, 2, 3])?;
    /// let matrix = device.upload(&array![[1.0_f32, 2.0], [3.0, 4.0], [5.0, 6.0]])?;
    /// assert_eq!((vector.len(), matrix.rows(), matrix.cols()), (3, 3, 2));
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::alloc`] and [`Device::alloc_matrix`].
    pub fn upload<D: HostData>(&self, data: D) -> Result<D::OnDevice> {
        data.upload_to(self)
    }

    /// Copies the `rows` × `cols` matrix in `data`, row by row without gaps, to the device.
    ///
    /// # Errors
    /// `data` has not rows · cols elements; as [`Device::alloc_matrix`].
    pub fn upload_matrix<T: Element>(&self, data: &[T], rows: usize, cols: usize) -> Result<Matrix<T>> {
        let len = elements("upload_matrix", rows, cols)?;
        if data.len() != len {
            return Err(BadArgument::new(ArgumentRule::Length, "upload_matrix", "data")
                .expected(format_args!("{len} elements, a {rows} x {cols} matrix"))
                .found(data.len())
                .remedy("pass rows · cols elements, row by row without gaps")
                .into());
        }
        Matrix::from_buffer(self.upload(data)?, Layout::contiguous(rows, cols))
    }

    /// `len` zeros in host memory from which asynchronous copies can be made; page-locked where the device is a GPU.
    ///
    /// # Errors
    /// The host has no such memory.
    pub fn pinned<T: Element>(&self, len: usize) -> Result<PinnedBuffer<T>> {
        PinnedBuffer::new(self, len)
    }
}

/// rows · cols, if it can be counted.
fn elements(call: &str, rows: usize, cols: usize) -> Result<usize> {
    rows.checked_mul(cols).ok_or_else(|| {
        BadArgument::new(ArgumentRule::Extent, call, "rows")
            .expected("rows · cols elements within the address space")
            .found(format_args!("{rows} x {cols}"))
            .remedy("work on parts of the matrix")
            .into()
    })
}
