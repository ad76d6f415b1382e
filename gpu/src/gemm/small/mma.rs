//! 16-bit numbers: sums by tensor cores.
//!
//! The small operand is A of [`mma_sync`], 16 × 16 with k across, the large one B, 16 × 8 with k down. A register of
//! either holds two neighbours along k. Which steps of k an instruction calls 0 to 15 is free, if both operands agree.
//! So a lane's vector of 8 elements *along* k makes the registers of two instructions, without a move:
//!
//! ```text
//!   step of the instruction    2q, 2q + 1    2q + 8, 2q + 9
//!   first                        0, 1            2, 3          of the 8 elements of lane (g, q)
//!   second                       4, 5            6, 7
//! ```
//!
//! Where vectors run *across* k, four of a lane, one below the other, hold 8 columns; pairs of them are put together by
//! a permutation of bytes, and each column goes to an instruction of its own: with g from 0 to 7 that one has 8
//! columns, 8 apart.

use simt::element::{Lanes, Vector, bits_as};
use simt::matrix::{Kind, mma_sync};
use simt::prelude::*;

use super::mainloop::Accumulators;
use super::{CHUNK_BYTES, LOADS};
use crate::unroll::{each, unroll};

/// 16 × 64 sums: of 8 instructions' C.
#[derive(Clone, Copy)]
pub struct Fragments([[f32; 4]; 8]);

/// Elements from row to row of the staged piece.
const PITCH: u32 = CHUNK_BYTES as u32 / 2;
/// Instructions along k in a chunk.
const STEPS: usize = PITCH as usize / 16;

impl<T: Lanes<8> + Lanes<4> + Kind> Accumulators<T, 8> for Fragments {
    const ZERO: Self = Self([[0.0; 4]; 8]);

    #[cfg_attr(optimised, inline(always))]
    fn add_k_major<const STAGE: usize>(
        &mut self,
        small: &SharedArray<T, STAGE>,
        own: u32,
        large: &[Vector<T, 8>; LOADS],
        lane: u32,
    ) {
        let (g, q) = (lane / 4, lane % 4);
        let piece = own + g * PITCH + 8 * q;
        let [upper, lower] = each!([piece, piece + 8 * PITCH], |at| words(small.get_vec::<8>(at)));
        unroll!(for r in 0..8 {
            let b = words(large[r]);
            self.0[r] = mma_sync::<T>([upper[0], lower[0], upper[1], lower[1]], [b[0], b[1]], self.0[r]);
        });
        unroll!(for r in 0..8 {
            let b = words(large[r]);
            self.0[r] = mma_sync::<T>([upper[2], lower[2], upper[3], lower[3]], [b[2], b[3]], self.0[r]);
        });
    }

    #[cfg_attr(optimised, inline(always))]
    fn add_mn_major<const STAGE: usize>(
        &mut self,
        small: &SharedArray<T, STAGE>,
        own: u32,
        large: &[Vector<T, 8>; LOADS],
        lane: u32,
    ) {
        let (g, q) = (lane / 4, lane % 4);
        unroll!(for j in 0..STEPS {
            let piece = own + g * PITCH + 16 * j as u32 + 4 * q;
            let [upper, lower] =
                each!([piece, piece + 8 * PITCH], |at| bits_as::<_, Vector<u32, 2>>(small.get_vec::<4>(at)).lanes);
            let a = [upper[0], lower[0], upper[1], lower[1]];
            let [first, second, third, fourth] = each!([0, 1, 2, 3], |i: usize| words(large[4 * j + i]));
            unroll!(for col in 0..8 {
                let (word, upper) = (col / 2, col % 2 == 1);
                let b = [pair(first[word], second[word], upper), pair(third[word], fourth[word], upper)];
                self.0[col] = mma_sync::<T>(a, b, self.0[col]);
            });
        });
    }

    #[cfg_attr(optimised, inline(always))]
    fn each<const K_MAJOR: bool>(self, lane: u32, mut put: impl FnMut(u32, u32, f32)) {
        let (g, q) = (lane / 4, lane % 4);
        unroll!(for number in 0..8 {
            unroll!(for i in 0..4 {
                // The column that the instruction calls so.
                let col = 2 * q + i as u32 % 2;
                let many = if K_MAJOR { 8 * number as u32 + col } else { 8 * col + number as u32 };
                put(g + 8 * (i as u32 / 2), many, self.0[number][i]);
            });
        });
    }
}

/// A vector's registers.
#[cfg_attr(optimised, inline(always))]
fn words<T: Lanes<8>>(vector: Vector<T, 8>) -> [u32; 4] {
    bits_as::<_, Vector<u32, 4>>(vector).lanes
}

/// The lower, or upper, halves of two registers as one.
#[cfg_attr(optimised, inline(always))]
const fn pair(first: u32, second: u32, upper: bool) -> u32 {
    if upper { first >> 16 | second & 0xFFFF_0000 } else { first & 0xFFFF | second << 16 }
}
