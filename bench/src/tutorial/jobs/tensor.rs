//! C = A·B on tensor cores: of `bf16`, and of `f32` as sums of `bf16`.

use std::sync::Arc;

use gpu::lab::tutorial_sm90::consumers::COLS;
use gpu::lab::tutorial_sm90::{BOX_A, BOX_B, grid};
use ndarray::{ArrayView2, Axis, s};
use rand::Rng as _;
use rand::rngs::StdRng;
use rayon::prelude::*;
use simt::tma::{Swizzle, TensorMap};
use simt::{Kernel, KernelInfo};
use warpwright::gemm::{Activation, Algorithm, Arithmetic, Gemm, Multiply, Output as GemmOutput};
use warpwright::half::bf16;
use warpwright::reference::{self, Format, Reference, U_F32};
use warpwright::simulator::Counters;
use warpwright::{Buffer, Device, Launch, MatrixView, TmaTensor};

use crate::data::random;
use crate::job::matmul::{self, Call, Factor, Operands, Problem};
use crate::job::{Job, Output};
use crate::units::Work;

impl Factor for bf16 {
    fn operands(len: usize, seed: u64) -> [Vec<Self>; 2] {
        let draw = |rng: &mut StdRng| Self::from_f32(rng.random_range(-1.0..=1.0));
        [6, 7].map(|stream| random(vec![Self::ZERO; len], seed, stream, draw))
    }

    fn product(a: ArrayView2<'_, Self>, b: ArrayView2<'_, Self>) -> Reference {
        let (a, b) = (a.mapv(Self::to_f64), b.mapv(Self::to_f64));
        by_panels(a.view(), |rows| product(rows.view(), b.view()))
    }
}

/// The product on tensor cores, computed on one core.
fn product<'a>(a: ArrayView2<'a, f64>, b: ArrayView2<'a, f64>) -> Reference {
    let (c, bias, activation, output) = (None, None, Activation::None, Format::BF16);
    // Tensor cores truncate: twice the error of rounding to nearest.
    let call = reference::Gemm { a, b, c, bias, alpha: 1.0, beta: 0.0, activation, unit: 2.0 * U_F32, output };
    reference::gemm(&call).expect("b has as many rows as a has columns")
}

/// Rows of C that one core computes at a time.
const PANEL: usize = 256;

/// The results for all panels of rows of `a`, computed on all cores.
fn by_panels(a: ArrayView2<'_, f64>, of: impl Fn(ArrayView2<'_, f64>) -> Reference + Sync) -> Reference {
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

/// A product on tensor cores.
pub(in crate::tutorial) fn job<T: Factor>(
    kernel: &'static KernelInfo,
    call: fn(&Device, Operands<'_, T>, &mut Prepared) -> warpwright::Result<Option<Counters>>,
    problem: &Arc<Problem<T>>,
) -> Job
where
    Output: From<Vec<T>>,
{
    let mut prepared = None;
    let call: Call<T> = Box::new(move |device, operands| {
        if prepared.is_none() {
            prepared = Some(Prepared::new(device, operands.2.rows())?);
        }
        call(device, operands, prepared.as_mut().expect("prepared above"))
    });
    matmul::job_of(kernel, Work::TensorOperations, problem, call)
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

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;

    #[test]
    fn panels_give_the_whole_product() {
        let (m, k, n) = (2 * PANEL + 3, 5, 4);
        let [a, _] = bf16::operands(m * k, 1);
        let [_, b] = bf16::operands(k * n, 1);
        let (a, b) = (Array2::from_shape_vec((m, k), a).unwrap(), Array2::from_shape_vec((k, n), b).unwrap());
        let whole = product(a.mapv(bf16::to_f64).view(), b.mapv(bf16::to_f64).view());
        assert_eq!(bf16::product(a.view(), b.view()), whole);
    }
}
