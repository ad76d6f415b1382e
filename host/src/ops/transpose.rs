//! Transposition.

use gpu::transpose::{in_place, misaligned, swizzled};
use simt::element::Element;

use super::move_kernels::{MoveKernels, by_size};
use super::{grid_parts, on, permute, shape};
use crate::device::Device;
use crate::error::Result;
use crate::launch::Launch;
use crate::memory::{
    Layout, Matrix, MatrixView, MatrixViewMut, Tensor, TensorView, TensorViewMut, UntypedMatrix, UntypedMatrixMut,
    UntypedTensor, UntypedTensorMut,
};
use crate::stream::Stream;

impl Device {
    /// Aᵀ: `a` is m × n, the result n × m, with the same bits. Elements may have any type: numbers, and vectors of
    /// them, such as complex numbers.
    ///
    /// ```
    /// use ndarray::array;
    /// let device = warpwright::Device::simulator();
    /// let a = device.upload(&array![[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]])?;
    /// assert_eq!(device.transpose(&a)?.download()?, array![[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::alloc_matrix`] and [`Device::launch`].
    pub fn transpose<'a, T: Element>(&self, a: impl Into<MatrixView<'a, T>>) -> Result<Matrix<T>> {
        let a = a.into();
        let mut b = self.alloc_matrix_on(self.queue(), a.cols(), a.rows())?;
        self.transpose_into(a, &mut b)?;
        Ok(b)
    }

    /// B = Aᵀ: [`Device::transpose`] into `b`. The borrows ensure that `a` and `b` do not overlap.
    ///
    /// # Errors
    /// `b` is not n × m; as [`Device::launch`].
    pub fn transpose_into<'a, 'b, T: Element>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixViewMut<'b, T>>,
    ) -> Result<()> {
        into(self, None, a.into().untyped(), b.into().untyped())
    }

    /// A = Aᵀ for a square matrix, without additional memory.
    ///
    /// ```
    /// use ndarray::array;
    /// let device = warpwright::Device::simulator();
    /// let mut a = device.upload(&array![[1_u64, 2], [3, 4]])?;
    /// device.transpose_in_place(&mut a)?;
    /// assert_eq!(a.download()?, array![[1, 3], [2, 4]]);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// `a` is not square; as [`Device::launch`].
    pub fn transpose_in_place<'a, T: Element>(&self, a: impl Into<MatrixViewMut<'a, T>>) -> Result<()> {
        in_place_square(self, None, a.into().untyped())
    }

    /// Transposes a batch of matrices: exchanges the last two axes of `a`.
    ///
    /// ```
    /// use warpwright::{Device, Tensor};
    /// let device = Device::simulator();
    /// let batch = Tensor::from_buffer(device.upload(&[1_i32, 2, 3, 4, 5, 6, 7, 8])?, &[2, 2, 2])?;
    /// assert_eq!(device.transpose_batch(&batch)?.download()?, [1, 3, 2, 4, 5, 7, 6, 8]);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// `a` has fewer than two axes; as [`Device::permute`].
    pub fn transpose_batch<'a, T: Element>(&self, a: impl Into<TensorView<'a, T>>) -> Result<Tensor<T>> {
        let a = a.into();
        self.permute(a, &last_two("transpose_batch", a.shape().len())?)
    }

    /// [`Device::transpose_batch`] into `b`, which may have any strides.
    ///
    /// # Errors
    /// `a` has fewer than two axes; as [`Device::permute_into`].
    pub fn transpose_batch_into<'a, 'b, T: Element>(
        &self,
        a: impl Into<TensorView<'a, T>>,
        b: impl Into<TensorViewMut<'b, T>>,
    ) -> Result<()> {
        batch(self, None, a.into().untyped(), b.into().untyped())
    }
}

impl Stream {
    /// [`Device::transpose_into`] as work of this stream.
    ///
    /// # Errors
    /// As [`Device::transpose_into`].
    pub fn transpose_into<'a, 'b, T: Element>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixViewMut<'b, T>>,
    ) -> Result<()> {
        into(self.device(), Some(self), a.into().untyped(), b.into().untyped())
    }

    /// [`Device::transpose_in_place`] as work of this stream.
    ///
    /// # Errors
    /// As [`Device::transpose_in_place`].
    pub fn transpose_in_place<'a, T: Element>(&self, a: impl Into<MatrixViewMut<'a, T>>) -> Result<()> {
        in_place_square(self.device(), Some(self), a.into().untyped())
    }

    /// [`Device::transpose_batch_into`] as work of this stream.
    ///
    /// # Errors
    /// As [`Device::transpose_batch_into`].
    pub fn transpose_batch_into<'a, 'b, T: Element>(
        &self,
        a: impl Into<TensorView<'a, T>>,
        b: impl Into<TensorViewMut<'b, T>>,
    ) -> Result<()> {
        batch(self.device(), Some(self), a.into().untyped(), b.into().untyped())
    }
}

