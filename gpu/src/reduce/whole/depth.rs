//! The depth of the reduction tree, which determines the bound of a result's error.

use super::partition::{MAX_BLOCKS, THREADS, TILE_BYTES, blocks, blocks_of_pairs};

/// Fewest blocks per SM among the kernels. Fewer blocks take more tiles each.
const FEWEST_BLOCKS_PER_SM: u32 = 2;

/// The depth of the reduction tree of `n` elements of `bytes` bytes each: the most merges on the path of an element.
///
/// ```
/// use gpu::reduce::whole::depth::reduction_depth;
/// // A 16-byte vector of 4 elements, 4 vectors, one tile, the misaligned head and tail; a warp, a block.
/// assert_eq!(reduction_depth(1, 4), (3 + 2 + 1 + 2) + (5 + 4));
/// // Several blocks: the last block merges their states, then as above.
/// assert_eq!(reduction_depth(10_000, 4), (3 + 2 + 1 + 2) + (5 + 4) + (2 + 5 + 4 + 1));
/// ```
pub fn reduction_depth(n: usize, bytes: usize) -> u64 {
    depth(n, TILE_BYTES / bytes, 16 / bytes as u64, 2, blocks(n, bytes, FEWEST_BLOCKS_PER_SM))
}

/// [`reduction_depth`] for a dot product of vectors of `n` elements: a tile has two 16-byte vectors of each operand.
///
/// ```
/// use gpu::reduce::whole::depth::dot_depth;
/// assert_eq!(dot_depth(1, 4), (3 + 1 + 1 + 2) + (5 + 4));
/// ```
pub fn dot_depth(n: usize, bytes: usize) -> u64 {
    depth(n, TILE_BYTES / 2 / bytes, 16 / bytes as u64, 1, blocks_of_pairs(n, bytes, FEWEST_BLOCKS_PER_SM))
}

fn depth(n: usize, tile: usize, lanes: u64, tree: u64, blocks: u32) -> u64 {
    let tiles = (n.div_ceil(tile) as u64).div_ceil(u64::from(blocks)).max(1);
    let thread = (lanes - 1) + tree + tiles + 2;
    let block = 5 + 4;
    let grid = if blocks == 1 { 0 } else { u64::from(MAX_BLOCKS.div_ceil(THREADS)) + block + 1 };
    thread + block + grid
}
