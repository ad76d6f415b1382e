//! The number of threads for a line. It depends on shape and alignment alone, because it determines the order of
//! merges.

use crate::reduce::along::THREADS;

/// The algorithms of a kernel: values of the first number of its `config`.
pub(crate) const LONG_LINES: u32 = 0;
pub(crate) const MEDIUM_LINES: u32 = 1;
pub(crate) const SHORT_LINES_VECTORS: u32 = 2;
pub(crate) const SHORT_LINES_ELEMENTS: u32 = 3;

/// Lines of fewer vectors are short: a thread has loads of four lines in flight, otherwise four vectors of one line.
const SHORT_MAX: u64 = 16;
/// Most vectors of a short line if every line is aligned whole vectors and there are lines for [`MANY_WARPS`] warps,
/// four each.
const SHORT_MAX_ALIGNED: u64 = 128;
/// Most vectors of a medium line if there are lines for [`MANY_WARPS`] warps; otherwise it has at most four for each
/// lane.
const MEDIUM_MAX: u64 = 1024;
const MANY_WARPS: u64 = 8448;
/// Most blocks if several share a line.
const MAX_BLOCKS: u64 = 8448;
/// Bytes of a block's chunk of a long line: most and least.
const CHUNK_BYTES: u64 = 1 << 16;
const MIN_CHUNK_BYTES: u64 = 1 << 14;

/// Number and shape of the lines.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Number of lines.
    pub lines: u32,
    /// Elements of a line.
    pub length: u64,
    /// Bytes of an element.
    pub bytes: u64,
    /// Whether consecutive lines have the same distance.
    pub evenly_spaced: bool,
    /// Whether every line starts at a multiple of 16 bytes.
    pub aligned: bool,
}

/// Launch configuration for lines of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Blocks.
    pub blocks: u32,
    /// Blocks of each line; 1 if a block has several lines.
    pub chunks: u32,
    /// Argument of the kernel: the algorithm; then, for short and medium lines, the base-2 logarithm of the lanes for a
    /// line and the lines of a block; for long lines, the blocks for a line and the elements of a chunk, lower half
    /// first.
    pub config: [u32; 4],
}

impl Plan {
    /// The plan for at least one line. `vector` is the bytes of a load: 16, except for reductions that take 8.
    ///
    /// ```
    /// use gpu::reduce::rows::plan::{Plan, Shape};
    /// let shape = |lines, length| Shape { lines, length, bytes: 4, evenly_spaced: true, aligned: true };
    /// // 64 bytes: 4 lanes for each line, 64 lines at a time in a block, 4 at a time in a thread.
    /// assert_eq!(Plan::new(shape(1 << 24, 16), 16).blocks, 1 << 14);
    /// // 1024 lines of 1 MiB: 8 blocks for each.
    /// assert_eq!(Plan::new(shape(1024, 1 << 18), 16).chunks, 8);
    /// ```
    pub fn new(shape: Shape, vector: u64) -> Self {
        let Shape { lines, length, bytes, evenly_spaced, aligned } = shape;
        let per_vector = vector / bytes;
        let vectors = length.div_ceil(per_vector).max(1);
        let by_vectors = aligned && length.is_multiple_of(per_vector);
        let many = by_vectors && vectors <= SHORT_MAX_ALIGNED && u64::from(lines) >= 4 * MANY_WARPS;
        // Lines without elements have no start; the algorithm for medium lines gives them the state of no elements.
        if evenly_spaced && (vectors < SHORT_MAX || many) && length > 0 {
            let (algorithm, items) =
                if by_vectors { (SHORT_LINES_VECTORS, vectors) } else { (SHORT_LINES_ELEMENTS, length) };
            return Self::several_per_block(lines, algorithm, lanes(items), 4);
        }
        let few = vectors <= 4 * 32;
        if few || vectors <= MEDIUM_MAX && u64::from(lines) >= MANY_WARPS {
            let lanes = (vectors.div_ceil(4).clamp(4, 32) as u32).next_power_of_two();
            return Self::several_per_block(lines, MEDIUM_LINES, lanes, 1);
        }
        Self::long(u64::from(lines), length, bytes, per_vector)
    }

    /// Several lines for each block: 64 KiB in up to four steps, if there are enough lines for all blocks.
    fn several_per_block(lines: u32, algorithm: u32, lanes: u32, lines_per_thread: u32) -> Self {
        let lines_per_step = THREADS / lanes * lines_per_thread;
        let steps = (lines / (lines_per_step * MANY_WARPS as u32)).clamp(1, 4);
        let lines_per_block = lines_per_step * steps;
        let config = [algorithm, lanes.trailing_zeros(), lines_per_block, 0];
        Self { blocks: lines.div_ceil(lines_per_block), chunks: 1, config }
    }

    fn long(lines: u64, length: u64, bytes: u64, per_vector: u64) -> Self {
        let total = lines.saturating_mul(length).saturating_mul(bytes);
        let chunk_bytes = (total / MAX_BLOCKS).clamp(MIN_CHUNK_BYTES, CHUNK_BYTES);
        let wanted = (length.saturating_mul(bytes)).div_ceil(chunk_bytes);
        let chunks = wanted.min((MAX_BLOCKS / lines).max(1));
        // Chunks of whole vectors, so that each has the alignment of the line.
        let chunk = length.div_ceil(chunks).next_multiple_of(per_vector);
        let chunks = length.div_ceil(chunk);
        let config = [LONG_LINES, chunks as u32, chunk as u32, (chunk >> 32) as u32];
        Self { blocks: (lines * chunks) as u32, chunks: chunks as u32, config }
    }

    /// 8-byte words of workspace for `lines` lines and a state of `state` words; 0 if none is needed.
    pub fn workspace_words(&self, lines: u32, state: usize) -> usize {
        if self.chunks == 1 {
            return 0;
        }
        crate::reduce::along::TICKETS + lines as usize * self.chunks as usize * state
    }

    /// The most merges that an element of a line of `length` elements passes through, if a load has `per_vector`
    /// elements.
    pub fn depth(&self, length: u64, per_vector: u64) -> u64 {
        let [algorithm, second, third, fourth] = self.config;
        let within = per_vector - 1;
        match algorithm {
            LONG_LINES => {
                let chunk = u64::from(third) | u64::from(fourth) << 32;
                let steps = chunk.div_ceil(per_vector).div_ceil(u64::from(THREADS) * 4) + 1;
                // Head and tail; a warp and a block; the same for the states of chunks.
                let chunks = u64::from(second);
                let last = if chunks == 1 { 0 } else { chunks.div_ceil(u64::from(THREADS)) + 8 };
                within + 2 + steps + 2 * per_vector + 8 + last
            }
            MEDIUM_LINES => {
                let steps = length.div_ceil(per_vector).div_ceil(4 << second) + 1;
                within + 2 + steps + 2 * per_vector + u64::from(second)
            }
            SHORT_LINES_VECTORS => within + length.div_ceil(per_vector << second) + u64::from(second),
            _ => length.div_ceil(1 << second) + u64::from(second),
        }
    }
}

/// Lanes for a short line of `items` vectors or elements: of 8, 16 and 32, the number with the fewest idle lanes.
fn lanes(items: u64) -> u32 {
    if items <= 8 {
        return (items as u32).next_power_of_two();
    }
    [32, 16, 8].into_iter().min_by_key(|&lanes| items.next_multiple_of(u64::from(lanes))).unwrap_or(32)
}
