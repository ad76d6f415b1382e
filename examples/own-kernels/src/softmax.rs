//! The softmax of each row, exp(x − max) / Σ exp(x − max), one block per row: two reductions in shared memory.
//!
//! `libm` has the exponential function: the GPU and the simulator compute the same bits.

use warpwright::prelude::*;

/// Threads of a block.
pub const THREADS: u32 = 128;

/// A value for each thread.
#[repr(C)]
#[derive(Shared)]
pub struct Partial {
    values: SharedArray<f32, { THREADS as usize }>,
}

/// The result has the shape of `x`.
#[kernel(block = THREADS)]
pub fn softmax(#[shared] partial: &Partial, x: MatRef<f32>, y: MatMut<f32>) {
    let (row, t) = (block_idx_x(), thread_idx_x());
    let steps = x.cols().div_ceil(THREADS);
    let mut largest = f32::NEG_INFINITY;
    for step in 0..steps {
        largest = largest.max(x.get_or(row, step * THREADS + t, f32::NEG_INFINITY));
    }
    let largest = reduced(partial, largest, f32::max);
    let mut sum = 0.0;
    for step in 0..steps {
        sum += libm::expf(x.get_or(row, step * THREADS + t, f32::NEG_INFINITY) - largest);
    }
    let sum = reduced(partial, sum, |a, b| a + b);
    for step in 0..steps {
        let col = step * THREADS + t;
        y.set_within(row, col, libm::expf(x.get_or(row, col, 0.0) - largest) / sum);
    }
}

/// `combine` of the values of all threads of the block, for each of them.
#[inline(always)]
fn reduced(partial: &Partial, value: f32, combine: impl Fn(f32, f32) -> f32) -> f32 {
    let t = thread_idx_x();
    partial.values.set(t, value);
    sync_threads();
    let mut half = THREADS / 2;
    while half > 0 {
        if branch(t < half) {
            partial.values.set(t, combine(partial.values.get(t), partial.values.get(t + half)));
        }
        sync_threads();
        half /= 2;
    }
    let result = partial.values.get(0);
    // The next reduction writes where this one is read.
    sync_threads();
    result
}
