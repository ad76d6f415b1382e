//! How deep the tree of merges is: what the oracle's bounds need.

use gpu::reduce::whole::partition::{MAX_BLOCKS, THREADS, TILE_BYTES, blocks, blocks_of_pairs};

/// Blocks of the kernels that share a multiprocessor: the fewest. Fewer blocks take more tiles each.
const FEWEST_RESIDENT: u32 = 2;

/// The most merges that an element passes through in a reduction of `n` elements of `bytes` bytes each.
///
/// ```
/// use warpwright::reduce::reduction_depth;
/// // A vector of 4 elements, 4 vectors, one tile, the two ends; a warp, a block.
/// assert_eq!(reduction_depth(1, 4), (3 + 2 + 1 + 2) + (5 + 4));
/// // Several blocks: their states are merged as a block's are, and the last one's then.
/// assert_eq!(reduction_depth(10_000, 4), (3 + 2 + 1 + 2) + (5 + 4) + (2 + 5 + 4 + 1));
/// ```
pub fn reduction_depth(n: usize, bytes: usize) -> u64 {
    depth(n, TILE_BYTES / bytes, 16 / bytes as u64, 2, blocks(n, bytes, FEWEST_RESIDENT))
}

/// The same in a scalar product of vectors of `n` elements: two vectors of each operand make a tile.
///
/// ```
/// use warpwright::reduce::dot_depth;
/// assert_eq!(dot_depth(1, 4), (3 + 1 + 1 + 2) + (5 + 4));
/// ```
pub fn dot_depth(n: usize, bytes: usize) -> u64 {
    depth(n, TILE_BYTES / 2 / bytes, 16 / bytes as u64, 1, blocks_of_pairs(n, bytes, FEWEST_RESIDENT))
}

fn depth(n: usize, tile: usize, lanes: u64, tree: u64, blocks: u32) -> u64 {
    let tiles = (n.div_ceil(tile) as u64).div_ceil(u64::from(blocks)).max(1);
    let thread = (lanes - 1) + tree + tiles + 2;
    let block = 5 + 4;
    let grid = if blocks == 1 { 0 } else { u64::from(MAX_BLOCKS.div_ceil(THREADS)) + block + 1 };
    thread + block + grid
}
