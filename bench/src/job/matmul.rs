//! C = A·B.

use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, Result};
use gpu::gemm::ffma::{self, gemm_ffma_f32_64x64, gemm_ffma_f32_128x128, gemm_ffma_f32_128x256};
use gpu::gemm::naive::{self, matmul_naive};
use gpu::gemm::tiled::{self, matmul_tiled};
use ndarray::ArrayView2;
use simt::global::{MatMut, MatRef};
use simt::{Kernel, KernelInfo};
use warpwright::reference::{self, Reference};
use warpwright::simulator::Counters;
use warpwright::{Buffer, Device, Launch, Layout, MatrixView, MatrixViewMut};

use super::{Finding, Job, Output, Task};
use crate::data::{Poison, Poisoned, uniform};
use crate::units::Work;

/// A kernel that multiplies.
pub(crate) type Gemm = &'static Kernel<(MatRef<'static, f32>, MatRef<'static, f32>, MatMut<'static, f32>)>;
/// How to launch it for an m × n product.
pub(crate) type Plan = fn(u32, u32) -> Launch<'static>;

/// The kernels of the main job.
pub(super) const KERNELS: [(Gemm, Plan); 5] = [
    (&matmul_naive, |m, n| Launch::grid(naive::grid(m, n))),
    (&matmul_tiled, |m, n| Launch::grid(tiled::grid(m, n))),
    (&gemm_ffma_f32_128x256, |m, n| Launch::grid(ffma::grid(m, n, [128, 256]))),
    (&gemm_ffma_f32_128x128, |m, n| Launch::grid(ffma::grid(m, n, [128, 128]))),
    (&gemm_ffma_f32_64x64, |m, n| Launch::grid(ffma::grid(m, n, [64, 64]))),
];

/// An element of A, B and C.
pub(crate) trait Factor: Poisoned + Send + Sync {
    /// The elements of A and of B, `len` each.
    fn operands(len: usize, seed: u64) -> [Vec<Self>; 2];
    /// The expected result, computed on all cores.
    fn product(a: ArrayView2<'_, Self>, b: ArrayView2<'_, Self>) -> Reference;
}

impl Factor for f32 {
    fn operands(len: usize, seed: u64) -> [Vec<Self>; 2] {
        [3, 4].map(|stream| uniform(len, seed, stream))
    }

    fn product(a: ArrayView2<'_, Self>, b: ArrayView2<'_, Self>) -> Reference {
        reference::matmul(a, b).expect("b has as many rows as a has columns")
    }
}

/// Operands and the expected result, computed when first asked for: all kernels multiply the same matrices.
pub(crate) struct Problem<T> {
    n: usize,
    seed: u64,
    factors: OnceLock<[Vec<T>; 2]>,
    reference: OnceLock<Reference>,
}

/// A, B and C.
pub(crate) type Operands<'a, T> = (MatrixView<'a, T>, MatrixView<'a, T>, MatrixViewMut<'a, T>);
/// Launches a kernel on them.
pub(crate) type Call<T> = Box<dyn FnMut(&Device, Operands<'_, T>) -> warpwright::Result<Option<Counters>> + Send>;

struct MatmulTask<T: Factor> {
    call: Call<T>,
    problem: Arc<Problem<T>>,
    on_device: [Buffer<T>; 3],
}

/// Multiplies n × n matrices by a kernel for `f32`.
pub(crate) fn job(kernel: Gemm, plan: Plan, problem: &Arc<Problem<f32>>) -> Job {
    let call: Call<f32> = Box::new(move |device, operands| {
        let (m, n) = (operands.2.rows() as u32, operands.2.cols() as u32);
        Ok(device.launch(kernel, plan(m, n), operands)?.counters)
    });
    job_of(kernel.info(), Work::Operations, problem, call)
}

/// Multiplies n × n matrices: n³ multiply-adds, which are `work`.
pub(crate) fn job_of<T: Factor>(
    kernel: &'static KernelInfo,
    work: fn(f64) -> Work,
    problem: &Arc<Problem<T>>,
    call: Call<T>,
) -> Job
where
    Output: From<Vec<T>>,
{
    let (n, problem) = (problem.n, Arc::clone(problem));
    Job {
        kernel,
        shape: format!("{n} x {n} x {n}"),
        work: work(2.0 * (n as f64).powi(3)),
        prepare: Box::new(move |device| {
            let [a, b] = problem.factors();
            let on_device = [device.upload(a)?, device.upload(b)?, device.alloc(n * n)?];
            Ok(Box::new(MatmulTask { call, problem, on_device }))
        }),
    }
}

impl<T: Factor> Problem<T> {
    /// Operands of `n` × `n` elements.
    pub(crate) fn new(n: usize, seed: u64) -> Self {
        Self { n, seed, factors: OnceLock::new(), reference: OnceLock::new() }
    }

    fn factors(&self) -> &[Vec<T>; 2] {
        self.factors.get_or_init(|| T::operands(self.n * self.n, self.seed))
    }

    /// The expected result.
    fn reference(&self) -> &Reference {
        self.reference.get_or_init(|| {
            let [a, b] = self.factors();
            let [a, b] = [a, b].map(|x| ArrayView2::from_shape((self.n, self.n), x).expect("n · n elements"));
            T::product(a, b)
        })
    }
}

impl<T: Factor> Task for MatmulTask<T>
where
    Output: From<Vec<T>>,
{
    fn poison(&mut self, poison: &Poison) -> Result<()> {
        Ok(poison.fill(&mut self.on_device[2])?)
    }

    fn launch(&mut self, device: &Device) -> Result<Option<Counters>> {
        let layout = Layout::contiguous(self.problem.n, self.problem.n);
        let [a, b, c] = &mut self.on_device;
        let (a, b) = (a.view().as_matrix(layout)?, b.view().as_matrix(layout)?);
        Ok((self.call)(device, (a, b, c.view_mut().as_matrix(layout)?))?)
    }

    fn output(&self) -> Result<Output> {
        Ok(self.on_device[2].download()?.into())
    }

    fn check(&self, output: &Output) -> Result<Finding> {
        let verdict = self.problem.reference().check(output.reals().iter()).context("the product")?;
        Ok(Finding { worst: verdict.worst, detail: verdict.to_string() })
    }
}
