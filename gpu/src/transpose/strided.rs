//! A strided copy of up to six dimensions, element by element.
//!
//! ```text
//!   element i in the order of b = (i₀, i₁, … i₅), i₀ fastest            thread t of a block: elements
//!   b[Σ iₖ·b_strides[k]] = a[Σ iₖ·a_strides[k]]                         t, t + 256, t + 512, t + 768
//! ```
//!
//! Neighbouring lanes write neighbouring elements of `b`. They read neighbouring elements of `a` if `a` has the same
//! fastest dimension; then the host makes elements as wide as alignment allows, up to 16 bytes. If `a` or `b` has no
//! contiguous dimension, accesses are as scattered as the strides.
//!
//! A thread has four elements in flight. Each costs one division per dimension, by multiplication with a reciprocal
//! that the host computes (T. Granlund and P. L. Montgomery, *Division by invariant integers using multiplication*,
//! 1994, the variant with an addition): ⌊n / d⌋ = (⌊n·m / 2³²⌋ + n) >> s with s = ⌈log₂ d⌉ and m = ⌊2³²·(2ˢ − d) / d⌋ +
//! 1, exact for n < 2³¹.

use simt::element::{Element, Vec4};
use simt::prelude::*;

use super::permute::DIMS;

/// Threads of a block.
pub const THREADS: u32 = 256;
/// Elements of a block.
pub const ELEMENTS: u32 = 4 * THREADS;
/// Most elements of a launch.
pub const MOST: u32 = i32::MAX as u32;

/// Blocks for `count` elements.
pub const fn grid(count: u32) -> [u32; 3] {
    [count.div_ceil(ELEMENTS), 1, 1]
}

/// Multiplier and shift for division by `divisor`, from 1 to 2³¹.
#[cfg(not(target_arch = "nvptx64"))]
const fn reciprocal(divisor: u32) -> (u32, u32) {
    let shift = 32 - (divisor - 1).leading_zeros();
    (((((1_u64 << shift) - divisor as u64) << 32) / divisor as u64 + 1) as u32, shift)
}

/// Multipliers for division by each extent, from 1 to 2³¹, then the shifts.
#[cfg(not(target_arch = "nvptx64"))]
pub fn reciprocals(extents: [u32; DIMS]) -> [u32; 2 * DIMS] {
    crate::unroll::from_fn(|k| {
        let (multiplier, shift) = reciprocal(extents[k % DIMS]);
        if k < DIMS { multiplier } else { shift }
    })
}

/// ⌊`n` / d⌋ for n < 2³¹, from the multiplier and shift of d.
#[cfg_attr(optimised, inline(always))]
pub(super) const fn quotient(n: u32, multiplier: u32, shift: u32) -> u32 {
    (((n as u64 * multiplier as u64) >> 32) as u32).wrapping_add(n) >> (shift & 31)
}

#[cfg_attr(optimised, inline(always))]
fn copy<T: Element>(
    (a, b, zero): (VecRef<T>, VecMut<T>, T),
    count: u32,
    extents: [u32; DIMS],
    reciprocals: [u32; 2 * DIMS],
    a_strides: [u64; DIMS],
    b_strides: [u64; DIMS],
) {
    let first = block_idx_x() as u64 * ELEMENTS as u64 + thread_idx_x() as u64;
    let place = |i: u32| {
        let element = first + (i * THREADS) as u64;
        if element >= count as u64 {
            return (usize::MAX, usize::MAX);
        }
        let (mut rest, mut from, mut to) = (element as u32, 0_u64, 0_u64);
        let mut digit = |k: usize| {
            let next = if k + 1 < DIMS { quotient(rest, reciprocals[k], reciprocals[DIMS + k]) } else { 0 };
            let digit = rest.wrapping_sub(next.wrapping_mul(extents[k])) as u64;
            from = from.wrapping_add(digit.wrapping_mul(a_strides[k]));
            to = to.wrapping_add(digit.wrapping_mul(b_strides[k]));
            rest = next;
        };
        digit(0);
        digit(1);
        digit(2);
        digit(3);
        digit(4);
        digit(5);
        (from as usize, to as usize)
    };
    let places = [place(0), place(1), place(2), place(3)];
    let load = |i: usize| a.get_or(places[i].0, zero);
    let values = [load(0), load(1), load(2), load(3)];
    let store = |i: usize| b.set_within(places[i].1, values[i]);
    store(0);
    store(1);
    store(2);
    store(3);
}

macro_rules! copies {
    ($($(#[$doc:meta])+ $name:ident: $t:ty = $zero:expr, $bytes:literal, $registers:literal;)+) => {$(
        $(#[$doc])+
        #[kernel(
            block = (THREADS), min_blocks = 6, registers = $registers, barriers = 0,
            global_load_bytes = $bytes, global_store_bytes = $bytes
        )]
        pub fn $name(
            a: VecRef<$t>,
            b: VecMut<$t>,
            count: u32,
            extents: [u32; 6],
            reciprocals: [u32; 12],
            a_strides: [u64; 6],
            b_strides: [u64; 6],
        ) {
            copy((a, b, $zero), count, extents, reciprocals, a_strides, b_strides);
        }
    )+};
}

copies! {
    /// Strided copy of `count` elements of 1 byte, at most 2³¹ − 1. Unused dimensions have extent 1; `reciprocals` are
    /// the [`reciprocals`] of `extents`. Elements outside `a` are read as 0, elements outside `b` are skipped.
    copy_strided_b8: u8 = 0, 1, 32;
    /// [`copy_strided_b8`] for 2-byte elements.
    copy_strided_b16: u16 = 0, 2, 32;
    /// [`copy_strided_b8`] for 4-byte elements.
    copy_strided_b32: f32 = 0.0, 4, 32;
    /// [`copy_strided_b8`] for 8-byte elements.
    copy_strided_b64: u64 = 0, 8, 32;
    /// [`copy_strided_b8`] for 16-byte elements.
    copy_strided_b128: Vec4<u32> = Vec4::new([0; 4]), 16, 40;
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn division_by_a_reciprocal_is_exact() {
        let divisors = (1..200).chain([255, 256, 257, 1000, 65_535, 65_536, 65_537, MOST - 1, MOST, 1 << 31]);
        for divisor in divisors {
            let (multiplier, shift) = reciprocal(divisor);
            let multiples = (0..300_u64).chain((MOST as u64 / divisor as u64).saturating_sub(300)..);
            let edges = multiples.map(|k| k * divisor as u64).take(900).take_while(|&n| n <= MOST as u64 + 1);
            for n in edges.flat_map(|n| [n.saturating_sub(1), n, n + 1]).chain([0, 1, MOST as u64]) {
                if n <= MOST as u64 {
                    assert_eq!(quotient(n as u32, multiplier, shift), n as u32 / divisor, "{n} / {divisor}");
                }
            }
        }
    }
}
