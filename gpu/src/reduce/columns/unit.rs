//! What a thread sees of its units: 8 rows under way at once, or 4 of four lines that it has apart.

use simt::element::{Element, zeroed};
use simt::prelude::*;

use crate::reduce::along::Along;
use crate::unroll::unroll;

/// Rows that a thread has under way before it looks at the first.
pub(super) const BATCH: u32 = 8;
/// The same where it has several lines: 16 accesses, as many as leave four blocks their registers.
pub(super) const SPREAD_BATCH: u32 = 4;

/// Rows of a unit, and which of them are the thread's.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    /// Units from the start of `x` to the first row.
    pub(super) begin: u64,
    pub(super) count: u32,
    /// Units from row to row.
    pub(super) stride: u64,
    /// The number of the first row in its line.
    pub(super) first: u64,
    /// Batches `thread`, `thread + threads` … are the thread's.
    pub(super) thread: u32,
    pub(super) threads: u32,
}

/// The states of the `N` lines of a unit.
#[inline(always)]
#[track_caller]
pub(super) fn of_rows<R: Along, E: Element, const N: usize>(
    x: VecRef<E>,
    rows: Rows,
    lanes: impl Fn(E) -> [R::Element; N],
    parameter: u64,
) -> [R::State; N] {
    let mut states = [R::none(); N];
    let Some(own) = x.window(rows.begin, rows.count, 1, rows.stride) else {
        return states;
    };
    let mut row = rows.thread * BATCH;
    while let Some(batch) = own.part(row, 0, BATCH, 1) {
        let [a, b, c, d, e, f, g, h] = [0, 1, 2, 3, 4, 5, 6, 7].map(|i| lanes(batch.get_cs_or(i, 0, zeroed())));
        unroll!(for line in 0..N {
            let down = [a[line], b[line], c[line], d[line], e[line], f[line], g[line], h[line]];
            states[line] = R::merge(states[line], R::of_vector(down, rows.first + u64::from(row), parameter));
        });
        row = row.saturating_add(rows.threads * BATCH);
    }
    // What is left are less than a batch: one row each for the first threads.
    let mut row = rows.count / BATCH * BATCH + rows.thread;
    while row < rows.count {
        let loaded = lanes(own.get_cs_or(row, 0, zeroed()));
        unroll!(for line in 0..N {
            let seen = R::of(loaded[line], rows.first + u64::from(row), parameter);
            states[line] = R::merge(states[line], seen);
        });
        row += rows.threads;
    }
    states
}

/// The states of `K` lines, of which the first element here is element `begins[k]` of `x`.
#[inline(always)]
#[track_caller]
pub(super) fn of_spread_rows<R: Along, const K: usize>(
    x: VecRef<R::Element>,
    rows: Rows,
    begins: [u64; K],
    parameter: u64,
) -> [R::State; K] {
    let mut states = [R::none(); K];
    let Some(first) = x.window(rows.begin, rows.count, 1, rows.stride) else {
        return states;
    };
    let mut own = [first; K];
    unroll!(for line in 0..K {
        let Some(window) = x.window(begins[line], rows.count, 1, rows.stride) else {
            return states;
        };
        own[line] = window;
    });
    let mut row = rows.thread * SPREAD_BATCH;
    'batches: loop {
        let mut batch = own;
        unroll!(for line in 0..K {
            let Some(part) = own[line].part(row, 0, SPREAD_BATCH, 1) else { break 'batches };
            batch[line] = part;
        });
        let mut down = [[zeroed(); SPREAD_BATCH as usize]; K];
        unroll!(for line in 0..K {
            down[line] = [0, 1, 2, 3].map(|i| batch[line].get_cs_or(i, 0, zeroed()));
        });
        unroll!(for line in 0..K {
            states[line] = R::merge(states[line], R::of_vector(down[line], rows.first + u64::from(row), parameter));
        });
        row = row.saturating_add(rows.threads * SPREAD_BATCH);
    }
    let mut row = rows.count / SPREAD_BATCH * SPREAD_BATCH + rows.thread;
    while row < rows.count {
        let mut loaded = [zeroed(); K];
        unroll!(for line in 0..K {
            loaded[line] = own[line].get_cs_or(row, 0, zeroed());
        });
        unroll!(for line in 0..K {
            let seen = R::of(loaded[line], rows.first + u64::from(row), parameter);
            states[line] = R::merge(states[line], seen);
        });
        row += rows.threads;
    }
    states
}
