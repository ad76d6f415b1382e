//! The partition of a vector among blocks. It depends only on the length and the alignment of the vector, so that the
//! result has the same bits on every GPU and on the simulator.
//!
//! | vectors of 16 bytes | blocks | a block takes |
//! |---|---|---|
//! | up to a tile | 1 | the tile |
//! | up to one for each thread of the largest grid | one for each 512 | one vector per thread: bound by latency |
//! | more | one for each tile, up to the largest grid | tile after tile: bound by memory bandwidth |

/// Threads of a block.
pub const THREADS: u32 = 512;
/// Warps of a block.
pub(crate) const WARPS: usize = THREADS as usize / 32;
/// Loads of 16 bytes that a thread has in flight.
pub(crate) const IN_FLIGHT: usize = 4;
/// Vectors of 16 bytes in a tile.
pub(crate) const TILE: usize = THREADS as usize * IN_FLIGHT;
/// Bytes of a tile.
pub const TILE_BYTES: usize = 16 * TILE;
/// SMs that the largest grid fills: those of an H200. Fixed, because the number of blocks determines the order of
/// merges.
const SM_COUNT: u32 = 132;
/// Most blocks per SM, which has 2048 threads.
const MAX_BLOCKS_PER_SM: u32 = 2048 / THREADS;
/// Most blocks of any reduction.
pub const MAX_BLOCKS: u32 = MAX_BLOCKS_PER_SM * SM_COUNT;
/// Most 8-byte words of a state.
pub const MAX_STATE_WORDS: usize = 3;
/// 8-byte words of a workspace that is large enough for every reduction of a whole vector of any length.
pub const WORKSPACE_WORDS: usize = workspace_words(MAX_BLOCKS, MAX_STATE_WORDS);

/// Blocks for `n` elements of `bytes` bytes each, for a kernel with `blocks_per_sm` blocks per SM
/// (its `min_blocks`).
///
/// ```
/// use gpu::reduce::whole::partition::{THREADS, TILE_BYTES, blocks};
/// let (tile, part) = (TILE_BYTES / 4, 4 * THREADS as usize);
/// assert_eq!((blocks(0, 4, 4), blocks(tile, 4, 4)), (1, 1));
/// assert_eq!((blocks(tile + 1, 4, 4), blocks(528 * part, 4, 4)), (5, 528));
/// assert_eq!((blocks(528 * part + 1, 4, 4), blocks(10_000 * tile, 4, 4)), (133, 528));
/// assert_eq!(blocks(10_000 * tile, 4, 2), 264);
/// ```
pub const fn blocks(n: usize, bytes: usize, blocks_per_sm: u32) -> u32 {
    blocks_for(n.div_ceil(16 / bytes), TILE, blocks_per_sm)
}

/// Blocks for `n` pairs of elements of `bytes` bytes each: a tile has half as many, since two vectors are read.
pub const fn blocks_of_pairs(n: usize, bytes: usize, blocks_per_sm: u32) -> u32 {
    blocks_for(n.div_ceil(16 / bytes), TILE / 2, blocks_per_sm)
}

const fn blocks_for(vectors: usize, tile: usize, blocks_per_sm: u32) -> u32 {
    let most = (blocks_per_sm * SM_COUNT) as usize;
    if vectors <= tile {
        1
    } else if vectors <= most * THREADS as usize {
        vectors.div_ceil(THREADS as usize) as u32
    } else {
        let tiles = vectors.div_ceil(tile);
        if tiles < most { tiles as u32 } else { most as u32 }
    }
}

/// 8-byte words of workspace for a grid of `blocks` blocks and a state of `state` words: two for each word of the state
/// of each block but the last.
pub const fn workspace_words(blocks: u32, state: usize) -> usize {
    2 * state * (blocks as usize - 1)
}

/// Registers per thread with which `blocks` blocks fit in an SM of 65536, allocated in units of eight.
#[allow(dead_code, reason = "some families have none of these kernels")]
pub(crate) const fn registers(blocks: u32) -> u32 {
    65_536 / THREADS / blocks / 8 * 8
}
