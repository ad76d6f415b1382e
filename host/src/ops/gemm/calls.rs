//! The calls that end a builder: `run`, `into`, `plans`.

use super::algorithm::{Algorithm, Plan};
use super::builder::Gemm;
use super::element::{Multiply, Output};
use super::options::CALL;
use super::{planner, problem};
use crate::error::Result;
use crate::memory::{Matrix, Tensor, TensorView, TensorViewMut};

impl<T: Multiply> Gemm<'_, T> {
    /// Allocates C, in the type of A and B. If the cheapest algorithm needs a workspace and none was given, it is
    /// allocated for the call, which then waits for the end.
    ///
    /// # Errors
    /// As [`Gemm::into`]; A or B is a batch; beta is not 0; as [`Device::alloc_matrix`](crate::Device::alloc_matrix).
    pub fn run(self) -> Result<Matrix<T>>
    where
        T: Output<T>,
    {
        self.allocate()
    }

    /// As [`Gemm::run`], with C in the type of the sums: `f32` where A and B are `f16` or `bf16`.
    ///
    /// # Errors
    /// As [`Gemm::run`].
    pub fn run_wide(self) -> Result<Matrix<T::Wide>>
    where
        T::Wide: Output<T>,
    {
        self.allocate()
    }

    /// As [`Gemm::run`], with C in any type that it may have.
    ///
    /// ```
    /// use ndarray::array;
    /// let device = warpwright::Device::simulator();
    /// let a = device.upload(&array![[100_i8, -3], [0, 127]])?;
    /// let c = device.gemm(&a, &a).transpose_b().run_as::<i32>()?;
    /// assert_eq!(c.download()?, array![[10_009, -381], [-381, 16_129]]);
    /// let scaled = device.gemm(&a, &a).transpose_b().alpha(0.5).run_as::<f32>()?;
    /// assert_eq!(scaled.download()?[[0, 0]], 5004.5);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Gemm::run`].
    pub fn run_as<C: Output<T>>(self) -> Result<Matrix<C>> {
        self.allocate()
    }

    /// As [`Gemm::run`] for a batch: C has the axes batch, rows and columns.
    ///
    /// ```
    /// let device = warpwright::Device::simulator();
    /// let a = device.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let b = device.upload(&[10.0_f32, 1.0])?;
    /// // Three rows of two, each times the same column.
    /// let (a, b) = (a.view().as_tensor(&[3, 1, 2])?, b.view().as_tensor(&[2, 1])?);
    /// assert_eq!(device.gemm(a, b).run_batch()?.download()?, [12.0, 34.0, 56.0]);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Gemm::into`]; beta is not 0; as [`Device::alloc`](crate::Device::alloc).
    pub fn run_batch(self) -> Result<Tensor<T>>
    where
        T: Output<T>,
    {
        let [a, b] = self.operands()?;
        let (m, n) = problem::product_shape(a, b)?;
        self.check_no_beta()?;
        let mut c =
            Tensor::alloc(self.device, self.stream_queue()?, CALL, &[problem::batch_size(a, b).unwrap_or(1), m, n])?;
        self.into_with_workspace(c.view_mut())?;
        Ok(c)
    }

    /// Queues the product into C, a matrix, or a tensor of three axes for a batch. It allocates nothing and does not
    /// wait. (Their borrows ensure that C shares no element with A, B or the bias.)
    ///
    /// ```
    /// use ndarray::array;
    /// let device = warpwright::Device::simulator();
    /// let (a, b) = (device.upload(&array![[1.0_f32], [2.0]])?, device.upload(&array![[3.0_f32], [4.0]])?);
    /// let mut c = device.upload(&array![[1.0_f32, 1.0], [1.0, 1.0]])?;
    /// device.gemm(&a, &b).transpose_b().beta(-1.0).into(&mut c)?;
    /// assert_eq!(c.download()?, array![[2.0, 3.0], [5.0, 7.0]]);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`crate::Error::Argument`]: shapes, batch sizes or the length of the bias do not agree; a batch is empty; a
    ///   matrix is neither row-major nor column-major, or its leading dimension is too small; k > 2³² − 1; the
    ///   algorithm is not applicable, or the workspace is too small for it; memory or the stream of another device; C
    ///   is `i32`, and there is an alpha, a beta, a bias or an activation.
    /// - As [`Device::launch`](crate::Device::launch).
    pub fn into<'c, C: Output<T>>(self, c: impl Into<TensorViewMut<'c, C>>) -> Result<()> {
        let grid = self.device.limits().grid;
        self.into_with_grid(&mut c.into(), grid)
    }

    /// All plans for the product with such a C, whatever their workspace, the cheapest by the cost model first.
    /// [`Gemm::into`] takes the first for which there is workspace.
    ///
    /// ```
    /// let device = warpwright::Device::simulator();
    /// let (a, b) = (device.alloc_matrix_zeros::<f32>(64, 4096)?, device.alloc_matrix_zeros(4096, 64)?);
    /// let mut c = device.alloc_matrix::<f32>(64, 64)?;
    /// let best = device.gemm(&a, &b).plans(&c)?[0];
    /// println!("{}, {} x {} tiles", best.algorithm(), best.tile()[0], best.tile()[1]);
    /// let mut workspace = device.alloc(best.workspace_len())?;
    /// device.gemm(&a, &b).algorithm(best.algorithm()).workspace(&mut workspace).into(&mut c)?;
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Gemm::into`], before anything is launched.
    pub fn plans<'c, C: Output<T>>(&self, c: impl Into<TensorView<'c, C>>) -> Result<Vec<Plan>> {
        Ok(planner::plans::<T>(&self.request::<C>(&self.problem(c.into())?)))
    }

    /// The plan for one algorithm with such a C. It may be one that [`Gemm::plans`] does not list: with another split,
    /// or with copies that the kernel does not need.
    ///
    /// # Errors
    /// As [`Gemm::into`], before anything is launched.
    pub fn plan<'c, C: Output<T>>(&self, algorithm: Algorithm, c: impl Into<TensorView<'c, C>>) -> Result<Plan> {
        Self::plan_for(&self.request::<C>(&self.problem(c.into())?), algorithm)
    }
}
