//! Conversions between `f32` and the 16-bit formats, rounded to nearest even: one instruction on PTX, where the methods
//! of [`half`] take about a dozen.
//!
//! A NaN is converted to a NaN with unspecified bits.
//!
//! ```
//! use half::f16;
//! use simt::{convert::*, prelude::*};
//!
//! /// x = x / 2, computed in `f32`.
//! #[kernel(block = 256)]
//! pub fn halve(x: VecMut<f16>) {
//!     let i = index_1d();
//!     if branch(i < x.len()) {
//!         x.set(i, f16_from_f32(0.5 * f32_from_f16(x.get(i))));
//!     }
//! }
//! ```

use half::{bf16, f16};

use crate::arch;

/// `x` as binary16: overflow gives ∞, results below 2⁻¹⁴ are subnormal (`cvt.rn.f16.f32`).
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn f16_from_f32(x: f32) -> f16 {
    f16::from_bits(arch::convert::f16_bits_from_f32(x))
}

/// The exact value of a binary16 (`cvt.f32.f16`).
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn f32_from_f16(x: f16) -> f32 {
    arch::convert::f32_from_f16_bits(x.to_bits())
}

/// `x` as bfloat16 (`cvt.rn.bf16.f32`).
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn bf16_from_f32(x: f32) -> bf16 {
    bf16::from_bits(arch::convert::bf16_bits_from_f32(x))
}

/// Two numbers as binary16, the first in the lower half (`cvt.rn.f16x2.f32`).
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn f16_pair_from_f32(low: f32, high: f32) -> u32 {
    arch::convert::f16_pair_from_f32(low, high)
}

/// Two numbers as bfloat16, the first in the lower half (`cvt.rn.bf16x2.f32`).
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn bf16_pair_from_f32(low: f32, high: f32) -> u32 {
    arch::convert::bf16_pair_from_f32(low, high)
}

/// The exact value of a bfloat16: its bits are the upper half of the `f32`.
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn f32_from_bf16(x: bf16) -> f32 {
    f32::from_bits((x.to_bits() as u32) << 16)
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_even() {
        let half_ulp = 2f32.powi(-11);
        let cases = [(1.0 + half_ulp, 1.0), (1.0 + 3.0 * half_ulp, 1.0 + 4.0 * half_ulp), (-1.0 - half_ulp, -1.0)];
        for (x, expected) in cases {
            assert_eq!(f32_from_f16(f16_from_f32(x)), expected, "{x} as binary16");
        }
        let half_ulp = 2f32.powi(-8);
        let cases = [(1.0 + half_ulp, 1.0), (1.0 + 3.0 * half_ulp, 1.0 + 4.0 * half_ulp), (-1.0 - half_ulp, -1.0)];
        for (x, expected) in cases {
            assert_eq!(f32_from_bf16(bf16_from_f32(x)), expected, "{x} as bfloat16");
        }
    }

    #[test]
    fn first_of_a_pair_is_the_lower_half() {
        for (low, high) in [(1.0, -2.5), (f32::INFINITY, 1e-8), (-0.0, 65519.0)] {
            let halves = |x: f16, y: f16| u32::from(x.to_bits()) | u32::from(y.to_bits()) << 16;
            assert_eq!(f16_pair_from_f32(low, high), halves(f16_from_f32(low), f16_from_f32(high)));
            let halves = |x: bf16, y: bf16| u32::from(x.to_bits()) | u32::from(y.to_bits()) << 16;
            assert_eq!(bf16_pair_from_f32(low, high), halves(bf16_from_f32(low), bf16_from_f32(high)));
        }
    }

    #[test]
    fn limits_of_the_range() {
        assert_eq!(f16_from_f32(65504.0).to_bits(), 0x7bff, "largest binary16");
        assert_eq!(f16_from_f32(65520.0).to_bits(), 0x7c00, "halfway to 2^16 is infinite");
        assert_eq!(f16_from_f32(2f32.powi(-24)).to_bits(), 1, "least subnormal");
        assert_eq!(f16_from_f32(-0.0).to_bits(), 0x8000);
        assert_eq!(bf16_from_f32(f32::MAX).to_bits(), 0x7f80, "rounds up to infinity");
        assert!(f16_from_f32(f32::NAN).is_nan() && bf16_from_f32(f32::NAN).is_nan());
    }

    #[test]
    fn every_16_bit_value_survives_a_round_trip() {
        for bits in 0..=u16::MAX {
            let (x, y) = (f16::from_bits(bits), bf16::from_bits(bits));
            assert!(x.is_nan() || f16_from_f32(f32_from_f16(x)) == x, "binary16 {bits:#06x}");
            assert!(y.is_nan() || bf16_from_f32(f32_from_bf16(y)) == y, "bfloat16 {bits:#06x}");
        }
    }
}
