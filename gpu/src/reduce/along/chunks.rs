//! Merges the states of the blocks that share a line, in the block that finishes last. A block reduces one *chunk* of
//! the line; the states of its threads are merged by [`whole::block`](crate::reduce::whole::block).
//!
//! ```text
//!  workspace   │ a ticket for each line │ state of each chunk of each line, W words of 8 bytes │
//! ```

use simt::prelude::*;

use super::{IN_FLIGHT, THREADS, TICKETS};
use crate::reduce::reducer::Merger;
use crate::reduce::whole::block::{self, reduce_block};
use crate::reduce::whole::partition::MAX_STATE_WORDS;
use crate::unroll::unroll;

const WARPS: usize = THREADS as usize / 32;

/// Shared memory: the states of a block's warps, `W` words each, and whether the block is the last of its line.
#[repr(C)]
#[derive(Shared)]
pub struct Scratch<const W: usize> {
    pub(crate) threads: block::Scratch<W, WARPS>,
    last: SharedArray<u32, 1>,
}

/// The merged state of the chunks of line `line`, in thread 0 of the block that finishes last; `None` in the other
/// blocks. `state` is that of chunk `chunk`, in thread 0. Resets the line's ticket to 0.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(crate) fn reduce_chunks<R: Merger, const W: usize>(
    r: R,
    scratch: &Scratch<W>,
    state: R::State,
    workspace: VecMut<u64>,
    line: usize,
    (chunk, chunks): (usize, usize),
) -> Option<R::State> {
    let t = thread_idx_x() as usize;
    let states = TICKETS + line * chunks * W;
    if t == 0 {
        let words = r.pack(state);
        for word in 0..W {
            workspace.set(states + word * chunks + chunk, words[word]);
        }
        let drawn = workspace.atomic(line).fetch_add(1, Order::AcqRel, Scope::Device);
        scratch.last.set(0, u32::from(drawn as usize == chunks - 1));
    }
    sync_threads();
    if scratch.last.get(0) == 0 {
        return None;
    }
    let mut state = r.identity();
    let mut from = t;
    while from < chunks {
        let at = |i: usize| from + i * THREADS as usize;
        let mut words = [[0; MAX_STATE_WORDS]; IN_FLIGHT];
        for word in 0..W {
            // Always in bounds: every block has written its state here.
            if let Some(column) = workspace.part(states + word * chunks, chunks) {
                for i in 0..IN_FLIGHT {
                    words[i][word] = column.get(at(i).min(chunks - 1));
                }
            }
        }
        unroll!(for i in 0..IN_FLIGHT {
            let merged = r.merge(state, r.unpack(words[i]));
            state = if at(i) < chunks { merged } else { state };
        });
        from += IN_FLIGHT * THREADS as usize;
    }
    let state = reduce_block(r, &scratch.threads, state);
    if t == 0 {
        workspace.atomic(line).store(0, Order::Relaxed, Scope::Device);
    }
    Some(state)
}
