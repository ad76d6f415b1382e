//! Reduces the items of a thread: loads of 8 rows in flight, or of 4 rows for each of four striped items.

use simt::element::{Element, zeroed};
use simt::prelude::*;

use crate::reduce::reducer::Reducer;
use crate::unroll::{each, unroll};

/// Rows that a thread has in flight.
pub(super) const BATCH: u32 = 8;
/// Rows in flight for striped items: 16 loads, the most for which the registers of four blocks fit in an SM.
pub(super) const STRIPED_BATCH: u32 = 4;

/// Rows of an item, and which of them are the thread's.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    /// Items from the start of `x` to the first row.
    pub(super) begin: u64,
    pub(super) count: u32,
    /// Items from row to row.
    pub(super) stride: u64,
    /// Index of the first row in its line.
    pub(super) first: u64,
    /// The thread has batches `thread`, `thread + threads`, …
    pub(super) thread: u32,
    pub(super) threads: u32,
}

/// The states of the `N` lines of an item.
#[cfg_attr(optimised, inline(always))]
pub(super) fn reduce_rows<R: Reducer, E: Element, const N: usize>(
    r: R,
    x: VecRef<E>,
    rows: Rows,
    lanes: impl Fn(E) -> [R::Element; N],
    parameter: u64,
) -> [R::State; N] {
    let mut states = [r.identity(); N];
    let Some(own) = x.window(rows.begin, rows.count, 1, rows.stride) else {
        return states;
    };
    let mut row = rows.thread * BATCH;
    while let Some(batch) = own.part(row, 0, BATCH, 1) {
        let [a, b, c, d, e, f, g, h] = each!([0, 1, 2, 3, 4, 5, 6, 7], |i| lanes(batch.get_cs_or(i, 0, zeroed())));
        unroll!(for line in 0..N {
            let down = [a[line], b[line], c[line], d[line], e[line], f[line], g[line], h[line]];
            states[line] = r.merge(states[line], r.of_vector(&down, rows.first + u64::from(row), parameter));
        });
        row = row.saturating_add(rows.threads * BATCH);
    }
    // The remaining rows are less than a batch: one each for the first threads.
    let mut row = rows.count / BATCH * BATCH + rows.thread;
    while row < rows.count {
        let loaded = lanes(own.get_cs_or(row, 0, zeroed()));
        unroll!(for line in 0..N {
            let seen = r.of(loaded[line], rows.first + u64::from(row), parameter);
            states[line] = r.merge(states[line], seen);
        });
        row += rows.threads;
    }
    states
}

/// The states of `K` lines, line k starting at element `begins[k]` of `x`.
#[cfg_attr(optimised, inline(always))]
pub(super) fn reduce_striped_rows<R: Reducer, const K: usize>(
    r: R,
    x: VecRef<R::Element>,
    rows: Rows,
    begins: [u64; K],
    parameter: u64,
) -> [R::State; K] {
    let mut states = [r.identity(); K];
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
    let mut row = rows.thread * STRIPED_BATCH;
    'batches: loop {
        let mut batch = own;
        unroll!(for line in 0..K {
            let Some(part) = own[line].part(row, 0, STRIPED_BATCH, 1) else { break 'batches };
            batch[line] = part;
        });
        let mut down = [[zeroed(); STRIPED_BATCH as usize]; K];
        unroll!(for line in 0..K {
            down[line] = each!([0, 1, 2, 3], |i| batch[line].get_cs_or(i, 0, zeroed()));
        });
        unroll!(for line in 0..K {
            states[line] = r.merge(states[line], r.of_vector(&down[line], rows.first + u64::from(row), parameter));
        });
        row = row.saturating_add(rows.threads * STRIPED_BATCH);
    }
    let mut row = rows.count / STRIPED_BATCH * STRIPED_BATCH + rows.thread;
    while row < rows.count {
        let mut loaded = [zeroed(); K];
        unroll!(for line in 0..K {
            loaded[line] = own[line].get_cs_or(row, 0, zeroed());
        });
        unroll!(for line in 0..K {
            let seen = r.of(loaded[line], rows.first + u64::from(row), parameter);
            states[line] = r.merge(states[line], seen);
        });
        row += rows.threads;
    }
    states
}
