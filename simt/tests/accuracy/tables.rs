//! Functions of `f64` and of two `f32`, compared with tables.

use std::path::Path;
use std::{env, fs};

use simt::math;

use crate::{Worst, judge, single};

/// Name, function and bound.
type Row = (&'static str, fn(f64) -> f64, f64);

/// Functions of one `f64`, and their bounds.
const ROWS: &[Row] = &[
    ("exp", math::exp, 1.0),
    ("exp2", math::exp2, 1.0),
    ("exp10", math::exp10, 1.0),
    ("expm1", math::expm1, 1.0),
    ("log", math::log, 1.0),
    ("log2", math::log2, 1.0),
    ("log10", math::log10, 1.0),
    ("log1p", math::log1p, 1.0),
    ("sin", math::sin, 0.9),
    ("cos", math::cos, 0.9),
    ("tan", math::tan, 1.1),
    ("tanh", math::tanh, 1.5),
    ("erf", math::erf, 1.0),
    ("erfc", math::erfc, 2.5),
    ("rsqrt", math::rsqrt, 1.5),
    ("cbrt", math::cbrt, 0.51),
    ("rcbrt", math::rcbrt, 0.51),
];

/// Functions of two numbers, and their bounds for `f32` and `f64`.
type Pair = (&'static str, fn(f32, f32) -> f32, fn(f64, f64) -> f64, f64, f64);
const PAIRS: &[Pair] = &[("pow", math::pow, math::pow, 1.0, 1.0), ("hypot", math::hypot, math::hypot, 1.0, 1.0)];

/// Text of a table.
fn table(name: &str) -> String {
    let folder = env::var("WARPWRIGHT_MATH_TABLES");
    let folder = folder.unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/tests/accuracy").to_owned());
    fs::read_to_string(Path::new(&folder).join(name)).expect("a table")
}

/// Fields of the lines that begin with `name`.
fn lines<'a>(table: &'a str, name: &'a str) -> impl Iterator<Item = Vec<&'a str>> {
    let lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    lines.filter(move |fields| fields[0] == name)
}

fn bits(field: &str) -> u64 {
    u64::from_str_radix(field, 16).expect("hexadecimal digits")
}

/// Error of `got` in units in the last place, if the exact result is `value` and `rest` such units.
fn ulp(got: f64, value: f64, rest: f64) -> f64 {
    if got == value && value.is_infinite() {
        return 0.0;
    }
    if got.is_sign_negative() != value.is_sign_negative() || !got.is_finite() {
        return f64::INFINITY;
    }
    let exponent = ((value.to_bits() >> 52) & 2047).max(1) as i32 - 1023;
    // In steps, since 2^(52 − exponent) may be beyond the greatest number.
    let part = exponent.clamp(-900, 900);
    let units = (got - value) * 2f64.powi(52) * 2f64.powi(-part) * 2f64.powi(part - exponent);
    (units - rest).abs()
}

#[test]
fn functions_of_f64_are_within_their_bounds() {
    let table = table("f64.csv");
    let mut results = Vec::new();
    for &(name, function, bound) in ROWS {
        let mut worst = Worst::default();
        let mut count = 0;
        for fields in lines(&table, name) {
            let x = f64::from_bits(bits(fields[1]));
            let rest = fields[3].parse().expect("a number");
            worst.note(ulp(function(x), f64::from_bits(bits(fields[2])), rest), [x, 0.0]);
            count += 1;
        }
        assert!(count >= 90, "{count} values of {name}");
        results.push((name, worst, bound));
    }
    for &(name, _, function, _, bound) in PAIRS {
        let mut worst = Worst::default();
        for fields in lines(&table, name) {
            let [x, y] = [1, 2].map(|i| f64::from_bits(bits(fields[i])));
            let rest = fields[4].parse().expect("a number");
            worst.note(ulp(function(x, y), f64::from_bits(bits(fields[3])), rest), [x, y]);
        }
        results.push((name, worst, bound));
    }
    judge(&results);
}

#[test]
fn functions_of_two_f32_are_within_their_bounds() {
    let table = table("pairs.csv");
    let mut results = Vec::new();
    for &(name, function, _, bound, _) in PAIRS {
        let mut worst = Worst::default();
        for fields in lines(&table, name) {
            let [x, y] = [1, 2].map(|i| f32::from_bits(bits(fields[i]) as u32));
            let exact = f64::from_bits(bits(fields[3]));
            worst.note(single::ulp(function(x, y), exact), [f64::from(x), f64::from(y)]);
        }
        results.push((name, worst, bound));
    }
    judge(&results);
}
