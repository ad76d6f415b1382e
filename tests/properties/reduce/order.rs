//! Minimum, maximum, argmin, argmax and counts: exact for all elements.

use std::cmp::Ordering::{Greater, Less};

use rand::Rng;
use rand::rngs::StdRng;
use warpwright::half::{bf16, f16};
use warpwright::reduce::{
    All, Any, ArgMax, ArgMin, CountNonzero, Max, Min, NanArgMax, NanArgMin, NanMax, NanMin, Reduction,
};
use warpwright::reference::reduce::{Nan, best};

use super::case::{Bits, Case, any_case, is_nan, reduce};
use super::values::{Number, Real};
use crate::support::runner::check;
use crate::support::values;

fn equal<U: Copy + PartialEq + std::fmt::Debug>(what: &str, got: U, expected: U) -> Result<(), String> {
    if got == expected { Ok(()) } else { Err(format!("{what}: {got:?} instead of {expected:?}")) }
}

/// Equal values, where zeros of both signs and all NaNs are equal.
fn same<T: Bits>(what: &str, got: T, expected: T) -> Result<(), String> {
    if got == expected || (is_nan(got) && is_nan(expected)) {
        Ok(())
    } else {
        Err(format!("{what}: {got:?} instead of {expected:?}"))
    }
}

/// A few different values, so that many are equal, or any values; sometimes only the least.
fn data<T: Number>(n: usize, rng: &mut StdRng, any: impl Fn(&mut StdRng) -> T, least: T) -> Vec<T> {
    match rng.random_range(0..5) {
        0 => vec![least; n],
        1 | 2 => (0..n).map(|_| T::from_small(rng.random_range(0..=5))).collect(),
        _ => (0..n).map(|_| any(rng)).collect(),
    }
}

fn found<T: Bits>(case: &Case, x: &[T]) -> Result<(), String>
where
    Max: Reduction<T, Output = T>,
    Min: Reduction<T, Output = T>,
    ArgMax: Reduction<T, Output = u64>,
    ArgMin: Reduction<T, Output = u64>,
{
    let [greatest, least] = [Greater, Less].map(|extreme| best(x, extreme, Nan::Propagate).unwrap_or(usize::MAX));
    same("max", reduce(case, Max, x)?, x[greatest])?;
    same("min", reduce(case, Min, x)?, x[least])?;
    equal("argmax", reduce(case, ArgMax, x)?, greatest as u64)?;
    equal("argmin", reduce(case, ArgMin, x)?, least as u64)
}

fn found_without_nan<T: Real>(case: &Case, x: &[T]) -> Result<(), String>
where
    NanMax: Reduction<T, Output = T>,
    NanMin: Reduction<T, Output = T>,
    NanArgMax: Reduction<T, Output = u64>,
    NanArgMin: Reduction<T, Output = u64>,
{
    let [greatest, least] = [Greater, Less].map(|extreme| best(x, extreme, Nan::Ignore));
    let value = |at: Option<usize>| at.map_or(T::from_f64(f64::NAN), |at| x[at]);
    let place = |at: Option<usize>| at.map_or(u64::MAX, |at| at as u64);
    same("nan_max", reduce(case, NanMax, x)?, value(greatest))?;
    same("nan_min", reduce(case, NanMin, x)?, value(least))?;
    equal("nan_argmax", reduce(case, NanArgMax, x)?, place(greatest))?;
    equal("nan_argmin", reduce(case, NanArgMin, x)?, place(least))
}

macro_rules! integers {
    ($($name:ident: $t:ty;)+) => {$(
        #[test]
        fn $name() {
            check(any_case(size_of::<$t>()), |case| {
                let mut rng = values::rng(case.data);
                let end = if rng.random() { <$t>::MIN } else { <$t>::MAX };
                found(case, &data::<$t>(case.n, &mut rng, |rng| rng.random(), end)).map(|()| 0.0)
            });
        }
    )+};
}
integers! {
    extremes_of_i32_are_found: i32;
    extremes_of_u32_are_found: u32;
    extremes_of_i64_are_found: i64;
    extremes_of_u64_are_found: u64;
}

