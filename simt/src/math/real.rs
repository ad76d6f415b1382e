//! What the functions of this module need of a number format beyond its operators.

use core::ops::{Add, Div, Mul, Neg, Sub};

use crate::arch;

/// `f32` or `f64`, as the algorithms see it.
pub trait Real:
    Copy
    + arch::math::Float
    + PartialEq
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// 1.5·2ᵖ⁻¹, p the precision: a number plus this has no bit after the point, and the sum's bits count units.
    const SHIFT: Self;
    /// Brings a subnormal number into the normal range: 2²⁴ or 2⁵⁴.
    const RAISE: Self;
    /// Exponent of [`RAISE`](Self::RAISE).
    const RAISE_EXPONENT: i32;
    /// The least normal number.
    const MIN_POSITIVE: Self;
    /// Infinity.
    const INFINITY: Self;
    /// A NaN.
    const NAN: Self;
    /// The lower end of the mantissas of [`split`](Self::split): 2/3 for `f32`, √½ for `f64`.
    const LEAST_MANTISSA: Self;

    /// 2 to this power and its inverse are both normal: 126 or 1022.
    const GREATEST_EXPONENT: i32;

    /// A constant.
    fn number(x: f32) -> Self;
    /// An integer of few bits.
    fn integer(n: i32) -> Self;
    /// 2ⁿ, for an exponent of a normal number.
    fn power_of_two(n: i32) -> Self;
    /// The multiple of 1 nearest to `x`, even in a tie, as number and as integer. |x| is less than 2²², for `f64` 2³⁰.
    fn nearest(x: Self) -> (Self, i32);
    /// Positive normal `x` = mantissa · 2ᵉ, the mantissa at least [`LEAST_MANTISSA`](Self::LEAST_MANTISSA) and less
    /// than twice that.
    fn split(x: Self) -> (Self, i32);
    /// 2ᵉ ≤ |x| < 2ᵉ⁺¹ for normal x.
    fn exponent(x: Self) -> i32;
    /// Whether it is a NaN.
    fn is_nan(self) -> bool;
    /// Whether its sign bit is set.
    fn is_negative(self) -> bool;
    /// Absolute value.
    fn abs(self) -> Self;
    /// With the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;
    /// x to the power −1/3 within 5 %, for positive normal x.
    fn inverse_cube_root_estimate(x: Self) -> Self;
}

