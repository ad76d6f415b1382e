//! The operations that users of `warpwright` call, in the forms that neither allocate nor wait.
#![allow(clippy::unnecessary_wraps, reason = "it has the signature of `Implementation::prepare`")]

use anyhow::Result;
use gpu::elementwise::add;
use gpu::reduce::read::read_f32;
use gpu::reduce::whole::partition::blocks;
use warpwright::reduce::{ArgMax, LinesWorkspace, Max, Sum, SumOfSquares, Workspace};
use warpwright::{Launch, Layout};

use super::case::{Case, Dtype, Shape, Work};
use super::data::AnyBuffer::{Bf16, C128, F16, F32, F64, I32, U8};
use super::gemm;
use super::grouped_gemm;
use super::implementations::{Call, Context, Run, wrong_type};
use super::slot::Slot;

/// Matches the type of the operand and, where it is given, of the result; other pairs do not occur.
macro_rules! typed {
    ($a:expr, $b:expr, [$($x:ident $y:ident),+], |$view:ident, $out:ident| $body:expr) => {
        match ($a, $b) {
            $(($x($view), $y($out)) => $body,)+
            _ => wrong_type(),
        }
    };
}

/// Ours, for the cases that we do.
pub(super) fn prepare<'c>(context: &'c Context<'_>, case: &Case, slot: &mut Slot) -> Result<Option<Call<'c>>> {
    let device = &context.device;
    let run: Run<'c> = match (case.work, case.dtype, case.shape.clone()) {
        (Work::Add, Dtype::F32, _) => Box::new(move |slot| {
            let Slot { a: F32(x), b: Some(F32(y)), out: F32(z), .. } = slot else { return wrong_type() };
            let launch = Launch::grid(add::grid(z.len()));
            device.launch(&add::add_f32, launch, (&*x, &*y, z))?;
            Ok(())
        }),
        (Work::Read, Dtype::F32, Shape::Vector { n, .. }) => {
            let blocks = blocks(n, 4, read_f32.info().min_blocks.unwrap_or(1));
            Box::new(move |slot| {
                let Slot { a: F32(x), index: Some(parity), .. } = slot else { return wrong_type() };
                device.launch(&read_f32, Launch::grid(blocks), (&*x, parity))?;
                Ok(())
            })
        }
        (Work::Sum, Dtype::F32 | Dtype::F16 | Dtype::Bf16 | Dtype::F64, Shape::Vector { n, offset }) => {
            let mut workspace = Workspace::new(device)?;
            Box::new(move |slot| {
                typed!(&slot.a, &mut slot.out, [F32 F32, F16 F32, Bf16 F32, F64 F64], |x, out| {
                    Ok(device.reduce_into(Sum, x.slice(offset..offset + n)?, out, &mut workspace, None)?)
                })
            })
        }
        (Work::Sum, Dtype::I32, Shape::Vector { n, offset }) => {
            let mut workspace = Workspace::new(device)?;
            Box::new(move |slot| {
                let Slot { a: I32(x), wide: Some(wide), .. } = slot else { return wrong_type() };
                Ok(device.reduce_into(Sum, x.slice(offset..offset + n)?, wide, &mut workspace, None)?)
            })
        }
        (Work::SumSquares, Dtype::F32, Shape::Vector { n, offset }) => {
            let mut workspace = Workspace::new(device)?;
            Box::new(move |slot| {
                typed!(&slot.a, &mut slot.out, [F32 F32], |x, out| {
                    Ok(device.reduce_into(SumOfSquares, x.slice(offset..offset + n)?, out, &mut workspace, None)?)
                })
            })
        }
        (Work::Max, Dtype::F32, Shape::Vector { n, offset }) => {
            let mut workspace = Workspace::new(device)?;
            Box::new(move |slot| {
                typed!(&slot.a, &mut slot.out, [F32 F32], |x, out| {
                    Ok(device.reduce_into(Max, x.slice(offset..offset + n)?, out, &mut workspace, None)?)
                })
            })
        }
        (Work::Argmax, Dtype::F32, Shape::Vector { n, offset }) => {
            let mut workspace = Workspace::new(device)?;
            Box::new(move |slot| {
                let Slot { a: F32(x), index: Some(index), .. } = slot else { return wrong_type() };
                Ok(device.reduce_into(ArgMax, x.slice(offset..offset + n)?, index, &mut workspace, None)?)
            })
        }
        (Work::Dot, Dtype::F32, Shape::Vector { n, offset }) => {
            let mut workspace = Workspace::new(device)?;
            Box::new(move |slot| {
                let Slot { a: F32(x), b: Some(F32(y)), out: F32(out), .. } = slot else { return wrong_type() };
                let (x, y) = (x.slice(offset..offset + n)?, y.slice(offset..offset + n)?);
                Ok(device.dot_into(x, y, out, &mut workspace, None)?)
            })
        }
        (
            Work::SumAxis0 | Work::SumAxis1,
            Dtype::F32 | Dtype::F16 | Dtype::Bf16 | Dtype::F64,
            Shape::Matrix { rows, cols, ld },
        ) => {
            let axis = usize::from(case.work == Work::SumAxis1);
            let bytes = typed!(&slot.a, &mut slot.out, [F32 F32, F16 F32, Bf16 F32, F64 F64], |x, _out| {
                Ok(device.reduce_axis_bytes(Sum, x.view().as_tensor_strided(&[rows, cols], &[ld, 1])?, axis)?)
            })?;
            let mut workspace = LinesWorkspace::new(device, bytes)?;
            Box::new(move |slot| {
                typed!(&slot.a, &mut slot.out, [F32 F32, F16 F32, Bf16 F32, F64 F64], |x, out| {
                    let x = x.view().as_tensor_strided(&[rows, cols], &[ld, 1])?;
                    Ok(device.reduce_axis_into(Sum, x, axis, out, &mut workspace, None)?)
                })
            })
        }
        (Work::MaxAxis0 | Work::MaxAxis1, Dtype::F32, Shape::Matrix { rows, cols, ld }) => {
            let axis = usize::from(case.work == Work::MaxAxis1);
            let Slot { a: F32(x), .. } = &*slot else { return wrong_type() };
            let x = x.view().as_tensor_strided(&[rows, cols], &[ld, 1])?;
            let mut workspace = LinesWorkspace::new(device, device.reduce_axis_bytes(Max, x, axis)?)?;
            Box::new(move |slot| {
                let Slot { a: F32(x), out: F32(out), .. } = slot else { return wrong_type() };
                let x = x.view().as_tensor_strided(&[rows, cols], &[ld, 1])?;
                Ok(device.reduce_axis_into(Max, x, axis, out, &mut workspace, None)?)
            })
        }
        (Work::SumSegments, Dtype::F32, Shape::Segments { segments, .. }) => {
            let Slot { a: F32(x), .. } = &*slot else { return wrong_type() };
            let mut workspace = LinesWorkspace::new(device, device.reduce_segments_bytes(Sum, x, segments))?;
            Box::new(move |slot| {
                let Slot { a: F32(x), out: F32(out), offsets: Some(offsets), .. } = slot else { return wrong_type() };
                Ok(device.reduce_segments_into(Sum, &*x, &*offsets, out, &mut workspace, None)?)
            })
        }
        (Work::Transpose, _, Shape::Matrix { rows, cols, ld }) => Box::new(move |slot| {
            typed!(&slot.a, &mut slot.out, [U8 U8, F16 F16, F32 F32, F64 F64, C128 C128], |a, b| {
                let a = a.view().as_matrix(Layout::contiguous(rows, cols).ld(ld))?;
                Ok(device.transpose_into(a, b.view_mut().as_matrix(Layout::contiguous(cols, rows))?)?)
            })
        }),
        (Work::Permute, _, Shape::Array { dims, order }) => {
            let to: Vec<usize> = order.iter().map(|&axis| dims[axis]).collect();
            Box::new(move |slot| {
                typed!(&slot.a, &mut slot.out, [U8 U8, F16 F16, F32 F32, F64 F64], |a, b| {
                    Ok(device.permute_into(a.view().as_tensor(&dims)?, &order, b.view_mut().as_tensor(&to)?)?)
                })
            })
        }
        (Work::Gemm, ..) => return gemm::prepare(context, case, slot),
        (Work::GroupedGemm, ..) => return grouped_gemm::prepare(context, case, slot),
        _ => return Ok(None),
    };
    Ok(Some(Call { run, captures: true, note: None }))
}
