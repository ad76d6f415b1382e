//! Element types of `mma.sync`.

use half::{bf16, f16};
use simt::async_copy::cp_async_or_zero;
use simt::element::Lanes;
use simt::global::Window;
use simt::matrix::{Kind, Tf32};
use simt::shared::SharedArray;

use crate::gemm::number::Number;

/// An element of A and B that tensor cores multiply.
pub(super) trait MmaElement: Number<Wide = f32, Stored = Self> + Lanes<4> {
    /// What it is to them.
    type Kind: Kind;

    /// A register of a fragment, as it came from shared memory, for the instruction.
    fn rounded(register: u32) -> u32;

    /// Whether rows start and end at multiples of 4 bytes.
    fn has_words(window: &Window<Self>) -> bool;

    /// Starts to copy what there is of the 4 bytes at (`row`, `col`), a multiple of 4 bytes, to element `to` of
    /// `stages`.
    fn copy_word<const LEN: usize>(window: &Window<Self>, at: (u32, u32), stages: &SharedArray<Self, LEN>, to: u32);
}

/// [`MmaElement::has_words`] of 16 bits.
#[cfg_attr(optimised, inline(always))]
fn has_pairs<T: Lanes<2>>(window: &Window<T>) -> bool {
    window.has_aligned_rows::<2>() && window.cols().is_multiple_of(2)
}

macro_rules! operands {
    ($($t:ident as $kind:ty: $word:literal to a word, $has_words:expr, $rounded:expr;)+) => {$(
        impl MmaElement for $t {
            type Kind = $kind;

            #[cfg_attr(optimised, inline(always))]
            fn rounded(register: u32) -> u32 {
                $rounded(register)
            }

            #[cfg_attr(optimised, inline(always))]
            fn has_words(window: &Window<Self>) -> bool {
                $has_words(window)
            }

            #[cfg_attr(optimised, inline(always))]
            fn copy_word<const LEN: usize>(
                window: &Window<Self>,
                (row, col): (u32, u32),
                stages: &SharedArray<Self, LEN>,
                to: u32,
            ) {
                cp_async_or_zero(stages.slot(to), window.slot_or_zero::<$word>(row, col));
            }
        }
    )+};
}
operands! {
    f16 as f16: 2 to a word, has_pairs, core::convert::identity;
    bf16 as bf16: 2 to a word, has_pairs, core::convert::identity;
    f32 as Tf32: 1 to a word, |_| true, tf32;
}

/// [`tf32`](crate::gemm::number::tf32) but for the 13 bits that tensor cores ignore: an instruction less, for every
/// register of every fragment.
#[cfg_attr(optimised, inline(always))]
fn tf32(bits: u32) -> u32 {
    const HALF: u32 = 1 << 12;
    let up = bits.wrapping_add(HALF - 1 + (bits >> 13 & 1));
    if f32::from_bits(bits).abs() < f32::INFINITY { up } else { bits }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use crate::gemm::number;

    #[test]
    fn registers_of_tf32_are_rounded() {
        let edges =
            [0, 1, 0xfff, 0x1000, 0x1001, 0x1fff, 0x2000, 0x3fff, 0x3f80_0fff, 0x3f80_1000, 0x3f80_3000, 0x7f7f_ffff];
        for bits in edges.into_iter().flat_map(|bits| [bits, bits | 1 << 31]) {
            assert_eq!(super::tf32(bits) & !0x1fff, number::tf32(f32::from_bits(bits)).to_bits(), "{bits:#x}");
        }
        for bits in [0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x7fff_ffff, 0xffff_ffff, 0xffc0_0000] {
            assert_eq!(super::tf32(bits), bits, "infinities and NaNs stay");
        }
    }
}
