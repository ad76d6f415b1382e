//! Conversions between elements and numbers, and random data.

use rand::Rng;
use rand::rngs::StdRng;
use warpwright::half::{bf16, f16};

use super::case::Bits;

/// Elements that convert from small integers.
pub(super) trait Number: Bits {
    fn from_small(value: i8) -> Self;
}

/// Floats of the four formats.
pub(super) trait Real: Number {
    fn from_f64(value: f64) -> Self;
    fn wide(self) -> f64;
}

macro_rules! integers {
    ($($t:ty)+) => {$(
        impl Number for $t {
            fn from_small(value: i8) -> Self {
                i64::from(value) as $t
            }
        }
    )+};
}
integers! { u8 i32 u32 i64 u64 }

macro_rules! reals {
    ($($t:ty: $from:expr;)+) => {$(
        impl Number for $t {
            fn from_small(value: i8) -> Self {
                Self::from_f64(f64::from(value))
            }
        }
        impl Real for $t {
            fn from_f64(value: f64) -> Self {
                let from: fn(f64) -> $t = $from;
                from(value)
            }
            fn wide(self) -> f64 {
                f64::from(self)
            }
        }
    )+};
}
reals! {
    f32: |x| x as f32;
    f64: |x| x;
    f16: f16::from_f64;
    bf16: bf16::from_f64;
}

/// Integers from −8 to 8, or from 0 on.
pub(super) fn small<T: Number>(n: usize, rng: &mut StdRng, least: i8) -> Vec<T> {
    (0..n).map(|_| T::from_small(rng.random_range(least..=8))).collect()
}

/// Reals from −1 to 1.
pub(super) fn uniform<T: Real>(n: usize, rng: &mut StdRng) -> Vec<T> {
    (0..n).map(|_| T::from_f64(rng.random_range(-1.0..=1.0))).collect()
}

/// Alternately large numbers of both signs and reals from −1 to 1, most of which plain addition loses.
pub(super) fn cancelling<T: Real>(n: usize, large: f64, rng: &mut StdRng) -> Vec<T> {
    let value = |i: usize, rng: &mut StdRng| match i % 4 {
        0 => large,
        2 => -large,
        _ => rng.random_range(-1.0..=1.0),
    };
    (0..n).map(|i| T::from_f64(value(i, rng))).collect()
}

/// The elements as `f64`.
pub(super) fn wide<T: Real>(x: &[T]) -> Vec<f64> {
    x.iter().map(|&x| x.wide()).collect()
}
