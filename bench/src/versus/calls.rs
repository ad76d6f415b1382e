//! The peers' calls: cases in the words of cuBLAS, cuBLASLt, CUB and the driver.
#![allow(clippy::unnecessary_wraps, reason = "all have the signature of `Implementation::prepare`")]

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use anyhow::{Context as _, Result};
use warpwright::Buffer;

use super::case::{Case, Dtype, Shape, Work, group_ends};
use super::implementations::{Call, Context, Run};
use super::slot::Slot;
use crate::peers::cub::{Operation, Reduction, Type};
use crate::peers::cublas::{Arithmetic, Problem, WORKSPACE};
use crate::peers::cublaslt::Matmul;
use crate::peers::driver::Driver;

fn plain(run: Run<'_>) -> Call<'_> {
    Call { run, captures: true, note: None }
}

/// The driver's copy within the device.
pub(super) fn copy<'c>(context: &'c Context<'_>, case: &Case, _slot: &mut Slot) -> Result<Option<Call<'c>>> {
    let (Some(driver), Work::Copy, &Shape::Vector { n, offset }) = (&context.driver, case.work, &case.shape) else {
        return Ok(None);
    };
    let bytes = n * case.dtype.bytes();
    Ok(Some(plain(Box::new(move |slot| {
        let (to, from) = (slot.out.address(0)?, slot.a.address(offset)?);
        // SAFETY: the slot's buffers hold n elements from there on; they are used on this stream alone, which is waited
        // for before they are dropped.
        unsafe { driver.copy(to, from, bytes) }
    }))))
}

/// Addresses of A, B and C.
fn factors(slot: &Slot) -> Result<[u64; 3]> {
    let b = slot.b.as_ref().context("a GEMM has a second operand")?;
    Ok([slot.a.address(0)?, b.address(0)?, slot.out.address(0)?])
}

/// The GEMM of a case.
fn problem(case: &Case) -> Option<Problem> {
    let Shape::Gemm { mnk: [m, n, k], transposed: [transpose_a, transpose_b], batch } = case.shape else {
        return None;
    };
    let arithmetic = match case.dtype {
        Dtype::F32 | Dtype::F32Emulated => Arithmetic::F32,
        Dtype::Tf32 => Arithmetic::TF32,
        Dtype::F16 => Arithmetic::F16,
        Dtype::Bf16 => Arithmetic::BF16,
        Dtype::F64 => Arithmetic::F64,
        Dtype::I8 => Arithmetic::I8,
        Dtype::E4m3 | Dtype::E4m3Blocks => Arithmetic::E4M3,
        Dtype::E4m3Fast => Arithmetic::E4M3_FAST,
        Dtype::I32 | Dtype::U8 | Dtype::C128 => return None,
    };
    Some(Problem { m, n, k, transpose_a, transpose_b, batch, arithmetic })
}

/// The groups of a grouped product as GEMMs, and in which bytes of A, B and C each begins.
fn groups(case: &Case) -> Option<Vec<(Problem, [u64; 3])>> {
    let Shape::Groups { groups, rows, nk: [n, k], transposed } = case.shape else { return None };
    let arithmetic = match case.dtype {
        Dtype::F16 => Arithmetic::F16,
        Dtype::Bf16 => Arithmetic::BF16,
        Dtype::E4m3 => Arithmetic::E4M3,
        _ => return None,
    };
    let bytes = [case.dtype.bytes(), case.dtype.bytes(), case.dtype.product().bytes()];
    let mut start = 0;
    let of_group = |(group, end): (usize, u32)| {
        let m = end as usize - start;
        let problem = Problem { m, n, k, transpose_a: false, transpose_b: transposed, batch: 1, arithmetic };
        let elements = [start * k, group * n * k, start * n];
        start = end as usize;
        (problem, [0, 1, 2].map(|of| (elements[of] * bytes[of]) as u64))
    };
    Some(group_ends(groups, rows).into_iter().enumerate().map(of_group).filter(|(problem, _)| problem.m > 0).collect())
}

/// cuBLAS: `cublasGemmGroupedBatchedEx`, which takes the groups' sizes from the host and their addresses from the
/// device.
pub(super) fn cublas_grouped<'c>(context: &'c Context<'_>, case: &Case, _slot: &mut Slot) -> Result<Option<Call<'c>>> {
    let (Some(session), Some(groups)) = (&context.cublas, groups(case)) else { return Ok(None) };
    if !session.has_groups() || case.dtype == Dtype::E4m3 {
        return Ok(None);
    }
    // The addresses of each slot's matrices, written in the first call.
    let mut addresses: HashMap<u64, Buffer<u64>> = HashMap::new();
    let problems: Vec<Problem> = groups.iter().map(|(problem, _)| *problem).collect();
    let run: Run<'_> = Box::new(move |slot| {
        let matrices = factors(slot)?;
        let on_device = match addresses.entry(matrices[0]) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let all = [0, 1, 2].map(|of| groups.iter().map(move |(_, bytes)| matrices[of] + bytes[of]));
                new.insert(context.device.upload(&all.into_iter().flatten().collect::<Vec<u64>>())?)
            }
        };
        let first = on_device.view().device_ptr() as u64;
        let lists = [0, 1, 2].map(|of| first + of * 8 * groups.len() as u64);
        // SAFETY: the lists hold the addresses of the groups' matrices; for streams and drops see `copy`.
        Ok(unsafe { session.gemm_grouped(&problems, lists) }?)
    });
    Ok(Some(Call { run, captures: false, note: None }))
}

