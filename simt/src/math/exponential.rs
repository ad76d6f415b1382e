//! exp, exp2, exp10, expm1.
//!
//! x = n·log 2 + f in the function's base, with the integer n nearest to x / log 2, so |f| ≤ (log 2)/2: the result is
//! 2ⁿ times a polynomial in f. Subtracting n·log 2 in two steps leaves an error far below f's last place.

#![allow(
    clippy::approx_constant,
    clippy::excessive_precision,
    clippy::unreadable_literal,
    reason = "coefficients as `minimax.py` prints them"
)]

use super::real::Real;
use super::real::{clamp, fast_two_sum, fma, polynomial, scale};

/// Constants of a format.
pub trait Coefficients: Real {
    /// 1 / ln 2.
    const LOG2_E: Self;
    /// ln 2 = high + low.
    const LN_2: (Self, Self);
    /// 1 / log₁₀ 2.
    const LOG2_10: Self;
    /// log₁₀ 2 = high + low.
    const LOG10_2: (Self, Self);
    /// ln 10 = high + low.
    const LN_10: (Self, Self);
    /// exp is 0 below the first and ∞ above the second number.
    const EXP_RANGE: (Self, Self);
    /// Likewise of exp2.
    const EXP2_RANGE: (Self, Self);
    /// Likewise of exp10.
    const EXP10_RANGE: (Self, Self);
    /// expm1 is −1 below, and ∞ above.
    const EXPM1_RANGE: (Self, Self);
    /// (eᶠ − 1 − f) / f².
    fn exp_tail(f: Self) -> Self;
    /// (2ᶠ − 1 − f·ln 2) / f².
    fn exp2_tail(f: Self) -> Self;
    /// (10ᶠ − 1 − f·ln 10) / f².
    fn exp10_tail(f: Self) -> Self;
}

impl Coefficients for f32 {
    const LOG2_E: Self = 1.442695e+00;
    const LN_2: (Self, Self) = (6.931472e-01, -1.9046542e-09);
    const LOG2_10: Self = 3.321928e+00;
    const LOG10_2: (Self, Self) = (3.01030e-01, -1.4320989e-08);
    const LN_10: (Self, Self) = (2.3025851e+00, -3.1975436e-08);
    const EXP_RANGE: (Self, Self) = (-104.0, 89.0);
    const EXP2_RANGE: (Self, Self) = (-151.0, 129.0);
    const EXP10_RANGE: (Self, Self) = (-46.0, 39.0);
    const EXPM1_RANGE: (Self, Self) = (-18.0, 89.0);
    #[cfg_attr(optimised, inline(always))]
    fn exp_tail(f: Self) -> Self {
        polynomial!(f, [5.000000e-01, 1.6666667e-01, 4.1666355e-02, 8.333273e-03, 1.394110e-03, 1.991430e-04])
    }
    #[cfg_attr(optimised, inline(always))]
    fn exp2_tail(f: Self) -> Self {
        polynomial!(f, [2.402265e-01, 5.5503614e-02, 9.6180225e-03, 1.3390551e-03, 1.5471975e-04])
    }
    #[cfg_attr(optimised, inline(always))]
    fn exp10_tail(f: Self) -> Self {
        polynomial!(f, [2.650949e+00, 2.0346606e+00, 1.1712421e+00, 5.416895e-01, 2.0791604e-01])
    }
}

impl Coefficients for f64 {
    const LOG2_E: Self = 1.4426950408889634;
    const LN_2: (Self, Self) = (0.6931471805599453, 2.3190468138462996e-17);
    const LOG2_10: Self = 3.321928094887362;
    const LOG10_2: (Self, Self) = (0.3010299956639812, -2.8037281277851704e-18);
    const LN_10: (Self, Self) = (2.302585092994046, -2.1707562233822494e-16);
    const EXP_RANGE: (Self, Self) = (-746.0, 710.0);
    const EXP2_RANGE: (Self, Self) = (-1076.0, 1025.0);
    const EXP10_RANGE: (Self, Self) = (-324.0, 309.0);
    const EXPM1_RANGE: (Self, Self) = (-38.0, 710.0);
    #[cfg_attr(optimised, inline(always))]
    fn exp_tail(f: Self) -> Self {
        polynomial!(
            f,
            [
                0.5,
                0.16666666666666677,
                0.0416666666666667,
                0.008333333333321534,
                0.0013888888888866676,
                0.00019841269886395328,
                2.4801587360878595e-05,
                2.7557243918211843e-06,
                2.7557242482754847e-07,
                2.5109144879328222e-08,
                2.0924529219800027e-09,
            ]
        )
    }
    #[cfg_attr(optimised, inline(always))]
    fn exp2_tail(f: Self) -> Self {
        polynomial!(
            f,
            [
                0.24022650695910133,
                0.05550410866482169,
                0.00961812910759331,
                0.0013333558146386333,
                0.00015403530458197752,
                1.5252733862889249e-05,
                1.321543472477188e-06,
                1.0178047857836573e-07,
                7.073880505315622e-09,
                4.4572272928977425e-10,
            ]
        )
    }
    #[cfg_attr(optimised, inline(always))]
    fn exp10_tail(f: Self) -> Self {
        polynomial!(
            f,
            [
                2.650949055239206,
                2.03467859229348,
                1.1712551489079768,
                0.5393829291938748,
                0.20699584956907774,
                0.06808936533741697,
                0.019597617346231135,
                0.005013910022409346,
                0.0011576053611400212,
                0.00024230245102676304,
            ]
        )
    }
}

