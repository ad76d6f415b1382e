//! log, log2, log10, log1p.
//!
//! x = m·2ᵉ with m about 1, f = m − 1 exactly, and log x = e·log 2 + log(1 + f). ln(1 + f) is f plus a smaller term:
//! for `f32` f²·(−½ + f·polynomial(f)). For `f64` that polynomial would have 23 terms; the series of 2·artanh(s) with s
//! = f/(2 + f) has 7, arranged so that f itself stays exact, as in FreeBSD's `e_log.c`.

#![allow(
    clippy::approx_constant,
    clippy::excessive_precision,
    clippy::unreadable_literal,
    reason = "coefficients as `minimax.py` prints them"
)]

use super::exponential::Coefficients as Exponential;
use super::real::Real;
use super::real::{fast_two_sum, fma, polynomial, two_product};

/// Constants of a format.
pub trait Coefficients: Exponential {
    /// log₂ e = high + low.
    const LOG2_E_PARTS: (Self, Self);
    /// log₁₀ e = high + low.
    const LOG10_E_PARTS: (Self, Self);
    /// ln 2 = high + low, high so short that its product with an exponent is exact.
    const LN_2_SHORT: (Self, Self);
    /// log₁₀ 2 = high + low, likewise.
    const LOG10_2_SHORT: (Self, Self);
    /// ln(1 + f) − f, for f from √½ − 1 or −1/3 to √2 − 1 or 1/3.
    fn log1p_tail(f: Self) -> Self;
}

impl Coefficients for f32 {
    const LOG2_E_PARTS: (Self, Self) = (1.442695e+00, 1.925963e-08);
    const LOG10_E_PARTS: (Self, Self) = (4.342945e-01, -1.010305e-08);
    const LN_2_SHORT: (Self, Self) = (6.9314575e-01, 1.4286068e-06);
    const LOG10_2_SHORT: (Self, Self) = (3.010254e-01, 4.605039e-06);
    #[cfg_attr(optimised, inline(always))]
    fn log1p_tail(f: Self) -> Self {
        let p = polynomial!(
            f,
            [
                3.3333337e-01,
                -2.4999818e-01,
                1.9999304e-01,
                -1.6679642e-01,
                1.4312892e-01,
                -1.2194875e-01,
                1.066076e-01,
                -1.2849139e-01,
                1.2360355e-01,
            ]
        );
        fma(f, p, -0.5) * (f * f)
    }
}

impl Coefficients for f64 {
    const LOG2_E_PARTS: (Self, Self) = (1.4426950408889634, 2.0355273740931033e-17);
    const LOG10_E_PARTS: (Self, Self) = (0.4342944819032518, 1.098319650216765e-17);
    const LN_2_SHORT: (Self, Self) = (0.6931471805592082, 7.371002565167799e-13);
    const LOG10_2_SHORT: (Self, Self) = (0.301029995663157, 8.241712586023572e-13);
    #[cfg_attr(optimised, inline(always))]
    fn log1p_tail(f: Self) -> Self {
        let s = f / (2.0 + f);
        let z = s * s;
        let r = polynomial!(
            z,
            [
                0.6666666666666735,
                0.3999999999941313,
                0.2857142874276586,
                0.22222198531153883,
                0.18183566668110784,
                0.15313986800711618,
                0.1479662424618098,
            ]
        );
        // 2·artanh(s) = 2s + s·z·r and 2s = f − s·f, hence f − f²/2 + s·(f²/2 + z·r).
        let half = 0.5 * f * f;
        fma(s, fma(z, r, half), -half)
    }
}

/// f and e of x = (1 + f)·2ᵉ, for positive finite x.
#[cfg_attr(optimised, inline(always))]
fn reduce<T: Real>(x: T) -> (T, T) {
    let (x, raised) = if x < T::MIN_POSITIVE { (x * T::RAISE, T::RAISE_EXPONENT) } else { (x, 0) };
    let (m, e) = T::split(x);
    (m - T::number(1.0), T::integer(e - raised))
}

/// The result for an argument that is not positive and finite, else `log`.
#[cfg_attr(optimised, inline(always))]
fn or_special<T: Real>(x: T, log: T) -> T {
    let zero = T::number(0.0);
    if x > zero && x < T::INFINITY {
        log
    } else if x == zero {
        -T::INFINITY
    } else if x < zero {
        T::NAN
    } else {
        // ∞ or NaN.
        x
    }
}

/// e·unit + ln(1 + f)·scale, all constants in two parts.
#[cfg_attr(optimised, inline(always))]
fn scaled_sum<T: Coefficients>(f: T, e: T, unit: (T, T), scale: (T, T)) -> T {
    let (product, product_low) = two_product(f, scale.0);
    let (high, low) = fast_two_sum(e * unit.0, product);
    let small = fma(f, scale.1, fma(T::log1p_tail(f), scale.0, product_low));
    high + (low + fma(e, unit.1, small))
}

#[cfg_attr(optimised, inline(always))]
pub(crate) fn log<T: Coefficients>(x: T) -> T {
    let (f, e) = reduce(x);
    let (high, low) = fast_two_sum(e * T::LN_2_SHORT.0, f);
    or_special(x, high + (low + fma(e, T::LN_2_SHORT.1, T::log1p_tail(f))))
}

#[cfg_attr(optimised, inline(always))]
pub(crate) fn log2<T: Coefficients>(x: T) -> T {
    let (f, e) = reduce(x);
    or_special(x, scaled_sum(f, e, (T::number(1.0), T::number(0.0)), T::LOG2_E_PARTS))
}

#[cfg_attr(optimised, inline(always))]
pub(crate) fn log10<T: Coefficients>(x: T) -> T {
    let (f, e) = reduce(x);
    or_special(x, scaled_sum(f, e, T::LOG10_2_SHORT, T::LOG10_E_PARTS))
}

#[cfg_attr(optimised, inline(always))]
pub(crate) fn log1p<T: Coefficients>(x: T) -> T {
    let (zero, one) = (T::number(0.0), T::number(1.0));
    // 1 + x = u + rest exactly.
    let u = one + x;
    let part = u - one;
    let rest = (one - (u - part)) + (x - part);
    let (m, e) = T::split(u);
    // Where 2⁻ᵉ is not normal, rest is 0.
    let rest = if e < 64 { rest * T::power_of_two(-e) } else { zero };
    let (f, f_low) = fast_two_sum(m - one, rest);
    let e = T::integer(e);
    let (high, low) = fast_two_sum(e * T::LN_2_SHORT.0, f);
    // The derivative of ln(1 + f) is about 1 − f.
    let tail = fma(f_low, one - f, T::log1p_tail(f));
    let log = or_special(u, high + (low + fma(e, T::LN_2_SHORT.1, tail)));
    if x == zero { x } else { log }
}
