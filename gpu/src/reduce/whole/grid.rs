//! Merges the states of a grid's blocks in the same launch, in its last block.
//!
//! ```text
//!  workspace   │ block 0: low half of word 0 │ high half │ word 1 … │ block 1: …            8 bytes each
//!               a half:  31 unused bits │ ready bit │ 32 bits of state             0: not ready yet
//! ```
//!
//! Every other block stores its state and exits. The last block polls each state until it is ready. The ready bit is in
//! the same 8 bytes as the state, so neither side needs a fence, and no block waits for the result of an atomic
//! operation. States become ready in a different order in each run, but the last block merges them in order of block
//! index, its own state last. It also resets the words to 0, so that the workspace is ready for the next launch.
//!
//! The last block waits for all others, so it must not occupy an SM that another block needs in order to start. Blocks
//! start in order of their index, on which CUB's scans with decoupled look-back (Merrill and Garland 2016) rely too;
//! when the last block starts, all others have started.

use simt::prelude::*;

use super::block::{Scratch, reduce_block};
use super::partition::{MAX_STATE_WORDS, THREADS};
use crate::reduce::reducer::Merger;

/// Ready bit of a half.
const READY: u64 = 1 << 32;

/// The merged state of the grid's blocks in thread 0 of the last block, unspecified values in its other threads, and
/// `None` in the other blocks. `state` is the block's state, in thread 0.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn reduce_grid<R: Merger, const W: usize>(
    r: R,
    scratch: &Scratch<W>,
    state: R::State,
    workspace: VecMut<u64>,
) -> Option<R::State> {
    let (t, block, blocks) = (thread_idx_x() as usize, block_idx_x() as usize, grid_dim_x());
    if blocks == 1 {
        return Some(state);
    }
    let others = blocks as usize - 1;
    if block < others {
        if t == 0 {
            publish::<W>(r.pack(state), workspace, block);
        }
        return None;
    }
    let mut merged = r.identity();
    let mut from = t;
    while from < others {
        merged = r.merge(merged, r.unpack(take_state::<W>(workspace, from)));
        from += THREADS as usize;
    }
    // All warps have read the states of the first `reduce_block`.
    sync_threads();
    Some(r.merge(reduce_block(r, scratch, merged), state))
}

/// Stores the state of block `block` with ready bits, for the last block.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn publish<const W: usize>(words: [u64; MAX_STATE_WORDS], workspace: VecMut<u64>, block: usize) {
    let Some(own) = workspace.part_mut(2 * W * block, 2 * W) else {
        return too_short(&workspace);
    };
    for word in 0..W {
        own.atomic(2 * word).store(READY | words[word] & 0xffff_ffff, Order::Relaxed, Scope::Device);
        own.atomic(2 * word + 1).store(READY | words[word] >> 32, Order::Relaxed, Scope::Device);
    }
}

/// Waits for the state of block `block`, reads it and resets its words to 0.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn take_state<const W: usize>(workspace: VecMut<u64>, block: usize) -> [u64; MAX_STATE_WORDS] {
    let mut words = [0; MAX_STATE_WORDS];
    let Some(their_words) = workspace.part_mut(2 * W * block, 2 * W) else {
        too_short(&workspace);
        return words;
    };
    loop {
        let mut all = READY;
        for word in 0..W {
            let low = their_words.atomic(2 * word).load(Order::Relaxed, Scope::Device);
            let high = their_words.atomic(2 * word + 1).load(Order::Relaxed, Scope::Device);
            all &= low & high;
            words[word] = high << 32 | low & 0xffff_ffff;
        }
        if all != 0 {
            break;
        }
    }
    for half in 0..2 * W {
        their_words.atomic(half).store(0, Order::Relaxed, Scope::Device);
    }
    words
}

/// If the workspace is too short, makes an access outside it, which traps, instead of waiting forever.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn too_short(workspace: &VecMut<u64>) {
    workspace.set(workspace.len(), 0);
}
