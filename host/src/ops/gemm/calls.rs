//! What is done with a description: `run`, `into`, `plans`.

use super::{Algorithm, CALL, Gemm, Multiply, Output, Plan, plan, problem};
use crate::error::Result;
use crate::memory::{Matrix, Tensor, TensorView, TensorViewMut};

impl<T: Multiply> Gemm<'_, T> {
    /// C in memory of its own, in the type of A and B. Where a split along k or a copy of an operand pays and no workspace was
    /// given, it takes memory for the time, and waits for the end.
    ///
    /// # Errors
    /// As [`Gemm::into`]; A or B is a batch; beta is not 0; as [`Device::alloc_matrix`](crate::Device::alloc_matrix).
    pub fn run(self) -> Result<Matrix<T>>
    where
        T: Output<T>,
    {
        self.allocate()
    }

    /// [`Gemm::run`] with C in the type of the sums: `f32` where A and B are `f16` or `bf16`.
    ///
    /// # Errors
    /// As [`Gemm::run`].
    pub fn run_wide(self) -> Result<Matrix<T::Wide>>
    where
        T::Wide: Output<T>,
    {
        self.allocate()
    }

    /// [`Gemm::run`] for a batch: C has the axes batch, rows and columns.
    ///
    /// ```
    /// let device = warpwright::Device::simulator();
    /// let a = device.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let b = device.upload(&[10.0_f32, 1.0])?;
    /// // Three rows of two, each times one and the same column.
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
        let (m, n) = problem::inner(a, b)?;
        self.without_beta()?;
        let mut c = Tensor::alloc(self.device, CALL, &[problem::batch(a, b).unwrap_or(1), m, n])?;
        self.with_memory(c.view_mut())?;
        Ok(c)
    }

    /// Queues the product to C, memory of the caller's: a matrix, or a tensor of three axes for a batch. Nothing is allocated,
    /// nobody waits. (That C shares no element with A, B or the bias, their borrows see to.)
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
    /// - [`crate::Error::Argument`]: shapes, batches or the length of the bias that do not agree; a batch of no matrix; memory
    ///   that is a matrix neither by rows nor by columns, or whose leading dimension is too small; more than 2³² − 1 along k;
    ///   a way that does not compute this product, or too little workspace for it; memory of another device.
    /// - As [`Device::launch`](crate::Device::launch).
    pub fn into<'c, C: Output<T>>(self, c: impl Into<TensorViewMut<'c, C>>) -> Result<()> {
        let grid = self.device.limits().grid;
        self.into_sections(&mut c.into(), grid)
    }

    /// All ways to the product with such a C, whatever the workspace, the cheapest by the cost model first. [`Gemm::into`] takes
    /// the first for which there is workspace.
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
        Ok(plan::plans::<T>(&self.problem(c.into())?, self.demands::<C>()))
    }

    /// The plan for one way to the product with such a C, whether [`Gemm::plans`] lists it or not: other splits, and copies of
    /// operands that a kernel would take as they lie.
    ///
    /// # Errors
    /// As [`Gemm::into`], before anything is launched.
    pub fn plan<'c, C: Output<T>>(&self, algorithm: Algorithm, c: impl Into<TensorView<'c, C>>) -> Result<Plan> {
        Self::named(&self.problem(c.into())?, self.demands::<C>(), algorithm)
    }
}
