//! How often each value from 0 to 255 occurs: a histogram of each block in shared memory, added to the whole one.

use warpwright::prelude::*;

/// Threads of a block, one for each value.
pub const THREADS: u32 = 256;
/// Elements that a block counts.
pub const ELEMENTS: usize = 4096;

/// The histogram of a block.
#[repr(C)]
#[derive(Shared)]
pub struct Bins {
    counts: SharedArray<u32, { THREADS as usize }>,
}

/// `counts` has 256 elements, to which the numbers are added. Values above 255 are not counted.
#[kernel(block = THREADS, registers = 32)]
pub fn histogram(#[shared] bins: &Bins, x: VecRef<u32>, counts: VecMut<u32>) {
    let t = thread_idx_x();
    bins.counts.set(t, 0);
    sync_threads();
    let first = block_idx_x() as usize * ELEMENTS;
    for step in 0..ELEMENTS / THREADS as usize {
        let i = first + step * THREADS as usize + t as usize;
        let value = x.get_or(i, u32::MAX);
        if branch(value < THREADS) {
            bins.counts.atomic(value).fetch_add(1, Order::Relaxed, Scope::Block);
        }
    }
    sync_threads();
    counts.atomic(t).fetch_add(bins.counts.get(t), Order::Relaxed, Scope::Device);
}
