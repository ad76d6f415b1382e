//! Sum of squares, one sum per block: a tree adds partial sums in shared memory.
//!
//! ```text
//!  partials        a b c d e f g h      Thread t adds its neighbour `offset` to the right if the low bits of
//!  offset 1, mask 1  A   C   E   G      t are 0: (t & mask) == 0. The active threads are further apart in
//!  offset 2, mask 3  A       E          each step, so nearly every warp keeps an active lane, and every
//!  offset 4, mask 7  A                  step diverges.
//! ```
//!
//! n loads of 4 bytes in all, n multiplications and additions; per block T − 1 additions in log₂ T steps, 1 + log₂ T
//! barriers, 1 store. A warp's lanes stay within 32 neighbouring words of shared memory: no bank conflict. 32 values
//! are returned for 32 blocks.

use simt::prelude::*;

use super::{note_end, note_start, own_squares};

/// `sums[b]` = sum of the squares of the elements of block b, modulo 2³²; `time[b]` and `time[B + b]` = the clock at
/// start and end of block b of B. Elements outside `sums` and `time` are skipped.
///
/// `partials` has T elements; the one trap in the PTX is for a launch that reserves fewer. The costs above are for a
/// power of two T; the sum is right for any T.
#[kernel(max_threads = 1024, registers = 24, barriers = 2, traps = 1, global_load_bytes = 4, global_store_bytes = 4)]
pub fn sum_squares_tree_mask(#[shared] partials: DynShared<i32>, x: VecRef<i32>, sums: VecMut<i32>, time: VecMut<u64>) {
    note_start(time);
    let (t, threads) = (thread_idx_x(), block_dim_x());
    let partials = partials.first(threads);
    partials.set(t, own_squares(x));
    sync_threads();
    let (mut offset, mut mask) = (1, 1);
    while offset < threads {
        if branch(t & mask == 0 && t + offset < threads) {
            partials.set(t, partials.get(t).wrapping_add(partials.get(t + offset)));
        }
        sync_threads();
        offset *= 2;
        mask += offset;
    }
    if branch(t == 0) {
        sums.set_within(block_idx_x() as usize, partials.get(0));
    }
    note_end(time);
}
