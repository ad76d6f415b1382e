//! Implementations of the matrix product.

use gpu::gemm::ffma;
use gpu::gemm::naive::{self, matmul_naive};
use gpu::gemm::tiled::{self, matmul_tiled};
use warpwright::{Device, Launch, Result};

use crate::support::problem::{OnDevice, Outcome, Problem};
use crate::support::product::{Gemm, by_launch};

/// Runs a problem: two inputs, A and B, and the output C.
pub(crate) type Variant = fn(&Device, &Problem) -> Result<Outcome>;

/// Launches `matmul_naive`.
pub(crate) fn by_naive(device: &Device, problem: &Problem) -> Result<Outcome> {
    by_grid(device, problem, &matmul_naive, naive::grid)
}

/// Launches `matmul_tiled`.
pub(crate) fn by_tiled(device: &Device, problem: &Problem) -> Result<Outcome> {
    by_grid(device, problem, &matmul_tiled, tiled::grid)
}

/// Launches `gemm_ffma_f32_128x256`.
pub(crate) fn by_128x256(device: &Device, problem: &Problem) -> Result<Outcome> {
    by_grid(device, problem, &ffma::gemm_ffma_f32_128x256, |m, n| ffma::grid(m, n, [128, 256]))
}

/// Launches `gemm_ffma_f32_128x128`.
pub(crate) fn by_128x128(device: &Device, problem: &Problem) -> Result<Outcome> {
    by_grid(device, problem, &ffma::gemm_ffma_f32_128x128, |m, n| ffma::grid(m, n, [128, 128]))
}

/// Launches `gemm_ffma_f32_64x64`.
pub(crate) fn by_64x64(device: &Device, problem: &Problem) -> Result<Outcome> {
    by_grid(device, problem, &ffma::gemm_ffma_f32_64x64, |m, n| ffma::grid(m, n, [64, 64]))
}

fn by_grid(device: &Device, problem: &Problem, kernel: &Gemm, grid: fn(u32, u32) -> [u32; 3]) -> Result<Outcome> {
    by_launch(device, problem, kernel, |m, n| Launch::grid(grid(m, n)))
}

/// Calls `Device::matmul_into`.
pub(crate) fn by_matmul_into(device: &Device, problem: &Problem) -> Result<Outcome> {
    let mut on = problem.upload(device)?;
    let OnDevice { inputs, output } = &mut on;
    let a = inputs[0].view().as_matrix(problem.inputs[0].layout())?;
    let b = inputs[1].view().as_matrix(problem.inputs[1].layout())?;
    device.matmul_into(a, b, output.view_mut().as_matrix(problem.output.layout())?)?;
    on.download()
}

/// Calls `Device::matmul`, which allocates its result.
pub(crate) fn by_matmul(device: &Device, problem: &Problem) -> Result<Outcome> {
    let on = problem.upload(device)?;
    let a = on.inputs[0].view().as_matrix(problem.inputs[0].layout())?;
    let b = on.inputs[1].view().as_matrix(problem.inputs[1].layout())?;
    let c = device.matmul(a, b)?.download()?;
    let outcome = on.download()?;
    Ok(Outcome { output: problem.output.with(c.as_slice().unwrap_or_default()), ..outcome })
}
