//! Arithmetic that must be one instruction, rounded as IEEE 754 says, and the same on both sides.
//!
//! `a * b + c` is never fused by the compiler: kernels say [`fma`]. Integer `/` and `%` by a run-time value bring a
//! test for zero and a panic into a kernel; where the divisor is known to be non-zero hold it in a
//! [`NonZero`](core::num::NonZero), else use `checked_div(…).unwrap_or(…)`, which is a select.

use crate::arch;

/// `f32` and `f64`.
pub trait Float: Copy + arch::math::Float {}
impl Float for f32 {}
impl Float for f64 {}

/// `a · b + c`, rounded once, to nearest even (`fma.rn`).
#[inline(always)]
#[must_use]
pub fn fma<T: Float>(a: T, b: T, c: T) -> T {
    arch::math::Float::fma(a, b, c)
}

/// Square root, rounded to nearest even (`sqrt.rn`).
#[inline(always)]
#[must_use]
pub fn sqrt<T: Float>(x: T) -> T {
    arch::math::Float::sqrt(x)
}

macro_rules! choices {
    ($($(#[$doc:meta])+ $name:ident;)+) => {$(
        $(#[$doc])+
        #[inline(always)]
        #[must_use]
        pub fn $name(a: f32, b: f32) -> f32 {
            arch::math::$name(a, b)
        }
    )+};
}
choices! {
    /// The greater of both, a NaN if either is one, and +0 rather than −0: IEEE 754's `maximum` (`max.NaN.f32`). The
    /// NaN has the bits 0x7fffffff.
    ///
    /// ```
    /// # use simt::math::maximum;
    /// assert_eq!(maximum(-0.0, 0.0).to_bits(), 0);
    /// assert_eq!(maximum(f32::NAN, f32::INFINITY).to_bits(), 0x7fff_ffff);
    /// ```
    maximum;
    /// The lesser of both, a NaN if either is one, and −0 rather than +0: IEEE 754's `minimum` (`min.NaN.f32`). The NaN
    /// is that of [`maximum`].
    minimum;
    /// [`maximum`] of what is no NaN, which comes out only if both are: IEEE 754's `maximumNumber` (`max.f32`).
    maximum_number;
    /// [`minimum`] of what is no NaN: IEEE 754's `minimumNumber` (`min.f32`).
    minimum_number;
}

/// Four bytes chosen out of eight (`prmt.b32`): byte i of the result is the one that bits 4i to 4i + 2 of `selector`
/// number, those of `low` being 0 to 3 and those of `high` 4 to 7, the lowest first. Bit 4i + 3 replaces the chosen
/// byte by copies of its sign; bits from 16 on count for nothing.
///
/// ```
/// # use simt::math::byte_perm;
/// assert_eq!(byte_perm(0x3322_1100, 0x7766_5544, 0x5140), 0x5511_4400);
/// assert_eq!(byte_perm(0x3322_1100, 0x8866_5544, 0x6543), 0x6655_4433);
/// assert_eq!(byte_perm(0x3322_1100, 0x8866_5544, 0x0f80), 0x00ff_0000);
/// ```
#[inline(always)]
#[must_use]
pub fn byte_perm(low: u32, high: u32, selector: u32) -> u32 {
    arch::math::byte_perm(low, high, selector)
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn fma_rounds_once() {
        // (1 + 2⁻¹²)² = 1 + 2⁻¹¹ + 2⁻²⁴: the last term is lost when the product is rounded first.
        let x = 1.0 + 2f32.powi(-12);
        assert_eq!(fma(x, x, -(1.0 + 2f32.powi(-11))), 2f32.powi(-24));
        assert_eq!(x * x - (1.0 + 2f32.powi(-11)), 0.0);
        let y = 1.0 + 2f64.powi(-27);
        assert_eq!(fma(y, y, -(1.0 + 2f64.powi(-26))), 2f64.powi(-54));
    }

    #[test]
    fn sqrt_is_exact_on_squares() {
        assert_eq!(sqrt(2.25f32), 1.5);
        assert_eq!(sqrt(2.25f64), 1.5);
    }
}
