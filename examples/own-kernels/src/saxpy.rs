//! y = alpha · x + y, one element per thread.

use warpwright::prelude::*;

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Elements past the shorter vector are left as they are.
#[kernel(block = THREADS, registers = 32)]
pub fn saxpy(alpha: f32, x: VecRef<f32>, y: VecMut<f32>) {
    let i = index_1d();
    if branch(i < x.len().min(y.len())) {
        y.set(i, fma(alpha, x.get(i), y.get(i)));
    }
}
