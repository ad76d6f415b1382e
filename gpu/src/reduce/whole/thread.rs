//! The part of a vector that a thread reduces: 16 bytes at a time, four loads in flight, at any alignment.
//!
//! ```text
//!  x      │head│ 16 bytes │ 16 bytes │ …                      │tail│   head and tail: less than 16 bytes before
//!              ├─── tile 0 ───┼─── tile 1 ───┼─── … ──┤              and after the aligned 16-byte vectors
//!  block         0              1        …   B − 1  0  1 …           block b has tiles b, b + B, …
//! ```
//!
//! If there is at most one 16-byte vector for each thread of the grid, tiles are not used: block b takes 512 vectors,
//! so that the work is spread over as many SMs as possible.
//!
//! Otherwise the last tile is incomplete. A missing vector is then read from the position of the last one and not
//! merged: so the four loads are issued together, whereas branches around them would make each wait for the one before.

use simt::element::{Lanes, Vector};
use simt::global::VecRef;
use simt::thread::thread_idx_x;

use super::partition::{THREADS, TILE};
use crate::reduce::reducer::Reducer;
use crate::unroll::each;

/// The state of the elements of `x` of this thread in block `block` of `blocks`, loaded `N` at a time.
#[cfg_attr(optimised, inline(always))]
pub(crate) fn reduce_thread<R: Reducer, const N: usize>(
    r: R,
    x: VecRef<R::Element>,
    block: usize,
    blocks: usize,
    parameter: u64,
) -> R::State
where
    R::Element: Lanes<N>,
{
    let t = thread_idx_x() as usize;
    let (head, body, tail) = x.align_to::<N>();
    let mut state = r.identity();
    let of =
        |vector: Vector<R::Element, N>, at: usize| r.of_vector(&vector.lanes, (head.len() + at * N) as u64, parameter);
    if body.len() <= blocks * THREADS as usize {
        let own = block * THREADS as usize + t;
        if own < body.len() {
            state = r.merge(state, of(body.get(own), own));
        }
    } else {
        state = r.merge(state, reduce_tiles::<R, N>(r, body, of, block, blocks));
    }
    // Last, so that the loads of the vectors are issued before.
    if block == 0 && t < head.len() {
        state = r.merge(state, r.of(head.get(t), t as u64, parameter));
    }
    if block == 0 && t < tail.len() {
        state = r.merge(state, r.of(tail.get(t), (x.len() - tail.len() + t) as u64, parameter));
    }
    state
}

/// The state of this thread's vectors in the tiles of block `block`; `of` is the state of a vector at an index.
#[cfg_attr(optimised, inline(always))]
fn reduce_tiles<R: Reducer, const N: usize>(
    r: R,
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
    let mut state = r.identity();
    let mut tile = block * TILE;
    while let Some(whole) = body.part(tile, TILE) {
        let [v0, v1, v2, v3] = each!([0, 1, 2, 3], |i| whole.get(at(i)));
        let (first, second) =
            (r.merge(of(v0, tile + at(0)), of(v1, tile + at(1))), r.merge(of(v2, tile + at(2)), of(v3, tile + at(3))));
        state = r.merge(state, r.merge(first, second));
        tile += blocks * TILE;
    }
    if tile < body.len() {
        let last = body.len() - 1;
        let [v0, v1, v2, v3] = each!([0, 1, 2, 3], |i| body.get((tile + at(i)).min(last)));
        let of = |vector, i: usize| {
            let state = of(vector, tile + at(i));
            if tile + at(i) <= last { state } else { r.identity() }
        };
        let (first, second) = (r.merge(of(v0, 0), of(v1, 1)), r.merge(of(v2, 2), of(v3, 3)));
        state = r.merge(state, r.merge(first, second));
    }
    state
}
