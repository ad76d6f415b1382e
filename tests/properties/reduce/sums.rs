//! Sums, sums of squares, dot products, means, norms, products: exact for small integers, within derived bounds for
//! reals.

use rand::Rng;
use warpwright::half::{bf16, f16};
use warpwright::reduce::{
    Dot, Mean, NanSum, Norm, PlainSum, Product, Reduction, Sum, SumOfSquares, dot_depth, reduction_depth,
};
use warpwright::reference::reduce::{self as reference, Added, Format, Scalar};

use super::case::{Bits, Case, any_case, dot, reduce};
use super::values::{Number, Real, cancelling, small, uniform, wide};
use crate::support::runner::{check, check_within};
use crate::support::values;

fn judge(what: &str, scalar: Scalar, got: impl Into<f64>) -> Result<f64, String> {
    let got = got.into();
    let ratio = scalar.error_over_bound(got);
    if ratio <= 1.0 { Ok(ratio) } else { Err(format!("{what}: {got:e}, error over bound {ratio:e} of {scalar:?}")) }
}

fn equal<U: Copy + PartialEq + std::fmt::Debug>(what: &str, got: U, expected: U) -> Result<(), String> {
    if got == expected { Ok(()) } else { Err(format!("{what}: {got:?} instead of {expected:?}")) }
}

/// Sums of small integers are exact in any order; and a single nonzero element is the sum, at any position.
fn exact<T: Number + Dot<Output = U>, U: Bits>(
    of: impl Fn(i64) -> U,
    squares: impl Fn(i64, &Case, &[T]) -> Result<(), String>,
) where
    Sum: Reduction<T, Output = U>,
{
    check(any_case(size_of::<T>()), |case| {
        let mut rng = values::rng(case.data);
        let numbers: Vec<i8> = (0..case.n).map(|_| rng.random_range(0..=8)).collect();
        let x: Vec<T> = numbers.iter().map(|&x| T::from_small(x)).collect();
        let sum: i64 = numbers.iter().map(|&x| i64::from(x)).sum();
        equal("sum", reduce(case, Sum, &x)?, of(sum))?;
        squares(numbers.iter().map(|&x| i64::from(x).pow(2)).sum(), case, &x)?;
        let y: Vec<T> = small(case.n, &mut rng, 1);
        let at = rng.random_range(0..case.n);
        let mut one = vec![T::from_small(0); case.n];
        one[at] = T::from_small(1);
        equal("sum of one 1", reduce(case, Sum, &one)?, of(1))?;
        let picked = (1..=8).find(|&k| T::from_small(k) == y[at]).ok_or("small numbers differ")?;
        equal("scalar product with one 1", dot(case, rng.random_range(0..9), &one, &y)?, of(i64::from(picked)))?;
        Ok(0.0)
    });
}

macro_rules! exactly {
    ($($name:ident: $t:ty => $u:ty, $squares:ty;)+) => {$(
        #[test]
        fn $name() {
            exact::<$t, $u>(|sum| sum as $u, |squares, case, x| {
                equal("sum of squares", reduce(case, SumOfSquares, x)?, squares as $squares)
            });
        }
    )+};
}
exactly! {
    sums_of_f32_integers_are_exact: f32 => f32, f32;
    sums_of_f64_integers_are_exact: f64 => f64, f64;
    sums_of_f16_integers_are_exact: f16 => f32, f32;
    sums_of_bf16_integers_are_exact: bf16 => f32, f32;
    sums_of_i32_are_exact: i32 => i64, u64;
    sums_of_u32_are_exact: u32 => u64, u64;
    sums_of_i64_are_exact: i64 => i64, u64;
    sums_of_u64_are_exact: u64 => u64, u64;
}

