//! Launches that begin before their predecessor is done.

use simt::{
    grid::{dependency_wait, launch_dependents},
    prelude::*,
};

/// Threads of a block.
pub const BLOCK: u32 = 128;

/// `to[n − 1 − i]` becomes `from[i]` + 1, where `n` is the lesser length.
///
/// Each thread lets the next launch begin as soon as it can, and sleeps for about so many nanoseconds between its load and its
/// store: of a row of launches, each of which reads what the one before writes, every one would come too soon, but for its
/// wait.
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
