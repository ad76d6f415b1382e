//! Allocation of device memory, and uploads.

use simt::element::Element;

use super::{Buffer, HostData, Layout, Matrix, PinnedBuffer};
use crate::backend::Queue;
use crate::device::Device;
use crate::error::{ArgumentRule, BadArgument, Result};

impl Device {
    /// An uninitialised buffer of `len` elements.
    ///
    /// On a GPU its elements are whatever the memory held before (any bits are a valid element); the simulator reports
    /// a kernel that reads an element before it is written, and refuses to download one. Dropped buffers are reused:
    /// see [`Device::release_unused_memory`].
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`], or more bytes than the address space has.
    pub fn alloc<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        Buffer::alloc(self, len, None)
    }

    /// As [`Device::alloc`], for a result or workspace of an operation on `queue`, which belongs to this device:
    /// neither the host nor the device waits for the allocation.
    pub(crate) fn alloc_on<T: Element>(&self, queue: &Queue, len: usize) -> Result<Buffer<T>> {
        Buffer::alloc(self, len, Some(queue))
    }

    /// As [`Device::alloc_matrix`], for the result of an operation on `queue`; see [`Device::alloc_on`].
    pub(crate) fn alloc_matrix_on<T: Element>(&self, queue: &Queue, rows: usize, cols: usize) -> Result<Matrix<T>> {
        let buffer = self.alloc_on(queue, elements("alloc_matrix", rows, cols)?)?;
        Matrix::from_buffer(buffer, Layout::contiguous(rows, cols))
    }

    /// A buffer of `len` zeros.
    ///
    /// # Errors
    /// As [`Device::alloc`].
    pub fn alloc_zeros<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        let mut buffer = self.alloc_on(self.queue(), len)?;
        buffer.view_mut().zero()?;
        Ok(buffer)
    }

    /// A `rows` × `cols` uninitialised matrix with contiguous rows; see [`Device::alloc`].
    ///
    /// # Errors
    /// As [`Device::alloc`]; an extent above `u32::MAX`.
    pub fn alloc_matrix<T: Element>(&self, rows: usize, cols: usize) -> Result<Matrix<T>> {
        Matrix::from_buffer(self.alloc(elements("alloc_matrix", rows, cols)?)?, Layout::contiguous(rows, cols))
    }

    /// A `rows` × `cols` matrix of zeros with contiguous rows.
    ///
    /// # Errors
    /// As [`Device::alloc_matrix`].
    pub fn alloc_matrix_zeros<T: Element>(&self, rows: usize, cols: usize) -> Result<Matrix<T>> {
        let buffer = self.alloc_zeros(elements("alloc_matrix_zeros", rows, cols)?)?;
        Matrix::from_buffer(buffer, Layout::contiguous(rows, cols))
    }

    /// Copies host data to the device: a slice, array, `Vec` or one-dimensional `ndarray` array becomes a [`Buffer`], a
    /// two-dimensional one a [`Matrix`]. Arrays may have any memory order.
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

    /// Copies the `rows` × `cols` matrix in `data`, row-major and contiguous, to the device.
    ///
    /// # Errors
    /// The length of `data` is not rows · cols; as [`Device::alloc_matrix`].
    pub fn upload_matrix<T: Element>(&self, data: &[T], rows: usize, cols: usize) -> Result<Matrix<T>> {
        let len = elements("upload_matrix", rows, cols)?;
        if data.len() != len {
            return Err(BadArgument::new(ArgumentRule::Length, "upload_matrix", "data")
                .expected(format_args!("{len} elements, a {rows} x {cols} matrix"))
                .found(data.len())
                .remedy("pass rows · cols elements, row-major and contiguous")
                .into());
        }
        Matrix::from_buffer(self.upload(data)?, Layout::contiguous(rows, cols))
    }

    /// `len` zeros in host memory for asynchronous copies; page-locked if the device is a GPU.
    ///
    /// # Errors
    /// [`crate::Error::OutOfMemory`] if the host has too little memory.
    pub fn pinned<T: Element>(&self, len: usize) -> Result<PinnedBuffer<T>> {
        PinnedBuffer::new(self, len)
    }
}

/// rows · cols, or the error that the product overflows.
fn elements(call: &str, rows: usize, cols: usize) -> Result<usize> {
    rows.checked_mul(cols).ok_or_else(|| {
        BadArgument::new(ArgumentRule::Extent, call, "rows")
            .expected("rows · cols elements within the address space")
            .found(format_args!("{rows} x {cols}"))
            .remedy("work on parts of the matrix")
            .into()
    })
}