#[test]
fn integers_wrap_in_64_bits() {
    check(any_case(8), |case| {
        let mut rng = values::rng(case.data);
        let (x, y): (Vec<i64>, Vec<i64>) = (0..case.n).map(|_| (rng.random::<i64>(), rng.random::<i64>() | 1)).unzip();
        let sum = x.iter().fold(0_i64, |sum, x| sum.wrapping_add(*x));
        equal("sum", reduce(case, Sum, &x)?, sum)?;
        let product = y.iter().fold(1_i64, |product, y| product.wrapping_mul(*y));
        equal("product", reduce(case, Product, &y)?, product)?;
        let squares = x.iter().fold(0_u64, |sum, x| sum.wrapping_add((x.wrapping_mul(*x)) as u64));
        equal("sum of squares", reduce(case, SumOfSquares, &x)?, squares)?;
        let products = x.iter().zip(&y).fold(0_i64, |sum, (x, y)| sum.wrapping_add(x.wrapping_mul(*y)));
        equal("scalar product", dot(case, 1, &x, &y)?, products)?;
        let x: Vec<i32> = x.iter().map(|&x| x as i32).collect();
        equal("sum of i32", reduce(case, Sum, &x)?, x.iter().map(|&x| i64::from(x)).sum())?;
        let product = x.iter().fold(1_i64, |product, &x| product.wrapping_mul(i64::from(x) | 1));
        let odd: Vec<i32> = x.iter().map(|&x| x | 1).collect();
        equal("product of i32", reduce(case, Product, &odd)?, product)?;
        let odd: Vec<u32> = odd.iter().map(|&x| x as u32).collect();
        let product = odd.iter().fold(1_u64, |product, &x| product.wrapping_mul(u64::from(x)));
        equal("product of u32", reduce(case, Product, &odd)?, product)?;
        Ok(0.0)
    });
}

/// All reductions with rounding, for one format.
fn within<T: Real + Dot<Output = U>, U: Bits + Into<f64>>(what: &str, added: Added, format: Format, large: f64)
where
    Sum: Reduction<T, Output = U>,
    SumOfSquares: Reduction<T, Output = U>,
    NanSum: Reduction<T, Output = U>,
    Mean: Reduction<T, Output = U>,
    Norm: Reduction<T, Output = U>,
    Product: Reduction<T, Output = U>,
{
    let bytes = size_of::<T>();
    check_within(what, any_case(bytes), |case| {
        let mut rng = values::rng(case.data);
        let depth = reduction_depth(case.n, bytes);
        let mut worst = 0.0_f64;
        for x in [uniform::<T>(case.n, &mut rng), cancelling(case.n, large, &mut rng)] {
            let exact = wide(&x);
            let ratios = [
                judge("sum", reference::sum(&exact, depth, added), reduce(case, Sum, &x)?)?,
                judge("sum of squares", reference::dot(&exact, &exact, depth, added), reduce(case, SumOfSquares, &x)?)?,
                judge("mean", reference::mean(&exact, depth, added), reduce(case, Mean, &x)?)?,
                judge("norm", reference::norm(&exact, depth, format), reduce(case, Norm, &x)?)?,
            ];
            worst = ratios.into_iter().fold(worst, f64::max);
            let y = uniform::<T>(case.n, &mut rng);
            let expected = reference::dot(&exact, &wide(&y), dot_depth(case.n, bytes), added);
            for before in [case.around[0], rng.random_range(0..9)] {
                worst = worst.max(judge("scalar product", expected, dot(case, before, &x, &y)?)?);
            }
            let mut holed = x;
            for _ in 0..=case.n / 7 {
                holed[rng.random_range(0..case.n)] = T::from_f64(f64::NAN);
            }
            let numbers: Vec<f64> = wide(&holed).into_iter().filter(|x| !x.is_nan()).collect();
            let expected = reference::sum(&numbers, depth, added);
            worst = worst.max(judge("nan_sum", expected, reduce(case, NanSum, &holed)?)?);
        }
        // Numbers around 1, so that the product stays in range.
        let x: Vec<T> = (0..case.n).map(|_| T::from_f64(rng.random_range(0.99..1.01))).collect();
        worst = worst.max(judge("product", reference::product(&wide(&x), format), reduce(case, Product, &x)?)?);
        Ok(worst)
    });
}

#[test]
fn f32_stays_within_the_bounds() {
    within::<f32, f32>("reductions of f32", Added::InF64, Format::F32, 1e8);
}

#[test]
fn f16_stays_within_the_bounds() {
    within::<f16, f32>("reductions of f16", Added::InF64, Format::F32, 6e4);
}

