//! The states of a block's threads, merged: five shuffles in each warp, one barrier, three shuffles in the first; and those of
//! the blocks that share a line, by the one that finishes last.
//!
//! ```text
//!  workspace   │ a ticket for each line │ state of each piece of each line, W words of 8 bytes │
//! ```

use simt::prelude::*;
use simt::warp::lane_id;

use super::unroll::unroll;
use super::{IN_FLIGHT, THREADS, TICKETS};
use crate::reduce::whole::partition::MOST_STATE_WORDS;
use crate::reduce::whole::reduction::{Merge, State};

const WARPS: usize = THREADS as usize / 32;

/// Shared memory: what the warps of a block hand to the first, `W` words each, and whether the block is the last of its line.
#[repr(C)]
#[derive(Shared)]
pub struct Scratch<const W: usize> {
    states: SharedTile<u64, W, WARPS>,
    last: SharedArray<u32, 1>,
}

/// The merged states of the block's threads, in thread 0. One barrier; another must follow before the next call.
#[inline(always)]
#[track_caller]
pub(crate) fn of_block<M: Merge, const W: usize>(scratch: &Scratch<W>, state: M::State) -> M::State {
    let t = thread_idx_x();
    let state = M::of_lanes(state, 32);
    if lane_id() == 0 {
        let words = state.pack();
        for word in 0..W {
            scratch.states.set(word as u32, t / 32, words[word]);
        }
    }
    sync_threads();
    if t >= 32 {
        return state;
    }
    let mut words = [0; MOST_STATE_WORDS];
    for word in 0..W {
        words[word] = scratch.states.get(word as u32, t % WARPS as u32);
    }
    M::of_lanes(M::State::unpack(words), WARPS as u32)
}

/// The merged states of the pieces of line `line`, each a block's, in thread 0 of the block that finishes last; `None` in the
/// others. `state` is that of piece `piece`, in thread 0. Sets the line's ticket back to 0.
#[inline(always)]
#[track_caller]
pub(crate) fn of_pieces<M: Merge, const W: usize>(
    scratch: &Scratch<W>,
    state: M::State,
    workspace: VecMut<u64>,
    line: usize,
    (piece, pieces): (usize, usize),
) -> Option<M::State> {
    let t = thread_idx_x() as usize;
    let states = TICKETS + line * pieces * W;
    if t == 0 {
        let words = state.pack();
        for word in 0..W {
            workspace.set(states + word * pieces + piece, words[word]);
        }
        let drawn = workspace.atomic(line).fetch_add(1, Order::AcqRel, Scope::Device);
        scratch.last.set(0, u32::from(drawn as usize == pieces - 1));
    }
    sync_threads();
    if scratch.last.get(0) == 0 {
        return None;
    }
    let mut state = M::none();
    let mut from = t;
    while from < pieces {
        let at = |i: usize| from + i * THREADS as usize;
        let mut words = [[0; MOST_STATE_WORDS]; IN_FLIGHT];
        for word in 0..W {
            // There are so many: each block has written its own.
            if let Some(column) = workspace.part(states + word * pieces, pieces) {
                for i in 0..IN_FLIGHT {
                    words[i][word] = column.get(at(i).min(pieces - 1));
                }
            }
        }
        unroll!(for i in 0..IN_FLIGHT {
            let merged = M::merge(state, M::State::unpack(words[i]));
            state = if at(i) < pieces { merged } else { state };
        });
        from += IN_FLIGHT * THREADS as usize;
    }
    let state = of_block::<M, W>(scratch, state);
    if t == 0 {
        workspace.atomic(line).store(0, Order::Relaxed, Scope::Device);
    }
    Some(state)
}
