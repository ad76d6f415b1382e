//! The states of a grid's blocks, merged in the same launch by its last block.
//!
//! ```text
//!  workspace   │ block 0: low half of word 0 │ high half │ word 1 … │ block 1: …            8 bytes each
//!               a half:  31 bits of nothing │ here │ 32 bits                        0: not here yet
//! ```
//!
//! A block stores its state and is done. The last block looks at each state until it is there: whether it is stands in the
//! same 8 bytes as the state itself, so neither side needs a fence, and no block waits for the answer of an atomic operation.
//! In which order states arrive differs from run to run, what the last block does with them does not: it merges them by their
//! index, and its own after all others. It also sets the words back to 0, so that the workspace is ready for the next launch.
//!
//! The last block waits for all others, so they must not wait for its place on the GPU. Blocks start in the order of their
//! index, as CUB's scans with decoupled look-back (Merrill and Garland 2016) rely on, too; when the last one starts, the others
//! have started.

use simt::prelude::*;

use super::block::{Scratch, of_block};
use super::partition::{MOST_STATE_WORDS, THREADS};
use super::reduction::{Merge, State};

/// Says of a half that it is there.
const HERE: u64 = 1 << 32;

/// The merged states of the grid's blocks, in thread 0 of its last block; `None` in the other blocks, and in the threads of
/// this one nothing of use. `state` is the block's, in thread 0.
#[inline(always)]
#[track_caller]
pub(crate) fn of_grid<M: Merge, const W: usize>(
    scratch: &Scratch<W>,
    state: M::State,
    workspace: VecMut<u64>,
) -> Option<M::State> {
    let (t, block, blocks) = (thread_idx_x() as usize, block_idx_x() as usize, grid_dim_x());
    if blocks == 1 {
        return Some(state);
    }
    let others = blocks as usize - 1;
    if block < others {
        if t == 0 {
            hand_over::<W>(state.pack(), workspace, block);
        }
        return None;
    }
    let mut merged = M::none();
    let mut from = t;
    while from < others {
        merged = M::merge(merged, M::State::unpack(take::<W>(workspace, from)));
        from += THREADS as usize;
    }
    // `of_block` is done with what the warps handed over the first time.
    sync_threads();
    Some(M::merge(of_block::<M, W, _>(scratch, merged), state))
}

/// Stores the state of block `block`, for the last block to take.
#[inline(always)]
#[track_caller]
fn hand_over<const W: usize>(words: [u64; MOST_STATE_WORDS], workspace: VecMut<u64>, block: usize) {
    let Some(own) = workspace.part_mut(2 * W * block, 2 * W) else {
        return too_short(&workspace);
    };
    for word in 0..W {
        own.atomic(2 * word).store(HERE | words[word] & 0xffff_ffff, Order::Relaxed, Scope::Device);
        own.atomic(2 * word + 1).store(HERE | words[word] >> 32, Order::Relaxed, Scope::Device);
    }
}

/// Waits for the state of block `block` and leaves zeros.
#[inline(always)]
#[track_caller]
fn take<const W: usize>(workspace: VecMut<u64>, block: usize) -> [u64; MOST_STATE_WORDS] {
    let mut words = [0; MOST_STATE_WORDS];
    let Some(theirs) = workspace.part_mut(2 * W * block, 2 * W) else {
        too_short(&workspace);
        return words;
    };
    loop {
        let mut all = HERE;
        for word in 0..W {
            let low = theirs.atomic(2 * word).load(Order::Relaxed, Scope::Device);
            let high = theirs.atomic(2 * word + 1).load(Order::Relaxed, Scope::Device);
            all &= low & high;
            words[word] = high << 32 | low & 0xffff_ffff;
        }
        if all != 0 {
            break;
        }
    }
    for half in 0..2 * W {
        theirs.atomic(half).store(0, Order::Relaxed, Scope::Device);
    }
    words
}

/// The access outside that a workspace too short leads to: nobody waits for what has no place.
#[inline(always)]
#[track_caller]
fn too_short(workspace: &VecMut<u64>) {
    workspace.set(workspace.len(), 0);
}