/// f and n of x = n·ln 2 + f.
#[cfg_attr(optimised, inline(always))]
fn reduce<T: Coefficients>(x: T) -> (T, i32) {
    let (n, integer) = T::nearest(x * T::LOG2_E);
    let f = fma(-n, T::LN_2.0, x);
    (fma(-n, T::LN_2.1, f), integer)
}

/// m as high + low, and n, of eˣ = m·2ⁿ, m about 1, for x within the range of exp.
#[cfg_attr(optimised, inline(always))]
pub(super) fn exp_parts<T: Coefficients>(x: T) -> (T, T, i32) {
    let (f, n) = reduce(x);
    let (high, low) = fast_two_sum(T::number(1.0), fma(f * f, T::exp_tail(f), f));
    (high, low, n)
}

#[cfg_attr(optimised, inline(always))]
pub(crate) fn exp<T: Coefficients>(x: T) -> T {
    let (m, _, n) = exp_parts(clamp(x, T::EXP_RANGE.0, T::EXP_RANGE.1));
    scale(m, n)
}

/// baseᶠ with the base's logarithm and tail.
#[cfg_attr(optimised, inline(always))]
fn power<T: Real>(f: T, log: (T, T), tail: T) -> T {
    T::number(1.0) + fma(f, log.0, f * fma(f, tail, log.1))
}

#[cfg_attr(optimised, inline(always))]
pub(crate) fn exp2<T: Coefficients>(x: T) -> T {
    let x = clamp(x, T::EXP2_RANGE.0, T::EXP2_RANGE.1);
    let (n, integer) = T::nearest(x);
    scale(exp2_fraction(x - n), integer)
}

/// 2ᶠ for |f| ≤ ½.
#[cfg_attr(optimised, inline(always))]
pub(super) fn exp2_fraction<T: Coefficients>(f: T) -> T {
    power(f, T::LN_2, T::exp2_tail(f))
}

#[cfg_attr(optimised, inline(always))]
pub(crate) fn exp10<T: Coefficients>(x: T) -> T {
    let x = clamp(x, T::EXP10_RANGE.0, T::EXP10_RANGE.1);
    let (n, integer) = T::nearest(x * T::LOG2_10);
    let f = fma(-n, T::LOG10_2.0, x);
    let f = fma(-n, T::LOG10_2.1, f);
    scale(power(f, T::LN_10, T::exp10_tail(f)), integer)
}

#[cfg_attr(optimised, inline(always))]
pub(crate) fn expm1<T: Coefficients>(x: T) -> T {
    let clamped = clamp(x, T::EXPM1_RANGE.0, T::EXPM1_RANGE.1);
    let (n, integer) = T::nearest(clamped * T::LOG2_E);
    let first = fma(-n, T::LN_2.0, clamped);
    let f = fma(-n, T::LN_2.1, first);
    let f_low = fma(-n, T::LN_2.1, first - f);
    // eᶠ − 1 as p + p_low; eˣ − 1 = 2ⁿ(eᶠ − 1) + (2ⁿ − 1), at half size because 2ⁿ may be beyond the greatest number.
    // For n = ±1 the terms nearly cancel, so that their low parts count.
    let (p, p_low) = fast_two_sum(f, f * f * T::exp_tail(f));
    let half = T::power_of_two(integer - 1);
    let (sum, sum_low) = fast_two_sum(half - T::number(0.5), p * half);
    let result = T::number(2.0) * (sum + fma(p_low + f_low, half, sum_low));
    // The formula would lose a bit of a subnormal number, and the sign of 0.
    let result = if integer == 0 { p + p_low } else { result };
    if x == T::number(0.0) { x } else { result }
}
