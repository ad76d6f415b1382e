//! What a call should have given, so that a wrong call can neither win nor lose.
//!
//! What only moves elements must give their bits. Arithmetic is checked on small integers, −4 to 4, whose sums are
//! exact in f32 in every order; so results must be *equal*, but for what the result's own type rounds. All of a small
//! result is compared, of a large one a sample that includes both ends.

use anyhow::{Result, ensure};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rayon::prelude::*;

use warpwright::Buffer;

use super::case::{Case, Dtype, Shape, Work, group_ends, group_rows};
use super::data::{Period, number};
use super::slot::{Slot, boundaries, results};

/// Results up to this many are compared whole if they are moved, else by samples.
const WHOLE: usize = 1 << 20;
/// Pieces that are compared of a larger one, and elements of each.
const PIECES: usize = 24;
const PIECE: usize = 1 << 13;
/// Additions that a sample of sums may take.
const ADDITIONS: usize = 1 << 26;

/// Compares the results in `slot` with what `case` should give for operands from `period`.
///
/// # Errors
/// They differ: the message names the first element that does.
pub fn check(case: &Case, period: &Period, slot: &Slot) -> Result<()> {
    match case.work {
        Work::Copy | Work::Transpose | Work::Permute => moved(case, period, slot),
        Work::Argmax => argmax(case, period, slot),
        Work::Read => parity(case, period, slot),
        _ => computed(case, period, slot),
    }
}

fn moved(case: &Case, period: &Period, slot: &Slot) -> Result<()> {
    let len = results(case);
    let pieces = if len <= WHOLE { vec![(0, len)] } else { pieces(len) };
    for (start, len) in pieces {
        let got = slot.out.read(start, len)?;
        for (index, got) in (start..).zip(got) {
            let expected = period.bits(source(case, index));
            ensure!(got == expected, "element {index} has the bits {got:#x} instead of {expected:#x}");
        }
    }
    Ok(())
}

/// Pieces of a long result: its ends, and places between that are no multiple of anything.
fn pieces(len: usize) -> Vec<(usize, usize)> {
    let last = len - PIECE;
    (0..PIECES).map(|piece| (if piece + 1 == PIECES { last } else { last / PIECES * piece }, PIECE)).collect()
}

/// Which element of the source becomes element `index` of the result.
fn source(case: &Case, index: usize) -> usize {
    match &case.shape {
        Shape::Matrix { rows, ld, .. } => index % rows * ld + index / rows,
        Shape::Array { dims, order } => {
            let mut rest = index;
            let mut at = 0;
            for &dim in order.iter().rev() {
                let stride: usize = dims[dim + 1..].iter().product();
                at += rest % dims[dim] * stride;
                rest /= dims[dim];
            }
            at
        }
        Shape::Vector { offset, .. } => index + offset,
        Shape::Segments { .. } | Shape::Gemm { .. } | Shape::Groups { .. } => index,
    }
}

/// The exclusive or of all elements' bits; of each whole period it is the same, so that pairs of them leave nothing.
fn parity(case: &Case, period: &Period, slot: &Slot) -> Result<()> {
    let Shape::Vector { n, .. } = case.shape else { return Ok(()) };
    let of = |n: usize| (0..n).into_par_iter().map(|index| period.bits(index)).reduce(|| 0, |a, b| a ^ b);
    let length = period.period();
    let expected = of(n % length) ^ if n / length % 2 == 1 { of(length) } else { 0 };
    // Into the poison.
    let got = slot.index.as_ref().map(Buffer::download).transpose()?.map_or(0, |bits| u128::from(!bits[0]));
    ensure!(got == expected, "the exclusive or is {got:#x} instead of {expected:#x}");
    Ok(())
}

fn argmax(case: &Case, period: &Period, slot: &Slot) -> Result<()> {
    let Shape::Vector { n, offset } = case.shape else { return Ok(()) };
    let (largest, _) = extreme(period, n, offset);
    let index = match (&slot.index, slot.returned) {
        (_, Some(index)) => index as i64,
        (Some(index), None) => index.download()?[0].cast_signed(),
        (None, None) => -1,
    };
    ensure!((0..n as i64).contains(&index), "the index {index} is not within 0..{n}");
    let found = period.number(index as usize + offset);
    ensure!(found == largest, "element {index} is {found}, and {largest} is the largest");
    Ok(())
}

/// The largest of `n` elements, and the first index where it is.
fn extreme(period: &Period, n: usize, offset: usize) -> (f64, usize) {
    let mut best = (f64::NEG_INFINITY, 0);
    for index in 0..n.min(period.period()) {
        let value = period.number(index + offset);
        if value > best.0 {
            best = (value, index);
        }
    }
    best
}