/// The order of `rank` axes with the last two exchanged.
fn last_two(call: &str, rank: usize) -> Result<Vec<usize>> {
    let mut axes: Vec<_> = (0..rank).collect();
    if rank < 2 {
        let remedy = "make it with as_tensor(&[batch, rows, cols])";
        return Err(shape(call, "a", "at least two axes, rows and columns", &format!("{rank}"), remedy));
    }
    axes.swap(rank - 2, rank - 1);
    Ok(axes)
}

/// B = Aᵀ; elements of both have the same size.
pub(super) fn into(
    device: &Device,
    stream: Option<&Stream>,
    a: UntypedMatrix<'_>,
    b: UntypedMatrixMut<'_>,
) -> Result<()> {
    let Layout { rows: m, cols: n, .. } = a.place();
    let Layout { rows, cols, .. } = b.place();
    if (rows, cols) != (n, m) {
        let (expected, found) = (format!("{n} x {m}, columns of a by rows of a"), format!("{rows} x {cols}"));
        return Err(shape("transpose_into", "b", &expected, &found, "pass a matrix b of the transposed shape"));
    }
    let size = a.element_bytes();
    if permute::is_short(m.min(n), size) {
        return permute::run(device, stream, "transpose_into", (a.into(), &[1, 0]), b.into());
    }
    by_size!(size, U => matrices::<U>(device, stream, a.typed(), b.typed()))
}

/// B = Aᵀ for each matrix of a batch; elements of both have the same size.
fn batch(device: &Device, stream: Option<&Stream>, a: UntypedTensor<'_>, b: UntypedTensorMut<'_>) -> Result<()> {
    let axes = last_two("transpose_batch_into", a.axes().shape().len())?;
    permute::run(device, stream, "transpose_batch_into", (a, &axes), b)
}

/// Whether every row of a matrix starts at a multiple of `bytes` bytes.
fn is_aligned<T>(bytes: usize, address: *const T, ld: usize) -> bool {
    address.addr().is_multiple_of(bytes) && (ld * size_of::<T>()).is_multiple_of(bytes)
}

/// Transposes by the kernel for aligned rows if each row of `a` starts at a multiple of 16 bytes, the widest load, and
/// each row of `b` at a sector; else by the kernel for misaligned rows.
fn matrices<U: MoveKernels>(
    device: &Device,
    stream: Option<&Stream>,
    a: MatrixView<'_, U>,
    mut b: MatrixViewMut<'_, U>,
) -> Result<()> {
    let (m, n, size) = (a.rows(), a.cols(), size_of::<U>());
    let aligned = is_aligned(16, a.address(), a.ld()) && is_aligned(32, b.view().address(), b.ld());
    let cols = if aligned { swizzled::COLS } else { misaligned::COLS };
    // The grid's x, whose limit is high, goes along the rows of `a`, and its y along the columns.
    for columns in grid_parts(n, cols[size.trailing_zeros() as usize], device.limits().grid[1]) {
        let (kernel, grid) = if aligned {
            (&U::TRANSPOSE, swizzled::grid_of(size, m as u32, columns.len() as u32))
        } else {
            (&U::TRANSPOSE_MISALIGNED, misaligned::grid(size, m as u32, columns.len() as u32))
        };
        let rows = b.view_mut().block(columns.clone(), 0..m)?;
        device.launch(kernel, on(stream, Launch::grid(grid)), (a.block(0..m, columns)?, rows))?;
    }
    Ok(())
}

fn in_place_square(device: &Device, stream: Option<&Stream>, a: UntypedMatrixMut<'_>) -> Result<()> {
    let Layout { rows, cols, .. } = a.place();
    if rows != cols {
        let (expected, found) = (format!("a square matrix, {rows} x {rows}"), format!("{rows} x {cols}"));
        let remedy = "use transpose or transpose_into for a matrix that is not square";
        return Err(shape("transpose_in_place", "a", &expected, &found, remedy));
    }
    if rows == 0 {
        return Ok(());
    }
    let size = a.element_bytes();
    let launch = on(stream, Launch::grid(in_place::grid(size, rows as u32)));
    by_size!(size, U => device.launch(&U::TRANSPOSE_IN_PLACE, launch, (a.typed::<U>(),)))?;
    Ok(())
}
