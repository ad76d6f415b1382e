//! Loads and stores of 4-byte words of a row, for each element size: used by [`super::permute_nd`].
//!
//! Elements of 1 and 2 bytes are read and written by the words of [`super::tile_layout`]: a misaligned word of A is
//! loaded from the two aligned words that it overlaps, a word of B is gathered from 4 or 2 elements of the tile.

use simt::element::{Vec4, Vector, bits_as};
use simt::global::{Window, WindowMut};
use simt::math::byte_perm;
use simt::prelude::*;

use super::tile_layout::TileElement;

/// An element of 1, 2, 4, 8 or 16 bytes: loads and stores of words.
pub trait WordAccess: TileElement {
    /// Whether the aligned words that a word of A overlaps are in its row. The word starts at element `at` of the
    /// window, `left` elements of the row remain from there, and `before` says that the row has a word before it.
    fn has_words(a: &Window<Self>, at: u32, before: bool, left: i32) -> bool;
    /// Loads an aligned word; zero if it is outside the window.
    fn load_word(a: &Window<Self>, at: u32) -> Self::Word;
    /// Loads a word for which [`Self::has_words`] is true, from the one or two aligned words that it overlaps; zero if
    /// they are outside the window.
    fn load(a: &Window<Self>, at: u32) -> Self::Word;
    /// Loads the first `left` elements of a word one by one.
    fn load_some(a: &Window<Self>, at: u32, left: i32) -> Self::Word;
    /// Writes a word to the tile, from element `position` on.
    fn put<const N: usize>(tile: &SharedArray<Self, N>, position: u32, value: Self::Word);
    /// Writes elements `skip..end` of a word of B that starts at element `at`; element i comes from `positions[i]` in
    /// the tile.
    fn store<const N: usize>(
        tile: &SharedArray<Self, N>,
        b: &WindowMut<Self>,
        at: u32,
        positions: [u32; 4],
        some: [i32; 2],
    );
    /// How many elements `at` is past the start of an aligned word.
    fn past_word(window: &Window<Self>, at: u32) -> u32;
}

macro_rules! narrow {
    ($t:ty: $lanes:literal: $($k:literal)+, $digits:literal) => {
        impl WordAccess for $t {
            #[cfg_attr(optimised, inline(always))]
            fn has_words(a: &Window<Self>, at: u32, before: bool, left: i32) -> bool {
                let past = Self::past_word(a, at) as i32;
                if past == 0 { left >= $lanes } else { before && left >= 2 * $lanes - past }
            }

            #[cfg_attr(optimised, inline(always))]
            fn load_word(a: &Window<Self>, at: u32) -> u32 {
                bits_as(a.get_vec_or::<$lanes>(0, at, bits_as(0_u32)))
            }

            #[cfg_attr(optimised, inline(always))]
            fn load(a: &Window<Self>, at: u32) -> u32 {
                let past = Self::past_word(a, at);
                let low = at.wrapping_sub(past);
                // Where the word is aligned, the second one is not read.
                let high = if past == 0 { u32::MAX } else { low.wrapping_add($lanes) };
                byte_perm(Self::load_word(a, low), Self::load_word(a, high), 0x3210 + $digits * past)
            }

            #[cfg_attr(optimised, inline(always))]
            fn load_some(a: &Window<Self>, at: u32, left: i32) -> u32 {
                let mut elements = 0;
                for k in 0..$lanes {
                    if (k as i32) < left {
                        elements |= u32::from(a.get_or(0, at.wrapping_add(k), 0)) << (32 / $lanes * k);
                    }
                }
                elements
            }

            #[cfg_attr(optimised, inline(always))]
            fn put<const N: usize>(tile: &SharedArray<Self, N>, position: u32, value: u32) {
                tile.set_vec::<$lanes>($lanes * (position / $lanes).min(N as u32 / $lanes - 1), bits_as(value));
            }

            #[cfg_attr(optimised, inline(always))]
            fn store<const N: usize>(
                tile: &SharedArray<Self, N>,
                b: &WindowMut<Self>,
                at: u32,
                positions: [u32; 4],
                [skip, end]: [i32; 2],
            ) {
                let get = |k: usize| tile.get(positions[k].min(N as u32 - 1));
                if skip <= 0 && end >= $lanes {
                    b.set_vec_within::<$lanes>(0, at, Vector::new([$(get($k)),+]));
                } else {
                    $(if $k >= skip && $k < end {
                        b.set_within(0, at.wrapping_add($k), get($k));
                    })+
                }
            }

            #[cfg_attr(optimised, inline(always))]
            fn past_word(window: &Window<Self>, at: u32) -> u32 {
                window.misalignment::<$lanes>(0, at)
            }
        }
    };
}

narrow!(u8: 4: 0 1 2 3, 0x1111);
narrow!(u16: 2: 0 1, 0x2222);

macro_rules! wide {
    ($t:ty = $zero:expr) => {
        impl WordAccess for $t {
            #[cfg_attr(optimised, inline(always))]
            fn has_words(_: &Window<Self>, _: u32, _: bool, _: i32) -> bool {
                true
            }

            #[cfg_attr(optimised, inline(always))]
            fn load_word(a: &Window<Self>, at: u32) -> Self::Word {
                bits_as(a.get_or(0, at, $zero))
            }

            #[cfg_attr(optimised, inline(always))]
            fn load(a: &Window<Self>, at: u32) -> Self::Word {
                Self::load_word(a, at)
            }

            #[cfg_attr(optimised, inline(always))]
            fn load_some(a: &Window<Self>, at: u32, _: i32) -> Self::Word {
                Self::load(a, at)
            }

            #[cfg_attr(optimised, inline(always))]
            fn put<const N: usize>(tile: &SharedArray<Self, N>, position: u32, value: Self::Word) {
                tile.set(position.min(N as u32 - 1), bits_as(value));
            }

            #[cfg_attr(optimised, inline(always))]
            fn store<const N: usize>(
                tile: &SharedArray<Self, N>,
                b: &WindowMut<Self>,
                at: u32,
                positions: [u32; 4],
                [skip, end]: [i32; 2],
            ) {
                if skip <= 0 && end > 0 {
                    b.set_within(0, at, tile.get(positions[0].min(N as u32 - 1)));
                }
            }

            #[cfg_attr(optimised, inline(always))]
            fn past_word(_: &Window<Self>, _: u32) -> u32 {
                0
            }
        }
    };
}

wide!(f32 = 0.0);
wide!(u64 = 0);
wide!(Vec4<u32> = Self::new([0; 4]));

/// An element's position in shared memory with padding: one word of padding after every 2ᵐ words, with m at most
/// [`NO_PADDING`](super::permute_nd::NO_PADDING). For an element outside its row the result is arbitrary.
#[cfg_attr(optimised, inline(always))]
pub(super) const fn padded<T: TileElement>(position: u32, m: u32) -> u32 {
    let log = T::PER_WORD.trailing_zeros();
    position.wrapping_add(position >> ((m + log) & 31) << log)
}
