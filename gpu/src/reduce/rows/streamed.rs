//! Medium and long lines: some lanes of a warp, or a whole block, read a line together, with four vectors in flight
//! each.

use simt::element::Lanes;
use simt::prelude::*;

use super::{RowArgs, plan};
use crate::reduce::along::THREADS;
use crate::reduce::along::chunks::{Scratch, reduce_chunks};
use crate::reduce::along::dims::{DIMS, start};
use crate::reduce::along::line::reduce_line;
use crate::reduce::reducer::Reducer;
use crate::reduce::whole::block::reduce_block;

/// Reduces the block's medium lines, one after the other in each group of lanes; or the block's chunk of a long line
/// and, in the block that finishes last, the states of all chunks.
#[cfg_attr(optimised, inline(always))]
pub(super) fn reduce<R: Reducer, const N: usize, const W: usize>(
    r: R,
    scratch: &Scratch<W>,
    x: VecRef<R::Element>,
    workspace: VecMut<u64>,
    out: VecMut<R::Output>,
    (args, extents, [algorithm, second, third, fourth]): (RowArgs, [u32; DIMS], [u32; 4]),
) where
    R::Element: Lanes<N>,
{
    let RowArgs { length, strides, parameter } = args;
    let (t, block) = (thread_idx_x(), block_idx_x());
    // A block has one long line, and all its threads are one group.
    let long = algorithm == plan::LONG_LINES;
    let chunks = if long { second.max(1) } else { 1 };
    let chunk = block % chunks;
    let shift = if long { THREADS.trailing_zeros() } else { second };
    let lines_per_block = if long { 1 } else { third };
    let per_chunk = if long { u64::from(third) | u64::from(fourth) << 32 } else { length };
    let from = (u64::from(chunk) * per_chunk).min(length);
    let len = (length - from).min(per_chunk);
    let (group, lane) = (t >> shift, t & ((1 << shift) - 1));
    let mut base = (block / chunks).saturating_mul(lines_per_block);
    let end = base.saturating_add(lines_per_block).min(out.len() as u32);
    while base < end {
        let number = base.saturating_add(group);
        let part = x.part(start(number, extents, strides).wrapping_add(from) as usize, len as usize);
        let mut state = r.identity();
        if number < end
            && let Some(part) = part
        {
            state = reduce_line::<R, N>(r, part, from, lane, shift, parameter);
        }
        if long {
            state = reduce_block(r, &scratch.threads, state);
            if chunks > 1 {
                let position = (chunk as usize, chunks as usize);
                let Some(merged) = reduce_chunks(r, scratch, state, workspace, number as usize, position) else {
                    return;
                };
                state = merged;
            }
        } else {
            // All lanes of a warp iterate together, for the shuffles.
            state = r.reduce_lanes(state, 1 << shift);
        }
        if lane == 0 && number < end {
            out.set_within(number as usize, r.finish(state, parameter));
        }
        base = base.saturating_add(THREADS >> shift);
    }
}
