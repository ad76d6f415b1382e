//! What passes from warp to warp, and from block to block: states of segments that begin in one and end in another.
//!
//! A share of the list in which no segment ends hands on what came before it merged with its own; one in which some do, finishes
//! the first of them with what came, and hands on what behind the last is begun. Blocks are shares as warps are.
//!
//! ```text
//!  workspace   │ ticket │ … │ the first segment that ends in each block, + 1 │ its states, by word │ what is begun, by word │
//! ```

use simt::prelude::*;
use simt::warp::lane_id;

use crate::reduce::along::{Along, THREADS, TICKETS};
use crate::reduce::whole::partition::MOST_STATE_WORDS;
use crate::reduce::whole::reduction::State;
use crate::unroll::unroll;

const WARPS: usize = THREADS as usize / 32;
const RUNS: usize = THREADS as usize;
/// Blocks of a run whose words are under way at once: as many as registers allow that four blocks share a multiprocessor.
const IN_FLIGHT: usize = 2;

/// What a share of the list hands on.
#[derive(Clone, Copy)]
pub struct Passed<S> {
    /// The first segment that ends in it, if one does.
    pub ended: Option<u32>,
    /// What it has of that segment.
    pub lead: S,
    /// What is begun behind the last that ends in it; all there is where none does.
    pub trail: S,
}

impl<S: Copy> Passed<S> {
    /// The share that has seen nothing.
    #[inline(always)]
    fn nothing(none: S) -> Self {
        Self { ended: None, lead: none, trail: none }
    }

    /// Adds the share behind; writes the segment that begins here and is the first to end there, unless it may have begun before.
    #[inline(always)]
    fn add<R: Along<State = S>>(&mut self, next: Self, write: impl Fn(u32, S)) {
        let joined = R::merge(self.trail, if next.ended.is_some() { next.lead } else { next.trail });
        match (next.ended, self.ended) {
            (None, _) => self.trail = joined,
            (Some(segment), None) => *self = Self { ended: Some(segment), lead: joined, trail: next.trail },
            (Some(segment), Some(_)) => {
                write(segment, joined);
                self.trail = next.trail;
            }
        }
    }
}

/// Shared memory: what the warps of a block hand on, then what the runs of the last block's threads do; whether it is the last.
#[repr(C)]
#[derive(Shared)]
pub struct Scratch<const W: usize> {
    ended: SharedArray<u32, RUNS>,
    leads: SharedTile<u64, W, WARPS>,
    trails: SharedTile<u64, W, RUNS>,
    last: SharedArray<u32, 1>,
}

/// A segment as a word, 0 for none.
#[inline(always)]
fn word_of(ended: Option<u32>) -> u32 {
    ended.map_or(0, |segment| segment.wrapping_add(1))
}

#[inline(always)]
fn of_word(word: u32) -> Option<u32> {
    if word == 0 { None } else { Some(word - 1) }
}

#[inline(always)]
#[track_caller]
fn get<S: State, const W: usize, const C: usize>(tile: &SharedTile<u64, W, C>, col: u32) -> S {
    let mut words = [0; MOST_STATE_WORDS];
    for word in 0..W {
        words[word] = tile.get(word as u32, col);
    }
    S::unpack(words)
}

#[inline(always)]
#[track_caller]
fn set<S: State, const W: usize, const C: usize>(tile: &SharedTile<u64, W, C>, col: u32, state: S) {
    let words = state.pack();
    for word in 0..W {
        tile.set(word as u32, col, words[word]);
    }
}

/// What the block hands on, in thread 0; `passed` is what each warp does, in its lane 0. One barrier.
#[inline(always)]
#[track_caller]
pub(super) fn of_block<R: Along, const W: usize>(
    scratch: &Scratch<W>,
    passed: Passed<R::State>,
    write: impl Fn(u32, R::State),
) -> Passed<R::State> {
    let t = thread_idx_x();
    if lane_id() == 0 {
        scratch.ended.set(t / 32, word_of(passed.ended));
        set(&scratch.leads, t / 32, passed.lead);
        set(&scratch.trails, t / 32, passed.trail);
    }
    sync_threads();
    let mut all = Passed::nothing(R::none());
    if t == 0 {
        // The number of warps as the hardware says it: by a constant the loop would be written out, eight times what it does.
        for warp in 0..block_dim_x() / 32 {
            let next = Passed {
                ended: of_word(scratch.ended.get(warp)),
                lead: get(&scratch.leads, warp),
                trail: get(&scratch.trails, warp),
            };
            all.add::<R>(next, &write);
        }
    }
    all
}

/// Finishes what blocks hand on: in the block that comes last, each thread adds a run of blocks, then the first segment that ends in
/// its run has whatever the runs before it began.
#[inline(always)]
#[track_caller]
pub(super) fn of_grid<R: Along, const W: usize>(
    scratch: &Scratch<W>,
    passed: Passed<R::State>,
    workspace: VecMut<u64>,
    write: impl Fn(u32, R::State),
) {
    let (t, block, blocks) = (thread_idx_x(), block_idx_x() as usize, grid_dim_x() as usize);
    if blocks == 1 {
        // Nothing came before, and nothing goes on behind the last segment.
        if t == 0
            && let Some(segment) = passed.ended
        {
            write(segment, passed.lead);
        }
        return;
    }
    let at = |word: usize, block: usize| TICKETS + word * blocks + block;
    if t == 0 {
        workspace.set(at(0, block), u64::from(word_of(passed.ended)));
        let (lead, trail) = (passed.lead.pack(), passed.trail.pack());
        for word in 0..W {
            workspace.set(at(1 + word, block), lead[word]);
            workspace.set(at(1 + W + word, block), trail[word]);
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
    let mut all = Passed::nothing(R::none());
    let mut from = t as usize * run;
    while from < end {
        let mut loaded = [(0, R::none(), R::none()); IN_FLIGHT];
        unroll!(for i in 0..IN_FLIGHT {
            let block = (from + i).min(end - 1);
            let (mut lead, mut trail) = ([0; MOST_STATE_WORDS], [0; MOST_STATE_WORDS]);
            for word in 0..W {
                lead[word] = workspace.get(at(1 + word, block));
                trail[word] = workspace.get(at(1 + W + word, block));
            }
            loaded[i] = (workspace.get(at(0, block)) as u32, State::unpack(lead), State::unpack(trail));
        });
        unroll!(for i in 0..IN_FLIGHT {
            if from + i < end {
                let (ended, lead, trail) = loaded[i];
                all.add::<R>(Passed { ended: of_word(ended), lead, trail }, &write);
            }
        });
        from += IN_FLIGHT;
    }
    scratch.ended.set(t, word_of(all.ended));
    set(&scratch.trails, t, all.trail);
    sync_threads();
    if let Some(segment) = all.ended {
        let mut state = all.lead;
        let mut before = t;
        while before > 0 {
            before -= 1;
            state = R::merge(get(&scratch.trails, before), state);
            if scratch.ended.get(before) != 0 {
                break;
            }
        }
        write(segment, state);
    }
    if t == 0 {
        workspace.atomic(0).store(0, Order::Relaxed, Scope::Device);
    }
}