/// cuBLAS: GEMM, and `geam`'s transposes of elements of 4, 8 and 16 bytes.
pub(super) fn cublas<'c>(context: &'c Context<'_>, case: &Case, _slot: &mut Slot) -> Result<Option<Call<'c>>> {
    let Some(session) = &context.cublas else { return Ok(None) };
    if let Some(problem) = problem(case).filter(|problem| problem.arithmetic.is_in_cublas()) {
        return Ok(Some(plain(Box::new(move |slot| {
            // SAFETY: the slot holds the GEMM's matrices; for streams and drops see `copy`.
            Ok(unsafe { session.gemm(&problem, factors(slot)?) }?)
        }))));
    }
    if let Some(groups) = groups(case).filter(|_| case.dtype != Dtype::E4m3) {
        // The sizes are known on the host.
        return Ok(Some(plain(Box::new(move |slot| {
            let [a, b, c] = factors(slot)?;
            for (problem, [at_a, at_b, at_c]) in &groups {
                // SAFETY: the slot holds the groups' matrices; for streams and drops see `copy`.
                unsafe { session.gemm(problem, [a + at_a, b + at_b, c + at_c]) }?;
            }
            Ok(())
        }))));
    }
    match (case.work, case.dtype, &case.shape) {
        (Work::Transpose, Dtype::F32 | Dtype::F64 | Dtype::C128, &Shape::Matrix { rows, cols, ld }) => {
            let bytes = case.dtype.bytes();
            Ok(Some(plain(Box::new(move |slot| {
                let (a, b) = (slot.a.address(0)?, slot.out.address(0)?);
                // SAFETY: the slot holds both matrices; for streams and drops see `copy`.
                Ok(unsafe { session.transpose(bytes, [rows, cols, ld], a, b) }?)
            }))))
        }
        _ => Ok(None),
    }
}

/// cuBLASLt: GEMM, by the fastest algorithm that its heuristics propose for the case; a loop over the groups of a
/// grouped product of 8-bit floating point, by the first one for each.
pub(super) fn cublaslt<'c>(context: &'c Context<'_>, case: &Case, slot: &mut Slot) -> Result<Option<Call<'c>>> {
    if case.dtype == Dtype::E4m3 && case.work == Work::GroupedGemm {
        return cublaslt_groups(context, case);
    }
    let (Ok(library), Some(driver), Some(problem)) = (&context.peers.cublaslt, &context.driver, problem(case)) else {
        return Ok(None);
    };
    let scales = slot.block_scales.as_ref().map(|scales| scales.view().device_ptr() as u64);
    let matmul = library.matmul(&problem, scales)?;
    let workspace = context.device.alloc::<u8>(WORKSPACE)?;
    let (best, failed) = fastest(driver, &matmul, &workspace, slot)?;
    let note = format!("candidate {best} of {} was fastest, {failed} failed", matmul.candidates());
    let run: Run<'_> = Box::new(move |slot| {
        let workspace = workspace.view().device_ptr() as u64;
        // SAFETY: the slot holds the GEMM's matrices, the workspace has its size; for streams and drops see `copy`.
        Ok(unsafe { matmul.queue(best, factors(slot)?, workspace, driver.raw()) }?)
    });
    Ok(Some(Call { run, captures: true, note: Some(note) }))
}

