//! Elements by size, on their way through a box: see [`super::boxes`].
//!
//! Narrow ones are read and written by words of 4 bytes, the unit of [`super::cell`]: a word of A that starts anywhere from the
//! two aligned ones that it lies in, a word of B from as many bytes or halves of the box as fill it.

use simt::element::{Vec4, Vector, bits_as};
use simt::global::{Window, WindowMut};
use simt::math::byte_perm;
use simt::prelude::*;

use super::cell::Cell;

/// An element of 1, 2, 4, 8 or 16 bytes.
pub trait Boxed: Cell {
    /// Whether a unit of a line of A, element `at` of the window, lies in words of the line: `left` elements of that are left,
    /// and there is a word `before`.
    fn has_words(a: &Window<Self>, at: u32, before: bool, left: i32) -> bool;
    /// A unit that starts at a word; zero if the window lacks it.
    fn load_word(a: &Window<Self>, at: u32) -> Self::Unit;
    /// A unit as [`Self::has_words`] has it, from the one or two words that it lies in; zero if the window lacks it.
    fn load(a: &Window<Self>, at: u32) -> Self::Unit;
    /// The first `left` elements of a unit, one by one.
    fn load_some(a: &Window<Self>, at: u32, left: i32) -> Self::Unit;
    /// Writes a unit to the tile, from element `place` on.
    fn put<const N: usize>(tile: &SharedArray<Self, N>, place: u32, value: Self::Unit);
    /// Writes to element `at` of B on the elements of a unit from `skip` to `end`, from `places` in the tile.
    fn store<const N: usize>(
        tile: &SharedArray<Self, N>,
        b: &WindowMut<Self>,
        at: u32,
        places: [u32; 4],
        some: [i32; 2],
    );
    /// How many elements of a unit `at` is past the start of a word.
    fn past_word(window: &Window<Self>, at: u32) -> u32;
}

macro_rules! narrow {
    ($t:ty: $lanes:literal: $($k:literal)+, $digits:literal) => {
        impl Boxed for $t {
            #[inline(always)]
            fn has_words(a: &Window<Self>, at: u32, before: bool, left: i32) -> bool {
                let past = Self::past_word(a, at) as i32;
                if past == 0 { left >= $lanes } else { before && left >= 2 * $lanes - past }
            }

            #[inline(always)]
            fn load_word(a: &Window<Self>, at: u32) -> u32 {
                bits_as(a.get_vec_or::<$lanes>(0, at, bits_as(0_u32)))
            }

            #[inline(always)]
            fn load(a: &Window<Self>, at: u32) -> u32 {
                let past = Self::past_word(a, at);
                let low = at.wrapping_sub(past);
                // Where one word is all, the other is not read.
                let high = if past == 0 { u32::MAX } else { low.wrapping_add($lanes) };
                byte_perm(Self::load_word(a, low), Self::load_word(a, high), 0x3210 + $digits * past)
            }

            #[inline(always)]
            fn load_some(a: &Window<Self>, at: u32, left: i32) -> u32 {
                let mut elements = 0;
                for k in 0..$lanes {
                    if (k as i32) < left {
                        elements |= u32::from(a.get_or(0, at.wrapping_add(k), 0)) << (32 / $lanes * k);
                    }
                }
                elements
            }

            #[inline(always)]
            fn put<const N: usize>(tile: &SharedArray<Self, N>, place: u32, value: u32) {
                tile.set_vec::<$lanes>($lanes * (place / $lanes).min(N as u32 / $lanes - 1), bits_as(value));
            }

            #[inline(always)]
            fn store<const N: usize>(
                tile: &SharedArray<Self, N>,
                b: &WindowMut<Self>,
                at: u32,
                places: [u32; 4],
                [skip, end]: [i32; 2],
            ) {
                let get = |k: usize| tile.get(places[k].min(N as u32 - 1));
                if skip <= 0 && end >= $lanes {
                    b.set_vec_within::<$lanes>(0, at, Vector::new([$(get($k)),+]));
                } else {
                    $(if $k >= skip && $k < end {
                        b.set_within(0, at.wrapping_add($k), get($k));
                    })+
                }
            }

            #[inline(always)]
            fn past_word(window: &Window<Self>, at: u32) -> u32 {
                window.past_alignment::<$lanes>(0, at)
            }
        }
    };
}

narrow!(u8: 4: 0 1 2 3, 0x1111);
narrow!(u16: 2: 0 1, 0x2222);

macro_rules! wide {
    ($t:ty = $zero:expr) => {
        impl Boxed for $t {
            #[inline(always)]
            fn has_words(_: &Window<Self>, _: u32, _: bool, _: i32) -> bool {
                true
            }

            #[inline(always)]
            fn load_word(a: &Window<Self>, at: u32) -> Self::Unit {
                bits_as(a.get_or(0, at, $zero))
            }

            #[inline(always)]
            fn load(a: &Window<Self>, at: u32) -> Self::Unit {
                Self::load_word(a, at)
            }

            #[inline(always)]
            fn load_some(a: &Window<Self>, at: u32, _: i32) -> Self::Unit {
                Self::load(a, at)
            }

            #[inline(always)]
            fn put<const N: usize>(tile: &SharedArray<Self, N>, place: u32, value: Self::Unit) {
                tile.set(place.min(N as u32 - 1), bits_as(value));
            }

            #[inline(always)]
            fn store<const N: usize>(
                tile: &SharedArray<Self, N>,
                b: &WindowMut<Self>,
                at: u32,
                places: [u32; 4],
                [skip, end]: [i32; 2],
            ) {
                if skip <= 0 && end > 0 {
                    b.set_within(0, at, tile.get(places[0].min(N as u32 - 1)));
                }
            }

            #[inline(always)]
            fn past_word(_: &Window<Self>, _: u32) -> u32 {
                0
            }
        }
    };
}

wide!(f32 = 0.0);
wide!(u64 = 0);
wide!(Vec4<u32> = Self::new([0; 4]));

/// An element's place in shared memory: a unit is skipped after every 2ᵐ, of which m is at most [`NO_GAPS`](super::boxes::NO_GAPS). Of an element that
/// a line has not, this may be anything.
#[inline(always)]
pub(super) const fn spread<T: Cell>(place: u32, m: u32) -> u32 {
    let log = T::PER_UNIT.trailing_zeros();
    place.wrapping_add(place >> ((m + log) & 31) << log)
}
