//! Transposition.

use gpu::transpose::swizzled::{TILE, grid, transpose_f32};

use super::{bands, shape};
use crate::device::Device;
use crate::error::Result;
use crate::launch::Launch;
use crate::memory::{Matrix, MatrixView, MatrixViewMut};

impl Device {
    /// Aᵀ: `a` is m × n, the result n × m, its bits those of `a`.
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
    pub fn transpose<'a>(&self, a: impl Into<MatrixView<'a, f32>>) -> Result<Matrix<f32>> {
        let a = a.into();
        let mut b = self.alloc_matrix(a.cols(), a.rows())?;
        self.transpose_into(a, &mut b)?;
        Ok(b)
    }

    /// B = Aᵀ, as [`Device::transpose`], to memory of the caller's.
    ///
    /// # Errors
    /// `b` is not n × m; as [`Device::launch`].
    pub fn transpose_into<'a, 'b>(
        &self,
        a: impl Into<MatrixView<'a, f32>>,
        b: impl Into<MatrixViewMut<'b, f32>>,
    ) -> Result<()> {
        let (a, mut b) = (a.into(), b.into());
        let (m, n) = (a.rows(), a.cols());
        if (b.rows(), b.cols()) != (n, m) {
            let (expected, found) =
                (format!("{n} x {m}, columns of a by rows of a"), format!("{} x {}", b.rows(), b.cols()));
            return Err(shape("transpose_into", "b", &expected, &found, "give b the transposed shape"));
        }
        if a.is_empty() {
            return Ok(());
        }
        // Blocks go along a's columns in x, which is nearly unlimited, and along its rows in y.
        for rows in bands(m, TILE, self.limits().grid[1]) {
            let grid = grid(rows.len() as u32, n as u32);
            let columns = b.view_mut().block(0..n, rows.clone())?;
            self.launch(&transpose_f32, Launch::grid(grid), (a.block(rows, 0..n)?, columns))?;
        }
        Ok(())
    }
}
