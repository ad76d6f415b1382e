//! The hardware's approximations for `f32`: one instruction each, with fewer correct bits than the functions of
//! [`math`](super).
//!
//! The bits differ between GPU architectures. The simulator rounds the exact value, so a kernel's results agree within
//! the errors stated here, which are those of NVIDIA's PTX ISA manual, but not bit for bit. Subnormal arguments and
//! results are taken as 0 of the same sign, except by [`tanh`].
//!
//! ```
//! use simt::math::fast;
//!
//! assert_eq!(fast::exp2(3.0), 8.0);
//! assert_eq!(fast::rcp(1e-40), f32::INFINITY, "subnormal arguments are 0");
//! ```

use crate::arch;

/// 2 to the power `x`, within 2 ulp (`ex2.approx.ftz.f32`).
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn exp2(x: f32) -> f32 {
    arch::math::fast_exp2(x)
}

/// e to the power `x`: [`exp2`] of `x`·log₂ e, whose rounding adds up to |x|/2 ulp.
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn exp(x: f32) -> f32 {
    exp2(x * core::f32::consts::LOG2_E)
}

/// Logarithm to base 2 (`lg2.approx.ftz.f32`): within 2⁻²² for `x` from ½ to 2, elsewhere with a relative error of at
/// most 2⁻²².
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn log2(x: f32) -> f32 {
    arch::math::fast_log2(x)
}

/// Natural logarithm: [`log2`] times ln 2.
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn log(x: f32) -> f32 {
    log2(x) * core::f32::consts::LN_2
}

/// Sine (`sin.approx.ftz.f32`): within 2⁻²⁰·⁵ for |x| ≤ 2π, within 2⁻¹⁴·⁷ for |x| ≤ 100π, worse beyond.
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn sin(x: f32) -> f32 {
    arch::math::fast_sin(x)
}

/// Cosine (`cos.approx.ftz.f32`): within 2⁻²⁰·⁵ for |x| ≤ 2π, within 2⁻¹⁴·⁷ for |x| ≤ 100π, worse beyond.
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn cos(x: f32) -> f32 {
    arch::math::fast_cos(x)
}

/// Hyperbolic tangent with a relative error of at most 2⁻¹¹ (`tanh.approx.f32`). Subnormal numbers are not flushed.
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn tanh(x: f32) -> f32 {
    arch::math::fast_tanh(x)
}

/// 1 / x, within 1 ulp (`rcp.approx.ftz.f32`).
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn rcp(x: f32) -> f32 {
    arch::math::fast_recip(x)
}

/// 1 / √x with a relative error of at most 2⁻²²·⁹ (`rsqrt.approx.ftz.f32`).
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn rsqrt(x: f32) -> f32 {
    arch::math::fast_rsqrt(x)
}

/// √x with a relative error of at most 2⁻²³ (`sqrt.approx.ftz.f32`).
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn sqrt(x: f32) -> f32 {
    arch::math::fast_sqrt(x)
}
