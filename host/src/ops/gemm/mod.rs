//! Matrix products in BLAS's words: C = act(alpha · op(A)·op(B) + beta · C + bias).
//!
//! ```
//! use ndarray::array;
//! let device = warpwright::Device::simulator();
//! let a = device.upload(&array![[1.0_f32, 2.0], [3.0, 4.0]])?;
//! let b = device.upload(&array![[1.0_f32, -1.0], [0.0, 1.0]])?;
//! let bias = device.upload(&[10.0_f32, 0.0])?;
//! let c = device.gemm(&a, &b).alpha(2.0).bias(&bias).relu().run()?;
//! assert_eq!(c.download()?, array![[12.0, 2.0], [16.0, 2.0]]);
//! # Ok::<(), warpwright::Error>(())
//! ```
//!
//! | A, B | sums | C | |
//! |---|---|---|---|
//! | `f32` | `f32`, every product rounded once with its sum | `f32` | tf32 with [`Gemm::arithmetic`] |
//! | `f16` | `f32` | `f16` or `f32` | |
//! | `bf16` | `f32` | `bf16` or `f32` | |
//! | `f64` | `f64` | `f64` | no GELU |
//!
//! **Memory.** A, B and C are matrices, or tensors of three axes: a batch. Their rows may be any distance apart, and so may
//! their columns, if the elements of each column follow each other instead (Fortran's order): such a matrix is
//! `as_tensor_strided(&[m, n], &[1, ld])`. A matrix stands for a whole batch of itself; so does a stride of 0. Extents have 64
//! bits, but for k, which has 32.
//!
//! **What is not read.** C with beta = 0; A and B with alpha = 0 or k = 0. So NaNs there do not matter.
//!
//! **Work.** [`Gemm::into`] queues launches and nothing else: no allocation, no waiting; it can be captured in a CUDA graph once
//! a product of the kind has loaded the kernels. Memory for partial products is the caller's, [`Gemm::workspace`]; without it k
//! is not split. The result has the same bits, run after run; which bits depends on the [`Way`], which [`Gemm::plans`]
//! lists and [`Gemm::way`] fixes.

mod candidates;
mod element;
mod plan;
mod problem;
mod run;
mod stored;

use gpu::gemm::call::{GELU, RELU};
use simt::element::Element;

pub use element::{Multiply, Output};
pub use plan::{Plan, Way};

use self::element::Destination;
use self::plan::Demands;
use self::problem::Problem;
use self::run::Task;
use self::stored::Stored;
use crate::device::Device;
use crate::error::{ArgumentRule, BadArgument, Result};
use crate::memory::{BufferView, BufferViewMut, Layout, Matrix, Tensor, TensorView, TensorViewMut};
use crate::stream::Stream;

/// What messages call it.
const CALL: &str = "gemm";

/// op(X) = X or Xᵀ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Op {
    /// X.
    #[default]
    N,
    /// Xᵀ.
    T,
}

/// What is done to alpha · op(A)·op(B) + beta · C + bias.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activation {
    /// Nothing.
    #[default]
    None,
    /// max(x, 0); a NaN stays one.
    Relu,
    /// x·Φ(x) with Φ the normal distribution function, (1 + erf(x/√2)) / 2: the exact form, not that by tanh.
    Gelu,
}

/// How products of `f32` are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Arithmetic {
    /// With all bits of the operands; sums of `f32`, `f16` and `bf16` are `f32`.
    #[default]
    Full,
    /// With `f32` operands rounded to 10 bits after the point (tf32), as tensor cores take them; sums are `f32`.
    Tf32,
}

/// Which elements of C share a number of the bias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bias {
    PerColumn,
    PerRow,
}

/// A matrix product that is being described: see [`Device::gemm`] and [the module](self).
#[derive(Debug)]
#[must_use = "a description of a product multiplies nothing: call `run` or `into`"]
pub struct Gemm<'a, T: Multiply> {
    device: &'a Device,
    stream: Option<&'a Stream>,
    a: TensorView<'a, T>,
    b: TensorView<'a, T>,
    ops: [Op; 2],
    alpha: T::Wide,
    beta: T::Wide,
    bias: Option<(Bias, BufferView<'a, T::Wide>)>,
    activation: Activation,
    arithmetic: Arithmetic,
    way: Option<Way>,
    workspace: Option<BufferViewMut<'a, f32>>,
}

impl Device {
    /// A product of A and B, matrices or batches of them, to be described further and run: [`gemm`](self).
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
            activation: Activation::None,
            arithmetic: Arithmetic::Full,
            way: None,
            workspace: None,
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

    /// The factor of op(A)·op(B); without it 1. With 0 neither A nor B is read.
    pub fn alpha(self, alpha: T::Wide) -> Self {
        Self { alpha, ..self }
    }

    /// The factor of C's old value; without it 0, and C is not read.
    pub fn beta(self, beta: T::Wide) -> Self {
        Self { beta, ..self }
    }