macro_rules! reals {
    ($($name:ident: $t:ty, $bits:ty;)+) => {$(
        /// Any bits, including NaNs, infinities, zeros of both signs, subnormals; then without NaN, with one NaN, and
        /// with only NaNs.
        #[test]
        fn $name() {
            check(any_case(size_of::<$t>()), |case| {
                let mut rng = values::rng(case.data);
                let end = <$t>::from_f64(if rng.random() { f64::INFINITY } else { f64::NEG_INFINITY });
                let any = |rng: &mut StdRng| <$t>::from_bits(rng.random::<$bits>());
                let mut x = data::<$t>(case.n, &mut rng, any, end);
                found(case, &x)?;
                found_without_nan(case, &x)?;
                for x in &mut x {
                    *x = if x.is_nan() { <$t>::from_small(-1) } else { *x };
                }
                found(case, &x)?;
                found_without_nan(case, &x)?;
                for _ in 0..rng.random_range(1..3) {
                    x[rng.random_range(0..case.n)] = <$t>::NAN;
                }
                found(case, &x)?;
                found_without_nan(case, &x)?;
                found_without_nan(case, &vec![<$t>::NAN; case.n])?;
                Ok(0.0)
            });
        }
    )+};
}
reals! {
    extremes_of_f32_are_found: f32, u32;
    extremes_of_f64_are_found: f64, u64;
    extremes_of_f16_are_found: f16, u16;
    extremes_of_bf16_are_found: bf16, u16;
}

fn counted<T: Number>(some: &[T], zeros: &[T])
where
    CountNonzero: Reduction<T, Output = u64>,
    Any: Reduction<T, Output = u64>,
    All: Reduction<T, Output = u64>,
{
    check(any_case(size_of::<T>()), |case| {
        let mut rng = values::rng(case.data);
        // Mostly of one kind: only zeros, no zeros, a single one.
        let share = [0.0, 0.5, 1.0][rng.random_range(0..3)];
        let mut pick = |some_of_it: bool| {
            let from = if some_of_it { some } else { zeros };
            from[rng.random_range(0..from.len())]
        };
        let mut kinds: Vec<bool> = (0..case.n).map(|i| (i as f64 * 0.618).fract() < share).collect();
        if case.data % 2 == 0 {
            let at = (case.data / 2) as usize % case.n;
            kinds[at] = !kinds[at];
        }
        let x: Vec<T> = kinds.iter().map(|&kind| pick(kind)).collect();
        let count = kinds.iter().filter(|&&kind| kind).count();
        equal("count", reduce(case, CountNonzero, &x)?, count as u64)?;
        equal("any", reduce(case, Any, &x)?, u64::from(count > 0))?;
        equal("all", reduce(case, All, &x)?, u64::from(count == case.n))?;
        Ok(0.0)
    });
}

#[test]
fn nonzero_integers_are_counted() {
    counted::<u8>(&[1, 128, 255], &[0]);
    counted::<i32>(&[1, -1, i32::MIN], &[0]);
    counted::<u32>(&[1, 1 << 31], &[0]);
    counted::<i64>(&[1, -1, i64::MIN, 1 << 32], &[0]);
    counted::<u64>(&[1, 1 << 63, 1 << 32], &[0]);
}

#[test]
fn nonzero_reals_are_counted() {
    counted::<f32>(&[1.0, f32::NAN, f32::from_bits(1), f32::NEG_INFINITY], &[0.0, -0.0]);
    counted::<f64>(&[1.0, f64::NAN, f64::from_bits(1), f64::NEG_INFINITY], &[0.0, -0.0]);
    counted::<f16>(&[f16::ONE, f16::NAN, f16::from_bits(1), f16::NEG_INFINITY], &[f16::ZERO, f16::NEG_ZERO]);
    counted::<bf16>(&[bf16::ONE, bf16::NAN, bf16::from_bits(1), bf16::NEG_INFINITY], &[bf16::ZERO, bf16::NEG_ZERO]);
}
