//! Merges the states of a tile's lines: those of threads in one warp by shuffles, those of the block's warps in shared
//! memory, those of the blocks that share a tile in the block that finishes last.
//!
//! ```text
//!  shared      │ word 0 of the states of group 0: TX·N lines │ group 1 │ … │ word 1 … │
//!  workspace   │ a ticket for each tile │ tile 0: chunk 0: word 0 of TX·N states │ word 1 … │ chunk 1 … │ tile 1 …
//! ```

use simt::prelude::*;
use simt::warp::lane_id;

use crate::reduce::along::dims::DIMS;
use crate::reduce::along::{IN_FLIGHT, THREADS, TICKETS};
use crate::reduce::reducer::Reducer;
use crate::reduce::whole::partition::MAX_STATE_WORDS;
use crate::unroll::unroll;

/// Shared memory: a state for each line of each group of threads, and whether the block is the last of its tile.
#[repr(C)]
#[derive(Shared)]
pub struct Scratch<const S: usize> {
    states: SharedArray<u64, S>,
    last: SharedArray<u32, 1>,
}

/// The position of a block, and the shape of its tile.
#[derive(Clone, Copy)]
pub(super) struct BlockPosition {
    /// Base-2 logarithm of TX.
    pub(super) shift: u32,
    pub(super) tile: u32,
    pub(super) chunk: u32,
    pub(super) chunks: u32,
    /// Base-2 logarithm of the lines of an item.
    pub(super) lines_per_item: u32,
    /// Base-2 logarithm of the items of a thread, TX apart.
    pub(super) striped: u32,
}

impl BlockPosition {
    /// The first item of the tile.
    #[cfg_attr(optimised, inline(always))]
    fn first(&self) -> u32 {
        self.tile << (self.shift + self.striped)
    }

    /// Item `which` of thread `t`.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn item(&self, t: u32, which: u32) -> u32 {
        self.first().saturating_add((t & ((1 << self.shift) - 1)) + (which << self.shift))
    }

    /// Lines of a tile.
    #[cfg_attr(optimised, inline(always))]
    fn lines(&self) -> u32 {
        1 << (self.lines_per_item + self.shift + self.striped)
    }
}

/// The last item.
#[cfg_attr(optimised, inline(always))]
pub(super) fn last(extents: [u32; DIMS]) -> u32 {
    let [a, b, c, d, e] = extents;
    a.wrapping_mul(b).wrapping_mul(c).wrapping_mul(d).wrapping_mul(e).wrapping_sub(1)
}

/// Merges the states of a thread's lines within the warp and stores them in shared memory.
#[cfg_attr(optimised, inline(always))]
pub(super) fn store_states<R: Reducer, const N: usize, const S: usize>(
    r: R,
    scratch: &Scratch<S>,
    position: BlockPosition,
    states: [R::State; N],
) {
    let (t, threads_x) = (thread_idx_x(), 1_u32 << position.shift);
    let states = r.reduce_strided(states, 32, threads_x);
    if lane_id() < threads_x {
        let group = t / threads_x.max(32);
        let x = t & (threads_x - 1);
        let (first, step) = if position.striped > 0 { (x, threads_x) } else { (x * N as u32, 1) };
        let at = group * position.lines() + first;
        unroll!(for line in 0..N {
            let words = r.pack(states[line]);
            for word in 0..r.words() {
                scratch.states.set(word as u32 * (S / r.words()) as u32 + at + line as u32 * step, words[word]);
            }
        });
    }
}

/// The state of line `line` of group `group`, where a group has `lines` lines.
#[cfg_attr(optimised, inline(always))]
fn load_state<R: Reducer, const S: usize>(r: R, scratch: &Scratch<S>, group: u32, lines: u32, line: u32) -> R::State {
    let mut words = [0; MAX_STATE_WORDS];
    for word in 0..r.words() {
        words[word] = scratch.states.get(word as u32 * (S / r.words()) as u32 + group * lines + line);
    }
    r.unpack(words)
}

/// Merges the states of [`store_states`] and passes each line's state to `write`: item, line of the item, state.
#[cfg_attr(optimised, inline(always))]
pub(super) fn reduce<R: Reducer, const S: usize>(
    r: R,
    scratch: &Scratch<S>,
    workspace: VecMut<u64>,
    position: BlockPosition,
    write: impl Fn(u32, u32, R::State),
) {
    let (t, lines, chunks) = (thread_idx_x(), position.lines(), position.chunks as usize);
    let write = |line: u32, state| {
        write(position.first() + (line >> position.lines_per_item), line & ((1 << position.lines_per_item) - 1), state);
    };
    let groups = THREADS / (1_u32 << position.shift).max(32);
    let states = TICKETS + position.tile as usize * chunks * r.words() * lines as usize;
    let at = |chunk: usize, word: usize| states + (chunk * r.words() + word) * lines as usize;
    sync_threads();
    let mut line = t;
    while line < lines {
        let mut state = load_state(r, scratch, 0, lines, line);
        for group in 1..groups {
            state = r.merge(state, load_state(r, scratch, group, lines, line));
        }
        if chunks == 1 {
            write(line, state);
        } else {
            let words = r.pack(state);
            for word in 0..r.words() {
                workspace.set(at(position.chunk as usize, word) + line as usize, words[word]);
            }
        }
        line += THREADS;
    }
    if chunks == 1 {
        return;
    }
    // After the barrier, the release of thread 0's ticket covers the states that the whole block has written.
    sync_threads();
    if t == 0 {
        let drawn = workspace.atomic(position.tile as usize).fetch_add(1, Order::AcqRel, Scope::Device);
        scratch.last.set(0, u32::from(drawn as usize == chunks - 1));
    }
    sync_threads();
    if scratch.last.get(0) == 0 {
        return;
    }
    // Up to 256 lines at a time; if there are fewer, several threads share a line, each with a part of its chunks.
    let by = lines.trailing_zeros().min(THREADS.trailing_zeros());
    let (width, sharers) = (1_u32 << by, THREADS as usize >> by);
    let mut first = 0;
    while first < lines {
        let line = first + (t & (width - 1));
        let mut state = r.identity();
        let mut from = (t >> by) as usize;
        while from < chunks {
            let chunk = |i: usize| from + i * sharers;
            let mut words = [[0; MAX_STATE_WORDS]; IN_FLIGHT];
            unroll!(for i in 0..IN_FLIGHT {
                for word in 0..r.words() {
                    words[i][word] = workspace.get(at(chunk(i).min(chunks - 1), word) + line as usize);
                }
            });
            unroll!(for i in 0..IN_FLIGHT {
                let merged = r.merge(state, r.unpack(words[i]));
                state = if chunk(i) < chunks { merged } else { state };
            });
            from += IN_FLIGHT * sharers;
        }
        let words = r.pack(state);
        for word in 0..r.words() {
            scratch.states.set(word as u32 * (S / r.words()) as u32 + t, words[word]);
        }
        sync_threads();
        if t < width {
            for part in 1..sharers as u32 {
                state = r.merge(state, load_state(r, scratch, part, width, t));
            }
            write(line, state);
        }
        sync_threads();
        first += THREADS;
    }
    if t == 0 {
        workspace.atomic(position.tile as usize).store(0, Order::Relaxed, Scope::Device);
    }
}
