//! Middling and long lines: some lanes of a warp, or a whole block, read a line together, four vectors each under way.

use simt::element::Lanes;
use simt::prelude::*;

use super::{Lines, plan};
use crate::reduce::along::block::{Scratch, of_pieces};
use crate::reduce::along::dims::start;
use crate::reduce::along::line::of_line;
use crate::reduce::along::{Along, THREADS};
use crate::reduce::whole::block::of_block;

/// Reduces the block's middling lines, one after the other in each group of lanes; or the block's piece of its long line, and, if
/// it is the line's last to finish, the pieces.
#[inline(always)]
#[track_caller]
pub(super) fn reduce<R: Along, const N: usize, const W: usize>(
    scratch: &Scratch<W>,
    x: VecRef<R::Element>,
    workspace: VecMut<u64>,
    out: VecMut<R::Output>,
    lines: Lines,
) where
    R::Element: Lanes<N>,
{
    let Lines { length, extents, strides, cut: [way, second, third, fourth], parameter } = lines;
    let (t, block) = (thread_idx_x(), block_idx_x());
    // A long line is a block's only one, and all its threads are one group.
    let long = way == plan::LONG;
    let pieces = if long { second.max(1) } else { 1 };
    let piece = block % pieces;
    let shift = if long { THREADS.trailing_zeros() } else { second };
    let lines_per_block = if long { 1 } else { third };
    let per_piece = if long { u64::from(third) | u64::from(fourth) << 32 } else { length };
    let from = (u64::from(piece) * per_piece).min(length);
    let len = (length - from).min(per_piece);
    let (group, lane) = (t >> shift, t & ((1 << shift) - 1));
    let mut base = (block / pieces).saturating_mul(lines_per_block);
    let end = base.saturating_add(lines_per_block).min(out.len() as u32);
    while base < end {
        let number = base.saturating_add(group);
        let part = x.part(start(number, extents, strides).wrapping_add(from) as usize, len as usize);
        let mut state = R::none();
        if number < end
            && let Some(part) = part
        {
            state = of_line::<R, N>(part, from, lane, shift, parameter);
        }
        if long {
            state = of_block::<R, W, _>(&scratch.threads, state);
            if pieces > 1 {
                let place = (piece as usize, pieces as usize);
                let Some(merged) = of_pieces::<R, W>(scratch, state, workspace, number as usize, place) else {
                    return;
                };
                state = merged;
            }
        } else {
            // All lanes of a warp go round together, for the shuffles.
            state = R::of_lanes(state, 1 << shift);
        }
        if lane == 0 && number < end {
            out.set_within(number as usize, R::finish(state, parameter));
        }
        base = base.saturating_add(THREADS >> shift);
    }
}
