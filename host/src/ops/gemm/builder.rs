//! The builder of a call.

use simt::float8::{E4m3, E5m2};

use super::algorithm::Algorithm;
use super::element::{Multiply, Quantized};
use super::options::{Activation, Arithmetic, Bias, Op};
use crate::device::Device;
use crate::memory::{BufferView, BufferViewMut, MatrixView, TensorView};
use crate::stream::Stream;

/// A builder for a matrix product: see [`Device::gemm`] and [the module](crate::gemm).
#[derive(Debug)]
#[must_use = "a builder computes nothing: call `run` or `into`"]
pub struct Gemm<'a, T: Multiply> {
    pub(super) device: &'a Device,
    pub(super) stream: Option<&'a Stream>,
    pub(super) a: TensorView<'a, T>,
    pub(super) b: TensorView<'a, T>,
    pub(super) ops: [Op; 2],
    pub(super) alpha: T::Wide,
    pub(super) beta: T::Wide,
    pub(super) bias: Option<(Bias, BufferView<'a, T::Wide>)>,
    /// Factors of the rows and of the columns of op(A)·op(B).
    pub(super) scales: [Option<BufferView<'a, f32>>; 2],
    /// Factors of blocks of op(A) and of op(B).
    pub(super) block_scales: Option<[MatrixView<'a, f32>; 2]>,
    pub(super) activation: Activation,
    pub(super) arithmetic: Arithmetic,
    pub(super) algorithm: Option<Algorithm>,
    /// Whether only kernels that accumulate sequentially in order of k may be chosen.
    pub(super) sequential: bool,
    pub(super) workspace: Option<BufferViewMut<'a, f32>>,
    pub(super) sm_count_target: Option<u32>,
}

impl Device {
    /// A builder for the product of A and B, matrices or batches of matrices: see [`gemm`](crate::gemm).
    ///
    /// ```
    /// use ndarray::array;
    /// let device = warpwright::Device::simulator();
    /// let a = device.upload(&array![[1.0_f64, 2.0], [3.0, 4.0]])?;
    /// assert_eq!(device.gemm(&a, &a).run()?.download()?, array![[7.0, 10.0], [15.0, 22.0]]);
    /// // A·Aᵀ, added to what C has.
    /// let mut c = device.upload(&array![[100.0, 0.0], [0.0, 100.0]])?;
    /// device.gemm(&a, &a).transpose_b().beta(1.0).into(&mut c)?;
    /// assert_eq!(c.download()?, array![[105.0, 11.0], [11.0, 125.0]]);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    pub fn gemm<'a, T: Multiply>(
        &'a self,
        a: impl Into<TensorView<'a, T>>,
        b: impl Into<TensorView<'a, T>>,
    ) -> Gemm<'a, T> {
        Gemm {
            device: self,
            stream: None,
            a: a.into(),
            b: b.into(),
            ops: [Op::N; 2],
            alpha: T::Wide::from(1.0),
            beta: T::Wide::from(0.0),
            bias: None,
            scales: [None; 2],
            block_scales: None,
            activation: Activation::None,
            arithmetic: Arithmetic::Full,
            algorithm: None,
            sequential: false,
            workspace: None,
            sm_count_target: None,
        }
    }
}

impl<'a, T: Multiply> Gemm<'a, T> {
    /// op(A) and op(B), as BLAS's `trans` arguments.
    pub fn op(self, a: Op, b: Op) -> Self {
        Self { ops: [a, b], ..self }
    }

    /// op(A) = Aᵀ: A is k × m.
    pub fn transpose_a(self) -> Self {
        Self { ops: [Op::T, self.ops[1]], ..self }
    }

    /// op(B) = Bᵀ: B is n × k.
    pub fn transpose_b(self) -> Self {
        Self { ops: [self.ops[0], Op::T], ..self }
    }

    /// The factor of op(A)·op(B); 1 by default. With 0 neither A nor B is read.
    pub fn alpha(self, alpha: T::Wide) -> Self {
        Self { alpha, ..self }
    }

    /// The factor of C's old value; 0 by default. With 0 C is not read.
    pub fn beta(self, beta: T::Wide) -> Self {
        Self { beta, ..self }
    }

    /// Adds one number to each column of C: a vector of length n.
    pub fn bias(self, bias: impl Into<BufferView<'a, T::Wide>>) -> Self {
        Self { bias: Some((Bias::PerColumn, bias.into())), ..self }
    }

    /// Adds one number to each row of C: a vector of length m.
    pub fn bias_per_row(self, bias: impl Into<BufferView<'a, T::Wide>>) -> Self {
        Self { bias: Some((Bias::PerRow, bias.into())), ..self }
    }

    /// Applies max(x, 0) to the result: see [`Activation::Relu`].
    pub fn relu(self) -> Self {
        Self { activation: Activation::Relu, ..self }
    }

    /// Queues the work on this stream instead of the device's default stream.
    pub fn stream(self, stream: &'a Stream) -> Self {
        Self { stream: Some(stream), ..self }
    }

    /// Uses this algorithm: one that [`Gemm::plans`] lists, or one with another split.
    pub fn algorithm(self, algorithm: Algorithm) -> Self {
        Self { algorithm: Some(algorithm), ..self }
    }

