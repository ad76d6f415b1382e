//! Variances, with data for which other formulas cancel.

use rand::Rng;
use warpwright::half::{bf16, f16};
use warpwright::reduce::{Reduction, Variance, reduction_depth};
use warpwright::reference::reduce::{Format, variance};

use super::case::{Bits, any_case, reduce};
use super::values::{Real, uniform, wide};
use crate::support::runner::check_within;
use crate::support::values;

fn within<T: Real, U: Bits + Into<f64>>(what: &str, format: Format, mean: f64, outlier: f64)
where
    Variance: Reduction<T, Output = U>,
{
    check_within(what, any_case(size_of::<T>()), |case| {
        let mut rng = values::rng(case.data);
        let ddof = u32::from(case.n > 1 && rng.random());
        let mut worst = 0.0_f64;
        let around_zero: Vec<T> = uniform(case.n, &mut rng);
        let shifted: Vec<T> = (0..case.n).map(|_| T::from_f64(mean * rng.random_range(1.0..1.01))).collect();
        // One outlier at any position; in a third of the cases the first element, from which a fixed shift would be
        // taken.
        let mut with_outlier = around_zero.clone();
        with_outlier[if rng.random_range(0..3) == 0 { 0 } else { rng.random_range(0..case.n) }] = T::from_f64(outlier);
        let constant = vec![T::from_f64(mean); case.n];
        for x in [around_zero, shifted, with_outlier, constant] {
            let expected = variance(&wide(&x), ddof, reduction_depth(case.n, size_of::<T>()), format);
            let got = reduce(case, Variance { ddof }, &x)?.into();
            let ratio = expected.error_over_bound(got);
            if ratio > 1.0 {
                return Err(format!("{got:e}, error over bound {ratio:e} of {expected:?}"));
            }
            worst = worst.max(ratio);
        }
        Ok(worst)
    });
}

#[test]
fn variances_stay_within_the_bounds() {
    within::<f32, f32>("variances of f32", Format::F32, 1e8, 1e18);
    within::<f16, f32>("variances of f16", Format::F32, 6e4, 6e4);
    within::<bf16, f32>("variances of bf16", Format::F32, 1e8, 1e18);
    within::<f64, f64>("variances of f64", Format::F64, 1e12, 1e100);
}

#[test]
fn one_infinity_or_nan_makes_the_variance_nan() {
    crate::support::runner::check(any_case(4), |case| {
        let mut rng = values::rng(case.data);
        let mut x: Vec<f32> = uniform(case.n, &mut rng);
        x[rng.random_range(0..case.n)] = values::NON_FINITE[rng.random_range(0..3)];
        let got = reduce(case, Variance { ddof: 0 }, &x)?;
        if got.is_nan() { Ok(0.0) } else { Err(format!("{got}")) }
    });
}
