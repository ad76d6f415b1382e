//! GEMM by `Device::gemm`, with the workspace that the chosen algorithm needs.

use std::collections::HashSet;

use anyhow::Result;
use half::{bf16, f16};
use warpwright::gemm::{Arithmetic, Gemm, Multiply, Op, Output};
use warpwright::{Buffer, Device, Layout, MatrixView};

use super::case::{Case, Dtype, Shape, Work};
use super::data::AnyBuffer::{Bf16, E4m3, F16, F32, F64, I8, I32};
use super::implementations::{Call, Context, wrong_type};
use super::slot::Slot;

/// Extents and layouts of a case.
#[derive(Clone, Copy)]
struct Problem {
    mnk: [usize; 3],
    ops: [Op; 2],
    batch: usize,
}

/// A, B and C of a slot, and factors of blocks.
type Operands<'s, T, C> = (&'s Buffer<T>, &'s Buffer<T>, &'s mut Buffer<C>, Option<&'s Buffer<f32>>);

/// Factors of blocks of A and B.
type BlockScales<'g> = Option<[MatrixView<'g, f32>; 2]>;

/// How a GEMM of one element type is called, with a C of another or the same.
#[derive(Clone, Copy)]
struct Kind<T: Multiply, C: Output<T>> {
    operands: for<'s> fn(&'s mut Slot) -> Result<Operands<'s, T, C>>,
    configured: for<'g> fn(Gemm<'g, T>, BlockScales<'g>) -> Gemm<'g, T>,
}

/// The operands of a slot that holds A and B as `$x`, and C as `$y` or the same.
macro_rules! operands {
    ($x:ident) => {
        operands!($x $x)
    };
    ($x:ident $y:ident) => {
        |slot| {
            let Slot { a: $x(a), b: Some($x(b)), out: $y(c), block_scales, .. } = slot else { return wrong_type() };
            Ok((a, b, c, block_scales.as_ref()))
        }
    };
}

/// Which algorithms are called.
#[derive(Clone, Copy)]
enum Choice {
    /// The one that `Device::gemm` chooses.
    Own,
    /// The cheapest with kernels of the families that begin so.
    Family(&'static str),
    /// This many of the cheapest.
    Cheapest(usize),
    /// The cheapest of each of this many kernels.
    CheapestOfKernels(usize),
    /// The one that `Gemm::run` chooses, which allocates C.
    Allocating,
}

/// Warpwright, by the algorithm that `Device::gemm` chooses.
pub(super) fn prepare<'c>(context: &'c Context<'_>, case: &Case, slot: &mut Slot) -> Result<Option<Call<'c>>> {
    Ok(by(context, case, slot, Choice::Own)?.pop())
}

/// The same algorithm, given by name.
pub(super) fn given<'c>(context: &'c Context<'_>, case: &Case, slot: &mut Slot) -> Result<Option<Call<'c>>> {
    Ok(cheapest(context, case, slot, 1)?.pop())
}

/// `Gemm::run`, which allocates C; the call frees the C before.
pub(super) fn run<'c>(context: &'c Context<'_>, case: &Case, slot: &mut Slot) -> Result<Option<Call<'c>>> {
    Ok(by(context, case, slot, Choice::Allocating)?.pop())
}

/// The `mma.sync` kernels, which run on every GPU from compute capability 8.0 on, where others are faster: large square
/// `bf16` matrices. Not on the simulator, where time means nothing.
pub(super) fn mma<'c>(context: &'c Context<'_>, case: &Case, slot: &mut Slot) -> Result<Option<Call<'c>>> {
    let is_large = matches!(case.shape, Shape::Gemm { mnk: [4096, 4096, 4096] | [8192, 8192, 8192], batch: 1, .. });
    if case.dtype != Dtype::Bf16 || !is_large || context.device.is_simulator() {
        return Ok(None);
    }
    Ok(by(context, case, slot, Choice::Family("gemm_mma"))?.pop())
}

/// The `most` algorithms that the model ranks first, beginning with the one that `Device::gemm` chooses.
pub(super) fn cheapest<'c>(
    context: &'c Context<'_>,
    case: &Case,
    slot: &mut Slot,
    most: usize,
) -> Result<Vec<Call<'c>>> {
    by(context, case, slot, Choice::Cheapest(most))
}

/// The algorithm that the model ranks first of each of the `most` kernels that it ranks first.
pub(super) fn cheapest_of_kernels<'c>(
    context: &'c Context<'_>,
    case: &Case,
    slot: &mut Slot,
    most: usize,
) -> Result<Vec<Call<'c>>> {
    by(context, case, slot, Choice::CheapestOfKernels(most))
}

