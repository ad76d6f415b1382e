//! A box turned over in shared memory.

use simt::prelude::*;
use simt::warp::sync_warp;

use super::product::{DEPTH, four};
use crate::unroll::unroll;

/// Turns the box at element `from` of the ring, `EDGE` rows of [`DEPTH`] of k, swizzled, over in place: every 32 × 32 of it, by one of the
/// group's `WARPS` warps, into 32 rows of k, in order. `within` is the thread's number in its group, whose barrier comes next.
///
/// Lanes read the same piece of 16 bytes of 32 rows, which the swizzle has put into different banks, and write 32 neighbours.
#[inline(always)]
#[track_caller]
pub(super) fn turn_over<const EDGE: usize, const WARPS: u32, const LEN: usize>(
    ring: &SharedArray<f32, LEN>,
    from: u32,
    within: u32,
) {
    const { assert!(EDGE.is_multiple_of(32)) }
    let (warp, lane) = (within / 32, within % 32);
    unroll!(for round in 0..4 {
        let square = round as u32 * WARPS + warp;
        if round < (EDGE / 32).div_ceil(WARPS as usize) && square < EDGE as u32 / 32 {
            let from = from + square * 32 * DEPTH;
            let mut row = [[0.0_f32; 4]; 8];
            unroll!(for piece in 0..8 {
                row[piece] = four(ring, from + lane * DEPTH + (piece as u32 ^ (lane % 8)) * 4);
            });
            sync_warp(u32::MAX);
            unroll!(for piece in 0..8 {
                unroll!(for k in 0..4 {
                    let at = from + (piece as u32 * 4 + k as u32) * 32 + lane;
                    // SAFETY: the same 1024 elements of the ring that were read.
                    unsafe { core::hint::assert_unchecked(at < LEN as u32) }
                    ring.set(at, row[piece][k]);
                });
            });
        }
    });
}
