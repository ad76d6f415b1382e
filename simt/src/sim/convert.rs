//! Conversions by the `half` crate.

use half::{bf16, f16};

#[cfg_attr(optimised, inline(always))]
pub(crate) fn f16_bits_from_f32(x: f32) -> u16 {
    f16::from_f32(x).to_bits()
}
#[cfg_attr(optimised, inline(always))]
pub(crate) fn f16_pair_from_f32(low: f32, high: f32) -> u32 {
    u32::from(f16_bits_from_f32(low)) | u32::from(f16_bits_from_f32(high)) << 16
}
#[cfg_attr(optimised, inline(always))]
pub(crate) fn f32_from_f16_bits(bits: u16) -> f32 {
    f16::from_bits(bits).to_f32()
}
#[cfg_attr(optimised, inline(always))]
pub(crate) fn bf16_bits_from_f32(x: f32) -> u16 {
    bf16::from_f32(x).to_bits()
}
#[cfg_attr(optimised, inline(always))]
pub(crate) fn bf16_pair_from_f32(low: f32, high: f32) -> u32 {
    u32::from(bf16_bits_from_f32(low)) | u32::from(bf16_bits_from_f32(high)) << 16
}
