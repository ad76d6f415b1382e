//! Element types of GEMM: numbers that are multiplied, and added in a wider type.

use core::ops::{Add, Mul};

use half::{bf16, f16};
use simt::KernelArg;
use simt::convert::{bf16_from_f32, f16_from_f32, f32_from_bf16, f32_from_f16};
use simt::element::Element;
use simt::float8::{E4m3, E5m2};
use simt::math::{Float, maximum};

use super::args::{ACTIVATION, F16_C, GELU, RELU};
use super::gelu::gelu;

/// A type of accumulators: `f32`, or `f64` for `f64`.
pub trait Real:
    Element + for<'launch> KernelArg<In<'launch> = Self> + Float + PartialEq + Add<Output = Self> + Mul<Output = Self>
{
    /// +0.
    const ZERO: Self;
    /// The activation that the flags name applied: see [`args`](super::args).
    #[must_use]
    fn activated(self, flags: u32) -> Self;
}

impl Real for f32 {
    const ZERO: Self = 0.0;

    #[cfg_attr(optimised, inline(always))]
    fn activated(self, flags: u32) -> Self {
        match flags & ACTIVATION {
            RELU => maximum(self, 0.0),
            GELU => gelu(self),
            _ => self,
        }
    }
}

impl Real for f64 {
    const ZERO: Self = 0.0;

    #[cfg_attr(optimised, inline(always))]
    fn activated(self, flags: u32) -> Self {
        // A comparison with a NaN is false: it stays what it is.
        if flags & ACTIVATION == RELU && self <= 0.0 { 0.0 } else { self }
    }
}

/// An element of A and B.
pub trait Number: Element {
    /// The type of the accumulators.
    type Wide: Real;
    /// +0.
    const ZERO: Self;
    /// The same number.
    fn wide(self) -> Self::Wide;
    /// The nearest element, ties to even; of 8 bits the largest where it is larger.
    fn narrow(wide: Self::Wide) -> Self;

    /// The elements of C where C is not in the type of the accumulators: those of A and B, but where these have 8 bits,
    /// [`bf16`], or [`f16`](struct@f16) in its place with [`F16_C`].
    type Stored: Element;
    /// Whether sums are integers: `i32`, whose bits the accumulators hold, until the epilogue converts them.
    const IS_INTEGER: bool = false;
    /// The element of C that is nearest to `wide`, ties to even.
    fn stored(wide: Self::Wide, flags: u32) -> Self::Stored;
    /// The number that an element of C is.
    fn loaded(stored: Self::Stored, flags: u32) -> Self::Wide;
}

macro_rules! numbers {
    ($($t:ident in $wide:ident: $zero:expr, $to:expr, $from:expr;)+) => {$(
        impl Number for $t {
            type Wide = $wide;
            const ZERO: Self = $zero;

            #[cfg_attr(optimised, inline(always))]
            fn wide(self) -> $wide {
                $to(self)
            }
            #[cfg_attr(optimised, inline(always))]
            fn narrow(wide: $wide) -> Self {
                $from(wide)
            }

            type Stored = Self;

            #[cfg_attr(optimised, inline(always))]
            fn stored(wide: $wide, _: u32) -> Self {
                $from(wide)
            }
            #[cfg_attr(optimised, inline(always))]
            fn loaded(stored: Self, _: u32) -> $wide {
                $to(stored)
            }
        }
    )+};
}
numbers! {
    f32 in f32: 0.0, core::convert::identity, core::convert::identity;
    f16 in f32: f16::from_bits(0), f32_from_f16, f16_from_f32;
    bf16 in f32: bf16::from_bits(0), f32_from_bf16, bf16_from_f32;
    f64 in f64: 0.0, core::convert::identity, core::convert::identity;
}

macro_rules! numbers_of_8_bits {
    ($($t:ident: $zero:expr, $to:expr, $from:expr, $is_integer:literal;)+) => {$(
        impl Number for $t {
            type Wide = f32;
            const ZERO: Self = $zero;

            #[cfg_attr(optimised, inline(always))]
            fn wide(self) -> f32 {
                $to(self)
            }
            #[cfg_attr(optimised, inline(always))]
            fn narrow(wide: f32) -> Self {
                $from(wide)
            }

            type Stored = bf16;
            const IS_INTEGER: bool = $is_integer;

            #[cfg_attr(optimised, inline(always))]
            fn stored(wide: f32, flags: u32) -> bf16 {
                if flags & F16_C == 0 { bf16_from_f32(wide) } else { bf16::from_bits(f16_from_f32(wide).to_bits()) }
            }
            #[cfg_attr(optimised, inline(always))]
            fn loaded(stored: bf16, flags: u32) -> f32 {
                if flags & F16_C == 0 { f32_from_bf16(stored) } else { f32_from_f16(f16::from_bits(stored.to_bits())) }
            }
        }
    )+};
}
numbers_of_8_bits! {
    i8: 0, |x| x as f32, |x| simt::math::round_ties_even(x) as i8, true;
    E4m3: E4m3::from_bits(0), E4m3::to_f32, E4m3::from_f32, false;
    E5m2: E5m2::from_bits(0), E5m2::to_f32, E5m2::from_f32, false;
}

/// `x` with 10 bits after the point, to the nearest, ties to even: what tensor cores take for a tf32, rounded as TMA
/// rounds it. Beyond the largest it is ∞; a NaN stays one.
///
/// ```
/// use gpu::gemm::number::tf32;
/// assert_eq!(tf32(1.0 + 3.0 / 2048.0), 1.0 + 2.0 / 1024.0);
/// assert_eq!(tf32(-1.0 - 1.0 / 2048.0), -1.0);
/// ```
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn tf32(x: f32) -> f32 {
    const LAST: u32 = 1 << 13;
    let bits = x.to_bits();
    let half = LAST / 2 - 1 + ((bits / LAST) & 1);
    if x.is_nan() { x } else { f32::from_bits(bits.wrapping_add(half) & !(LAST - 1)) }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn tf32_at_the_ends() {
        assert_eq!(tf32(f32::MAX), f32::INFINITY);
        assert_eq!(tf32(f32::NEG_INFINITY), f32::NEG_INFINITY);
        assert!(tf32(f32::from_bits(0x7fff_ffff)).is_nan() && tf32(f32::from_bits(0x7f80_0001)).is_nan());
        assert_eq!(tf32(-0.0).to_bits(), (-0.0_f32).to_bits());
        // The least subnormal of tf32 is 2⁻¹³⁶; half of it is nothing, three halves are two.
        assert_eq!(tf32(f32::from_bits(0x1000)), 0.0);
        assert_eq!(tf32(f32::from_bits(0x1001)), f32::from_bits(0x2000));
        assert_eq!(tf32(f32::from_bits(0x3000)), f32::from_bits(0x4000));
    }

    #[test]
    fn relu_keeps_a_nan_and_no_sign_of_zero() {
        for x in [-1.0, -0.0, 0.0, f32::NEG_INFINITY] {
            assert_eq!(x.activated(RELU).to_bits(), 0);
            assert_eq!(f64::from(x).activated(RELU).to_bits(), 0);
        }
        assert!(f32::NAN.activated(RELU).is_nan() && f64::NAN.activated(RELU).is_nan());
        assert_eq!(f32::INFINITY.activated(RELU), f32::INFINITY);
        assert_eq!(f64::INFINITY.activated(RELU), f64::INFINITY);
        assert_eq!((-3.0_f32).activated(0), -3.0);
    }
}
