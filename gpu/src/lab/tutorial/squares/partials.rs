//! Sum of squares, one partial sum per thread; the host adds them.
//!
//! ```text
//!  block 0        block 1              sums
//!  t t t … t      t t t … t    ───►    B·T of them
//! ```
//!
//! n loads of 4 bytes in all, n multiplications and additions, B·T stores: 8192 values are returned for 32 blocks of
//! 256 threads. One barrier per block, only for the clock.

use simt::prelude::*;

use super::{note_end, note_start, own_squares};

/// `sums[b·T + t]` = sum of the squares of the elements of thread t of block b, modulo 2³²; `time[b]` and `time[B + b]`
/// = the clock at start and end of block b of B. Elements outside `sums` and `time` are skipped.
#[kernel(max_threads = 1024, registers = 32, barriers = 1, global_load_bytes = 4, global_store_bytes = 4)]
pub fn sum_squares_partials(x: VecRef<i32>, sums: VecMut<i32>, time: VecMut<u64>) {
    note_start(time);
    sums.set_within(index_1d(), own_squares(x));
    // A block ends with its last thread: thread 0 waits for the others before it reads the clock.
    sync_threads();
    note_end(time);
}
