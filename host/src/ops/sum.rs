//! The depth of sums.

use gpu::reduce::sum::{THREADS, TILE_ELEMENTS, blocks};

/// The most additions that an element passes through in [`Device::sum`](crate::Device::sum) of `n` elements of `f32`, or in
/// the kernel `sum_f32`: the depth for
/// [`crate::oracle::sum_in_f64`].
///
/// ```
/// use warpwright::sum_depth;
/// // A thread adds 16 elements at once, in 4 steps, to what it has; then come the ends, the warp and the block.
/// assert_eq!(sum_depth(1), 5 + 2 + 5 + 8);
/// // Two blocks: their two sums are added as a block's are.
/// assert_eq!(sum_depth(5000), (5 + 2 + 5 + 8) + (1 + 5 + 8));
/// ```
pub fn sum_depth(n: usize) -> u64 {
    let blocks = u64::from(blocks(n));
    // Up to 15 elements more may be needed than fill whole tiles, where the first is not aligned.
    let tiles = (n as u64).div_ceil(TILE_ELEMENTS as u64).div_ceil(blocks).max(1);
    let (warp, block) = (5, u64::from(THREADS / 32));
    let thread = 4 + tiles + 2;
    let last = if blocks == 1 { 0 } else { blocks.div_ceil(u64::from(THREADS)) + warp + block };
    thread + warp + block + last
}