#[test]
fn bf16_stays_within_the_bounds() {
    within::<bf16, f32>("reductions of bf16", Added::InF64, Format::F32, 1e30);
}

#[test]
fn f64_stays_within_the_bounds() {
    within::<f64, f64>("reductions of f64", Added::Compensated, Format::F64, 1e17);
}

#[test]
fn plain_sums_stay_within_the_bound_of_f32() {
    check_within("plain sums", any_case(4), |case| {
        let x = uniform::<f32>(case.n, &mut values::rng(case.data));
        let expected = reference::sum(&wide(&x), reduction_depth(case.n, 4), Added::InF32);
        judge("plain sum", expected, reduce(case, PlainSum, &x)?)
    });
}

#[test]
fn means_of_integers_are_rounded_twice_at_most() {
    check(any_case(4), |case| {
        let mut rng = values::rng(case.data);
        let x: Vec<i32> = (0..case.n).map(|_| rng.random()).collect();
        let sum: i64 = x.iter().map(|&x| i64::from(x)).sum();
        equal("mean", reduce(case, Mean, &x)?, sum as f64 / case.n as f64)?;
        let x: Vec<u32> = x.iter().map(|&x| x as u32).collect();
        let sum: u64 = x.iter().map(|&x| u64::from(x)).sum();
        equal("mean", reduce(case, Mean, &x)?, sum as f64 / case.n as f64)?;
        Ok(0.0)
    });
}

/// Norms of elements whose squares overflow or underflow.
#[test]
fn norms_of_f64_neither_overflow_nor_underflow() {
    check_within("norms of f64 of every size", any_case(8), |case| {
        let mut rng = values::rng(case.data);
        let exponent = rng.random_range(-1060..1000);
        let spread = rng.random_range(0..300);
        let x: Vec<f64> = (0..case.n)
            .map(|_| {
                let by = exponent - rng.random_range(0..=spread);
                rng.random_range(-1.0..=1.0) * 2_f64.powi(by / 2) * 2_f64.powi(by - by / 2)
            })
            .collect();
        let expected = reference::norm(&x, reduction_depth(case.n, 8), Format::F64);
        judge("norm", expected, reduce(case, Norm, &x)?)
    });
}

fn special<T: Real + Dot<Output = U>, U: Bits + Into<f64>>()
where
    Sum: Reduction<T, Output = U>,
    SumOfSquares: Reduction<T, Output = U>,
    Norm: Reduction<T, Output = U>,
    Mean: Reduction<T, Output = U>,
{
    check(any_case(size_of::<T>()), |case| {
        let mut rng = values::rng(case.data);
        let value = values::NON_FINITE[rng.random_range(0..3)];
        let mut x = small::<T>(case.n, &mut rng, -8);
        let at = rng.random_range(0..case.n);
        x[at] = T::from_f64(f64::from(value));
        let size = f64::from(value).abs();
        judge("sum", Scalar::exact(f64::from(value)), reduce(case, Sum, &x)?)?;
        judge("mean", Scalar::exact(f64::from(value)), reduce(case, Mean, &x)?)?;
        judge("sum of squares", Scalar::exact(size), reduce(case, SumOfSquares, &x)?)?;
        judge("norm", Scalar::exact(size), reduce(case, Norm, &x)?)?;
        let ones = vec![T::from_small(1); case.n];
        judge("scalar product", Scalar::exact(f64::from(value)), dot(case, 3, &x, &ones)?)?;
        if case.n > 1 {
            x[at] = T::from_f64(f64::INFINITY);
            x[(at + 1) % case.n] = T::from_f64(f64::NEG_INFINITY);
            judge("sum of ∞ and −∞", Scalar::exact(f64::NAN), reduce(case, Sum, &x)?)?;
        }
        let zeros = vec![T::from_f64(-0.0); case.n];
        judge("sum of −0", Scalar::exact(0.0), reduce(case, Sum, &zeros)?)?;
        Ok(0.0)
    });
}

#[test]
fn nan_and_infinity_propagate_from_any_position() {
    special::<f32, f32>();
    special::<f16, f32>();
    special::<bf16, f32>();
    special::<f64, f64>();
}
