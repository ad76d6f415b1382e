//! Who reduces what: a partition that depends on the length and the alignment of the vector and on nothing else, so that the
//! result has the same bits on every GPU and on the simulator.
//!
//! | vectors of 16 bytes | blocks | a block takes |
//! |---|---|---|
//! | up to a tile | 1 | the tile |
//! | up to one for each thread of the largest grid | one for each 512 | one vector a thread: what counts is the way to the result |
//! | more | one for each tile, up to the largest grid | tile after tile: what counts is the speed of memory |

/// Threads of a block.
pub const THREADS: u32 = 512;
/// Warps of a block.
pub(crate) const WARPS: usize = THREADS as usize / 32;
/// Accesses of 16 bytes that a thread has under way before it looks at the first.
pub(crate) const IN_FLIGHT: usize = 4;
/// Vectors of 16 bytes in a tile.
pub(crate) const TILE: usize = THREADS as usize * IN_FLIGHT;
/// Bytes of a tile.
pub const TILE_BYTES: usize = 16 * TILE;
/// Multiprocessors that the largest grid fills: an H200's. Fixed, because the number of blocks decides the order of merges.
const MULTIPROCESSORS: u32 = 132;
/// Most blocks that share a multiprocessor: its 2048 threads.
const MOST_RESIDENT: u32 = 2048 / THREADS;
/// Most blocks of any reduction.
pub const MOST_BLOCKS: u32 = MOST_RESIDENT * MULTIPROCESSORS;
/// Most 8-byte words of a state.
pub const MOST_STATE_WORDS: usize = 3;
/// 8-byte words of a workspace that is large enough for every reduction of a whole vector, of any length.
pub const WORKSPACE_WORDS: usize = workspace_words(MOST_BLOCKS, MOST_STATE_WORDS);

/// Blocks for `n` elements of `bytes` bytes each, by a kernel of which `resident` blocks share a multiprocessor
/// (its `min_blocks`).
///
/// ```
/// use gpu::reduce::whole::partition::{THREADS, TILE_BYTES, blocks};
/// let (tile, part) = (TILE_BYTES / 4, 4 * THREADS as usize);
/// assert_eq!((blocks(0, 4, 4), blocks(tile, 4, 4)), (1, 1));
/// assert_eq!((blocks(tile + 1, 4, 4), blocks(528 * part, 4, 4)), (5, 528));
/// assert_eq!((blocks(528 * part + 1, 4, 4), blocks(10_000 * tile, 4, 4), blocks(10_000 * tile, 4, 2)), (133, 528, 264));
/// ```
pub const fn blocks(n: usize, bytes: usize, resident: u32) -> u32 {
    of_vectors(n.div_ceil(16 / bytes), TILE, resident)
}

/// Blocks for `n` pairs of elements of `bytes` bytes each: a tile holds half as many, since there are two vectors to read.
pub const fn blocks_of_pairs(n: usize, bytes: usize, resident: u32) -> u32 {
    of_vectors(n.div_ceil(16 / bytes), TILE / 2, resident)
}

const fn of_vectors(vectors: usize, tile: usize, resident: u32) -> u32 {
    let most = (resident * MULTIPROCESSORS) as usize;
    if vectors <= tile {
        1
    } else if vectors <= most * THREADS as usize {
        vectors.div_ceil(THREADS as usize) as u32
    } else {
        let tiles = vectors.div_ceil(tile);
        if tiles < most { tiles as u32 } else { most as u32 }
    }
}

/// 8-byte words that a grid of `blocks` blocks needs in its workspace, where a state has `state` words: two for each word that
/// a block but the last hands over.
pub const fn workspace_words(blocks: u32, state: usize) -> usize {
    2 * state * (blocks as usize - 1)
}

/// Registers of a thread with which `blocks` blocks share a multiprocessor of 65536, which are dealt out by eights.
#[allow(dead_code, reason = "the PTX of some families has none of these kernels")]
pub(crate) const fn registers(blocks: u32) -> u32 {
    65_536 / THREADS / blocks / 8 * 8
}
