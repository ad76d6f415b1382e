//! Reductions along an axis, line by line: exact if the arithmetic is exact, otherwise within derived bounds.

use std::cmp::Ordering::{Greater, Less};

use rand::Rng;
use rand::rngs::StdRng;
use warpwright::half::{bf16, f16};
use warpwright::reduce::{
    All, Any, ArgMax, ArgMin, AxisReduction, CountNonzero, Max, Mean, Min, NanArgMax, NanArgMin, NanMax, NanMin,
    NanSum, Norm, Product, Sum, SumOfSquares, Variance,
};
use warpwright::reference::reduce::{self as reference, Added, Format, Nan, Scalar, best};

use super::axis_case::{AxisCase, any_tensor, depth, reduce_axis};
use super::case::Bits;
use super::judge::{equal, within};
use super::values::{Number, Real, cancelling, small, uniform};
use crate::support::runner::{check, check_within};
use crate::support::values;

/// Checks that each line's result equals that of the reference.
fn each<T: Bits, R: AxisReduction<T>>(
    what: &str,
    case: &AxisCase,
    reduction: R,
    x: &[T],
    expected: impl Fn(&[T]) -> R::Output,
) -> Result<(), String>
where
    R::Output: Bits,
{
    equal(what, &case.lines(x), &reduce_axis(case, reduction, x)?, &expected)
}

/// The worst error over bound of all lines.
fn judged<T: Real, R: AxisReduction<T, Output: Into<f64>>>(
    what: &str,
    case: &AxisCase,
    reduction: R,
    x: &[T],
    expected: impl Fn(&[f64], u64) -> Scalar,
) -> Result<f64, String>
where
    R::Output: Bits,
{
    let depth = depth::<T, R>(case, reduction);
    within(what, &case.lines(x), &reduce_axis(case, reduction, x)?, |line| expected(line, depth))
}

macro_rules! exactly {
    ($($name:ident: $t:ty => $u:ty, $squares:ty;)+) => {$(
        /// Sums of small integers are exact in any order, and a single 1 counts at any position.
        #[test]
        fn $name() {
            check(any_tensor(size_of::<$t>()), |case| {
                let mut rng = values::rng(case.data);
                let numbers: Vec<i8> = (0..case.span()).map(|_| rng.random_range(0..=8)).collect();
                let x: Vec<$t> = numbers.iter().map(|&x| <$t as Number>::from_small(x)).collect();
                let small = |x: &$t| (0..=8).find(|&k| <$t as Number>::from_small(k) == *x).map_or(0, i64::from);
                each("sum", case, Sum, &x, |line| line.iter().map(small).sum::<i64>() as $u)?;
                each("sum of squares", case, SumOfSquares, &x, |line| {
                    line.iter().map(|x| small(x).pow(2)).sum::<i64>() as $squares
                })?;
                let mut one = vec![<$t as Number>::from_small(0); x.len()];
                one[rng.random_range(0..x.len())] = <$t as Number>::from_small(1);
                each("sum of one 1", case, Sum, &one, |line| line.iter().map(small).sum::<i64>() as $u)?;
                each("count", case, CountNonzero, &one, |line| line.iter().map(small).sum::<i64>() as u64)?;
                each("any", case, Any, &one, |line| u64::from(line.iter().any(|x| small(x) == 1)))?;
                each("all", case, All, &one, |line| u64::from(line.iter().all(|x| small(x) == 1)))?;
                Ok(0.0)
            });
        }
    )+};
}
exactly! {
    axis_sums_of_f32_integers_are_exact: f32 => f32, f32;
    axis_sums_of_f64_integers_are_exact: f64 => f64, f64;
    axis_sums_of_f16_integers_are_exact: f16 => f32, f32;
    axis_sums_of_bf16_integers_are_exact: bf16 => f32, f32;
    axis_sums_of_i32_are_exact: i32 => i64, u64;
    axis_sums_of_u32_are_exact: u32 => u64, u64;
    axis_sums_of_i64_are_exact: i64 => i64, u64;
    axis_sums_of_u64_are_exact: u64 => u64, u64;
}

