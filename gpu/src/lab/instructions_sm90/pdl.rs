//! Programmatic dependent launch: kernels that start before their predecessor has finished.

use simt::{
    grid::{dependency_wait, launch_dependents},
    prelude::*,
};

/// Threads of a block.
pub const BLOCK: u32 = 128;

/// `to[n − 1 − i]` becomes `from[i]` + 1, where `n` is the lesser length.
///
/// Each thread lets the next launch start at once, and sleeps for about `nanoseconds` between its load and its store.
/// In a sequence of launches, each of which reads what the one before writes, every launch would read too early without
/// its wait.
#[kernel(pdl, block = (BLOCK), barriers = 0)]
pub fn pdl_relay(from: VecRef<u32>, to: VecMut<u32>, nanoseconds: u32) {
    launch_dependents();
    dependency_wait();
    let (i, n) = (index_1d(), from.len().min(to.len()));
    if branch(i < n) {
        let value = from.get_or(i, 0);
        nanosleep(nanoseconds);
        to.set_within(n - 1 - i, value + 1);
    }
}
