//! The states of a grid's blocks, merged in the same launch by the block that finishes last.
//!
//! ```text
//!  workspace   │ ticket │ – │ word 0 of each block's state │ word 1 of each … │      8 bytes each
//! ```
//!
//! A block writes its state and draws a ticket, which *releases* the state; whoever draws the last ticket *acquires* the
//! states of all blocks with it. Which block that is differs from run to run, what it does with the states does not: it
//! merges them by their index. It also sets the ticket back to 0, so that the workspace is ready for the next launch.

use simt::prelude::*;

use super::block::{Scratch, of_block};
use super::partition::{HEADER_WORDS, IN_FLIGHT, MOST_STATE_WORDS, THREADS};
use super::reduction::{Merge, State};

/// The merged states of the grid's blocks, in thread 0 of one block; `None` in the other blocks, and in the threads of this
/// one nothing of use. `state` is the block's, in thread 0.
#[inline(always)]
#[track_caller]
pub(crate) fn of_grid<M: Merge, const W: usize>(
    scratch: &Scratch<W>,
    state: M::State,
    workspace: VecMut<u64>,
) -> Option<M::State> {
    let (t, block, blocks) = (thread_idx_x() as usize, block_idx_x() as usize, grid_dim_x() as usize);
    if blocks == 1 {
        return Some(state);
    }
    if t == 0 {
        let words = state.pack();
        for word in 0..W {
            workspace.set(HEADER_WORDS + word * blocks + block, words[word]);
        }
        let drawn = workspace.atomic(0).fetch_add(1, Order::AcqRel, Scope::Device);
        scratch.last.set(0, u32::from(drawn as usize == blocks - 1));
    }
    sync_threads();
    if scratch.last.get(0) == 0 {
        return None;
    }
    let state = of_block::<M, W>(scratch, collect::<M, W>(workspace, t, blocks));
    if t == 0 {
        workspace.atomic(0).store(0, Order::Relaxed, Scope::Device);
    }
    Some(state)
}

/// The merged states of the blocks t, t + T, t + 2T …, four loads side by side as in [`of_thread`](super::thread::of_thread).
#[inline(always)]
#[track_caller]
fn collect<M: Merge, const W: usize>(workspace: VecMut<u64>, t: usize, blocks: usize) -> M::State {
    let mut state = M::none();
    let mut from = t;
    while from < blocks {
        let at = |i: usize| from + i * THREADS as usize;
        let mut words = [[0; MOST_STATE_WORDS]; IN_FLIGHT];
        for word in 0..W {
            // There are so many: each block has written its own.
            if let Some(column) = workspace.part(HEADER_WORDS + word * blocks, blocks) {
                for i in 0..IN_FLIGHT {
                    words[i][word] = column.get(at(i).min(blocks - 1));
                }
            }
        }
        for i in 0..IN_FLIGHT {
            let merged = M::merge(state, M::State::unpack(words[i]));
            state = if at(i) < blocks { merged } else { state };
        }
        from += IN_FLIGHT * THREADS as usize;
    }
    state
}