macro_rules! real {
    ($t:ident, $bits:ident, $signed:ident, $raise:literal, $shift:literal, $least:literal, $cube_root:literal) => {
        impl Real for $t {
            const SHIFT: Self = $shift;
            const RAISE: Self = (1_u64 << $raise) as Self;
            const RAISE_EXPONENT: i32 = $raise;
            const MIN_POSITIVE: Self = $t::MIN_POSITIVE;
            const INFINITY: Self = $t::INFINITY;
            const NAN: Self = $t::NAN;
            const LEAST_MANTISSA: Self = $least;
            const GREATEST_EXPONENT: i32 = $t::MAX_EXP - 2;

            #[cfg_attr(optimised, inline(always))]
            fn number(x: f32) -> Self {
                x as Self
            }
            #[cfg_attr(optimised, inline(always))]
            fn integer(n: i32) -> Self {
                n as Self
            }
            #[cfg_attr(optimised, inline(always))]
            fn power_of_two(n: i32) -> Self {
                const BIAS: i32 = $t::MAX_EXP - 1;
                Self::from_bits((n.wrapping_add(BIAS) as $bits) << ($t::MANTISSA_DIGITS - 1))
            }
            #[cfg_attr(optimised, inline(always))]
            fn nearest(x: Self) -> (Self, i32) {
                let shifted = x + Self::SHIFT;
                (shifted - Self::SHIFT, shifted.to_bits().wrapping_sub(Self::SHIFT.to_bits()) as i32)
            }
            #[cfg_attr(optimised, inline(always))]
            fn split(x: Self) -> (Self, i32) {
                const DIGITS: u32 = $t::MANTISSA_DIGITS - 1;
                let above = x.to_bits().wrapping_sub(Self::LEAST_MANTISSA.to_bits()) as $signed;
                let exponent = above >> DIGITS;
                let mantissa = x.to_bits().wrapping_sub((exponent << DIGITS) as $bits);
                (Self::from_bits(mantissa), exponent as i32)
            }
            #[cfg_attr(optimised, inline(always))]
            fn exponent(x: Self) -> i32 {
                const BIAS: i32 = $t::MAX_EXP - 1;
                let biased = x.to_bits() >> ($t::MANTISSA_DIGITS - 1);
                (biased as i32 & (2 * BIAS + 1)) - BIAS
            }
            #[cfg_attr(optimised, inline(always))]
            fn is_nan(self) -> bool {
                $t::is_nan(self)
            }
            #[cfg_attr(optimised, inline(always))]
            fn is_negative(self) -> bool {
                $t::is_sign_negative(self)
            }
            #[cfg_attr(optimised, inline(always))]
            fn abs(self) -> Self {
                $t::abs(self)
            }
            #[cfg_attr(optimised, inline(always))]
            fn copysign(self, sign: Self) -> Self {
                const SIGN: $bits = 1 << ($bits::BITS - 1);
                Self::from_bits(self.to_bits() & !SIGN | sign.to_bits() & SIGN)
            }
            #[cfg_attr(optimised, inline(always))]
            fn inverse_cube_root_estimate(x: Self) -> Self {
                const START: $bits = $cube_root;
                Self::from_bits(START.wrapping_sub(x.to_bits() / 3))
            }
        }
    };
}
real!(f32, u32, i32, 24, 12_582_912.0, 0.666_666_7, 0x54a1_f598);
real!(f64, u64, i64, 54, 6_755_399_441_055_744.0, 0.707_106_781_186_547_5, 0x553e_e947_ae14_7aca);

/// [`fma`](super::fma) for any [`Real`].
#[cfg_attr(optimised, inline(always))]
pub(super) fn fma<T: Real>(a: T, b: T, c: T) -> T {
    arch::math::Float::fma(a, b, c)
}

/// `x` · 2ⁿ, rounded once; `x` is about 1, and n may be an exponent of subnormal numbers, or of ∞.
#[cfg_attr(optimised, inline(always))]
pub(super) fn scale<T: Real>(x: T, n: i32) -> T {
    let half = n >> 1;
    x * T::power_of_two(half) * T::power_of_two(n - half)
}

/// `x` between bounds; a NaN stays a NaN.
#[cfg_attr(optimised, inline(always))]
pub(super) fn clamp<T: Real>(x: T, least: T, greatest: T) -> T {
    let x = if x < least { least } else { x };
    if x > greatest { greatest } else { x }
}

/// a + b as sum and exact error, if |a| ≥ |b| or a = 0.
#[cfg_attr(optimised, inline(always))]
pub(super) fn fast_two_sum<T: Real>(a: T, b: T) -> (T, T) {
    let sum = a + b;
    (sum, (a - sum) + b)
}

/// a − b as difference and exact error.
#[cfg_attr(optimised, inline(always))]
pub(super) fn two_difference<T: Real>(a: T, b: T) -> (T, T) {
    let difference = a - b;
    let part = difference - a;
    (difference, (a - (difference - part)) - (b + part))
}

/// a · b as product and exact error.
#[cfg_attr(optimised, inline(always))]
pub(super) fn two_product<T: Real>(a: T, b: T) -> (T, T) {
    let product = a * b;
    (product, fma(a, b, -product))
}

/// A polynomial by Horner's rule, one [`fma`] for each power: `polynomial!(x, [c0, c1, …])`.
macro_rules! polynomial {
    ($x:expr, [$last:expr $(,)?]) => { $last };
    ($x:expr, [$first:expr, $($rest:expr),+ $(,)?]) => {
        $crate::math::real::fma($crate::math::real::polynomial!($x, [$($rest),+]), $x, $first)
    };
}
pub(super) use polynomial;
