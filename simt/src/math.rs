//! Arithmetic that is one instruction on PTX, is rounded as IEEE 754 requires, and has the same results on the
//! simulator.
//!
//! The compiler never fuses `a * b + c`: kernels call [`fma`]. Integer `/` and `%` by a run-time value add a test for
//! zero and a panic to a kernel. If the divisor is known to be non-zero, use a [`NonZero`](core::num::NonZero), else
//! `checked_div(…).unwrap_or(…)`, which compiles to a select.

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
    /// The greater of both, NaN if either is NaN, and +0 rather than −0: IEEE 754's `maximum` (`max.NaN.f32`). The NaN
    /// has the bits 0x7fffffff.
    ///
    /// ```
    /// # use simt::math::maximum;
    /// assert_eq!(maximum(-0.0, 0.0).to_bits(), 0);
    /// assert_eq!(maximum(f32::NAN, f32::INFINITY).to_bits(), 0x7fff_ffff);
    /// ```
    maximum;
    /// The smaller of both, NaN if either is NaN, and −0 rather than +0: IEEE 754's `minimum` (`min.NaN.f32`). The NaN
    /// has the bits 0x7fffffff.
    minimum;
    /// [`maximum`] of the operands that are not NaN, NaN if both are: IEEE 754's `maximumNumber` (`max.f32`).
    maximum_number;
    /// [`minimum`] of the operands that are not NaN, NaN if both are: IEEE 754's `minimumNumber` (`min.f32`).
    minimum_number;
}

/// Selects four of eight bytes (`prmt.b32`). Bytes 0 to 3 are those of `low`, 4 to 7 those of `high`, the least
/// significant first. Bits 4i to 4i + 2 of `selector` are the number of byte i of the result; bit 4i + 3 replaces that
/// byte by eight copies of its sign bit. Bits of `selector` from 16 on are ignored.
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
        // (1 + 2⁻¹²)² = 1 + 2⁻¹¹ + 2⁻²⁴: the last term is lost if the product is rounded first.
        let x = 1.0 + 2f32.powi(-12);
        assert_eq!(fma(x, x, -(1.0 + 2f32.powi(-11))), 2f32.powi(-24));
        assert_eq!(x * x - (1.0 + 2f32.powi(-11)), 0.0);
        let y = 1.0 + 2f64.powi(-27);
        assert_eq!(fma(y, y, -(1.0 + 2f64.powi(-26))), 2f64.powi(-54));
    }

    #[test]
    fn the_instruction_rounds_as_the_library_does() {
        crate::arch::math::detect();
        let numbers = [0.0, -0.0, 1.0, 1.5, -1.0 / 3.0, 1e-30, 3e38, 1e-45, f32::INFINITY, f32::NEG_INFINITY];
        let numbers = || numbers.map(std::hint::black_box);
        for (x, y, z) in numbers()
            .into_iter()
            .flat_map(|x| numbers().into_iter().flat_map(move |y| numbers().into_iter().map(move |z| (x, y, z))))
        {
            let (got, exact) = (fma(x, y, z), x.mul_add(y, z));
            assert!(got.to_bits() == exact.to_bits() || got.is_nan() && exact.is_nan(), "{x} {y} {z}: {got} {exact}");
            let (x, y, z) = (f64::from(x) / 3.0, f64::from(y) / 7.0, f64::from(z));
            let (got, exact) = (fma(x, y, z), x.mul_add(y, z));
            assert!(got.to_bits() == exact.to_bits() || got.is_nan() && exact.is_nan(), "{x} {y} {z}: {got} {exact}");
        }
    }

    #[test]
    fn sqrt_is_exact_on_squares() {
        assert_eq!(sqrt(2.25f32), 1.5);
        assert_eq!(sqrt(2.25f64), 1.5);
    }
}