/// One element that is compared.
struct Sample {
    index: usize,
    value: f64,
    /// The largest error that rounding explains.
    bound: f64,
}

fn computed(case: &Case, period: &Period, slot: &Slot) -> Result<()> {
    let dtype = match case.work {
        Work::Max | Work::MaxAxis0 | Work::MaxAxis1 | Work::Add => case.dtype,
        Work::Gemm | Work::GroupedGemm => case.dtype.product(),
        _ => case.dtype.sum(),
    };
    for Sample { index, value, bound } in samples(case, period) {
        let wide = slot.wide.as_ref().map(Buffer::download).transpose()?.map(|wide| wide[0]);
        let got = match (slot.returned, wide) {
            (Some(returned), _) => returned,
            (None, Some(wide)) if wide != i64::MIN => wide as f64,
            _ => number(dtype, slot.out.read(index, 1)?[0]),
        };
        // Not `<=` the other way round: a NaN must not pass.
        ensure!((got - value).abs() <= bound, "element {index} is {got} instead of {value} ± {bound:e}");
    }
    Ok(())
}

fn samples(case: &Case, period: &Period) -> Vec<Sample> {
    let exact = |index: usize, value: f64| Sample { index, value, bound: 0.0 };
    match (&case.shape, case.work) {
        (Shape::Vector { n, offset }, Work::Add) => {
            let second = Period::SECOND;
            let value = |index: usize| period.number(index + offset) + period.number(index + offset + second);
            chosen(*n, 200).into_iter().map(|index| exact(index, value(index))).collect()
        }
        (Shape::Vector { n, offset }, Work::Max) => vec![exact(0, extreme(period, *n, *offset).0)],
        (Shape::Vector { n, offset }, work) => {
            let (n, offset) = (*n, *offset);
            let value = sum(period, n, |index| {
                let x = period.number(index + offset);
                match work {
                    Work::Dot => x * period.number(index + offset + Period::SECOND),
                    Work::SumSquares => x * x,
                    _ => x,
                }
            });
            // Squares do not cancel, so their sum leaves the integers of f32. Nobody adds more than 2¹³ in one chain.
            let bound = if work == Work::SumSquares { 8192.0 * unit(case.dtype.sum()) * value } else { 0.0 };
            vec![Sample { index: 0, value, bound }]
        }
        (Shape::Segments { n, segments, lengths }, _) => {
            let boundaries = boundaries(*n, *segments, *lengths);
            let value = |segment: usize| {
                let [start, end] = [boundaries[segment], boundaries[segment + 1]].map(|at| at as usize);
                (start..end).map(|index| period.number(index)).sum()
            };
            chosen(*segments, ADDITIONS / (n / segments).max(1)).into_par_iter().map(|s| exact(s, value(s))).collect()
        }
        (Shape::Matrix { rows, cols, ld }, work) => {
            let (others, length, step, next) = if matches!(work, Work::SumAxis0 | Work::MaxAxis0) {
                (*cols, *rows, *ld, 1)
            } else {
                (*rows, *cols, 1, *ld)
            };
            let value = |line: usize| {
                let line = (0..length).map(|index| period.number(line * next + index * step));
                if matches!(work, Work::MaxAxis0 | Work::MaxAxis1) { line.fold(f64::MIN, f64::max) } else { line.sum() }
            };
            chosen(others, ADDITIONS / length).into_par_iter().map(|line| exact(line, value(line))).collect()
        }
        (Shape::Gemm { mnk: [m, n, k], transposed, batch }, _) => {
            let chosen = chosen(m * n * batch, ADDITIONS / 8 / k);
            let all = [*m * *k, *n * *k];
            let at = |index: usize| {
                let matrix = index / (m * n);
                ([index / n % m, index % n], [matrix * all[0], matrix * all[1]])
            };
            let sample = |index| product(case.dtype.product(), period, [*m, *n, *k], *transposed, (index, at(index)));
            chosen.into_par_iter().map(sample).collect()
        }
        (Shape::Groups { groups, rows, nk: [n, k], transposed }, _) => {
            let (m, ends) = (group_rows(*groups, *rows), group_ends(*groups, *rows));
            let at = |index: usize| {
                let group = ends.partition_point(|&end| end as usize <= index / n);
                ([index / n, index % n], [0, group * n * k])
            };
            let sample =
                |index| product(case.dtype.product(), period, [m, *n, *k], [false, *transposed], (index, at(index)));
            chosen(m * n, ADDITIONS / 8 / k).into_par_iter().map(sample).collect()
        }
        (Shape::Array { .. }, _) => Vec::new(),
    }
}

