//! C = A·B.

use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, Result};
use gpu::gemm::ffma::{self, gemm_ffma_f32_64x64, gemm_ffma_f32_128x128, gemm_ffma_f32_128x256};
use gpu::gemm::naive::{self, matmul_naive};
use gpu::gemm::tiled::{self, matmul_tiled};
use ndarray::{ArrayView2, Axis, s};
use rayon::prelude::*;
use simt::Kernel;
use simt::global::{MatMut, MatRef};
use warpwright::reference::{self, Reference};
use warpwright::simulator::Counters;
use warpwright::{Buffer, Device, Launch, Layout};

use super::{Finding, Job, Output, Task};
use crate::data::{Poison, uniform};
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

/// Rows of C that one core computes at a time.
const PANEL: usize = 256;

/// Operands and the expected result, computed when first asked for: all kernels multiply the same matrices.
pub(crate) struct Problem {
    pub(crate) n: usize,
    seed: u64,
    factors: OnceLock<[Vec<f32>; 2]>,
    reference: OnceLock<Reference>,
}

struct MatmulTask {
    kernel: Gemm,
    plan: Plan,
    problem: Arc<Problem>,
    on_device: [Buffer<f32>; 3],
}

/// Multiplies n × n matrices: n³ multiply-adds.
pub(crate) fn job(kernel: Gemm, plan: Plan, problem: &Arc<Problem>) -> Job {
    let (n, problem) = (problem.n, Arc::clone(problem));
    Job {
        kernel: kernel.info(),
        shape: format!("{n} x {n} x {n}"),
        work: Work::Operations(2.0 * (n as f64).powi(3)),
        prepare: Box::new(move |device| {
            let [a, b] = problem.factors();
            let on_device = [device.upload(a)?, device.upload(b)?, device.alloc(n * n)?];
            Ok(Box::new(MatmulTask { kernel, plan, problem, on_device }))
        }),
    }
}

impl Problem {
    /// Operands of `n` × `n` elements.
    pub(crate) fn new(n: usize, seed: u64) -> Self {
        Self { n, seed, factors: OnceLock::new(), reference: OnceLock::new() }
    }

    pub(crate) fn factors(&self) -> &[Vec<f32>; 2] {
        self.factors.get_or_init(|| [3, 4].map(|stream| uniform(self.n * self.n, self.seed, stream)))
    }

    /// The expected result, computed by panels of rows on all cores.
    pub(crate) fn reference(&self) -> &Reference {
        self.reference.get_or_init(|| {
            let [a, b] = self.factors();
            let [a, b] = [a, b].map(|x| ArrayView2::from_shape((self.n, self.n), x).expect("n · n elements"));
            product(a, b)
        })
    }
}

/// [`reference::matmul`] of each panel of rows of `a`.
fn product(a: ArrayView2<'_, f32>, b: ArrayView2<'_, f32>) -> Reference {
    by_panels(a, |rows| reference::matmul(rows, b).expect("b has as many rows as a has columns"))
}

/// The results for all panels of rows of `a`, computed on all cores.
pub(crate) fn by_panels<T: Sync>(
    a: ArrayView2<'_, T>,
    of: impl Fn(ArrayView2<'_, T>) -> Reference + Sync,
) -> Reference {
    let starts: Vec<usize> = (0..a.len_of(Axis(0))).step_by(PANEL).collect();
    let panels: Vec<Reference> =
        starts.into_par_iter().map(|start| of(a.slice(s![start..a.nrows().min(start + PANEL), ..]))).collect();
    let mut whole = Reference { value: Vec::new(), bound: Vec::new() };
    for panel in panels {
        whole.value.extend(panel.value);
        whole.bound.extend(panel.bound);
    }
    whole
}

impl Task for MatmulTask {
    fn poison(&mut self, poison: &Poison) -> Result<()> {
        Ok(poison.fill(&mut self.on_device[2])?)
    }

    fn launch(&mut self, device: &Device) -> Result<Option<Counters>> {
        let n = self.problem.n;
        let layout = Layout::contiguous(n, n);
        let [a, b, c] = &mut self.on_device;
        let arguments = (a.view().as_matrix(layout)?, b.view().as_matrix(layout)?, c.view_mut().as_matrix(layout)?);
        Ok(device.launch(self.kernel, (self.plan)(n as u32, n as u32), arguments)?.counters)
    }

    fn output(&self) -> Result<Output> {
        Ok(self.on_device[2].download()?.into())
    }

    fn check(&self, output: &Output) -> Result<Finding> {
        let verdict = self.problem.reference().check(output.reals().iter()).context("the product")?;
        Ok(Finding { worst: verdict.worst, detail: verdict.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;

    #[test]
    fn panels_give_the_whole_product() {
        let (m, k, n) = (2 * PANEL + 3, 5, 4);
        let a = Array2::from_shape_vec((m, k), uniform(m * k, 1, 0)).unwrap();
        let b = Array2::from_shape_vec((k, n), uniform(k * n, 1, 1)).unwrap();
        assert_eq!(product(a.view(), b.view()), reference::matmul(a.view(), b.view()).unwrap());
    }
}
