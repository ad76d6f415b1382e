//! C = A·B on tensor cores: of `bf16`, and of `f32` as sums of `bf16`.

use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, Result};
use gpu::lab::tutorial_sm90::consumers::COLS;
use gpu::lab::tutorial_sm90::{BOX_A, BOX_B, grid};
use ndarray::ArrayView2;
use simt::tma::{Swizzle, TensorMap};
use simt::{Kernel, KernelInfo};
use warpwright::gemm::{Activation, Algorithm, Arithmetic, Gemm, Multiply, Output as GemmOutput};
use warpwright::half::bf16;
use warpwright::reference::{self, Format, Reference, U_F32};
use warpwright::simulator::Counters;
use warpwright::{Buffer, Device, Launch, Layout, MatrixView, MatrixViewMut, TmaTensor};

use crate::data::{Poison, Poisoned, random};
use crate::job::matmul::{self, by_panels};
use crate::job::{Finding, Job, Output, Task};
use crate::units::Work;

/// Operands of n × n `bf16` and the expected result, computed when first asked for.
pub(in crate::tutorial) struct Problem {
    n: usize,
    seed: u64,
    factors: OnceLock<[Vec<bf16>; 2]>,
    reference: OnceLock<Reference>,
}

impl Problem {
    pub(in crate::tutorial) fn new(n: usize, seed: u64) -> Self {
        Self { n, seed, factors: OnceLock::new(), reference: OnceLock::new() }
    }

    fn factors(&self) -> &[Vec<bf16>; 2] {
        use rand::Rng as _;
        let draw = |rng: &mut rand::rngs::StdRng| bf16::from_f32(rng.random_range(-1.0..=1.0));
        self.factors
            .get_or_init(|| [6, 7].map(|stream| random(vec![bf16::ZERO; self.n * self.n], self.seed, stream, draw)))
    }

    fn reference(&self) -> &Reference {
        self.reference.get_or_init(|| {
            let wide = |x: &[bf16]| x.iter().map(|x| x.to_f64()).collect::<Vec<_>>();
            let [a, b] = self.factors().each_ref().map(|x| wide(x));
            let [a, b] = [&a, &b].map(|x| ArrayView2::from_shape((self.n, self.n), x).expect("n · n elements"));
            by_panels(a, |rows| {
                let (a, b) = (rows.view(), b.view());
                let (c, bias, activation, output) = (None, None, Activation::None, Format::BF16);
                // Tensor cores truncate: twice the error of rounding to nearest.
                let call =
                    reference::Gemm { a, b, c, bias, alpha: 1.0, beta: 0.0, activation, unit: 2.0 * U_F32, output };
                reference::gemm(&call).expect("b has as many rows as a has columns")
            })
        })
    }
}

/// A, B and C.
pub(in crate::tutorial) type Operands<'a, T> = (MatrixView<'a, T>, MatrixView<'a, T>, MatrixViewMut<'a, T>);

