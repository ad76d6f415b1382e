//! Products of matrices in order of k: a short form of [`gemm`](super::gemm).

use simt::element::Element;

use super::gemm::Sequential;
use super::shape;
use crate::device::Device;
use crate::error::Result;
use crate::memory::{Matrix, MatrixView, MatrixViewMut};

impl Device {
    /// A·B in `f32` or `f64`: `a` is m × k, `b` is k × n, the result m × n. [`Device::gemm`] multiplies other types,
    /// and is often faster.
    ///
    /// Each element is summed in order of k by fused multiply-adds from 0; with k = 0 it is 0.
    ///
    /// ```
    /// use ndarray::array;
    /// let device = warpwright::Device::simulator();
    /// let a = device.upload(&array![[1.0_f32, 2.0], [3.0, 4.0]])?;
    /// let b = device.upload(&array![[5.0_f32], [6.0]])?;
    /// assert_eq!(device.matmul(&a, &b)?.download()?, array![[17.0], [39.0]]);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// `b` does not have as many rows as `a` has columns; as [`Device::alloc_matrix`] and [`Device::launch`].
    pub fn matmul<'a, T: Sequential>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixView<'a, T>>,
    ) -> Result<Matrix<T>> {
        let (a, b) = (a.into(), b.into());
        check_inner(a, b)?;
        let mut c = self.alloc_matrix_on(self.queue(), a.rows(), b.cols())?;
        self.matmul_into(a, b, &mut c)?;
        Ok(c)
    }

    /// C = A·B: [`Device::matmul`] into `c`.
    ///
    /// # Errors
    /// `b` does not have as many rows as `a` has columns, or `c` is not m × n; as [`Device::launch`].
    pub fn matmul_into<'a, 'c, T: Sequential>(
        &self,
        a: impl Into<MatrixView<'a, T>>,
        b: impl Into<MatrixView<'a, T>>,
        c: impl Into<MatrixViewMut<'c, T>>,
    ) -> Result<()> {
        let (a, b, c) = (a.into(), b.into(), c.into());
        check_inner(a, b)?;
        let (m, n) = (a.rows(), b.cols());
        if (c.rows(), c.cols()) != (m, n) {
            let (expected, found) =
                (format!("{m} x {n}, rows of a by columns of b"), format!("{} x {}", c.rows(), c.cols()));
            return Err(shape("matmul_into", "c", &expected, &found, "pass a matrix c of that shape"));
        }
        self.gemm(a, b).sequential().into(c)
    }
}

fn check_inner<T: Element>(a: MatrixView<'_, T>, b: MatrixView<'_, T>) -> Result<()> {
    if a.cols() == b.rows() {
        return Ok(());
    }
    let expected = format!("{} rows, as many as a has columns", a.cols());
    let found = format!("{} x {}", b.rows(), b.cols());
    Err(shape("matmul", "b", &expected, &found, "check the order of the factors, or transpose one"))
}
