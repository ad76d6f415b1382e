//! A thread's share of a vector: 16 bytes at a time, four of them under way, from wherever the vector starts.
//!
//! ```text
//!  x      │head│ 16 bytes │ 16 bytes │ …                      │tail│   less than 16 bytes on either side
//!              ├─── tile 0 ───┼─── tile 1 ───┼─── … ──┤              of what is aligned to 16 bytes
//!  block         0              1        …   B − 1  0  1 …           tiles are dealt out in turn
//! ```
//!
//! A vector of no more than one 16-byte vector for each thread of the grid is not dealt out in tiles: block b takes 512 vectors,
//! so that as many multiprocessors as possible share the work.
//!
//! In a longer one the last tile is ragged. There a missing vector is read too, from the place of the last one, and not merged:
//! the four loads stay side by side, where branches round them would make each wait for the one before.

use simt::element::{Lanes, Vector};
use simt::global::VecRef;
use simt::thread::thread_idx_x;

use super::partition::{THREADS, TILE};
use super::reduction::Reduction;

/// What this thread of block `block` of `blocks` sees of `x`, `N` elements at a time.
#[inline(always)]
#[track_caller]
pub(crate) fn of_thread<R: Reduction, const N: usize>(x: VecRef<R::Element>, block: usize, blocks: usize) -> R::State
where
    R::Element: Lanes<N>,
{
    let t = thread_idx_x() as usize;
    let (head, body, tail) = x.align_to::<N>();
    let mut state = R::none();
    let of = |vector: Vector<R::Element, N>, at: usize| R::of_vector(vector.lanes, (head.len() + at * N) as u64);
    if body.len() <= blocks * THREADS as usize {
        let own = block * THREADS as usize + t;
        if own < body.len() {
            state = R::merge(state, of(body.get(own), own));
        }
    } else {
        state = R::merge(state, of_tiles::<R, N>(body, of, block, blocks));
    }
    // Last, so that nobody waits for them before the vectors are under way.
    if block == 0 && t < head.len() {
        state = R::merge(state, R::of(head.get(t), t as u64));
    }
    if block == 0 && t < tail.len() {
        state = R::merge(state, R::of(tail.get(t), (x.len() - tail.len() + t) as u64));
    }
    state
}

/// What this thread sees of the tiles of block `block`; `of` says what a vector is, and the vector at an index.
#[inline(always)]
#[track_caller]
fn of_tiles<R: Reduction, const N: usize>(
    body: VecRef<Vector<R::Element, N>>,
    of: impl Fn(Vector<R::Element, N>, usize) -> R::State,
    block: usize,
    blocks: usize,
) -> R::State
where
    R::Element: Lanes<N>,
{
    let t = thread_idx_x() as usize;
    let at = |i: usize| i * THREADS as usize + t;
    let mut state = R::none();
    let mut tile = block * TILE;
    while let Some(whole) = body.part(tile, TILE) {
        let [v0, v1, v2, v3] = [0, 1, 2, 3].map(|i| whole.get(at(i)));
        let (first, second) = (
            R::merge(of(v0, tile + at(0)), of(v1, tile + at(1))),
            R::merge(of(v2, tile + at(2)), of(v3, tile + at(3))),
        );
        state = R::merge(state, R::merge(first, second));
        tile += blocks * TILE;
    }
    if tile < body.len() {
        let last = body.len() - 1;
        let [v0, v1, v2, v3] = [0, 1, 2, 3].map(|i| body.get((tile + at(i)).min(last)));
        let of = |vector, i: usize| {
            let state = of(vector, tile + at(i));
            if tile + at(i) <= last { state } else { R::none() }
        };
        let (first, second) = (R::merge(of(v0, 0), of(v1, 1)), R::merge(of(v2, 2), of(v3, 3)));
        state = R::merge(state, R::merge(first, second));
    }
    state
}
