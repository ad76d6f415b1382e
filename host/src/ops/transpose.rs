//! Transposition.

use gpu::transpose::in_place::{
    self, transpose_in_place_b8, transpose_in_place_b16, transpose_in_place_b32, transpose_in_place_b64,
    transpose_in_place_b128,
};
use gpu::transpose::misaligned::{
    self, transpose_misaligned_b8, transpose_misaligned_b16, transpose_misaligned_b32, transpose_misaligned_b64,
    transpose_misaligned_b128,
};
use gpu::transpose::swizzled::{self, transpose_b8, transpose_b16, transpose_b32, transpose_b64, transpose_b128};
use simt::Kernel;
use simt::element::{Element, Vec4};
use simt::global::{MatMut, MatRef};

use super::{bands, on, permute, shape};
use crate::device::Device;
use crate::error::Result;
use crate::launch::Launch;
use crate::memory::{Matrix, MatrixView, MatrixViewMut, Tensor, TensorView, TensorViewMut};
use crate::stream::Stream;

impl Device {
    /// Aᵀ: `a` is m × n, the result n × m, its bits those of `a`. Elements may have any type: numbers, and vectors of them,
    /// such as complex numbers.
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
        let mut b = self.alloc_matrix(a.cols(), a.rows())?;
        self.transpose_into(a, &mut b)?;
        Ok(b)
    }

    /// B = Aᵀ, as [`Device::transpose`], to memory of the caller's. (That `a` and `b` share no element, their borrows see to.)
    ///
    /// # Errors
    /// `b` is not n × m; as [`Device::launch`].
    pub fn transpose_into<'a, 'b, T: Element>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixViewMut<'b, T>>,
    ) -> Result<()> {
        into(self, None, a.into(), b.into())
    }

    /// A = Aᵀ for a square matrix, with no memory beside it.
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
        within(self, None, a.into())
    }

    /// The transposes of a batch of matrices: the last two axes of `a` change places.
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
    /// `a` has less than two axes; as [`Device::permute`].
    pub fn transpose_batch<'a, T: Element>(&self, a: impl Into<TensorView<'a, T>>) -> Result<Tensor<T>> {
        let a = a.into();
        self.permute(a, &last_two("transpose_batch", a.shape().len())?)
    }

    /// [`Device::transpose_batch`] to memory of the caller's, whatever its strides.
    ///
    /// # Errors
    /// `a` has less than two axes; as [`Device::permute_into`].
    pub fn transpose_batch_into<'a, 'b, T: Element>(
        &self,
        a: impl Into<TensorView<'a, T>>,
        b: impl Into<TensorViewMut<'b, T>>,
    ) -> Result<()> {
        batch(self, None, a.into(), b.into())
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
        into(self.device(), Some(self), a.into(), b.into())
    }

    /// [`Device::transpose_in_place`] as work of this stream.
    ///
    /// # Errors
    /// As [`Device::transpose_in_place`].
    pub fn transpose_in_place<'a, T: Element>(&self, a: impl Into<MatrixViewMut<'a, T>>) -> Result<()> {
        within(self.device(), Some(self), a.into())
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
        batch(self.device(), Some(self), a.into(), b.into())
    }
}

/// The order of `rank` axes in which the last two have changed places.
fn last_two(call: &str, rank: usize) -> Result<Vec<usize>> {
    let mut axes: Vec<_> = (0..rank).collect();
    if rank < 2 {
        let remedy = "give it with as_tensor(&[batch, rows, cols])";
        return Err(shape(call, "a", "at least two axes, rows and columns", &format!("{rank}"), remedy));
    }
    axes.swap(rank - 2, rank - 1);
    Ok(axes)
}

