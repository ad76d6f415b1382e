//! Carries from warp to warp, and from block to block: states of segments that begin in one range of the list and end
//! in another.
//!
//! A range in which no segment ends adds its elements to the carry. A range in which segments end completes the first
//! of them with the carry, and starts a new carry after the last. Warps and blocks are such ranges.
//!
//! ```text
//!  workspace   │ ticket │ … │ first segment that ends in each block, + 1 │ heads, by word │ tails, by word │
//! ```

use simt::prelude::*;
use simt::warp::lane_id;

use crate::reduce::along::{THREADS, TICKETS};
use crate::reduce::reducer::Reducer;
use crate::reduce::whole::partition::MAX_STATE_WORDS;
use crate::unroll::unroll;

const WARPS: usize = THREADS as usize / 32;
const RUNS: usize = THREADS as usize;
/// Blocks of a run whose loads are in flight at once: the most for which the registers of four blocks fit in an SM.
const IN_FLIGHT: usize = 2;

/// The open segments of a range of the list.
#[derive(Clone, Copy)]
pub struct Carry<S> {
    /// The first segment that ends in the range, if any.
    pub first_end: Option<u32>,
    /// The state of that segment's elements in the range.
    pub head: S,
    /// The state of the elements after the last end; of all elements if no segment ends.
    pub tail: S,
}

impl<S: Copy> Carry<S> {
    /// An empty range.
    #[cfg_attr(optimised, inline(always))]
    fn empty(identity: S) -> Self {
        Self { first_end: None, head: identity, tail: identity }
    }

    /// Appends the next range. Writes the first segment that ends there if it begins in this range.
    #[cfg_attr(optimised, inline(always))]
    fn add<R: Reducer<State = S>>(&mut self, r: R, next: Self, write: impl Fn(u32, S)) {
        let joined = r.merge(self.tail, if next.first_end.is_some() { next.head } else { next.tail });
        match (next.first_end, self.first_end) {
            (None, _) => self.tail = joined,
            (Some(segment), None) => *self = Self { first_end: Some(segment), head: joined, tail: next.tail },
            (Some(segment), Some(_)) => {
                write(segment, joined);
                self.tail = next.tail;
            }
        }
    }
}

/// Shared memory: the carries of a block's warps; in the last block, then those of its threads' runs; whether it is the
/// last.
#[repr(C)]
#[derive(Shared)]
pub struct Scratch<const W: usize> {
    first_end: SharedArray<u32, RUNS>,
    heads: SharedTile<u64, W, WARPS>,
    tails: SharedTile<u64, W, RUNS>,
    last: SharedArray<u32, 1>,
}

/// A segment's number + 1, or 0 for none.
#[cfg_attr(optimised, inline(always))]
fn word_of(first_end: Option<u32>) -> u32 {
    first_end.map_or(0, |segment| segment.wrapping_add(1))
}

#[cfg_attr(optimised, inline(always))]
fn of_word(word: u32) -> Option<u32> {
    if word == 0 { None } else { Some(word - 1) }
}

#[cfg_attr(optimised, inline(always))]
fn get<R: Reducer, const W: usize, const C: usize>(r: R, tile: &SharedTile<u64, W, C>, col: u32) -> R::State {
    let mut words = [0; MAX_STATE_WORDS];
    for word in 0..W {
        words[word] = tile.get(word as u32, col);
    }
    r.unpack(words)
}

#[cfg_attr(optimised, inline(always))]
fn set<R: Reducer, const W: usize, const C: usize>(r: R, tile: &SharedTile<u64, W, C>, col: u32, state: R::State) {
    let words = r.pack(state);
    for word in 0..W {
        tile.set(word as u32, col, words[word]);
    }
}