    /// Adds one number to each column of C: a vector along n.
    pub fn bias(self, bias: impl Into<BufferView<'a, T::Wide>>) -> Self {
        Self { bias: Some((Bias::PerColumn, bias.into())), ..self }
    }

    /// Adds one number to each row of C: a vector along m.
    pub fn bias_per_row(self, bias: impl Into<BufferView<'a, T::Wide>>) -> Self {
        Self { bias: Some((Bias::PerRow, bias.into())), ..self }
    }

    /// Negative results become 0.
    pub fn relu(self) -> Self {
        Self { activation: Activation::Relu, ..self }
    }

    /// The stream whose work it becomes; without it, the device's default stream.
    pub fn stream(self, stream: &'a Stream) -> Self {
        Self { stream: Some(stream), ..self }
    }

    /// This way and no other: one of those that [`Gemm::plans`] lists, or one of another split.
    pub fn way(self, way: Way) -> Self {
        Self { way: Some(way), ..self }
    }

    /// Memory for partial products: [`Plan::workspace_len`] says how much a way needs. Its content is of no use before or after.
    /// With more memory than needed the rest stays as it is; with less, ways are chosen that fit.
    pub fn workspace(self, workspace: impl Into<BufferViewMut<'a, f32>>) -> Self {
        Self { workspace: Some(workspace.into()), ..self }
    }

