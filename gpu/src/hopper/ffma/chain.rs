//! Sums of a tile's first steps, with which the block that has its last steps goes on: one chain of multiply-adds in order of k, as if
//! one block had done it all.
//!
//! That block has the index after this one's. It hands on first of all, and goes on with another's last of all
//! ([`share`](crate::hopper::gemm::share)), so it waits for nobody unless a whole tile takes less than the start of a launch.
//!
//! ```text
//!  sums    │ block 0: 4 sums of thread 0 │ 4 of thread 1 │ … │ 4 more of thread 0 │ … │ block 1: …
//!  flags   │ block 0: token, they are there │ block 1: …
//! ```
//!
//! The four are in the order in which `finish` puts them down, so that they stay in the registers that they are in.

use simt::element::{Vec4, Vector};
use simt::opaque;
use simt::prelude::*;

use super::finish::CROSSED;
use crate::hopper::gemm::parts::Parts;
use crate::unroll::unroll;

/// Where block `block` of `THREADS` threads hands on its sums, four by four, and its flag.
#[inline(always)]
fn place<'a, const MQ: usize, const NQ: usize, const THREADS: usize>(
    parts: &Parts<'a>,
    block: u32,
) -> Option<(VecMut<'a, Vector<f32, 4>>, VecMut<'a, u64>)> {
    let (vectors, number) = (const { THREADS * MQ * 4 * NQ }, block as usize);
    let sums = parts.sums.vectors_mut::<4>().part_mut(number * vectors, vectors)?;
    Some((sums, parts.flags.part_mut(number, 1)?))
}

/// Hands the block's sums to the next one.
#[inline(always)]
#[track_caller]
pub(super) fn hand_on<const MQ: usize, const NQ: usize, const THREADS: usize>(
    parts: &Parts<'_>,
    sums: &[[[[f32; 4]; NQ]; 4]; MQ],
) {
    let t = opaque(thread_idx_x()) % THREADS as u32;
    let Some((place, flag)) = place::<MQ, NQ, THREADS>(parts, block_idx_x()) else { return };
    unroll!(for quad in 0..4 {
        if quad < MQ {
            unroll!(for i in 0..4 {
                unroll!(for j in 0..4 {
                    if j < NQ {
                        let four = ((quad * 4 + i) * NQ + j) * THREADS;
                        place.set(four + t as usize, Vec4::new(CROSSED.map(|of| sums[quad][i][j][of])));
                    }
                });
            });
        }
    });
    sync_threads();
    if t == 0 {
        parts.raise(flag);
    }
}

/// Takes the sums of the block before.
#[inline(always)]
#[track_caller]
pub(super) fn take<const MQ: usize, const NQ: usize, const THREADS: usize>(
    parts: &Parts<'_>,
    sums: &mut [[[[f32; 4]; NQ]; 4]; MQ],
) {
    let t = opaque(thread_idx_x()) % THREADS as u32;
    let before = block_idx_x().saturating_sub(1);
    let Some((place, flag)) = place::<MQ, NQ, THREADS>(parts, before) else { return };
    if t == 0 {
        parts.wait_until_up(flag);
    }
    sync_threads();
    unroll!(for quad in 0..4 {
        if quad < MQ {
            unroll!(for i in 0..4 {
                unroll!(for j in 0..4 {
                    if j < NQ {
                        let four = ((quad * 4 + i) * NQ + j) * THREADS;
                        let lanes = place.get(four + t as usize).lanes;
                        sums[quad][i][j] = CROSSED.map(|of| lanes[of]);
                    }
                });
            });
        }
    });
}
