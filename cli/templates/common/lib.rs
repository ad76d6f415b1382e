//! The kernels. `build.rs` compiles this file for the GPU, cargo compiles it for the simulator.

use warpwright::prelude::*;

/// Threads of a block.
pub const THREADS: u32 = 256;

/// y = alpha · x + y, one element per thread.
#[kernel(block = THREADS, registers = 32)]
pub fn saxpy(alpha: f32, x: VecRef<f32>, y: VecMut<f32>) {
    let i = index_1d();
    if branch(i < x.len().min(y.len())) {
        y.set(i, fma(alpha, x.get(i), y.get(i)));
    }
}

/// Shared memory of a block of `block_sums`.
#[repr(C)]
#[derive(Shared)]
pub struct Partial {
    sums: SharedArray<u32, { THREADS as usize }>,
}

/// The sum of each block's elements of x, modulo 2³², by a tree in shared memory.
#[kernel(block = THREADS, registers = 32)]
pub fn block_sums(#[shared] partial: &Partial, x: VecRef<u32>, sums: VecMut<u32>) {
    let t = thread_idx_x();
    partial.sums.set(t, x.get_or(index_1d(), 0));
    sync_threads();
    let mut half = THREADS / 2;
    while half > 0 {
        if branch(t < half) {
            partial.sums.set(
                t,
                partial.sums.get(t).wrapping_add(partial.sums.get(t + half)),
            );
        }
        sync_threads();
        half /= 2;
    }
    if branch(t == 0) {
        sums.set_within(block_idx_x(), partial.sums.get(0));
    }
}
