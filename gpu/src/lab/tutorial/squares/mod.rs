//! Sum of the squares of 32-bit integers, in three steps from many partial sums to one per block.
//!
//! ```text
//!  x   ├ T ┼ T ┼ … ┼ T ┤├ T ┼ T ┼ … ┼ T ┤├ …      B blocks of T threads; thread t of block b takes
//!  b     0   1 … B − 1    0   1 … B − 1           elements b·T + t, then B·T further on, and so on:
//!                                                 neighbouring threads read neighbouring elements.
//! ```
//!
//! Arithmetic is modulo 2³², as the hardware multiplies and adds 32-bit integers: the sum of many squares wraps, and
//! any order of addition gives the same bits.
//!
//! Each block also records the clock of its SM when it starts and when all its threads are done, so that the host can
//! compute the cycles from the first start to the last end. (This compares the clocks of different SMs, which CUDA does
//! not guarantee to agree.)

pub mod partials;
pub mod thread0;
pub mod tree_mask;

use simt::prelude::*;

/// Sum of the squares of the elements of this thread, wrapping.
#[cfg_attr(optimised, inline(always))]
fn own_squares(x: VecRef<i32>) -> i32 {
    let stride = grid_dim_x() as usize * block_dim_x() as usize;
    let mut sum = 0_i32;
    let mut i = index_1d();
    while i < x.len() {
        let value = x.get(i);
        sum = sum.wrapping_add(value.wrapping_mul(value));
        i += stride;
    }
    sum
}

/// Thread 0 of block b records the clock in `time[b]`.
#[cfg_attr(optimised, inline(always))]
fn note_start(time: VecMut<u64>) {
    if thread_idx_x() == 0 {
        time.set_within(block_idx_x() as usize, clock());
    }
}

/// Thread 0 of block b of B records the clock in `time[B + b]`.
#[cfg_attr(optimised, inline(always))]
fn note_end(time: VecMut<u64>) {
    if thread_idx_x() == 0 {
        time.set_within(grid_dim_x() as usize + block_idx_x() as usize, clock());
    }
}