#[test]
fn axis_counts_of_bytes_are_exact() {
    check(any_tensor(1), |case| {
        let mut rng = values::rng(case.data);
        let x: Vec<u8> = (0..case.span()).map(|_| rng.random_range(0..3)).collect();
        each("count", case, CountNonzero, &x, |line| line.iter().filter(|&&x| x != 0).count() as u64)?;
        each("all", case, All, &x, |line| u64::from(line.iter().all(|&x| x != 0)))?;
        Ok(0.0)
    });
}

#[test]
fn axis_integers_wrap_in_64_bits() {
    check(any_tensor(8), |case| {
        let mut rng = values::rng(case.data);
        let x: Vec<i64> = (0..case.span()).map(|_| rng.random::<i64>() | 1).collect();
        each("sum", case, Sum, &x, |line| line.iter().fold(0, |sum: i64, x| sum.wrapping_add(*x)))?;
        each("product", case, Product, &x, |line| line.iter().fold(1, |product: i64, x| product.wrapping_mul(*x)))?;
        Ok(0.0)
    });
}

#[test]
fn axis_products_of_32_bits_wrap_in_64() {
    check(any_tensor(4), |case| {
        let mut rng = values::rng(case.data);
        let x: Vec<i32> = (0..case.span()).map(|_| rng.random::<i32>() | 1).collect();
        let signed = |line: &[i32]| line.iter().fold(1, |product: i64, &x| product.wrapping_mul(x.into()));
        each("product", case, Product, &x, signed)?;
        let x: Vec<u32> = x.iter().map(|&x| x as u32).collect();
        let unsigned = |line: &[u32]| line.iter().fold(1, |product: u64, &x| product.wrapping_mul(x.into()));
        each("product", case, Product, &x, unsigned)?;
        Ok(0.0)
    });
}

#[test]
fn axis_means_of_integers_are_rounded_once() {
    check(any_tensor(4), |case| {
        let mut rng = values::rng(case.data);
        let x: Vec<i32> = (0..case.span()).map(|_| rng.random()).collect();
        let mean = |line: &[i32]| line.iter().map(|&x| i64::from(x)).sum::<i64>() as f64 / line.len() as f64;
        each("mean", case, Mean, &x, mean)?;
        Ok(0.0)
    });
}

fn rounded<T: Real, U: Bits + Into<f64>>(what: &str, format: Format, added: Added)
where
    Sum: AxisReduction<T, Output = U>,
    NanSum: AxisReduction<T, Output = U>,
    Mean: AxisReduction<T, Output = U>,
    Norm: AxisReduction<T, Output = U>,
    Product: AxisReduction<T, Output = U>,
    Variance: AxisReduction<T, Output = U>,
{
    check_within(what, any_tensor(size_of::<T>()), |case| {
        let mut rng = values::rng(case.data);
        let n = case.span();
        let x: Vec<T> = if rng.random() { uniform(n, &mut rng) } else { cancelling(n, 1e4, &mut rng) };
        let mut worst = judged("sum", case, Sum, &x, |line, depth| reference::sum(line, depth, added))?;
        worst = worst.max(judged("mean", case, Mean, &x, |line, depth| reference::mean(line, depth, added))?);
        worst = worst.max(judged("norm", case, Norm, &x, |line, depth| reference::norm(line, depth, format))?);
        worst = worst.max(judged("variance", case, Variance { ddof: 0 }, &x, |line, depth| {
            reference::variance(line, 0, depth, format)
        })?);
        let near_one: Vec<T> = (0..n).map(|_| T::from_f64(rng.random_range(0.9..1.1))).collect();
        judged("product", case, Product, &near_one, |line, _| reference::product(line, format))?;
        let mut holed = x.clone();
        for _ in 0..=n / 7 {
            holed[rng.random_range(0..n)] = T::from_f64(f64::NAN);
        }
        judged("nan_sum", case, NanSum, &holed, |line, depth| {
            let numbers: Vec<f64> = line.iter().copied().filter(|x| !x.is_nan()).collect();
            reference::sum(&numbers, depth, added)
        })?;
        judged("sum with NaN", case, Sum, &holed, |line, depth| reference::sum(line, depth, added))?;
        Ok(worst)
    });
}