/// Σ of `term` over 0..n, where `term` repeats with the period; exact, since all terms are integers.
fn sum(period: &Period, n: usize, term: impl Fn(usize) -> f64 + Sync) -> f64 {
    let part = |n: usize| -> f64 { (0..n).into_par_iter().map(&term).sum() };
    let whole = n / period.period();
    let repeated = if whole > 0 { whole as f64 * part(period.period()) } else { 0.0 };
    repeated + part(n % period.period())
}

/// Element `index` of the GEMM: of a row and a column, of matrices that begin at these elements of A and B. Sums of
/// integers are exact; a result, or each part of a sum that is split, may be rounded to the type of C, which makes at
/// most its unit roundoff of Σ|a·b|.
fn product(
    dtype: Dtype,
    period: &Period,
    [m, n, k]: [usize; 3],
    [ta, tb]: [bool; 2],
    (index, ([row, col], [from_a, from_b])): (usize, ([usize; 2], [usize; 2])),
) -> Sample {
    let (mut value, mut magnitude) = (0.0, 0.0);
    for step in 0..k {
        let a = from_a + if ta { step * m + row } else { row * k + step };
        let b = from_b + if tb { col * k + step } else { step * n + col };
        let term = period.number(a) * period.number(b + Period::SECOND);
        value += term;
        magnitude += term.abs();
    }
    // A result that f32 holds exactly is not rounded there.
    let bound = if matches!(dtype, Dtype::F16 | Dtype::Bf16) { unit(dtype) * magnitude } else { 0.0 };
    Sample { index, value, bound }
}

/// Unit roundoff.
fn unit(dtype: Dtype) -> f64 {
    f64::powi(
        2.0,
        match dtype {
            Dtype::F16 => -11,
            Dtype::Bf16 => -8,
            Dtype::F64 | Dtype::C128 => -53,
            _ => -24,
        },
    )
}

/// Up to `count` of 0..len (8 at least, 300 at most), both ends among them, the same in every run.
fn chosen(len: usize, count: usize) -> Vec<usize> {
    let count = count.clamp(8, 300);
    if len <= count {
        return (0..len).collect();
    }
    let mut rng = StdRng::seed_from_u64(len as u64);
    let mut chosen = vec![0, len - 1];
    chosen.extend((2..count).map(|_| rng.random_range(0..len)));
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_many_periods_are_those_of_the_elements() {
        let device = warpwright::Device::simulator();
        let period = Period::integers(&device, Dtype::F32, 97, 3).unwrap();
        let direct: f64 = (0..1000).map(|index| period.number(index + 5)).sum();
        assert_eq!(sum(&period, 1000, |index| period.number(index + 5)), direct);
        assert!((0..97).all(|index| period.number(index).abs() <= 4.0 && period.number(index).fract() == 0.0));
        assert!((0..97).any(|index| period.number(index) < 0.0) && (0..97).any(|index| period.number(index) > 0.0));
    }

    #[test]
    fn sources_of_a_transpose_and_a_permutation() {
        let case = |work, shape| Case { work, dtype: Dtype::F32, shape, quick: false };
        let transpose = case(Work::Transpose, Shape::Matrix { rows: 2, cols: 3, ld: 10 });
        assert_eq!([0, 1, 2, 3, 4, 5].map(|index| source(&transpose, index)), [0, 10, 1, 11, 2, 12]);
        let array = case(Work::Permute, Shape::Array { dims: vec![2, 3, 4], order: vec![2, 0, 1] });
        // Element (k, i, j) of the result is element (i, j, k) of the source.
        let expected: Vec<usize> =
            (0..4).flat_map(|k| (0..2).flat_map(move |i| (0..3).map(move |j| (i * 3 + j) * 4 + k))).collect();
        assert_eq!((0..24).map(|index| source(&array, index)).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn samples_have_both_ends_and_pieces_stay_inside() {
        assert_eq!(chosen(5, 8), [0, 1, 2, 3, 4]);
        let many = chosen(1 << 30, 1000);
        assert_eq!((many[0], many[1], many.len()), (0, (1 << 30) - 1, 300));
        let pieces = pieces(WHOLE + 1);
        assert_eq!(pieces[0].0, 0);
        assert_eq!(pieces[PIECES - 1], (WHOLE + 1 - PIECE, PIECE));
        assert!(pieces.iter().all(|(start, len)| start + len <= WHOLE + 1));
    }
}
