//! Arithmetic on elements: floats that convert to `f64` exactly, integers that extend to 64 bits.

use half::{bf16, f16};
use simt::convert::{f32_from_bf16, f32_from_f16};
use simt::element::Element;

/// Floats that `f64` represents exactly, together with their squares and products of two: `f32`, `f16`, `bf16`.
pub trait ExactInF64: Element {
    /// The same number as an `f64`.
    fn to_f64(self) -> f64;
}

impl ExactInF64 for f32 {
    #[cfg_attr(optimised, inline(always))]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}
impl ExactInF64 for f16 {
    #[cfg_attr(optimised, inline(always))]
    fn to_f64(self) -> f64 {
        f64::from(f32_from_f16(self))
    }
}
impl ExactInF64 for bf16 {
    #[cfg_attr(optimised, inline(always))]
    fn to_f64(self) -> f64 {
        f64::from(f32_from_bf16(self))
    }
}

/// Integers, in arithmetic modulo 2⁶⁴.
pub trait Integer: Element {
    /// The 64-bit integer of the same signedness.
    type Wide: Element;
    /// The integer modulo 2⁶⁴.
    fn residue(self) -> u64;
    /// The 64-bit integer with this residue.
    fn of_residue(residue: u64) -> Self::Wide;
    /// That integer rounded to `f64`.
    fn to_f64(residue: u64) -> f64;
}

macro_rules! integers {
    ($($t:ty => $to_f64:ty;)+) => {$(
        impl Integer for $t {
            type Wide = $to_f64;
            #[cfg_attr(optimised, inline(always))]
            fn residue(self) -> u64 {
                self as $to_f64 as u64
            }
            #[cfg_attr(optimised, inline(always))]
            fn of_residue(residue: u64) -> $to_f64 {
                residue as $to_f64
            }
            #[cfg_attr(optimised, inline(always))]
            fn to_f64(residue: u64) -> f64 {
                residue as $to_f64 as f64
            }
        }
    )+};
}
integers! { i32 => i64; u32 => u64; u64 => u64; }