#[test]
fn axis_reductions_of_reals_stay_within_the_bounds() {
    rounded::<f32, f32>("reductions of f32 along an axis", Format::F32, Added::InF64);
    rounded::<f16, f32>("reductions of f16 along an axis", Format::F32, Added::InF64);
    rounded::<bf16, f32>("reductions of bf16 along an axis", Format::F32, Added::InF64);
    rounded::<f64, f64>("reductions of f64 along an axis", Format::F64, Added::Compensated);
}

fn found<T: Bits>(case: &AxisCase, x: &[T]) -> Result<(), String>
where
    Max: AxisReduction<T, Output = T>,
    Min: AxisReduction<T, Output = T>,
    ArgMax: AxisReduction<T, Output = u64>,
    ArgMin: AxisReduction<T, Output = u64>,
{
    let at = |line: &[T], extreme| best(line, extreme, Nan::Propagate).unwrap_or(usize::MAX);
    each("max", case, Max, x, |line| line[at(line, Greater)])?;
    each("min", case, Min, x, |line| line[at(line, Less)])?;
    each("argmax", case, ArgMax, x, |line| at(line, Greater) as u64)?;
    each("argmin", case, ArgMin, x, |line| at(line, Less) as u64)
}

fn found_without_nan<T: Real>(case: &AxisCase, x: &[T]) -> Result<(), String>
where
    NanMax: AxisReduction<T, Output = T>,
    NanMin: AxisReduction<T, Output = T>,
    NanArgMax: AxisReduction<T, Output = u64>,
    NanArgMin: AxisReduction<T, Output = u64>,
{
    let at = |line: &[T], extreme| best(line, extreme, Nan::Ignore);
    let value = |line: &[T], extreme| at(line, extreme).map_or(T::from_f64(f64::NAN), |at| line[at]);
    let place = |line: &[T], extreme| at(line, extreme).map_or(u64::MAX, |at| at as u64);
    each("nan_max", case, NanMax, x, |line| value(line, Greater))?;
    each("nan_min", case, NanMin, x, |line| value(line, Less))?;
    each("nan_argmax", case, NanArgMax, x, |line| place(line, Greater))?;
    each("nan_argmin", case, NanArgMin, x, |line| place(line, Less))
}

/// A few different values, so that many are equal, or any values.
fn data<T: Number>(n: usize, rng: &mut StdRng, any: impl Fn(&mut StdRng) -> T) -> Vec<T> {
    if rng.random() { small(n, rng, 0) } else { (0..n).map(|_| any(rng)).collect() }
}

macro_rules! integers {
    ($($name:ident: $t:ty;)+) => {$(
        #[test]
        fn $name() {
            check(any_tensor(size_of::<$t>()), |case| {
                let mut rng = values::rng(case.data);
                found(case, &data::<$t>(case.span(), &mut rng, |rng| rng.random())).map(|()| 0.0)
            });
        }
    )+};
}
integers! {
    axis_extremes_of_i32_are_found: i32;
    axis_extremes_of_u32_are_found: u32;
    axis_extremes_of_i64_are_found: i64;
    axis_extremes_of_u64_are_found: u64;
}

macro_rules! reals {
    ($($name:ident: $t:ty, $bits:ty;)+) => {$(
        /// Any bits, including NaNs, infinities, zeros of both signs, subnormals.
        #[test]
        fn $name() {
            check(any_tensor(size_of::<$t>()), |case| {
                let mut rng = values::rng(case.data);
                let mut x = data(case.span(), &mut rng, |rng| <$t>::from_bits(rng.random::<$bits>()));
                found(case, &x)?;
                found_without_nan(case, &x)?;
                let end = x.len().min(40);
                x[..end].fill(<$t>::NAN);
                found(case, &x)?;
                found_without_nan(case, &x)?;
                Ok(0.0)
            });
        }
    )+};
}
reals! {
    axis_extremes_of_f32_are_found: f32, u32;
    axis_extremes_of_f64_are_found: f64, u64;
    axis_extremes_of_f16_are_found: f16, u16;
    axis_extremes_of_bf16_are_found: bf16, u16;
}
