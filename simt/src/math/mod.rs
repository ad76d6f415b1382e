//! Arithmetic and mathematical functions, with the same results on a GPU and on the simulator.
//!
//! A kernel calls functions, `math::exp(x)`, not methods: `x.exp()` is the C library's on the host, has other bits
//! there, and does not exist on a GPU. `#[kernel]` refuses such methods in a kernel's body; in a helper function only
//! the compilation for PTX does.
//!
//! ```
//! use simt::{math, prelude::*};
//!
//! /// y = ln(1 + eˣ), one element per thread.
//! #[kernel(block = 256)]
//! pub fn softplus(x: VecRef<f32>, y: VecMut<f32>) {
//!     let i = index_1d();
//!     y.set_within(i, math::log1p(math::exp(x.get_or(i, 0.0))));
//! }
//!
//! assert_eq!(math::log1p(math::exp(0.0_f32)), std::f32::consts::LN_2);
//! ```
//!
//! The compiler never fuses `a * b + c`: kernels call [`fma`]. Integer `/` and `%` by a run-time value add a test for
//! zero and a panic to a kernel. If the divisor is known to be non-zero, use a [`NonZero`](core::num::NonZero), else
//! `checked_div(…).unwrap_or(…)`, which compiles to a select.
//!
//! # Accuracy
//!
//! The functions are compositions of additions, multiplications, fused multiply-adds, divisions and square roots, each
//! rounded as IEEE 754 requires, and of integer operations. So their bits are the same everywhere, except for those of
//! a NaN. Subnormal arguments and results are not flushed.
//!
//! Errors are at most these, in units in the last place (ulp) of the exact result, ½ being that of correct rounding.
//! Those of one `f32` were measured at all 2³² arguments, the others at 20 000 of each function, against 200 bits. The
//! test `simt/tests/accuracy` compares at every 4099th argument and at the worst, at all on request.
//!
//! | | `f32` | `f64` | | `f32` | `f64` |
//! |---|---|---|---|---|---|
//! | [`exp`] | 1.1 | 1.0 | [`tan`] | 1.6 | 1.1 |
//! | [`exp2`] | 1.0 | 1.0 | [`tanh`] | 1.6 | 1.5 |
//! | [`exp10`] | 1.2 | 1.0 | [`erf`] | 1.1 | 1.0 |
//! | [`expm1`] | 1.1 | 1.0 | [`erfc`] | 2.2 | 2.5 |
//! | [`log`] | 1.0 | 1.0 | [`rsqrt`] | 1.5 | 1.5 |
//! | [`log2`] | 1.1 | 1.0 | [`cbrt`] | 0.51 | 0.51 |
//! | [`log10`] | 1.3 | 1.0 | [`rcbrt`] | 0.51 | 0.51 |
//! | [`log1p`] | 1.0 | 1.0 | [`pow`] | 1.0 | 1.0 |
//! | [`sin`] | 0.9 | 0.9 | [`hypot`] | 1.0 | 1.0 |
//! | [`cos`] | 0.9 | 0.9 |  | |  |
//!
//! [`sqrt`], [`fma`] and the functions to integers are rounded correctly, [`sincos`] is [`sin`] and [`cos`].
//!
//! [`fast`] has the hardware's approximations, which are several times as fast for `f32`.
//!
//! The coefficients are minimax polynomials by `simt/tools/minimax.py`. The crate `libm` was the other candidate. Its
//! `f32` functions compute in `f64`, its `exp2` reads tables, and the reduction of large arguments for `sin` works in
//! arrays, which are local memory on a GPU; its fused multiply-add is emulated with integers where the target is not
//! one that it knows.

use crate::{KernelArg, arch, element::Element};

mod error_function;
mod exponential;
pub mod fast;
mod logarithm;
mod power;
mod real;
mod trigonometric;

/// What [`Float`] consists of.
mod sealed {
    use super::{error_function, logarithm, power, trigonometric};

    /// The coefficients of all functions.
    pub trait Functions:
        logarithm::Coefficients + trigonometric::Coefficients + error_function::Coefficients + power::Coefficients
    {
    }
    impl Functions for f32 {}
    impl Functions for f64 {}
}

