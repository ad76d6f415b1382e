//! Who reduces what: a partition that depends on the length and the alignment of the vector and on nothing else, so that the
//! result has the same bits on every GPU and on the simulator.

/// Threads of a block.
pub const THREADS: u32 = 256;
/// Warps of a block.
pub(crate) const WARPS: usize = THREADS as usize / 32;
/// Accesses of 16 bytes that a thread has under way before it looks at the first.
pub(crate) const IN_FLIGHT: usize = 4;
/// Vectors of 16 bytes in a tile.
pub(crate) const TILE: usize = THREADS as usize * IN_FLIGHT;
/// Bytes of a tile: what one more block is worth.
pub const TILE_BYTES: usize = 16 * TILE;
/// Most blocks: two times eight for each of an H200's 132 multiprocessors. Fixed, because it decides the order of merges.
pub const MOST_BLOCKS: u32 = 2112;
/// 8-byte words of the workspace before the first block's state: the ticket, and one that keeps what follows aligned to 16 bytes.
pub const HEADER_WORDS: usize = 2;
/// Most 8-byte words of a state.
pub const MOST_STATE_WORDS: usize = 3;
/// 8-byte words of a workspace that is large enough for every reduction of a whole vector, of any length.
pub const WORKSPACE_WORDS: usize = HEADER_WORDS + MOST_STATE_WORDS * MOST_BLOCKS as usize;

/// Blocks for `n` elements of `bytes` bytes each.
///
/// ```
/// use gpu::reduce::whole::partition::{MOST_BLOCKS, TILE_BYTES, blocks};
/// assert_eq!((blocks(0, 4), blocks(4096, 4), blocks(4097, 4)), (1, 1, 2));
/// assert_eq!(blocks(TILE_BYTES * 10_000, 1), MOST_BLOCKS);
/// ```
pub const fn blocks(n: usize, bytes: usize) -> u32 {
    at_most(n.div_ceil(TILE_BYTES / bytes))
}

/// Blocks for `n` pairs of elements of `bytes` bytes each: a tile holds half as many, since there are two vectors to read.
pub const fn blocks_of_pairs(n: usize, bytes: usize) -> u32 {
    at_most(n.div_ceil(TILE_BYTES / 2 / bytes))
}

const fn at_most(tiles: usize) -> u32 {
    if tiles == 0 {
        1
    } else if tiles < MOST_BLOCKS as usize {
        tiles as u32
    } else {
        MOST_BLOCKS
    }
}

/// 8-byte words that a grid of `blocks` blocks needs in its workspace, where a state has `state` words.
pub const fn workspace_words(blocks: u32, state: usize) -> usize {
    HEADER_WORDS + state * blocks as usize
}

/// Registers of a thread with which `blocks` blocks share a multiprocessor of 65536, which are dealt out by eights.
pub(crate) const fn registers(blocks: u32) -> u32 {
    65_536 / THREADS / blocks / 8 * 8
}
