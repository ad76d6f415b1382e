//! Functions of one `f32`.

use std::env;
use std::thread;

use simt::math;

use crate::{Worst, judge};

/// Name, function, the same in `f64`, the bound, and the argument with the greatest error of all 2³².
type Row = (&'static str, fn(f32) -> f32, fn(f64) -> f64, f64, f32);

const ROWS: &[Row] = &[
    ("exp", math::exp, f64::exp, 1.1, 59.275_005),
    ("exp2", math::exp2, f64::exp2, 1.0, 0.549_682_56),
    ("exp10", math::exp10, libm::exp10, 1.2, -19.400_106),
    ("expm1", math::expm1, f64::exp_m1, 1.1, 17.150_723),
    ("log", math::log, f64::ln, 1.0, 1.338_460_2),
    ("log2", math::log2, f64::log2, 1.1, 1.337_306_4),
    ("log10", math::log10, f64::log10, 1.3, 1.333_444_6),
    ("log1p", math::log1p, f64::ln_1p, 1.0, 0.344_669_52),
    ("sin", math::sin, f64::sin, 0.9, 9.460_14e12),
    ("cos", math::cos, f64::cos, 0.9, 1.376_427_8e20),
    ("tan", math::tan, f64::tan, 1.6, 1.002_930_97e31),
    ("tanh", math::tanh, f64::tanh, 1.6, 0.550_921),
    ("erf", math::erf, libm::erf, 1.1, 0.989_896_83),
    ("erfc", math::erfc, libm::erfc, 2.2, 7.036_698),
    ("rsqrt", math::rsqrt, |x| 1.0 / x.sqrt(), 1.5, 1.182_765_8e-38),
    ("cbrt", math::cbrt, f64::cbrt, 0.51, 4.609_932e-38),
    ("rcbrt", math::rcbrt, |x| 1.0 / x.cbrt(), 0.51, 3.539_02e-38),
    ("sqrt", math::sqrt, f64::sqrt, 0.5, 4.701_977e-38),
    ("floor", math::floor, f64::floor, 0.0, 0.0),
    ("ceil", math::ceil, f64::ceil, 0.0, 0.0),
    ("trunc", math::trunc, f64::trunc, 0.0, 0.0),
    ("round", math::round, f64::round, 0.0, 0.0),
    ("ties", math::round_ties_even, f64::round_ties_even, 0.0, 0.0),
];

/// Error of `got` in units in the last place of `exact`; ∞ if one is a NaN, or the sign is wrong.
pub(crate) fn ulp(got: f32, exact: f64) -> f64 {
    if got.is_nan() || exact.is_nan() {
        return if got.is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if got.is_sign_negative() != exact.is_sign_negative() {
        return f64::INFINITY;
    }
    let exponent = ((exact.to_bits() >> 52) & 2047) as i32 - 1023;
    let unit = f64::from_bits(((exponent.clamp(-126, 127) - 23 + 1023) as u64) << 52);
    // ∞ stands for 2¹²⁸ and what is above it.
    let limit = 2f64.powi(128);
    let got = f64::from(got).clamp(-limit, limit);
    (got - exact.clamp(-limit, limit)).abs() / unit
}

/// The greatest error over every `stride`th argument, and at `at`.
fn worst(function: fn(f32) -> f32, exact: fn(f64) -> f64, stride: u64, at: f32) -> Worst {
    let error = move |x: f32| ulp(function(x), exact(f64::from(x)));
    let parts = thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    thread::scope(|scope| {
        let workers = (0..parts).map(|part| {
            scope.spawn(move || {
                let mut worst = Worst::default();
                worst.note(error(at), [f64::from(at), 0.0]);
                let mut bits = part * stride;
                while bits < 1 << 32 {
                    let x = f32::from_bits(bits as u32);
                    worst.note(error(x), [f64::from(x), 0.0]);
                    bits += parts * stride;
                }
                worst
            })
        });
        let workers: Vec<_> = workers.collect();
        let results = workers.into_iter().map(|worker| worker.join().expect("no panic"));
        results.max_by(|a, b| a.ulp.total_cmp(&b.ulp)).expect("a worker")
    })
}

#[test]
fn functions_of_one_f32_are_within_their_bounds() {
    let stride = env::var("WARPWRIGHT_MATH_STRIDE").map_or(4099, |text| text.parse().expect("a number"));
    let only = env::var("WARPWRIGHT_MATH_ONLY").unwrap_or_default();
    let rows = ROWS.iter().filter(|row| only.is_empty() || only.split(',').any(|name| name == row.0));
    let results: Vec<_> =
        rows.map(|&(name, function, exact, bound, at)| (name, worst(function, exact, stride, at), bound)).collect();
    judge(&results);
}

#[test]
fn sincos_is_sin_and_cos() {
    for bits in (0..1_u64 << 32).step_by(65_521) {
        let x = f32::from_bits(bits as u32);
        let (sin, cos) = math::sincos(x);
        let same = |a: f32, b: f32| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
        assert!(same(sin, math::sin(x)) && same(cos, math::cos(x)), "{x:e}");
    }
}