    /// Uses kernels that accumulate sequentially in order of k only.
    pub(in crate::ops) fn sequential(self) -> Self {
        Self { sequential: true, ..self }
    }

    /// The number of SMs that the work should occupy, for work that runs beside other kernels; all by default. Plans
    /// are made for that many, and kernels that load by TMA launch at most as many blocks as run on them at once, each
    /// of which computes several tiles of C. Other kernels launch a block for each tile. As
    /// `CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET`; 0 counts as 1.
    pub fn sm_count_target(self, sm_count: u32) -> Self {
        Self { sm_count_target: Some(sm_count.max(1)), ..self }
    }

    /// Memory for partial products and for copies of operands;
    /// [`Plan::workspace_len`](crate::gemm::Plan::workspace_len) says how much an algorithm needs. Its content does not
    /// matter before, and means nothing after. Memory beyond what is needed is not changed; with too little for the
    /// cheapest algorithm, one that needs less is chosen.
    ///
    /// Stream-K kernels read flags in it that nothing need have written. compute-sanitizer's initcheck reports that,
    /// unless the workspace was zeroed once: [`Device::alloc_zeros`].
    pub fn workspace(self, workspace: impl Into<BufferViewMut<'a, f32>>) -> Self {
        Self { workspace: Some(workspace.into()), ..self }
    }
}

impl<'a, T: Quantized> Gemm<'a, T> {
    /// Multiplies each row of op(A)·op(B) by a factor: a vector of length m, the same for all matrices of a batch. Only
    /// with the kernels for Hopper, and not for a C of `i32`.
    ///
    /// ```
    /// use ndarray::array;
    /// let device = warpwright::Device::simulator();
    /// let a = device.upload(&array![[1_i8, 2], [3, 4]])?;
    /// let (rows, columns) = (device.upload(&[0.5_f32, 2.0])?, device.upload(&[1.0_f32, 10.0])?);
    /// let gemm = device.gemm(&a, &a).transpose_b().row_scales(&rows).column_scales(&columns);
    /// assert_eq!(gemm.run_as::<f32>()?.download()?, array![[2.5, 55.0], [22.0, 500.0]]);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    pub fn row_scales(self, factors: impl Into<BufferView<'a, f32>>) -> Self {
        Self { scales: [Some(factors.into()), self.scales[1]], ..self }
    }

    /// Multiplies each column of op(A)·op(B) by a factor: a vector of length n. See [`Gemm::row_scales`].
    pub fn column_scales(self, factors: impl Into<BufferView<'a, f32>>) -> Self {
        Self { scales: [self.scales[0], Some(factors.into())], ..self }
    }
}

impl<T: Multiply<Wide = f32>> Gemm<'_, T> {
    /// Applies x·Φ(x) to the result: see [`Activation::Gelu`].
    pub fn gelu(self) -> Self {
        self.activation(Activation::Gelu)
    }

    /// Applies a function to the result before it is rounded to C's type.
    pub fn activation(self, activation: Activation) -> Self {
        Self { activation, ..self }
    }
}

impl<'a> Gemm<'a, E4m3> {
    /// Factors of blocks: `a` of each row of op(A) and 128 of k, m × ⌈k / 128⌉; `b` of 128 columns of op(B) and 128 of
    /// k, ⌈n / 128⌉ × ⌈k / 128⌉. The products of 128 of k are added, then multiplied by both factors, then added to the
    /// sum of the others. Only with the kernels for Hopper, for a single product with a row-major C, and without
    /// [`Gemm::row_scales`] and [`Gemm::column_scales`].
    ///
    /// ```
    /// use ndarray::Array2;
    /// use warpwright::E4m3;
    /// let device = warpwright::Device::simulator();
    /// let ones = device.upload(&Array2::from_elem((16, 256), E4m3::from_f32(1.0)))?;
    /// let a_scales = device.upload(&Array2::from_shape_fn((16, 2), |(_, block)| [1.0_f32, 10.0][block]))?;
    /// let b_scales = device.upload(&Array2::from_elem((1, 2), 0.5_f32))?;
    /// let c = device.gemm(&ones, &ones).transpose_b().block_scales(&a_scales, &b_scales).run_as::<f32>()?;
    /// assert_eq!(c.download()?[[0, 0]], 128.0 * 0.5 + 1280.0 * 0.5);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    pub fn block_scales(self, a: impl Into<MatrixView<'a, f32>>, b: impl Into<MatrixView<'a, f32>>) -> Self {
        Self { block_scales: Some([a.into(), b.into()]), ..self }
    }

    /// How `E4m3` operands are multiplied: [`Arithmetic::Full`], the default, or [`Arithmetic::FastAccumulation`].
    pub fn arithmetic(self, arithmetic: Arithmetic) -> Self {
        Self { arithmetic, ..self }
    }
}

impl Gemm<'_, E5m2> {
    /// How `E5m2` operands are multiplied: [`Arithmetic::Full`], the default, or [`Arithmetic::FastAccumulation`].
    pub fn arithmetic(self, arithmetic: Arithmetic) -> Self {
        Self { arithmetic, ..self }
    }
}

impl Gemm<'_, f32> {
    /// How `f32` operands are multiplied; [`Arithmetic::Full`] by default.
    pub fn arithmetic(self, arithmetic: Arithmetic) -> Self {
        Self { arithmetic, ..self }
    }
}
