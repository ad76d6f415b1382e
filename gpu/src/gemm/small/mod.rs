//! Products with a small M or N: C = act(alpha · op(A)·op(B) + beta · C + bias) with at most 16 rows, or columns.
//!
//! ```text
//!                  large, 64 of it per block          k runs down here; a chunk of it is 64 bytes of elements. Chunk
//!                 ┌────┬────┬────┬───  ───┐           i is warp i modulo 12's: it loads its 64 × 64 bytes of the
//!       ┌─────┐   │ w0 │    │    │        │           large operand to registers, 16 bytes at a time, all at once,
//!  chunk│ w0  │   │ w1 │    │    │        │ k         its piece of the small operand to its own shared memory, and
//!       │ w1  │   │ …  │    │    │        │           multiplies. No warp waits for another until the end of k, when
//!       └─────┘   └────┴────┴────┴───  ───┘           the twelve add up their sums, in their order.
//!        small           ─────▶ C
//! ```
//!
//! What bounds it is memory: every element of the large operand is read once and used at most 16 times. In a block's 12
//! warps 48 KiB are under way, 1.5 times what 132 SMs need for 4.6 TB/s at 0.9 µs. Per 4 KiB and warp:
//!
//! - 16 bits, [`mma`]: 8 loads of 16 bytes, 16 `mma.sync` of 16 × 8 × 16; the vectors are fragments as they come,
//!   because the sum over k does not care for its order: see there;
//! - `f32`, [`ffma`]: 8 loads, `32 · ROWS` fused multiply-adds; at 4.6 TB/s an SM gets 5 elements a clock, which
//!   for 4 rows takes 16 % of its multiply-adds, for 16 rows 62 %.
//!
//! Either operand may be the small one, each by rows or by columns, at any address. The vectors need the large
//! operand's rows at multiples of 16 bytes; elsewhere, and where an extent cuts a vector off, it is read element by
//! element, at about half the speed. Arguments and grid are those of [`args`](crate::gemm::args).

pub mod ffma;
mod kernels;
mod large_operand;
mod mainloop;
pub mod mma;
mod operand;
mod small_operand;

use simt::prelude::*;

// The PTX has the kernels alone, which nobody calls by name.
#[cfg(not(target_arch = "nvptx64"))]
pub use kernels::*;

/// Rows or columns of the large operand per block.
pub const LARGE_EXTENT: u32 = 64;
/// Vectors of 16 bytes that a thread has under way: a chunk.
const LOADS: usize = 8;
/// Bytes of a chunk along k: 4 vectors of a row.
const CHUNK_BYTES: usize = 64;
/// From row to row of a warp's sums in shared memory: both orders in which they are written then have two at most in a
/// bank.
const ACCUMULATOR_PITCH: u32 = 74;

/// Shared memory: `STAGE` elements of the small operand, `SCRATCH` sums.
#[repr(C, align(16))]
#[derive(Shared)]
pub struct Smem<T: simt::element::Element, const STAGE: usize, const SCRATCH: usize> {
    small: SharedArray<T, STAGE>,
    scratch: SharedArray<f32, SCRATCH>,
}

/// Elements of the staged pieces of all warps, where elements have `bytes` bytes. Smem is for a power of two of warps:
/// so the compiler sees that every index is inside.
const fn staged(threads: u32, rows: usize, bytes: usize) -> usize {
    threads.next_power_of_two() as usize / 32 * rows * CHUNK_BYTES / bytes
}

/// The sums of all warps; before that, all vectors of each thread: see `large_operand`.
const fn scratch(threads: u32, rows: usize) -> usize {
    let threads = threads.next_power_of_two() as usize;
    let (sums, vectors) = (threads / 32 * rows * ACCUMULATOR_PITCH as usize, LOADS * 4 * threads);
    if sums > vectors { sums } else { vectors }
}
