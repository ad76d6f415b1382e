//! pow, hypot, cbrt, rcbrt, rsqrt.

#![allow(
    clippy::approx_constant,
    clippy::excessive_precision,
    clippy::unreadable_literal,
    reason = "coefficients as `minimax.py` prints them"
)]

use super::exponential::{Coefficients as Exponential, exp2_fraction};
use super::real::Real;
use super::real::{clamp, fast_two_sum, fma, polynomial, scale, two_product};

/// Constants of a format.
pub trait Coefficients: Exponential {
    /// 2 / ln 2 = high + low.
    const TWO_LOG2_E: (Self, Self);
    /// 2 / (3 ln 2) = high + low.
    const THIRD: (Self, Self);
    /// 2ᵖ, p the precision: numbers from here up are even integers.
    const EVEN: Self;
    /// An exponent y for which xʸ is 0, 1 or ∞ for every positive x.
    const GREAT: Self;
    /// (2·artanh(√z)/√z − 2 − 2z/3) / (z²·ln 2).
    fn log2_tail(z: Self) -> Self;
}

impl Coefficients for f32 {
    const TWO_LOG2_E: (Self, Self) = (2.88539e+00, 3.851926e-08);
    const THIRD: (Self, Self) = (9.617967e-01, -7.028462e-09);
    const EVEN: Self = 16_777_216.0;
    const GREAT: Self = 4_294_967_296.0;
    #[cfg_attr(optimised, inline(always))]
    fn log2_tail(z: Self) -> Self {
        polynomial!(z, [5.770779e-01, 4.1221523e-01, 3.1957984e-01, 2.8801736e-01])
    }
}

impl Coefficients for f64 {
    const TWO_LOG2_E: (Self, Self) = (2.8853900817779268, 4.0710547481862066e-17);
    const THIRD: (Self, Self) = (0.9617966939259756, 5.0577616648125907e-17);
    const EVEN: Self = 9_007_199_254_740_992.0;
    const GREAT: Self = 18_446_744_073_709_551_616.0;
    #[cfg_attr(optimised, inline(always))]
    fn log2_tail(z: Self) -> Self {
        polynomial!(
            z,
            [
                0.5770780163555813,
                0.41219858311331525,
                0.3205988975218849,
                0.2623082380920196,
                0.22195004201704088,
                0.19247287565300586,
                0.16722969492964018,
                0.18144549298944052,
            ]
        )
    }
}

/// log₂ x as high + low, whose error is about 2⁻¹⁰ of high's last place: x is positive and finite.
///
/// With x = m·2ᵉ and s = (m − 1)/(m + 1), log₂ m = 2/ln 2 · artanh s = s·(c + z·(c/3 + z·tail(z))), z = s². Everything
/// but the tail is computed in twice the precision.
#[cfg_attr(optimised, inline(always))]
fn log2_parts<T: Coefficients>(x: T) -> (T, T) {
    let one = T::number(1.0);
    let (x, raised) = if x < T::MIN_POSITIVE { (x * T::RAISE, T::RAISE_EXPONENT) } else { (x, 0) };
    let (m, e) = T::split(x);
    let e = T::integer(e - raised);
    let f = m - one;
    let (d, d_low) = fast_two_sum(T::number(2.0), f);
    let inverse = one / d;
    let s = f * inverse;
    let s_low = fma(-s, d_low, fma(-s, d, f)) * inverse;
    let (z, z_low) = two_product(s, s);
    let z_low = fma(s + s, s_low, z_low);
    let (a, a_low) = fast_two_sum(T::THIRD.0, z * T::log2_tail(z));
    let a_low = a_low + T::THIRD.1;
    let (b, b_low) = two_product(z, a);
    let b_low = fma(z, a_low, fma(z_low, a, b_low));
    let (c, c_low) = fast_two_sum(T::TWO_LOG2_E.0, b);
    let c_low = c_low + (b_low + T::TWO_LOG2_E.1);
    let (log, log_low) = two_product(s, c);
    let log_low = fma(s, c_low, fma(s_low, c, log_low));
    // |log| < 1 ≤ |e|, or e = 0.
    let (high, low) = fast_two_sum(e, log);
    (high, low + log_low)
}

