//! Floating-point numbers of 8 bits: [`E4m3`] and [`E5m2`] (OCP 8-bit Floating Point Specification, OFP8).
//!
//! | | exponent, bias | fraction | largest | least normal | least | infinities | NaN |
//! |---|---|---|---|---|---|---|---|
//! | [`E4m3`] | 4 bits, 7 | 3 bits | 448 | 2⁻⁶ | 2⁻⁹ | none | `0x7f`, `0xff` |
//! | [`E5m2`] | 5 bits, 15 | 2 bits | 57 344 | 2⁻¹⁴ | 2⁻¹⁶ | `0x7c`, `0xfc` | the others with that exponent |
//!
//! They are formats of memory: kernels convert them to `f32` to compute with them, and tensor cores multiply them
//! ([`wgmma`](crate::wgmma)). The conversions are integer arithmetic, the same on a GPU and on the simulator.

#[cfg(not(target_arch = "nvptx64"))]
use core::fmt;

/// The bits of the number of a format that is nearest to `x`, ties to even; beyond the largest finite number, with the
/// bits `max`, that one: `cvt.rn.satfinite`. A NaN becomes `0x7f`.
#[cfg_attr(optimised, inline(always))]
const fn nearest<const FRACTION: u32, const BIAS: u32>(x: f32, max: u32) -> u8 {
    let bits = x.to_bits();
    let (sign, magnitude) = (bits >> 24 & 0x80, bits & 0x7fff_ffff);
    if magnitude > 0x7f80_0000 {
        return 0x7f;
    }
    // The exponent's field in `f32` of the format's least normal number.
    let least = 127 + 1 - BIAS;
    let exponent = magnitude >> 23;
    // Subnormal numbers of `f32` are less than half the least number of either format: so they may count as normal.
    let significand = magnitude & 0x007f_ffff | 0x0080_0000;
    let below = least.saturating_sub(exponent);
    // Of a significand of 24 bits, 25 bits less are 0 after rounding.
    let shift = if below > FRACTION + 2 { 25 } else { 23 - FRACTION + below };
    let half = (1 << (shift - 1)) - 1 + (significand >> shift & 1);
    let rounded = (significand + half) >> shift;
    // The leading bit of a normal number adds 1 to the exponent's field, and so does a carry.
    let all = rounded + (exponent.saturating_sub(least) << FRACTION);
    (sign | if all < max { all } else { max }) as u8
}

/// The number with these bits of a format.
#[cfg_attr(optimised, inline(always))]
const fn widened<const FRACTION: u32, const BIAS: u32>(bits: u8) -> f32 {
    let (sign, magnitude) = ((bits as u32 & 0x80) << 24, bits as u32 & 0x7f);
    let exponent = magnitude >> FRACTION;
    // A subnormal number is its fraction times the least one, a power of two: exact.
    let least = f32::from_bits((128 - BIAS - FRACTION) << 23);
    let value = if exponent == 0 {
        magnitude as f32 * least
    } else {
        f32::from_bits((magnitude << (23 - FRACTION)) + ((127 - BIAS) << 23))
    };
    f32::from_bits(sign | value.to_bits())
}

macro_rules! formats {
    ($($(#[$doc:meta])+ $name:ident: $fraction:literal bits of fraction, bias $bias:literal, max $max:literal,
       special $special:expr;)+) => {$(
        $(#[$doc])+
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            /// The largest finite number.
            pub const MAX: Self = Self($max);

            /// The number with these bits.
            #[cfg_attr(optimised, inline(always))]
            #[must_use]
            pub const fn from_bits(bits: u8) -> Self {
                Self(bits)
            }

            /// Its bits.
            #[cfg_attr(optimised, inline(always))]
            #[must_use]
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// The nearest number, ties to even; [`Self::MAX`] or its negative for everything beyond, infinities
            /// included (`cvt.rn.satfinite`). A NaN becomes one.
            #[cfg_attr(optimised, inline(always))]
            #[must_use]
            pub const fn from_f32(x: f32) -> Self {
                Self(nearest::<$fraction, $bias>(x, $max))
            }

            /// The same number.
            #[cfg_attr(optimised, inline(always))]
            #[must_use]
            pub const fn to_f32(self) -> f32 {
                let special: Option<f32> = $special(self.0);
                match special {
                    Some(value) => value,
                    None => widened::<$fraction, $bias>(self.0),
                }
            }

            /// Whether it is a NaN.
            #[cfg_attr(optimised, inline(always))]
            #[must_use]
            pub const fn is_nan(self) -> bool {
                self.to_f32().is_nan()
            }
        }

        /// As IEEE 754 compares: a NaN equals nothing, the zeros each other.
        impl PartialEq for $name {
            #[cfg_attr(optimised, inline(always))]
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.to_f32().fmt(f)
            }
        }
    )+};
}