/// A loop over the groups, whose sizes are known on the host.
fn cublaslt_groups<'c>(context: &'c Context<'_>, case: &Case) -> Result<Option<Call<'c>>> {
    let (Ok(library), Some(driver), Some(groups)) = (&context.peers.cublaslt, &context.driver, groups(case)) else {
        return Ok(None);
    };
    let workspace = context.device.alloc::<u8>(WORKSPACE)?;
    let products = groups.into_iter().map(|(problem, bytes)| Ok((library.matmul(&problem, None)?, bytes)));
    let products = products.collect::<Result<Vec<_>>>()?;
    let run: Run<'_> = Box::new(move |slot| {
        let ([a, b, c], workspace) = (factors(slot)?, workspace.view().device_ptr() as u64);
        for (matmul, [at_a, at_b, at_c]) in &products {
            // SAFETY: the slot holds the groups' matrices, the workspace has its size; for streams and drops see
            // `copy`.
            unsafe { matmul.queue(0, [a + at_a, b + at_b, c + at_c], workspace, driver.raw()) }?;
        }
        Ok(())
    });
    Ok(Some(Call { run, captures: true, note: None }))
}

/// The fastest candidate, and how many cannot run.
fn fastest(driver: &Driver, matmul: &Matmul<'_>, workspace: &Buffer<u8>, slot: &Slot) -> Result<(usize, usize)> {
    let (matrices, workspace) = (factors(slot)?, workspace.view().device_ptr() as u64);
    let (start, end) = (driver.event()?, driver.event()?);
    let time = |candidate: usize, calls: usize| -> Result<f64> {
        driver.record(&start)?;
        for _ in 0..calls {
            // SAFETY: the slot holds the GEMM's matrices; the stream is waited for below.
            unsafe { matmul.queue(candidate, matrices, workspace, driver.raw()) }?;
        }
        driver.record(&end)?;
        driver.synchronize()?;
        Ok(driver.elapsed_us(&start, &end)? / calls as f64)
    };
    let (mut best, mut failed) = (None, 0);
    for candidate in 0..matmul.candidates() {
        // The first call loads the kernel. A candidate may not support the alignment: it is then no candidate
        // then.
        let Ok(first) = time(candidate, 1).and_then(|_| time(candidate, 1)) else {
            failed += 1;
            continue;
        };
        let calls = (2000.0 / first.max(1.0)).clamp(1.0, 50.0) as usize;
        let us = (0..3).map(|_| time(candidate, calls)).try_fold(first, |least, us| us.map(|us| us.min(least)))?;
        if best.is_none_or(|(_, least)| us < least) {
            best = Some((candidate, us));
        }
    }
    let (best, _) = best.context("none of cuBLASLt's candidates runs")?;
    Ok((best, failed))
}

/// CUB's number for a type.
fn cub_type(dtype: Dtype) -> Option<Type> {
    match dtype {
        Dtype::F32 => Some(Type::F32),
        Dtype::F64 => Some(Type::F64),
        Dtype::F16 => Some(Type::F16),
        Dtype::Bf16 => Some(Type::Bf16),
        Dtype::I32 => Some(Type::I32),
        _ => None,
    }
}

/// CUB: reductions of vectors, rows and segments.
pub(super) fn cub<'c>(context: &'c Context<'_>, case: &Case, slot: &mut Slot) -> Result<Option<Call<'c>>> {
    let (Ok(cub), Some(driver), Some(element)) = (&context.peers.cub, &context.driver, cub_type(case.dtype)) else {
        return Ok(None);
    };
    let case = case.clone();
    let Some(first) = reduction(&case, slot)? else { return Ok(None) };
    let bytes = cub.temporary_bytes(element, first)?.max(1);
    let temporary = context.device.alloc::<u8>(bytes)?;
    Ok(Some(plain(Box::new(move |slot| {
        let reduction = reduction(&case, slot)?.context("every slot of a case has its memory")?;
        let temporary = temporary.view().device_ptr() as u64;
        // SAFETY: the slot holds what the reduction names, the temporary memory is of the size that CUB asked for; for
        // streams and drops see `copy`.
        unsafe { cub.queue(element, reduction, (temporary, bytes), driver.raw()) }
    }))))
}