    /// C in memory of its own, in the type of A and B. Where a split along k pays and no workspace was given, it takes
    /// memory for the time, and waits for the end.
    ///
    /// # Errors
    /// As [`Gemm::into`]; A or B is a batch; beta is not 0; as [`Device::alloc_matrix`].
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
    /// As [`Gemm::into`]; beta is not 0; as [`Device::alloc`].
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
    /// - As [`Device::launch`].
    pub fn into<'c, C: Output<T>>(self, c: impl Into<TensorViewMut<'c, C>>) -> Result<()> {
        let mut c = c.into();
        let problem = self.problem(c.view())?;
        let plan = self.choose(&problem, self.demands::<C>())?;
        self.queue(&problem, &plan, &mut c)
    }

    /// All ways to the product with such a C, whatever the workspace, the cheapest by the cost model first. [`Gemm::into`] takes
    /// the first for which there is workspace.
    ///
    /// ```
    /// let device = warpwright::Device::simulator();
    /// let (a, b) = (device.alloc_matrix_zeros::<f32>(64, 4096)?, device.alloc_matrix_zeros(4096, 64)?);
    /// let mut c = device.alloc_matrix::<f32>(64, 64)?;
    /// let best = device.gemm(&a, &b).plans(&c)?[0];
    /// println!("{}, {} x {} tiles", best.way(), best.tile()[0], best.tile()[1]);
    /// let mut workspace = device.alloc(best.workspace_len())?;
    /// device.gemm(&a, &b).way(best.way()).workspace(&mut workspace).into(&mut c)?;
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Gemm::into`], before anything is launched.
    pub fn plans<'c, C: Output<T>>(&self, c: impl Into<TensorView<'c, C>>) -> Result<Vec<Plan>> {
        Ok(plan::plans::<T>(&self.problem(c.into())?, self.demands::<C>()))
    }

    fn allocate<C: Output<T>>(self) -> Result<Matrix<C>> {
        let [a, b] = self.operands()?;
        let (m, n) = problem::inner(a, b)?;
        self.without_beta()?;
        if let Some(batch) = problem::batch(a, b) {
            return Err(BadArgument::new(ArgumentRule::Axes, CALL, "a")
                .expected("two matrices, for a result that is one")
                .found(format_args!("a batch of {batch}"))
                .remedy("take run_batch")
                .into());
        }
        let mut c = self.device.alloc_matrix(m, n)?;
        self.with_memory(c.view_mut().into())?;
        Ok(c)
    }

    /// [`Gemm::into`], with a workspace if the cheapest way needs one that was not given.
    fn with_memory<C: Output<T>>(self, mut c: TensorViewMut<'_, C>) -> Result<()> {
        let problem = self.problem(c.view())?;
        let demands = self.demands::<C>();
        let wanted = match self.way {
            Some(way) => plan::named::<T>(&problem, demands, way),
            None => plan::plans::<T>(&problem, demands).first().copied(),
        };
        match wanted {
            Some(plan) if self.workspace.is_none() && plan.workspace > 0 => {
                let device = self.device;
                let mut workspace = device.alloc(plan.workspace)?;
                Gemm { workspace: Some(workspace.view_mut()), ..self }.queue(&problem, &plan, &mut c)
            }
            _ => self.into(c),
        }
    }

    fn operands(&self) -> Result<[Stored; 2]> {
        let [a, b] = self.ops;
        Ok([Stored::of("a", self.a.axes(), a)?, Stored::of("b", self.b.axes(), b)?])
    }

    /// The product, checked.
    fn problem<C: Element>(&self, c: TensorView<'_, C>) -> Result<Problem> {
        let [a, b] = self.operands()?;
        let bias = self.bias.as_ref().map(|(kind, numbers)| (*kind, numbers.len()));
        let problem = Problem::new(a, b, Stored::of("c", c.axes(), Op::N)?, bias, self.alpha != T::Wide::from(0.0))?;
        let same = |device: &Device, argument| self.device.check_same(device, CALL, argument);
        same(self.a.device(), "a")?;
        same(self.b.device(), "b")?;
        same(c.device(), "c")?;
        self.bias.as_ref().map_or(Ok(()), |(_, numbers)| same(numbers.device(), "bias"))?;
        self.workspace.as_ref().map_or(Ok(()), |workspace| same(workspace.device(), "workspace"))?;
        Ok(problem)
    }

    fn demands<C: Element>(&self) -> Demands {
        let plain = self.alpha == T::Wide::from(1.0) && self.bias.is_none() && self.activation == Activation::None;
        Demands {
            arithmetic: self.arithmetic,
            finished: !plain,
            adds_to_c: self.beta != T::Wide::from(0.0),
            element: size_of::<C>(),
            multiprocessors: self.device.limits().multiprocessors,
        }
    }

    /// The way that was named, or the cheapest for which there is workspace.
    fn choose(&self, problem: &Problem, demands: Demands) -> Result<Plan> {
        let room = self.workspace.as_ref().map_or(0, BufferViewMut::len);
        let plans = plan::plans::<T>(problem, demands);
        let Some(way) = self.way else {
            // The plain kernel computes everything, without workspace.
            return plans.into_iter().find(|plan| plan.workspace <= room).ok_or_else(|| no_way("any", "none"));
        };
        let Some(plan) = plan::named::<T>(problem, demands, way) else {
            let mut names: Vec<_> = plans.iter().map(|plan| plan.way().kernel().name).collect();
            names.sort_unstable();
            names.dedup();
            return Err(no_way(&names.join(", "), &way.to_string()));
        };
        if plan.workspace <= room {
            return Ok(plan);
        }
        Err(BadArgument::new(ArgumentRule::Length, CALL, "workspace")
            .expected(format_args!("at least {} elements for {}", plan.workspace, plan.way()))
            .found(room)
            .remedy("allocate as many as Plan::workspace_len says, or take a way without a split")
            .into())
    }

    fn without_beta(&self) -> Result<()> {
        if self.beta == T::Wide::from(0.0) {
            return Ok(());
        }
        Err(BadArgument::new(ArgumentRule::Shape, CALL, "beta")
            .expected("0, since C is new memory")
            .found(format_args!("{:?}", self.beta))
            .remedy("take Gemm::into with the C that is to be added to")
            .into())
    }

    /// Launches what the plan says.
    fn queue<C: Output<T>>(mut self, problem: &Problem, plan: &Plan, c: &mut TensorViewMut<'_, C>) -> Result<()> {
        if problem.is_empty() {
            return Ok(());
        }
        let activation = match self.activation {
            Activation::None => 0,
            Activation::Relu => RELU,
            Activation::Gelu => GELU,
        };
        let (a, b) = if problem.exchanged { (self.b, self.a) } else { (self.a, self.b) };
        let alpha = if problem.k == 0 { T::Wide::from(0.0) } else { self.alpha };
        let task = Task {
            device: self.device,
            stream: self.stream,
            problem,
            plan,
            a,
            b,
            bias: self.bias.map(|(_, numbers)| numbers),
            scale: [alpha, self.beta],
            flags: problem.bias | activation,
            grid: self.device.limits().grid,
        };
        let elements = c.view().axes().span().unwrap_or(0);
        task.run(Destination::of(c.bits_mut::<C>(0, elements)), self.workspace.as_mut())
    }
}

impl<T: Multiply<Wide = f32>> Gemm<'_, T> {
    /// x·Φ(x) of the result: see [`Activation::Gelu`].
    pub fn gelu(self) -> Self {
        self.activation(Activation::Gelu)
    }

    /// What is done to the result before it is rounded to C's type.
    pub fn activation(self, activation: Activation) -> Self {
        Self { activation, ..self }
    }
}

impl Gemm<'_, f32> {
    /// How `f32` is multiplied; without it [`Arithmetic::Full`].
    pub fn arithmetic(self, arithmetic: Arithmetic) -> Self {
        Self { arithmetic, ..self }
    }
}

fn no_way(expected: &str, found: &str) -> crate::Error {
    BadArgument::new(ArgumentRule::Way, CALL, "way")
        .expected(format_args!("a way to this product: {expected}"))
        .found(found)
        .remedy("take one that Gemm::plans lists; kernels differ in layouts, types and arithmetic, a split wants one product")
        .into()
}

/// A matrix row by row without gaps.
fn rows(rows: usize, cols: usize, ld: usize) -> Layout {
    Layout::contiguous(rows, cols).ld(ld)
}