fn by<'c>(context: &'c Context<'_>, case: &Case, slot: &mut Slot, choice: Choice) -> Result<Vec<Call<'c>>> {
    let (Work::Gemm, &Shape::Gemm { mnk, transposed, batch }) = (case.work, &case.shape) else {
        return Ok(Vec::new());
    };
    let ops = transposed.map(|transposed| if transposed { Op::T } else { Op::N });
    let (device, problem) = (&context.device, Problem { mnk, ops, batch });
    match case.dtype {
        Dtype::F32 => calls::<f32, f32>(
            device,
            problem,
            Kind { operands: operands!(F32), configured: |gemm, _| gemm },
            slot,
            choice,
        ),
        Dtype::Tf32 => {
            let kind = Kind { operands: operands!(F32), configured: |gemm, _| gemm.arithmetic(Arithmetic::Tf32) };
            calls::<f32, f32>(device, problem, kind, slot, choice)
        }
        Dtype::F32Emulated => {
            let kind = Kind { operands: operands!(F32), configured: |gemm, _| gemm.arithmetic(Arithmetic::Bf16x6) };
            calls::<f32, f32>(device, problem, kind, slot, choice)
        }
        Dtype::F16 => calls::<f16, f16>(
            device,
            problem,
            Kind { operands: operands!(F16), configured: |gemm, _| gemm },
            slot,
            choice,
        ),
        Dtype::Bf16 => calls::<bf16, bf16>(
            device,
            problem,
            Kind { operands: operands!(Bf16), configured: |gemm, _| gemm },
            slot,
            choice,
        ),
        Dtype::F64 => calls::<f64, f64>(
            device,
            problem,
            Kind { operands: operands!(F64), configured: |gemm, _| gemm },
            slot,
            choice,
        ),
        Dtype::I8 => {
            let kind = Kind { operands: operands!(I8 I32), configured: |gemm, _| gemm };
            calls::<i8, i32>(device, problem, kind, slot, choice)
        }
        Dtype::E4m3 => {
            let kind = Kind { operands: operands!(E4m3 Bf16), configured: |gemm, _| gemm };
            calls::<warpwright::E4m3, bf16>(device, problem, kind, slot, choice)
        }
        Dtype::E4m3Fast => {
            let kind = Kind {
                operands: operands!(E4m3 Bf16),
                configured: |gemm, _| gemm.arithmetic(Arithmetic::FastAccumulation),
            };
            calls::<warpwright::E4m3, bf16>(device, problem, kind, slot, choice)
        }
        Dtype::E4m3Blocks => {
            let kind = Kind {
                operands: operands!(E4m3 Bf16),
                configured: |gemm, factors| match factors {
                    Some([a, b]) => gemm.block_scales(a, b),
                    None => gemm,
                },
            };
            calls::<warpwright::E4m3, bf16>(device, problem, kind, slot, choice)
        }
        Dtype::I32 | Dtype::U8 | Dtype::C128 => Ok(Vec::new()),
    }
}

fn calls<'c, T: Multiply, C: Output<T>>(
    device: &'c Device,
    problem: Problem,
    kind: Kind<T, C>,
    slot: &mut Slot,
    choice: Choice,
) -> Result<Vec<Call<'c>>> {
    let Problem { mnk: [m, n, _], batch, .. } = problem;
    let (a, b, c, factors) = (kind.operands)(slot)?;
    let plans = (kind.configured)(described(device, problem, a, b)?, block_scales(problem, factors)?)
        .plans(c.view().as_tensor(axes(&[batch, m, n]))?)?;
    let mut kernels = HashSet::new();
    let chosen = plans.into_iter().filter(|plan| match choice {
        Choice::Family(family) => {
            gpu::family_of(plan.algorithm().kernel()).is_some_and(|of| of.name.starts_with(family))
        }
        Choice::CheapestOfKernels(_) => kernels.insert(plan.algorithm().kernel().name),
        Choice::Own | Choice::Cheapest(_) | Choice::Allocating => true,
    });
    let most = if let Choice::Cheapest(most) | Choice::CheapestOfKernels(most) = choice { most } else { 1 };
    chosen
        .take(most)
        .map(|plan| {
            let note = Some(plan.algorithm().to_string());
            if matches!(choice, Choice::Allocating) {
                let run = Box::new(move |slot: &mut Slot| {
                    let (a, b, c, factors) = (kind.operands)(slot)?;
                    let factors = block_scales(problem, factors)?;
                    *c = (kind.configured)(described(device, problem, a, b)?, factors).run_as::<C>()?.into_buffer();
                    Ok(())
                });
                return Ok(Call { run, captures: false, note });
            }
            let mut workspace = device.alloc::<f32>(plan.workspace_len())?;
            let run = Box::new(move |slot: &mut Slot| {
                let (a, b, c, factors) = (kind.operands)(slot)?;
                let factors = block_scales(problem, factors)?;
                let gemm = (kind.configured)(described(device, problem, a, b)?, factors).workspace(&mut workspace);
                let gemm = if matches!(choice, Choice::Own) { gemm } else { gemm.algorithm(plan.algorithm()) };
                Ok(gemm.into(c.view_mut().as_tensor(axes(&[batch, m, n]))?)?)
            });
            Ok(Call { run, captures: true, note })
        })
        .collect()
}

/// The factors of a problem, which begin where the slot's do.
fn block_scales(problem: Problem, factors: Option<&Buffer<f32>>) -> Result<BlockScales<'_>> {
    let Some(factors) = factors else { return Ok(None) };
    let Problem { mnk: [m, n, k], .. } = problem;
    let view = |rows: usize| {
        let cols = k.div_ceil(128);
        factors.view().as_matrix(Layout { rows, cols, ld: cols, offset: 0 })
    };
    Ok(Some([view(m)?, view(n.div_ceil(128))?]))
}

/// The GEMM of these operands.
fn described<'g, T: Multiply>(
    device: &'g Device,
    Problem { mnk: [m, n, k], ops, batch }: Problem,
    a: &'g Buffer<T>,
    b: &'g Buffer<T>,
) -> Result<Gemm<'g, T>> {
    let shape = |op, rows, cols| if op == Op::N { [batch, rows, cols] } else { [batch, cols, rows] };
    let a = a.view().as_tensor(axes(&shape(ops[0], m, k)))?;
    let b = b.view().as_tensor(axes(&shape(ops[1], k, n)))?;
    Ok(device.gemm(a, b).op(ops[0], ops[1]))
}

/// Rows and columns of a single matrix, as most programs pass it; else with the batch.
fn axes(shape: &[usize; 3]) -> &[usize] {
    if shape[0] == 1 { &shape[1..] } else { shape }
}