#[cfg_attr(optimised, inline(always))]
pub(crate) fn pow<T: Coefficients>(x: T, y: T) -> T {
    let (zero, one) = (T::number(0.0), T::number(1.0));
    let base = x.abs();
    let (log, log_low) = log2_parts(base);
    // A greater y would give ∞ − ∞.
    let bounded = clamp(y, -T::GREAT, T::GREAT);
    let (product, product_low) = two_product(log, bounded);
    let product_low = fma(log_low, bounded, product_low);
    let in_range = clamp(product, T::EXP2_RANGE.0, T::EXP2_RANGE.1);
    let product_low = if in_range == product { product_low } else { zero };
    let (n, integer) = T::nearest(in_range);
    let power = scale(exp2_fraction((in_range - n) + product_low), integer);

    // The size of the result where the formula does not apply.
    let power = if base == zero || base == T::INFINITY {
        if (base == zero) == (y > zero) { zero } else { T::INFINITY }
    } else {
        power
    };
    let y_size = y.abs();
    let power = if y_size == T::INFINITY && base != one && !base.is_nan() {
        if (base > one) == (y > zero) { T::INFINITY } else { zero }
    } else if base == one && !y.is_nan() {
        one
    } else {
        power
    };
    // Its sign: that of x if y is odd.
    let (integral, odd) = parity(y_size);
    let power = if x.is_negative() && odd { -power } else { power };
    let power = if x < zero && !integral && base != T::INFINITY { T::NAN } else { power };
    let power = if x.is_nan() || y.is_nan() { T::NAN } else { power };
    if x == one || y == zero { one } else { power }
}

/// Whether |y| is an integer (or ∞), and whether it is odd.
#[cfg_attr(optimised, inline(always))]
fn parity<T: Coefficients>(y: T) -> (bool, bool) {
    if y >= T::EVEN {
        return (true, false);
    }
    let whole = T::trunc(y);
    let half = whole * T::number(0.5);
    let integral = whole == y;
    (integral, integral && T::trunc(half) != half)
}

#[cfg_attr(optimised, inline(always))]
pub(crate) fn hypot<T: Real>(x: T, y: T) -> T {
    let (x, y) = (x.abs(), y.abs());
    let (large, small) = if x > y { (x, y) } else { (y, x) };
    // Squares must not leave the range: sizes near 1. A power of two and its inverse are both normal numbers.
    let e = T::exponent(large).clamp(-T::GREATEST_EXPONENT, T::GREATEST_EXPONENT);
    let (down, up) = (T::power_of_two(-e), T::power_of_two(e));
    let (large, small) = (large * down, small * down);
    let root = T::sqrt(fma(large, large, small * small)) * up;
    if x == T::INFINITY || y == T::INFINITY { T::INFINITY } else { root }
}

#[cfg_attr(optimised, inline(always))]
pub(crate) fn rsqrt<T: Real>(x: T) -> T {
    T::number(1.0) / T::sqrt(x)
}

/// x to the power −1/3, for positive normal x.
///
/// Newton's iteration of third order for 1/y³ = x, with the residual e = 1 − x·y³: y ← y + y·e·(1/3 + 2/9·e). It turns
/// a relative error d of y into about 14/3·d³: 3 %, 10⁻⁴, below 10⁻¹¹. The last step has a residual in twice the
/// precision.
#[cfg_attr(optimised, inline(always))]
fn inverse_cube_root<T: Real>(x: T) -> T {
    let (third, two_ninths) = (T::number(1.0) / T::number(3.0), T::number(2.0) / T::number(9.0));
    let mut y = T::inverse_cube_root_estimate(x);
    for _ in 0..2 {
        let e = fma(-(x * y), y * y, T::number(1.0));
        y = fma(y * e, fma(e, two_ninths, third), y);
    }
    // From the left: 1/x may be subnormal, x·y is not.
    let (a, a_low) = two_product(x, y);
    let (b, b_low) = two_product(a, y);
    let b_low = fma(a_low, y, b_low);
    let e = fma(-b_low, y, fma(-b, y, T::number(1.0)));
    fma(y * third, e, y)
}

/// A number whose cube root has no subnormal residual, and k: size = number · 2⁻³ᵏ.
#[cfg_attr(optimised, inline(always))]
fn raised<T: Real>(size: T) -> (T, i32) {
    let square = T::RAISE * T::RAISE;
    if size < T::MIN_POSITIVE * square { (size * (square * T::RAISE), T::RAISE_EXPONENT) } else { (size, 0) }
}

#[cfg_attr(optimised, inline(always))]
pub(crate) fn cbrt<T: Real>(x: T) -> T {
    let (size, k) = raised(x.abs());
    let y = inverse_cube_root(size);
    let root = size * y * y;
    // Newton's step root + (size − root³)/(3·root²), with 1/root² = y².
    let (square, square_low) = two_product(root, root);
    let rest = fma(-root, square_low, fma(-root, square, size));
    let root = fma(rest, y * y * (T::number(1.0) / T::number(3.0)), root) * T::power_of_two(-k);
    // 0, ∞ and NaN are their own cube roots.
    if size > T::number(0.0) && size < T::INFINITY { root.copysign(x) } else { x }
}

#[cfg_attr(optimised, inline(always))]
pub(crate) fn rcbrt<T: Real>(x: T) -> T {
    let (size, k) = raised(x.abs());
    let y = inverse_cube_root(size) * T::power_of_two(k);
    let special = size == T::number(0.0) || size == T::INFINITY || size.is_nan();
    if special { T::number(1.0) / x } else { y.copysign(x) }
}
