//! What a thread sees of its unit: 8 rows under way at once.

use simt::element::{Element, zeroed};
use simt::prelude::*;

use crate::reduce::along::Along;
use crate::unroll::unroll;

/// Rows that a thread has under way before it looks at the first.
pub(super) const BATCH: u32 = 8;

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
