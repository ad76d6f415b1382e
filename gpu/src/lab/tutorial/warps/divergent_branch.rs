//! A branch that diverges within a warp, and one that diverges between warps.
//!
//! ```text
//!  block of 64       warp 0                warp 1
//!  tx > 15       ░░░░░░░░▓▓▓▓▓▓▓▓     ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓      warp 0 executes both sides, one after the other
//!  tx > 31       ░░░░░░░░░░░░░░░░     ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓      each warp executes one side
//! ```
//!
//! Per thread: [`ROUNDS`] rounds of one of two hash functions, one store of 4 bytes. A divergent warp takes the time of
//! both.

use simt::prelude::*;

/// Threads of a block: two warps.
pub const BLOCK: u32 = 64;
/// Rounds of each side: enough work that the compiler keeps the branch instead of computing both sides and selecting.
pub const ROUNDS: u32 = 64;

/// Blocks for n elements.
pub const fn grid(n: usize) -> [u32; 3] {
    [n.div_ceil(BLOCK as usize) as u32, 1, 1]
}

/// `out[i]` = i + 1 (modulo 2³²) after [`ROUNDS`] rounds of a hash function: one if the thread's index in its block is
/// above `threshold`, otherwise another.
///
/// The first: G. Marsaglia, *Xorshift RNGs*, Journal of Statistical Software 8 (2003), shifts 13, 17, 5. The second:
/// the first half of the 32-bit finaliser of A. Appleby's `MurmurHash3`.
#[kernel(block = (BLOCK), registers = 16, barriers = 0, global_store_bytes = 4)]
pub fn divergent_branch(threshold: u32, out: VecMut<u32>) {
    let i = index_1d();
    let mut value = (i as u32).wrapping_add(1);
    if branch(thread_idx_x() > threshold) {
        for _ in 0..ROUNDS {
            value ^= value << 13;
            value ^= value >> 17;
            value ^= value << 5;
        }
    } else {
        for _ in 0..ROUNDS {
            value ^= value >> 16;
            value = value.wrapping_mul(0x85eb_ca6b);
            value ^= value >> 13;
        }
    }
    out.set_within(i, value);
}
