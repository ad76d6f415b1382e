//! Products by `Device::gemm`, with the workspace that the cheapest way asks for.

use anyhow::Result;
use half::{bf16, f16};
use warpwright::gemm::{Arithmetic, Gemm, Multiply, Op, Output};
use warpwright::{Buffer, Device};

use super::case::{Case, Dtype, Shape, Work};
use super::data::AnyBuffer::{Bf16, F16, F32};
use super::implementations::{Call, Context, wrong_type};
use super::slot::Slot;

/// Extents and layouts of a case.
#[derive(Clone, Copy)]
struct Product {
    mnk: [usize; 3],
    ops: [Op; 2],
    batch: usize,
}

/// A, B and C of a slot.
type Factors<'s, T> = (&'s Buffer<T>, &'s Buffer<T>, &'s mut Buffer<T>);

/// What is asked for beside the product, for elements of one type.
#[derive(Clone, Copy)]
struct Kind<T: Multiply> {
    factors: for<'s> fn(&'s mut Slot) -> Result<Factors<'s, T>>,
    dressed: for<'g> fn(Gemm<'g, T>) -> Gemm<'g, T>,
}

/// The factors of a slot that holds them as `$x`.
macro_rules! factors {
    ($x:ident) => {
        |slot| {
            let Slot { a: $x(a), b: Some($x(b)), out: $x(c), .. } = slot else { return wrong_type() };
            Ok((a, b, c))
        }
    };
}

/// Which of the ways to a product.
#[derive(Clone, Copy)]
enum Choice {
    /// The one that `Device::gemm` takes.
    Own,
    /// The cheapest by kernels of this family.
    Family(&'static str),
    /// So many of the cheapest.
    Cheapest(usize),
}

/// Ours, the way that `Device::gemm` takes.
pub(super) fn prepare<'c>(context: &'c Context<'_>, case: &Case, slot: &mut Slot) -> Result<Option<Call<'c>>> {
    Ok(by(context, case, slot, Choice::Own)?.pop())
}

/// The kernels by `mma.sync`, which serve every GPU from compute capability 8.0 on, where others are faster: large squares of
/// `bf16`. Only where time means something.
pub(super) fn mma<'c>(context: &'c Context<'_>, case: &Case, slot: &mut Slot) -> Result<Option<Call<'c>>> {
    let is_large = matches!(case.shape, Shape::Product { mnk: [4096, 4096, 4096] | [8192, 8192, 8192], batch: 1, .. });
    if case.dtype != Dtype::Bf16 || !is_large || context.device.is_simulator() {
        return Ok(None);
    }
    Ok(by(context, case, slot, Choice::Family("tensor"))?.pop())
}

/// The `most` ways that should be cheapest, that first which `Device::gemm` takes.
pub(super) fn cheapest<'c>(
    context: &'c Context<'_>,
    case: &Case,
    slot: &mut Slot,
    most: usize,
) -> Result<Vec<Call<'c>>> {
    by(context, case, slot, Choice::Cheapest(most))
}

fn by<'c>(context: &'c Context<'_>, case: &Case, slot: &mut Slot, choice: Choice) -> Result<Vec<Call<'c>>> {
    let (Work::Gemm, &Shape::Product { mnk, transposed, batch }) = (case.work, &case.shape) else {
        return Ok(Vec::new());
    };
    let ops = transposed.map(|transposed| if transposed { Op::T } else { Op::N });
    let (device, product) = (&context.device, Product { mnk, ops, batch });
    match case.dtype {
        Dtype::F32 => {
            calls::<f32>(device, product, Kind { factors: factors!(F32), dressed: |gemm| gemm }, slot, choice)
        }
        Dtype::Tf32 => {
            let kind = Kind { factors: factors!(F32), dressed: |gemm| gemm.arithmetic(Arithmetic::Tf32) };
            calls::<f32>(device, product, kind, slot, choice)
        }
        Dtype::F16 => {
            calls::<f16>(device, product, Kind { factors: factors!(F16), dressed: |gemm| gemm }, slot, choice)
        }
        Dtype::Bf16 => {
            calls::<bf16>(device, product, Kind { factors: factors!(Bf16), dressed: |gemm| gemm }, slot, choice)
        }
        _ => Ok(Vec::new()),
    }
}

fn calls<'c, T: Multiply + Output<T>>(
    device: &'c Device,
    product: Product,
    kind: Kind<T>,
    slot: &mut Slot,
    choice: Choice,
) -> Result<Vec<Call<'c>>> {
    let Product { mnk: [m, n, _], batch, .. } = product;
    let (a, b, c) = (kind.factors)(slot)?;
    let plans = (kind.dressed)(described(device, product, a, b)?).plans(c.view().as_tensor(&[batch, m, n])?)?;
    let chosen = plans.into_iter().filter(|plan| match choice {
        Choice::Family(family) => gpu::family_of(plan.algorithm().kernel()).is_some_and(|of| of.name == family),
        Choice::Own | Choice::Cheapest(_) => true,
    });
    let most = if let Choice::Cheapest(most) = choice { most } else { 1 };
    chosen
        .take(most)
        .map(|plan| {
            let mut workspace = device.alloc::<f32>(plan.workspace_len())?;
            let run = Box::new(move |slot: &mut Slot| {
                let (a, b, c) = (kind.factors)(slot)?;
                let gemm = (kind.dressed)(described(device, product, a, b)?).workspace(&mut workspace);
                let gemm = if matches!(choice, Choice::Own) { gemm } else { gemm.algorithm(plan.algorithm()) };
                Ok(gemm.into(c.view_mut().as_tensor(&[batch, m, n])?)?)
            });
            Ok(Call { run, captures: true, note: Some(plan.algorithm().to_string()) })
        })
        .collect()
}

/// The product of these factors.
fn described<'g, T: Multiply>(
    device: &'g Device,
    Product { mnk: [m, n, k], ops, batch }: Product,
    a: &'g Buffer<T>,
    b: &'g Buffer<T>,
) -> Result<Gemm<'g, T>> {
    let shape = |op, rows, cols| if op == Op::N { [batch, rows, cols] } else { [batch, cols, rows] };
    let a = a.view().as_tensor(&shape(ops[0], m, k))?;
    let b = b.view().as_tensor(&shape(ops[1], k, n))?;
    Ok(device.gemm(a, b).op(ops[0], ops[1]))
}