/// The carry of the block, in thread 0, from those of its warps, in their lanes 0. One barrier.
#[cfg_attr(optimised, inline(always))]
pub(super) fn combine_warps<R: Reducer, const W: usize>(
    r: R,
    scratch: &Scratch<W>,
    carry_out: Carry<R::State>,
    write: impl Fn(u32, R::State),
) -> Carry<R::State> {
    let t = thread_idx_x();
    if lane_id() == 0 {
        scratch.first_end.set(t / 32, word_of(carry_out.first_end));
        set(r, &scratch.heads, t / 32, carry_out.head);
        set(r, &scratch.tails, t / 32, carry_out.tail);
    }
    sync_threads();
    let mut all = Carry::empty(r.identity());
    if t == 0 {
        // The number of warps from the hardware: with a constant, the compiler would unroll the loop eightfold.
        for warp in 0..block_dim_x() / 32 {
            let next = Carry {
                first_end: of_word(scratch.first_end.get(warp)),
                head: get(r, &scratch.heads, warp),
                tail: get(r, &scratch.tails, warp),
            };
            all.add(r, next, &write);
        }
    }
    all
}

/// Combines the carries of all blocks in the block that finishes last: each thread combines a run of blocks, then
/// completes the first segment that ends in its run with the tails of the runs before.
#[cfg_attr(optimised, inline(always))]
pub(super) fn combine_blocks<R: Reducer, const W: usize>(
    r: R,
    scratch: &Scratch<W>,
    carry_out: Carry<R::State>,
    workspace: VecMut<u64>,
    write: impl Fn(u32, R::State),
) {
    let (t, block, blocks) = (thread_idx_x(), block_idx_x() as usize, grid_dim_x() as usize);
    if blocks == 1 {
        // No segment begins before the only block or continues after it.
        if t == 0
            && let Some(segment) = carry_out.first_end
        {
            write(segment, carry_out.head);
        }
        return;
    }
    let at = |word: usize, block: usize| TICKETS + word * blocks + block;
    if t == 0 {
        workspace.set(at(0, block), u64::from(word_of(carry_out.first_end)));
        let (head, tail) = (r.pack(carry_out.head), r.pack(carry_out.tail));
        for word in 0..W {
            workspace.set(at(1 + word, block), head[word]);
            workspace.set(at(1 + W + word, block), tail[word]);
        }
        let drawn = workspace.atomic(0).fetch_add(1, Order::AcqRel, Scope::Device);
        scratch.last.set(0, u32::from(drawn as usize == blocks - 1));
    }
    sync_threads();
    if scratch.last.get(0) == 0 {
        return;
    }
    let run = blocks.div_ceil(RUNS);
    let end = ((t as usize + 1) * run).min(blocks);
    let mut all = Carry::empty(r.identity());
    let mut from = t as usize * run;
    while from < end {
        let mut loaded = [(0, r.identity(), r.identity()); IN_FLIGHT];
        unroll!(for i in 0..IN_FLIGHT {
            let block = (from + i).min(end - 1);
            let (mut head, mut tail) = ([0; MAX_STATE_WORDS], [0; MAX_STATE_WORDS]);
            for word in 0..W {
                head[word] = workspace.get(at(1 + word, block));
                tail[word] = workspace.get(at(1 + W + word, block));
            }
            loaded[i] = (workspace.get(at(0, block)) as u32, r.unpack(head), r.unpack(tail));
        });
        unroll!(for i in 0..IN_FLIGHT {
            if from + i < end {
                let (first_end, head, tail) = loaded[i];
                all.add(r, Carry { first_end: of_word(first_end), head, tail }, &write);
            }
        });
        from += IN_FLIGHT;
    }
    scratch.first_end.set(t, word_of(all.first_end));
    set(r, &scratch.tails, t, all.tail);
    sync_threads();
    if let Some(segment) = all.first_end {
        let mut state = all.head;
        let mut before = t;
        while before > 0 {
            before -= 1;
            state = r.merge(get(r, &scratch.tails, before), state);
            if scratch.first_end.get(before) != 0 {
                break;
            }
        }
        write(segment, state);
    }
    if t == 0 {
        workspace.atomic(0).store(0, Order::Relaxed, Scope::Device);
    }
}