/// The case as CUB's reduction of a slot.
fn reduction(case: &Case, slot: &Slot) -> Result<Option<Reduction>> {
    let out = slot.out.address(0)?;
    let vector = |operation, n: usize, offset| -> Result<Reduction> {
        let y = slot.b.as_ref().map(|b| b.address(offset)).transpose()?.unwrap_or(0);
        Ok(Reduction::Vector { operation, x: slot.a.address(offset)?, y, n: n as i64, out })
    };
    Ok(match (case.work, &case.shape) {
        (Work::Sum, &Shape::Vector { n, offset }) => Some(vector(Operation::Sum, n, offset)?),
        (Work::SumSquares, &Shape::Vector { n, offset }) => Some(vector(Operation::SumSquares, n, offset)?),
        (Work::Max, &Shape::Vector { n, offset }) => Some(vector(Operation::Max, n, offset)?),
        (Work::Dot, &Shape::Vector { n, offset }) => Some(vector(Operation::Dot, n, offset)?),
        (Work::Argmax, &Shape::Vector { n, offset }) => {
            let index = slot.index.as_ref().context("an argmax has room for its index")?;
            let index = index.view().device_ptr() as u64;
            Some(Reduction::Argmax { x: slot.a.address(offset)?, n: n as i64, out, index })
        }
        (Work::SumSegments, &Shape::Segments { segments, .. }) => {
            let offsets = slot.offsets.as_ref().context("segments have boundaries")?.view().device_ptr() as u64;
            Some(Reduction::Segments { x: slot.a.address(0)?, count: segments as i64, offsets, out })
        }
        (Work::SumAxis1, &Shape::Matrix { rows, cols, ld }) if ld == cols => {
            Some(Reduction::Rows { x: slot.a.address(0)?, count: rows as i64, length: cols as i64, out })
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use warpwright::Device;

    use super::super::data::Period;
    use super::*;

    #[test]
    fn reductions_name_the_memory_of_their_slot() {
        let device = Device::simulator();
        let case = Case { work: Work::Dot, dtype: Dtype::F16, shape: Shape::Vector { n: 10, offset: 3 }, quick: false };
        let period = Period::new(&device, Dtype::F16, 7, 1).unwrap();
        let slot = Slot::new(&device, &case, &period).unwrap();
        let Some(Reduction::Vector { operation: Operation::Dot, x, y, n: 10, out }) = reduction(&case, &slot).unwrap()
        else {
            panic!("a dot problem is a reduction of a vector");
        };
        assert_eq!(x, slot.a.address(0).unwrap() + 6);
        assert_eq!(y, slot.b.as_ref().unwrap().address(0).unwrap() + 6);
        assert_eq!(out, slot.out.address(0).unwrap());
    }

    #[test]
    fn only_rows_without_gaps_are_asked_of_cub() {
        let device = Device::simulator();
        let period = Period::new(&device, Dtype::F32, 7, 1).unwrap();
        for (ld, asked) in [(5, true), (6, false)] {
            let shape = Shape::Matrix { rows: 3, cols: 5, ld };
            let case = Case { work: Work::SumAxis1, dtype: Dtype::F32, shape, quick: false };
            let slot = Slot::new(&device, &case, &period).unwrap();
            assert_eq!(reduction(&case, &slot).unwrap().is_some(), asked);
        }
    }

    #[test]
    fn integers_are_no_product_of_these_libraries() {
        let shape = Shape::Gemm { mnk: [1, 2, 3], transposed: [true, false], batch: 4 };
        let case = |dtype| Case { work: Work::Gemm, dtype, shape: shape.clone(), quick: false };
        assert!(problem(&case(Dtype::I32)).is_none());
        let problem = problem(&case(Dtype::Tf32)).unwrap();
        assert_eq!((problem.m, problem.n, problem.k, problem.batch), (1, 2, 3, 4));
        assert!(problem.transpose_a && !problem.transpose_b && problem.arithmetic == Arithmetic::TF32);
    }
}
