//! The states of the blocks that share a line, merged by the one that finishes last; those of a block's threads are merged as
//! in [`whole`](crate::reduce::whole::block).
//!
//! ```text
//!  workspace   │ a ticket for each line │ state of each piece of each line, W words of 8 bytes │
//! ```

use simt::prelude::*;

use super::{IN_FLIGHT, THREADS, TICKETS};
use crate::reduce::whole::block::{self, of_block};
use crate::reduce::whole::partition::MOST_STATE_WORDS;
use crate::reduce::whole::reduction::{Merge, State};
use crate::unroll::unroll;

const WARPS: usize = THREADS as usize / 32;

/// Shared memory: what the warps of a block hand to the first, `W` words each, and whether the block is the last of its line.
#[repr(C)]
#[derive(Shared)]
pub struct Scratch<const W: usize> {
    pub(crate) threads: block::Scratch<W, WARPS>,
    last: SharedArray<u32, 1>,
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
    let state = of_block::<M, W, _>(&scratch.threads, state);
    if t == 0 {
        workspace.atomic(line).store(0, Order::Relaxed, Scope::Device);
    }
    Some(state)
}
