//! Grouped products by `Device::grouped_gemm`, which reads the groups' ends on the device.

use anyhow::Result;
use half::{bf16, f16};
use simt::KernelInfo;
use warpwright::gemm::{GroupedGemm, GroupedMultiply, Output};
use warpwright::{Buffer, Device};

use super::case::{Case, Dtype, Shape, Work, group_rows};
use super::data::AnyBuffer::{Bf16, E4m3, F16};
use super::implementations::{Call, Context, wrong_type};
use super::slot::Slot;

/// A, B, C and the groups' ends of a slot.
type Operands<'s, T, C> = (&'s Buffer<T>, &'s Buffer<T>, &'s mut Buffer<C>, &'s Buffer<u32>);

/// Those of a slot that holds A and B as `$x`, and C as `$y` or the same.
macro_rules! operands {
    ($x:ident) => {
        operands!($x $x)
    };
    ($x:ident $y:ident) => {
        |slot| {
            let Slot { a: $x(a), b: Some($x(b)), out: $y(c), ends: Some(ends), .. } = slot else {
                return wrong_type();
            };
            Ok((a, b, c, ends))
        }
    };
}

/// Warpwright, by the kernel that the call chooses.
pub(super) fn prepare<'c>(context: &'c Context<'_>, case: &Case, slot: &mut Slot) -> Result<Option<Call<'c>>> {
    by(context, case, slot, None)
}

/// The kernel whose tile is in its name, to see whether the choice is right. Only where time means something.
pub(super) fn tile<'c>(
    context: &'c Context<'_>,
    case: &Case,
    slot: &mut Slot,
    tile: &'static str,
) -> Result<Option<Call<'c>>> {
    if context.device.is_simulator() { Ok(None) } else { by(context, case, slot, Some(tile)) }
}

fn by<'c>(
    context: &'c Context<'_>,
    case: &Case,
    slot: &mut Slot,
    tile: Option<&'static str>,
) -> Result<Option<Call<'c>>> {
    let (device, shape) = (&context.device, &case.shape);
    match (case.work, case.dtype) {
        (Work::GroupedGemm, Dtype::Bf16) => call::<bf16, bf16>(device, shape, operands!(Bf16), slot, tile),
        (Work::GroupedGemm, Dtype::F16) => call::<f16, f16>(device, shape, operands!(F16), slot, tile),
        (Work::GroupedGemm, Dtype::E4m3) => {
            call::<warpwright::E4m3, bf16>(device, shape, operands!(E4m3 Bf16), slot, tile)
        }
        _ => Ok(None),
    }
}

fn call<'c, T: GroupedMultiply, C: Output<T>>(
    device: &'c Device,
    shape: &Shape,
    operands: for<'s> fn(&'s mut Slot) -> Result<Operands<'s, T, C>>,
    slot: &mut Slot,
    tile: Option<&'static str>,
) -> Result<Option<Call<'c>>> {
    let &Shape::Groups { groups, rows, nk: [n, k], transposed } = shape else { return Ok(None) };
    let m = group_rows(groups, rows);
    let (a, b, c, ends) = operands(slot)?;
    let c = c.view().as_tensor(&[m, n])?;
    let describe = || described(device, [groups, m, n, k], transposed, (a, b, ends));
    let mut workspace = device.alloc::<f32>(describe()?.workspace_len(c)?)?;
    let chosen = describe()?.workspace(&mut workspace).chosen(c)?;
    let layout = if transposed { "_nt" } else { "_nn" };
    let named = |kernel: &&&'static KernelInfo| {
        // All names begin with type and layout.
        let start = chosen.name.find(layout).map_or(chosen.name, |at| &chosen.name[..at + layout.len()]);
        tile.is_some_and(|tile| kernel.name.strip_prefix(start) == Some(tile))
    };
    let kernel = if tile.is_none() { Some(chosen) } else { gpu::gemm::GROUPED.iter().find(named).copied() };
    let Some(kernel) = kernel else { return Ok(None) };
    let mut workspace = device.alloc::<f32>(describe()?.kernel(kernel).workspace_len(c)?)?;
    let run = Box::new(move |slot: &mut Slot| {
        let (a, b, c, ends) = operands(slot)?;
        let product = described(device, [groups, m, n, k], transposed, (a, b, ends))?;
        let product = if tile.is_some() { product.kernel(kernel) } else { product };
        Ok(product.workspace(&mut workspace).into(c.view_mut().as_tensor(&[m, n])?)?)
    });
    Ok(Some(Call { run, captures: true, note: Some(kernel.name.into()) }))
}

/// The product of these operands.
fn described<'g, T: GroupedMultiply>(
    device: &'g Device,
    [groups, m, n, k]: [usize; 4],
    transposed: bool,
    (a, b, ends): (&'g Buffer<T>, &'g Buffer<T>, &'g Buffer<u32>),
) -> Result<GroupedGemm<'g, T>> {
    let shape = if transposed { [groups, n, k] } else { [groups, k, n] };
    let product = device.grouped_gemm(a.view().as_tensor(&[m, k])?, b.view().as_tensor(&shape)?, ends);
    Ok(if transposed { product.transpose_b() } else { product })
}