/// `f32` and `f64`, with the operators of Rust and the functions of this module; elements of memory, and arguments of
/// kernels.
pub trait Float: sealed::Functions + Element + for<'launch> KernelArg<In<'launch> = Self> {}
impl Float for f32 {}
impl Float for f64 {}

/// `a · b + c`, rounded once, to nearest even (`fma.rn`).
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn fma<T: Float>(a: T, b: T, c: T) -> T {
    arch::math::Float::fma(a, b, c)
}

/// Square root, rounded to nearest even (`sqrt.rn`).
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn sqrt<T: Float>(x: T) -> T {
    arch::math::Float::sqrt(x)
}

macro_rules! roundings {
    ($($(#[$doc:meta])+ $name:ident;)+) => {$(
        $(#[$doc])+
        #[cfg_attr(optimised, inline(always))]
        #[must_use]
        pub fn $name<T: Float>(x: T) -> T {
            arch::math::Float::$name(x)
        }
    )+};
}
roundings! {
    /// The greatest integer that is at most `x` (`cvt.rmi`).
    floor;
    /// The least integer that is at least `x` (`cvt.rpi`).
    ceil;
    /// The integer part of `x` (`cvt.rzi`).
    trunc;
    /// The nearest integer, away from 0 in a tie: several instructions. See [`round_ties_even`].
    round;
    /// The nearest integer, even in a tie (`cvt.rni`).
    round_ties_even;
}

macro_rules! functions {
    ($($(#[$doc:meta])+ $name:ident($($x:ident),+) in $module:ident;)+) => {$(
        $(#[$doc])+
        #[cfg_attr(optimised, inline(always))]
        #[must_use]
        pub fn $name<T: Float>($($x: T),+) -> T {
            $module::$name($($x),+)
        }
    )+};
}
functions! {
    /// e to the power `x`.
    exp(x) in exponential;
    /// 2 to the power `x`; exact for integers.
    exp2(x) in exponential;
    /// 10 to the power `x`.
    exp10(x) in exponential;
    /// eˣ − 1, accurate near 0.
    expm1(x) in exponential;
    /// Natural logarithm: −∞ of 0, NaN of negative numbers.
    log(x) in logarithm;
    /// Logarithm to base 2; exact for powers of two.
    log2(x) in logarithm;
    /// Logarithm to base 10.
    log10(x) in logarithm;
    /// ln(1 + x), accurate near 0.
    log1p(x) in logarithm;
    /// Sine of `x` in radians, for every finite `x`.
    ///
    /// Arguments from 2¹⁶ (`f64`: 2²⁹) up take a longer path.
    sin(x) in trigonometric;
    /// Cosine of `x` in radians: as [`sin`].
    cos(x) in trigonometric;
    /// Tangent of `x` in radians: as [`sin`].
    tan(x) in trigonometric;
    /// Hyperbolic tangent.
    tanh(x) in error_function;
    /// Error function, 2/√π · ∫₀ˣ e^(−t²) dt.
    erf(x) in error_function;
    /// 1 − [`erf`], accurate for large `x`.
    erfc(x) in error_function;
    /// 1 / √x: ±∞ of ±0, NaN of negative numbers.
    rsqrt(x) in power;
    /// Cube root, with the sign of `x`.
    cbrt(x) in power;
    /// 1 / ∛x, with the sign of `x`.
    rcbrt(x) in power;
    /// `x` to the power `y`, with the special values of C and IEEE 754: 1 if `x` is 1 or `y` is 0, NaN for negative `x`
    /// and a `y` that is no integer.
    pow(x, y) in power;
    /// √(x² + y²) without overflow on the way: ∞ if either is infinite.
    hypot(x, y) in power;
}

/// [`sin`] and [`cos`] of `x`, for little more than the price of one.
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn sincos<T: Float>(x: T) -> (T, T) {
    trigonometric::sincos(x)
}

macro_rules! choices {
    ($($(#[$doc:meta])+ $name:ident;)+) => {$(
        $(#[$doc])+
        #[cfg_attr(optimised, inline(always))]
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
#[cfg_attr(optimised, inline(always))]
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
