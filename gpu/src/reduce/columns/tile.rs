//! The states of a tile's lines: those of the threads that share a line are merged in the warp by shuffles, where they are in
//! one, then in the block through shared memory; those of the blocks that share a tile by the one that finishes last.
//!
//! ```text
//!  shared      │ word 0 of the states of group 0: TX·N lines │ group 1 │ … │ word 1 … │
//!  workspace   │ a ticket for each tile │ word 0 of the states of piece 0 of tile 0: TX·N lines │ word 1 … │ piece 1 … │
//! ```

use simt::prelude::*;
use simt::warp::lane_id;

use crate::reduce::along::dims::DIMS;
use crate::reduce::along::{Along, IN_FLIGHT, THREADS, TICKETS};
use crate::reduce::whole::partition::MOST_STATE_WORDS;
use crate::reduce::whole::reduction::State;
use crate::unroll::unroll;

/// Shared memory: a state for each line of each group of threads, and whether the block is the last of its tile.
#[repr(C)]
#[derive(Shared)]
pub struct Scratch<const S: usize> {
    states: SharedArray<u64, S>,
    last: SharedArray<u32, 1>,
}

/// Where a block stands.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Logarithm of TX, the threads side by side.
    pub(super) shift: u32,
    pub(super) tile: u32,
    pub(super) piece: u32,
    pub(super) pieces: u32,
    /// Logarithm of the lines of a unit.
    pub(super) per: u32,
    /// Logarithm of the units of a thread, each TX from the next.
    pub(super) spread: u32,
}

impl Place {
    /// The first unit of the tile.
    #[inline(always)]
    fn first(&self) -> u32 {
        self.tile << (self.shift + self.spread)
    }

    /// Unit `which` of thread `t`.
    #[inline(always)]
    pub(super) fn unit(&self, t: u32, which: u32) -> u32 {
        self.first().saturating_add((t & ((1 << self.shift) - 1)) + (which << self.shift))
    }

    /// Lines of a tile.
    #[inline(always)]
    fn lines(&self) -> u32 {
        1 << (self.per + self.shift + self.spread)
    }
}

/// The last unit there is.
#[inline(always)]
pub(super) fn last(extents: [u32; DIMS]) -> u32 {
    let [a, b, c, d, e] = extents;
    a.wrapping_mul(b).wrapping_mul(c).wrapping_mul(d).wrapping_mul(e).wrapping_sub(1)
}

/// Leaves the states of a thread's lines in shared memory, those of a warp merged.
#[inline(always)]
#[track_caller]
pub(super) fn put<R: Along, const N: usize, const S: usize>(scratch: &Scratch<S>, place: Place, states: [R::State; N]) {
    let (t, across) = (thread_idx_x(), 1_u32 << place.shift);
    let mut states = states;
    let mut distance = 16;
    while distance >= across {
        unroll!(for line in 0..N {
            states[line] = R::merge(states[line], states[line].of_lane_above(distance));
        });
        distance /= 2;
    }
    if lane_id() < across {
        let group = t / across.max(32);
        let x = t & (across - 1);
        let (first, step) = if place.spread > 0 { (x, across) } else { (x * N as u32, 1) };
        let at = group * place.lines() + first;
        unroll!(for line in 0..N {
            let words = states[line].pack();
            for word in 0..R::State::WORDS {
                scratch.states.set(word as u32 * (S / R::State::WORDS) as u32 + at + line as u32 * step, words[word]);
            }
        });
    }
}

/// The state of `line` of group `group`, where groups have `lines` lines.
#[inline(always)]
#[track_caller]
fn take<R: Along, const S: usize>(scratch: &Scratch<S>, group: u32, lines: u32, line: u32) -> R::State {
    let mut words = [0; MOST_STATE_WORDS];
    for word in 0..R::State::WORDS {
        words[word] = scratch.states.get(word as u32 * (S / R::State::WORDS) as u32 + group * lines + line);
    }
    R::State::unpack(words)
}

/// Merges what [`put`] left, and hands each line's state to `write`: the unit, the line within it, the state.
#[inline(always)]
#[track_caller]
pub(super) fn reduce<R: Along, const S: usize>(
    scratch: &Scratch<S>,
    workspace: VecMut<u64>,
    place: Place,
    write: impl Fn(u32, u32, R::State),
) {
    let (t, lines, pieces) = (thread_idx_x(), place.lines(), place.pieces as usize);
    let write = |line: u32, state| {
        write(place.first() + (line >> place.per), line & ((1 << place.per) - 1), state);
    };
    let groups = THREADS / (1_u32 << place.shift).max(32);
    let states = TICKETS + place.tile as usize * pieces * R::State::WORDS * lines as usize;
    let at = |piece: usize, word: usize| states + (piece * R::State::WORDS + word) * lines as usize;
    sync_threads();
    let mut line = t;
    while line < lines {
        let mut state = take::<R, S>(scratch, 0, lines, line);
        for group in 1..groups {
            state = R::merge(state, take::<R, S>(scratch, group, lines, line));
        }
        if pieces == 1 {
            write(line, state);
        } else {
            let words = state.pack();
            for word in 0..R::State::WORDS {
                workspace.set(at(place.piece as usize, word) + line as usize, words[word]);
            }
        }
        line += THREADS;
    }
    if pieces == 1 {
        return;
    }
    // The barrier hands the block's states to thread 0, whose ticket releases them all.
    sync_threads();
    if t == 0 {
        let drawn = workspace.atomic(place.tile as usize).fetch_add(1, Order::AcqRel, Scope::Device);
        scratch.last.set(0, u32::from(drawn as usize == pieces - 1));
    }
    sync_threads();
    if scratch.last.get(0) == 0 {
        return;
    }
    // Lines by 256 at most; where there are fewer, threads share a line, each with every so many pieces.
    let by = lines.trailing_zeros().min(THREADS.trailing_zeros());
    let (width, parts) = (1_u32 << by, THREADS as usize >> by);
    let mut first = 0;
    while first < lines {
        let line = first + (t & (width - 1));
        let mut state = R::none();
        let mut from = (t >> by) as usize;
        while from < pieces {
            let piece = |i: usize| from + i * parts;
            let mut words = [[0; MOST_STATE_WORDS]; IN_FLIGHT];
            unroll!(for i in 0..IN_FLIGHT {
                for word in 0..R::State::WORDS {
                    words[i][word] = workspace.get(at(piece(i).min(pieces - 1), word) + line as usize);
                }
            });
            unroll!(for i in 0..IN_FLIGHT {
                let merged = R::merge(state, R::State::unpack(words[i]));
                state = if piece(i) < pieces { merged } else { state };
            });
            from += IN_FLIGHT * parts;
        }
        let words = state.pack();
        for word in 0..R::State::WORDS {
            scratch.states.set(word as u32 * (S / R::State::WORDS) as u32 + t, words[word]);
        }
        sync_threads();
        if t < width {
            for part in 1..parts as u32 {
                state = R::merge(state, take::<R, S>(scratch, part, width, t));
            }
            write(line, state);
        }
        sync_threads();
        first += THREADS;
    }
    if t == 0 {
        workspace.atomic(place.tile as usize).store(0, Order::Relaxed, Scope::Device);
    }
}