/// Launches a kernel.
type Call<T> = fn(&Device, Operands<'_, T>, &mut Prepared) -> warpwright::Result<Option<Counters>>;

/// What launches have prepared, so that they take no time for it.
pub(in crate::tutorial) struct Prepared {
    /// Blocks for a kernel that computes tile after tile of 128 × 256: one for each SM (of an H200 on the simulator),
    /// but no more than there are tiles.
    pub(in crate::tutorial) blocks: u32,
    /// How [`Device::gemm`] computes the product.
    plan: Option<(Algorithm, Buffer<f32>)>,
}

impl Prepared {
    fn new(device: &Device, n: usize) -> warpwright::Result<Self> {
        let sm_count = device.hardware()?.map_or(132, |hardware| hardware.sm_count);
        let [across, down, _] = grid(n as u32, n as u32, COLS);
        Ok(Self { blocks: sm_count.min(across * down), plan: None })
    }
}

/// A product of n × n matrices on a device.
struct Product<T: Poisoned> {
    call: Call<T>,
    problem: Arc<dyn Expected<T>>,
    on_device: [Buffer<T>; 3],
    prepared: Prepared,
}

/// What a [`Product`] computes.
trait Expected<T>: Send + Sync {
    fn edge(&self) -> usize;
    fn operands(&self) -> &[Vec<T>; 2];
    fn result(&self) -> &Reference;
}

impl Expected<bf16> for Problem {
    fn edge(&self) -> usize {
        self.n
    }
    fn operands(&self) -> &[Vec<bf16>; 2] {
        self.factors()
    }
    fn result(&self) -> &Reference {
        self.reference()
    }
}

impl Expected<f32> for matmul::Problem {
    fn edge(&self) -> usize {
        self.n
    }
    fn operands(&self) -> &[Vec<f32>; 2] {
        self.factors()
    }
    fn result(&self) -> &Reference {
        self.reference()
    }
}

fn job<T: Poisoned>(kernel: &'static KernelInfo, call: Call<T>, problem: Arc<dyn Expected<T>>) -> Job
where
    Output: From<Vec<T>>,
{
    let n = problem.edge();
    Job {
        kernel,
        shape: format!("{n} x {n} x {n}"),
        work: Work::TensorOperations(2.0 * (n as f64).powi(3)),
        prepare: Box::new(move |device| {
            let [a, b] = problem.operands();
            let on_device = [device.upload(a)?, device.upload(b)?, device.alloc(n * n)?];
            let prepared = Prepared::new(device, n)?;
            Ok(Box::new(Product { call, problem, on_device, prepared }))
        }),
    }
}

/// A product of `bf16`.
pub(in crate::tutorial) fn of_bf16(kernel: &'static KernelInfo, call: Call<bf16>, problem: &Arc<Problem>) -> Job {
    job(kernel, call, Arc::<Problem>::clone(problem))
}

/// A product of `f32`.
pub(in crate::tutorial) fn of_f32(kernel: &'static KernelInfo, call: Call<f32>, problem: &Arc<matmul::Problem>) -> Job {
    job(kernel, call, Arc::<matmul::Problem>::clone(problem))
}

impl<T: Poisoned> Task for Product<T>
where
    Output: From<Vec<T>>,
{
    fn poison(&mut self, poison: &Poison) -> Result<()> {
        Ok(poison.fill(&mut self.on_device[2])?)
    }

    fn launch(&mut self, device: &Device) -> Result<Option<Counters>> {
        let layout = Layout::contiguous(self.problem.edge(), self.problem.edge());
        let [a, b, c] = &mut self.on_device;
        let (a, b) = (a.view().as_matrix(layout)?, b.view().as_matrix(layout)?);
        Ok((self.call)(device, (a, b, c.view_mut().as_matrix(layout)?), &mut self.prepared)?)
    }

    fn output(&self) -> Result<Output> {
        Ok(self.on_device[2].download()?.into())
    }

    fn check(&self, output: &Output) -> Result<Finding> {
        let verdict = self.problem.result().check(output.reals().iter()).context("the product")?;
        Ok(Finding { worst: verdict.worst, detail: verdict.to_string() })
    }
}

/// A and B as the kernels of the tutorial load them.
pub(in crate::tutorial) fn maps<'a>(
    a: MatrixView<'a, bf16>,
    b: MatrixView<'a, bf16>,
) -> warpwright::Result<[TmaTensor<'a, bf16>; 2]> {
    Ok([a.tma(BOX_A[0], BOX_A[1], Swizzle::B128)?, b.tma(BOX_B[0], BOX_B[1], Swizzle::B128)?])
}

/// The kernels that take tensor maps of A and B, k, and C.
pub(in crate::tutorial) type ByTma =
    Kernel<(TensorMap<'static, bf16>, TensorMap<'static, bf16>, u32, simt::global::MatMut<'static, bf16>)>;

/// Launches one of them.
pub(in crate::tutorial) fn launch(
    device: &Device,
    kernel: &ByTma,
    launch: Launch<'_>,
    (a, b, c): Operands<'_, bf16>,
) -> warpwright::Result<Option<Counters>> {
    let depth = a.cols() as u32;
    let [a, b] = maps(a, b)?;
    Ok(device.launch(kernel, launch, (a, b, depth, c))?.counters)
}

/// [`Device::gemm`] by the cheapest of its plans that has this kernel.
pub(in crate::tutorial) fn gemm<T: Multiply + GemmOutput<T>>(
    device: &Device,
    kernel: &KernelInfo,
    (a, b, c): Operands<'_, T>,
    prepared: &mut Prepared,
    arithmetic: impl Fn(Gemm<'_, T>) -> Gemm<'_, T>,
) -> warpwright::Result<Option<Counters>> {
    if prepared.plan.is_none() {
        let plans = arithmetic(device.gemm(a, b)).plans(c.view())?;
        if let Some(plan) = plans.iter().find(|plan| plan.algorithm().kernel() == kernel) {
            prepared.plan = Some((plan.algorithm(), device.alloc(plan.workspace_len())?));
        }
    }
    device.take_counters();
    let call = arithmetic(device.gemm(a, b));
    match &mut prepared.plan {
        Some((algorithm, workspace)) => call.algorithm(*algorithm).workspace(workspace).into(c)?,
        None => call.into(c)?,
    }
    Ok(device.take_counters())
}

/// For [`gemm`] of `f32`: by tensor cores.
pub(in crate::tutorial) fn emulated(gemm: Gemm<'_, f32>) -> Gemm<'_, f32> {
    gemm.arithmetic(Arithmetic::Bf16x6)
}
