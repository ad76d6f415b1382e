//! What elements are to arithmetic: reals that become `f64` or `f32` without loss, integers that become 64 bits.

use half::{bf16, f16};
use simt::convert::{f32_from_bf16, f32_from_f16};
use simt::element::Element;

/// Numbers that `f64` holds exactly, squares and products of two included: `f32`, `f16`, `bf16`.
pub trait Short: Element {
    /// The same number.
    fn wide(self) -> f64;
}

impl Short for f32 {
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
}
impl Short for f16 {
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(f32_from_f16(self))
    }
}
impl Short for bf16 {
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(f32_from_bf16(self))
    }
}

/// Integers, in arithmetic modulo 2⁶⁴.
pub trait Integer: Element {
    /// 64 bits with or without sign, as the integer is.
    type Wide: Element;
    /// The integer modulo 2⁶⁴.
    fn residue(self) -> u64;
    /// The 64-bit integer of this residue.
    fn of_residue(residue: u64) -> Self::Wide;
    /// That integer, rounded.
    fn real(residue: u64) -> f64;
}

macro_rules! integers {
    ($($t:ty => $wide:ty;)+) => {$(
        impl Integer for $t {
            type Wide = $wide;
            #[inline(always)]
            fn residue(self) -> u64 {
                self as $wide as u64
            }
            #[inline(always)]
            fn of_residue(residue: u64) -> $wide {
                residue as $wide
            }
            #[inline(always)]
            fn real(residue: u64) -> f64 {
                residue as $wide as f64
            }
        }
    )+};
}
integers! { i32 => i64; u32 => u64; u64 => u64; }