/// B = Aᵀ.
pub(super) fn into<T: Element>(
    device: &Device,
    stream: Option<&Stream>,
    a: MatrixView<'_, T>,
    b: MatrixViewMut<'_, T>,
) -> Result<()> {
    let (m, n) = (a.rows(), a.cols());
    if (b.rows(), b.cols()) != (n, m) {
        let (expected, found) =
            (format!("{n} x {m}, columns of a by rows of a"), format!("{} x {}", b.rows(), b.cols()));
        return Err(shape("transpose_into", "b", &expected, &found, "give b the transposed shape"));
    }
    if permute::is_short(m.min(n), size_of::<T>()) {
        return permute::run(device, stream, "transpose_into", (a.into(), &[1, 0]), b.into());
    }
    match size_of::<T>() {
        1 => matrices::<T, u8>(device, stream, (&transpose_b8, &transpose_misaligned_b8), a, b),
        2 => matrices::<T, u16>(device, stream, (&transpose_b16, &transpose_misaligned_b16), a, b),
        4 => matrices::<T, f32>(device, stream, (&transpose_b32, &transpose_misaligned_b32), a, b),
        8 => matrices::<T, u64>(device, stream, (&transpose_b64, &transpose_misaligned_b64), a, b),
        _ => matrices::<T, Vec4<u32>>(device, stream, (&transpose_b128, &transpose_misaligned_b128), a, b),
    }
}

fn batch<T: Element>(
    device: &Device,
    stream: Option<&Stream>,
    a: TensorView<'_, T>,
    b: TensorViewMut<'_, T>,
) -> Result<()> {
    let axes = last_two("transpose_batch_into", a.shape().len())?;
    permute::run(device, stream, "transpose_batch_into", (a, &axes), b)
}

type Transpose<U> = Kernel<(MatRef<'static, U>, MatMut<'static, U>)>;

/// Whether every row of a matrix starts at a multiple of so many bytes.
fn starts_at<T>(bytes: usize, address: *const T, ld: usize) -> bool {
    address.addr().is_multiple_of(bytes) && (ld * size_of::<T>()).is_multiple_of(bytes)
}

/// Launches the first kernel where each row of `a` starts at a multiple of 16 bytes, the widest load, and each of `b` at a
/// sector of memory; else the second, which shifts what it writes. Their elements have the size of `T`.
fn matrices<T: Element, U: Element>(
    device: &Device,
    stream: Option<&Stream>,
    (whole, skewed): (&Transpose<U>, &Transpose<U>),
    a: MatrixView<'_, T>,
    b: MatrixViewMut<'_, T>,
) -> Result<()> {
    let (a, mut b) = (a.bits::<U>(), b.bits_mut::<U>());
    let (m, n, size) = (a.rows(), a.cols(), size_of::<U>());
    let aligned = starts_at(16, a.address(), a.ld()) && starts_at(32, b.view().address(), b.ld());
    let cols = if aligned { swizzled::COLS } else { misaligned::COLS };
    // Blocks go along a's rows in x, which is nearly unlimited, and along its columns in y.
    for columns in bands(n, cols[size.trailing_zeros() as usize], device.limits().grid[1]) {
        let (kernel, grid) = if aligned {
            (whole, swizzled::grid_of(size, m as u32, columns.len() as u32))
        } else {
            (skewed, misaligned::grid(size, m as u32, columns.len() as u32))
        };
        let rows = b.view_mut().block(columns.clone(), 0..m)?;
        device.launch(kernel, on(stream, Launch::grid(grid)), (a.block(0..m, columns)?, rows))?;
    }
    Ok(())
}

fn within<T: Element>(device: &Device, stream: Option<&Stream>, a: MatrixViewMut<'_, T>) -> Result<()> {
    if a.rows() != a.cols() {
        let (expected, found) =
            (format!("a square matrix, {0} x {0}", a.rows()), format!("{} x {}", a.rows(), a.cols()));
        let remedy = "take transpose or transpose_into for a matrix that is not square";
        return Err(shape("transpose_in_place", "a", &expected, &found, remedy));
    }
    if a.is_empty() {
        return Ok(());
    }
    let launch = on(stream, Launch::grid(in_place::grid(size_of::<T>(), a.rows() as u32)));
    match size_of::<T>() {
        1 => device.launch(&transpose_in_place_b8, launch, (a.bits_mut::<u8>(),)),
        2 => device.launch(&transpose_in_place_b16, launch, (a.bits_mut::<u16>(),)),
        4 => device.launch(&transpose_in_place_b32, launch, (a.bits_mut::<f32>(),)),
        8 => device.launch(&transpose_in_place_b64, launch, (a.bits_mut::<u64>(),)),
        _ => device.launch(&transpose_in_place_b128, launch, (a.bits_mut::<Vec4<u32>>(),)),
    }?;
    Ok(())
}
