//! Merges the states of a block's threads: five shuffles in each warp, one barrier, three or four shuffles in the first
//! warp.

use simt::prelude::*;
use simt::warp::lane_id;

use super::partition::{MAX_STATE_WORDS, WARPS};
use crate::reduce::reducer::Merger;

/// Shared memory: the states of the `N` warps of a block, `W` words each.
#[repr(C)]
#[derive(Shared)]
pub struct Scratch<const W: usize, const N: usize = WARPS> {
    states: SharedTile<u64, W, N>,
}

/// The merged state of the block's threads, in thread 0. One barrier; another must follow before the next call.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn reduce_block<R: Merger, const W: usize, const N: usize>(
    r: R,
    scratch: &Scratch<W, N>,
    state: R::State,
) -> R::State {
    let t = thread_idx_x();
    let state = r.reduce_lanes(state, 32);
    if lane_id() == 0 {
        let words = r.pack(state);
        for word in 0..W {
            scratch.states.set(word as u32, t / 32, words[word]);
        }
    }
    sync_threads();
    if t >= 32 {
        return state;
    }
    let mut words = [0; MAX_STATE_WORDS];
    for word in 0..W {
        words[word] = scratch.states.get(word as u32, t % N as u32);
    }
    r.reduce_lanes(r.unpack(words), N as u32)
}
