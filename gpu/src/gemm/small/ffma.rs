//! `f32`: sums by fused multiply-adds.
//!
//! Where vectors run along k, four lanes share a row of the large operand; where they are MN-major, two lanes share its
//! columns. At the end they add up what they have.

use simt::element::Vector;
use simt::prelude::*;
use simt::warp::warp_shuffle_xor;

use super::mainloop::Accumulators;
use super::{CHUNK_BYTES, LOADS};
use crate::unroll::unroll;

/// `ROWS` × 64 sums: of each row 8 in a lane, or, where vectors are MN-major, 4.
#[derive(Clone, Copy)]
pub struct Rows<const ROWS: usize>([[f32; 8]; ROWS]);

/// Elements from row to row of the staged piece.
const PITCH: u32 = CHUNK_BYTES as u32 / 4;
/// Times that four of two lanes' vectors go into a chunk along k, where they are MN-major.
const HALVES: usize = PITCH as usize / 8;

impl<const ROWS: usize> Accumulators<f32, 4> for Rows<ROWS> {
    const ZERO: Self = Self([[0.0; 8]; ROWS]);

    #[cfg_attr(optimised, inline(always))]
    fn add_k_major<const STAGE: usize>(
        &mut self,
        small: &SharedArray<f32, STAGE>,
        own: u32,
        large: &[Vector<f32, 4>; LOADS],
        lane: u32,
    ) {
        unroll!(for row in 0..ROWS {
            let operands = small.get_vec4(own + row as u32 * PITCH + 4 * (lane % 4)).lanes;
            unroll!(for step in 0..4 {
                unroll!(for r in 0..8 {
                    let sum = &mut self.0[row][r];
                    *sum = fma(operands[step], large[r].lanes[step], *sum);
                });
            });
        });
    }

    #[cfg_attr(optimised, inline(always))]
    fn add_mn_major<const STAGE: usize>(
        &mut self,
        small: &SharedArray<f32, STAGE>,
        own: u32,
        large: &[Vector<f32, 4>; LOADS],
        lane: u32,
    ) {
        unroll!(for j in 0..HALVES {
            unroll!(for row in 0..ROWS {
                let operands = small.get_vec4(own + row as u32 * PITCH + 8 * j as u32 + 4 * (lane % 2)).lanes;
                unroll!(for step in 0..4 {
                    unroll!(for col in 0..4 {
                        let sum = &mut self.0[row][col];
                        *sum = fma(operands[step], large[4 * j + step].lanes[col], *sum);
                    });
                });
            });
        });
    }

    #[cfg_attr(optimised, inline(always))]
    fn each<const K_MAJOR: bool>(self, lane: u32, mut put: impl FnMut(u32, u32, f32)) {
        unroll!(for row in 0..ROWS {
            if K_MAJOR {
                let sums = add_lane(add_lane(self.0[row], 1), 2);
                unroll!(for r in 0..8 {
                    if lane.is_multiple_of(4) {
                        put(row as u32, 8 * r as u32 + lane / 4, sums[r]);
                    }
                });
            } else {
                let [a, b, c, d, ..] = self.0[row];
                let sums = add_lane([a, b, c, d], 1);
                unroll!(for col in 0..4 {
                    if lane.is_multiple_of(2) {
                        put(row as u32, lane / 2 * 4 + col as u32, sums[col]);
                    }
                });
            }
        });
    }
}

/// Adds the sums of the lane whose index is this one's exclusive or `other`.
#[cfg_attr(optimised, inline(always))]
fn add_lane<const N: usize>(sums: [f32; N], other: u32) -> [f32; N] {
    let theirs = warp_shuffle_xor(u32::MAX, sums, other, 32).0;
    let mut both = sums;
    unroll!(for i in 0..N {
        both[i] += theirs[i];
    });
    both
}
