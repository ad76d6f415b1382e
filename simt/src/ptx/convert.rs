//! Conversions, one instruction each.
//!
//! Conversions to 16 bits use the instruction for a pair, also for a single number: ptxas compiles it to `F2FP`, which
//! runs at full rate, and that for a single number to `F2F`, which takes four times as long.

use core::arch::asm;

macro_rules! pairs {
    ($($pair:ident, $single:ident: $op:literal;)+) => {$(
        #[inline(always)]
        pub(crate) fn $pair(low: f32, high: f32) -> u32 {
            let bits: u32;
            // SAFETY: arithmetic.
            unsafe {
                asm!(
                    concat!($op, " {}, {}, {};"),
                    out(reg32) bits, in(reg32) high, in(reg32) low,
                    options(pure, nomem, nostack, preserves_flags)
                )
            }
            bits
        }
        #[inline(always)]
        pub(crate) fn $single(x: f32) -> u16 {
            $pair(x, 0.0) as u16
        }
    )+};
}
pairs! {
    f16_pair_from_f32, f16_bits_from_f32: "cvt.rn.f16x2.f32";
    bf16_pair_from_f32, bf16_bits_from_f32: "cvt.rn.bf16x2.f32";
}

#[inline(always)]
pub(crate) fn f32_from_f16_bits(bits: u16) -> f32 {
    let x: f32;
    // SAFETY: arithmetic.
    unsafe {
        asm!("cvt.f32.f16 {}, {};", out(reg32) x, in(reg16) bits, options(pure, nomem, nostack, preserves_flags));
    }
    x
}
