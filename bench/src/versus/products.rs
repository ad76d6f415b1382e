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

/// Ours, the way that `Device::gemm` takes.
pub(super) fn prepare<'c>(context: &'c Context<'_>, case: &Case, slot: &mut Slot) -> Result<Option<Call<'c>>> {
    by(context, case, slot, None)
}

/// The kernels by `mma.sync`, which serve every GPU from compute capability 8.0 on, where others are faster: large squares of
/// `bf16`. Only where time means something.
pub(super) fn mma<'c>(context: &'c Context<'_>, case: &Case, slot: &mut Slot) -> Result<Option<Call<'c>>> {
    let is_large = matches!(case.shape, Shape::Product { mnk: [4096, 4096, 4096] | [8192, 8192, 8192], batch: 1, .. });
    if case.dtype != Dtype::Bf16 || !is_large || context.device.is_simulator() {
        return Ok(None);
    }
    by(context, case, slot, Some("tensor"))
}

/// The cheapest way, of those of one family where that is given.
fn by<'c>(context: &'c Context<'_>, case: &Case, slot: &mut Slot, family: Option<&str>) -> Result<Option<Call<'c>>> {
    let (Work::Gemm, &Shape::Product { mnk, transposed, batch }) = (case.work, &case.shape) else { return Ok(None) };
    let ops = transposed.map(|transposed| if transposed { Op::T } else { Op::N });
    let (device, product) = (&context.device, Product { mnk, ops, batch });
    match case.dtype {
        Dtype::F32 => call::<f32>(device, product, Kind { factors: factors!(F32), dressed: |gemm| gemm }, slot, family),
        Dtype::Tf32 => {
            let kind = Kind { factors: factors!(F32), dressed: |gemm| gemm.arithmetic(Arithmetic::Tf32) };
            call::<f32>(device, product, kind, slot, family)
        }
        Dtype::F16 => call::<f16>(device, product, Kind { factors: factors!(F16), dressed: |gemm| gemm }, slot, family),
        Dtype::Bf16 => {
            call::<bf16>(device, product, Kind { factors: factors!(Bf16), dressed: |gemm| gemm }, slot, family)
        }
        _ => Ok(None),
    }
}

fn call<'c, T: Multiply + Output<T>>(
    device: &'c Device,
    product: Product,
    kind: Kind<T>,
    slot: &mut Slot,
    family: Option<&str>,
) -> Result<Option<Call<'c>>> {
    let Product { mnk: [m, n, _], batch, .. } = product;
    let (a, b, c) = (kind.factors)(slot)?;
    let plans = (kind.dressed)(described(device, product, a, b)?).plans(c.view().as_tensor(&[batch, m, n])?)?;
    let of_family = |kernel: &simt::KernelInfo| family.is_none_or(|family| kernel.family() == family);
    let Some(plan) = plans.into_iter().find(|plan| of_family(plan.way().kernel())) else { return Ok(None) };
    let mut workspace = device.alloc::<f32>(plan.workspace_len())?;
    let named = family.is_some();
    let run = Box::new(move |slot: &mut Slot| {
        let (a, b, c) = (kind.factors)(slot)?;
        let gemm = (kind.dressed)(described(device, product, a, b)?).workspace(&mut workspace);
        let gemm = if named { gemm.way(plan.way()) } else { gemm };
        Ok(gemm.into(c.view_mut().as_tensor(&[batch, m, n])?)?)
    });
    Ok(Some(Call { run, captures: true, note: Some(plan.way().to_string()) }))
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
