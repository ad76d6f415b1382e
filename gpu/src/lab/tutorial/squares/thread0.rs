//! Sum of squares, one sum per block: thread 0 adds partial sums in shared memory.
//!
//! ```text
//!  partials   p₀ p₁ p₂ p₃ … p₍T−1₎      T threads write, one reads: T − 1 additions one after the other, while
//!             ╰──┴──┴──┴──── thread 0   the other threads are idle.
//! ```
//!
//! n loads of 4 bytes in all, n multiplications and additions; per block T stores to and T loads from shared memory,
//! one barrier, 1 store. 32 values are returned for 32 blocks.

use simt::prelude::*;

use super::{note_end, note_start, own_squares};

/// `sums[b]` = sum of the squares of the elements of block b, modulo 2³²; `time[b]` and `time[B + b]` = the clock at
/// start and end of block b of B. Elements outside `sums` and `time` are skipped.
///
/// `partials` has T elements; the one trap in the PTX is for a launch that reserves fewer.
#[kernel(max_threads = 1024, registers = 32, barriers = 1, traps = 1, global_load_bytes = 4, global_store_bytes = 4)]
pub fn sum_squares_thread0(#[shared] partials: DynShared<i32>, x: VecRef<i32>, sums: VecMut<i32>, time: VecMut<u64>) {
    note_start(time);
    let (t, threads) = (thread_idx_x(), block_dim_x());
    let partials = partials.first(threads);
    partials.set(t, own_squares(x));
    sync_threads();
    if branch(t == 0) {
        let mut sum = 0_i32;
        for i in 0..threads {
            sum = sum.wrapping_add(partials.get(i));
        }
        sums.set_within(block_idx_x() as usize, sum);
    }
    note_end(time);
}
