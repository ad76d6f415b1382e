//! Stream-K fix-up in `f64`: the warps of the block that has a tile's last steps continue with the accumulators of the
//! block that has the first ones, as if one block had done it all.
//!
//! It is the block of the next index, as in [`ffma`](crate::gemm::sm90::ffma). Each warp goes on from the same warp of
//! the other block, so that warps wait for no other warp of their own block.
//!
//! ```text
//!  partials │ block 0, warp 0: 2 accumulators of lane 0 │ 2 of lane 1 │ … │ 2 more of lane 0 │ … │ warp 1: … │ …
//!  flags    │ block 0: epoch once those of warp 0 are there │ of warp 1 │ … │ block 1: …
//! ```

use simt::element::{Vec2, Vector};
use simt::opaque;
use simt::prelude::*;
use simt::warp::sync_warp;

use crate::gemm::args::StreamKArgs;
use crate::unroll::unroll;

/// Warps that multiply.
const WARPS: u32 = 8;

/// The partials of this warp in block `block`, by pairs, and their flag.
#[cfg_attr(optimised, inline(always))]
fn slot<'a, const MB: usize, const NB: usize>(
    args: &StreamKArgs<'a>,
    block: u32,
) -> Option<(VecMut<'a, Vector<f64, 2>>, VecMut<'a, u64>)> {
    let number = (block * WARPS + opaque(thread_idx_x()) / 32 % WARPS) as usize;
    let pairs = const { 32 * pairs(MB, NB) };
    let partials = args.partials.vectors_mut::<4>().bits_as::<Vector<f64, 2>>();
    Some((partials.part_mut(number * pairs, pairs)?, args.flags.part_mut(number, 1)?))
}

/// Pairs of accumulators of a thread.
const fn pairs(mb: usize, nb: usize) -> usize {
    mb * 2 * nb * 2
}

/// Stores the warp's partials for the next block.
#[cfg_attr(optimised, inline(always))]
pub(super) fn store_partials<const MB: usize, const NB: usize>(args: &StreamKArgs<'_>, sums: &[[[f64; 4]; 4]; 4]) {
    let lane = opaque(thread_idx_x()) % 32;
    let Some((slot, flag)) = slot::<MB, NB>(args, block_idx_x()) else { return };
    unroll!(for mb in 0..4 {
        unroll!(for i in 0..4 {
            unroll!(for pair in 0..2 {
                if mb < MB && i < 2 * NB {
                    let place = ((mb * 2 * NB + i) * 2 + pair) * 32;
                    let two = [sums[mb][i][2 * pair], sums[mb][i][2 * pair + 1]];
                    slot.set(place + lane as usize, Vec2::new(two));
                }
            });
        });
    });
    sync_warp(u32::MAX);
    if lane == 0 {
        args.set_flag(flag);
    }
}

/// Loads the partials of the same warp of the block before.
#[cfg_attr(optimised, inline(always))]
pub(super) fn load_partials<const MB: usize, const NB: usize>(args: &StreamKArgs<'_>, sums: &mut [[[f64; 4]; 4]; 4]) {
    let lane = opaque(thread_idx_x()) % 32;
    let Some((slot, flag)) = slot::<MB, NB>(args, block_idx_x().saturating_sub(1)) else { return };
    if lane == 0 {
        args.wait_for_flag(flag);
    }
    sync_warp(u32::MAX);
    unroll!(for mb in 0..4 {
        unroll!(for i in 0..4 {
            unroll!(for pair in 0..2 {
                if mb < MB && i < 2 * NB {
                    let place = ((mb * 2 * NB + i) * 2 + pair) * 32;
                    [sums[mb][i][2 * pair], sums[mb][i][2 * pair + 1]] = slot.get(place + lane as usize).lanes;
                }
            });
        });
    });
}
