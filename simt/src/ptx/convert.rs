//! Conversions, one instruction each.

use core::arch::asm;

#[inline(always)]
pub(crate) fn f16_bits_from_f32(x: f32) -> u16 {
    let bits: u16;
    // SAFETY: arithmetic.
    unsafe {
        asm!("cvt.rn.f16.f32 {}, {};", out(reg16) bits, in(reg32) x, options(pure, nomem, nostack, preserves_flags))
    }
    bits
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
#[inline(always)]
pub(crate) fn bf16_bits_from_f32(x: f32) -> u16 {
    let bits: u16;
    // SAFETY: arithmetic.
    unsafe {
        asm!("cvt.rn.bf16.f32 {}, {};", out(reg16) bits, in(reg32) x, options(pure, nomem, nostack, preserves_flags))
    }
    bits
}