/// The special values of [`E4m3`].
#[cfg_attr(optimised, inline(always))]
const fn special_of_e4m3(bits: u8) -> Option<f32> {
    if bits & 0x7f == 0x7f { Some(f32::NAN) } else { None }
}

/// The special values of [`E5m2`].
#[cfg_attr(optimised, inline(always))]
const fn special_of_e5m2(bits: u8) -> Option<f32> {
    match bits {
        0x7c => Some(f32::INFINITY),
        0xfc => Some(f32::NEG_INFINITY),
        _ if bits & 0x7c == 0x7c => Some(f32::NAN),
        _ => None,
    }
}

formats! {
    /// 4 bits of exponent, 3 of fraction: up to 448, without infinities.
    ///
    /// ```
    /// use simt::float8::E4m3;
    /// let numbers = [1.0625_f32, 1.1875, -1e6, 0.001, f32::NAN].map(|x| E4m3::from_f32(x).to_f32());
    /// assert_eq!(numbers[..4], [1.0, 1.25, -448.0, 0.001_953_125]);
    /// assert!(numbers[4].is_nan());
    /// ```
    E4m3: 3 bits of fraction, bias 7, max 0x7e, special special_of_e4m3;
    /// 5 bits of exponent, 2 of fraction: the upper half of an [`f16`](half::f16).
    ///
    /// ```
    /// use simt::float8::E5m2;
    /// assert_eq!([1.1_f32, 1.15, -1e6].map(|x| E5m2::from_f32(x).to_f32()), [1.0, 1.25, -57344.0]);
    /// ```
    E5m2: 2 bits of fraction, bias 15, max 0x7b, special special_of_e5m2;
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;
    use half::f16;

    /// All finite numbers of a format, in ascending order of magnitude, are what `f64` arithmetic says they are.
    #[test]
    fn numbers_are_those_of_the_formats() {
        for bits in 0..=0xff_u8 {
            let sign = if bits < 0x80 { 1.0 } else { -1.0 };
            let number = |fraction: i32, bias: i32| {
                let (exponent, rest) = (i32::from(bits & 0x7f) >> fraction, f64::from(bits & ((1 << fraction) - 1)));
                let (hidden, power) = if exponent == 0 { (0.0, 1 - bias) } else { (1.0, exponent - bias) };
                sign * (hidden + rest / f64::from(1 << fraction)) * 2.0_f64.powi(power)
            };
            if bits & 0x7f != 0x7f {
                assert_eq!(f64::from(E4m3::from_bits(bits).to_f32()), number(3, 7), "{bits:#x}");
            }
            let half = f16::from_bits(u16::from(bits) << 8).to_f32();
            let e5m2 = E5m2::from_bits(bits).to_f32();
            assert!(e5m2 == half || e5m2.is_nan() && half.is_nan(), "{bits:#x}");
        }
        assert!(E4m3::from_bits(0x7f).is_nan() && E4m3::from_bits(0xff).is_nan() && !E4m3::MAX.is_nan());
    }

    /// Every number, every midpoint of two neighbours, and what is next to it on both sides.
    #[test]
    fn rounding_is_to_nearest_even_and_saturates() {
        fn check(count: u8, from: fn(f32) -> u8, to: fn(u8) -> f32) {
            for bits in 0..count {
                let (low, high) = (to(bits), to(bits + 1));
                let middle = f32::midpoint(low, high);
                let even = bits + bits % 2;
                let cases = [(low, bits), (middle.next_down(), bits), (middle, even), (middle.next_up(), bits + 1)];
                for (x, expected) in cases {
                    assert_eq!((from(x), from(-x)), (expected, expected | 0x80), "{x:e}");
                }
            }
            for x in [to(count), f32::MAX, f32::INFINITY] {
                assert_eq!((from(x), from(-x)), (count, count | 0x80), "{x:e}");
            }
            assert_eq!((from(0.0), from(-0.0), from(f32::MIN_POSITIVE), from(1e-45)), (0, 0x80, 0, 0));
            assert!(to(from(f32::NAN)).is_nan());
        }
        check(0x7e, |x| E4m3::from_f32(x).to_bits(), |bits| E4m3::from_bits(bits).to_f32());
        check(0x7b, |x| E5m2::from_f32(x).to_bits(), |bits| E5m2::from_bits(bits).to_f32());
    }
}
