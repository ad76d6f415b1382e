//! Transposition of a box in shared memory, in place.

use simt::prelude::*;
use simt::warp::sync_warp;

use super::mainloop_split::four;
use crate::unroll::unroll;

/// Steps of k in a box: a swizzled row of 128 bytes.
const DEPTH: u32 = 32;

/// Transposes the box at element `from`, `edge` rows of [`DEPTH`] of k, swizzled: every 32 × 32 of it, by one of the
/// group's `warps` warps, into 32 rows of k, in order. `within` is the thread's number in its group, whose barrier
/// comes next.
///
/// Lanes read the same 16-byte vector of 32 rows, which the swizzle has put into different banks, and write 32
/// neighbours.
#[cfg_attr(optimised, inline(always))]
pub(super) fn transpose<const LEN: usize>(
    stages: &SharedArray<f32, LEN>,
    from: u32,
    edge: u32,
    warps: u32,
    within: u32,
) {
    let (warp, lane) = (within / 32, within % 32);
    unroll!(for round in 0..4 {
        let square = round as u32 * warps + warp;
        if round < (edge / 32).div_ceil(warps) as usize && square < edge / 32 {
            let from = from + square * 32 * DEPTH;
            let mut row = [[0.0_f32; 4]; 8];
            unroll!(for vector in 0..8 {
                row[vector] = four(stages, from + lane * DEPTH + (vector as u32 ^ (lane % 8)) * 4);
            });
            sync_warp(u32::MAX);
            unroll!(for vector in 0..8 {
                unroll!(for k in 0..4 {
                    let at = from + (vector as u32 * 4 + k as u32) * 32 + lane;
                    // SAFETY: the same 1024 elements of the stages that were read.
                    unsafe { core::hint::assert_unchecked(at < LEN as u32) }
                    stages.set(at, row[vector][k]);
                });
            });
        }
    });
}
