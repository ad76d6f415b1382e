//! How many threads a line gets, from shapes and alignment alone: it decides the order of merges.

use crate::reduce::along::THREADS;

/// The ways of a kernel: values of the first number of its `cut`.
pub(crate) const LONG: u32 = 0;
pub(crate) const GROUPED: u32 = 1;
pub(crate) const SHORT_VECTORS: u32 = 2;
pub(crate) const SHORT_ELEMENTS: u32 = 3;

/// Vectors of a line from which four are under way in each thread; below, four lines are.
const SHORT: u64 = 16;
/// The same where every line is whole vectors, and there are lines for [`MANY`] warps, four in each.
const SHORT_OF_VECTORS: u64 = 128;
/// Most vectors of a line that a warp reads, if there are lines for [`MANY`] warps; else at most four in each thread.
const MIDDLING: u64 = 1024;
const MANY: u64 = 8448;
/// Most blocks, where several share a line.
const MOST_BLOCKS: u64 = 8448;
/// Bytes that are worth a block, of many and of few.
const PIECE: u64 = 1 << 16;
const LEAST_PIECE: u64 = 1 << 14;

/// Lines: how many, and of what.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Number of lines.
    pub lines: u32,
    /// Elements of a line.
    pub length: u64,
    /// Bytes of an element.
    pub bytes: u64,
    /// Whether the lines lie at equal distances.
    pub even: bool,
    /// Whether every line starts at a multiple of 16 bytes.
    pub aligned: bool,
}

/// How the kernels go about lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Blocks.
    pub blocks: u32,
    /// Blocks of each line; 1 where a block has several lines.
    pub pieces: u32,
    /// What the kernel is told: the way; of short and middling lines the logarithm of the lanes for each, and lines for a
    /// block; of long ones the blocks for each, and the elements for a block, lower half first.
    pub cut: [u32; 4],
}

impl Plan {
    /// The plan; there is a line at least. `vector` is the bytes of an access: 16, but for reductions that take 8.
    ///
    /// ```
    /// use gpu::reduce::rows::plan::{Plan, Shape};
    /// let shape = |lines, length| Shape { lines, length, bytes: 4, even: true, aligned: true };
    /// // 64 bytes: 4 lanes for each line, 64 lines at a time in a block, 4 at a time in a thread.
    /// assert_eq!(Plan::new(shape(1 << 24, 16), 16).blocks, 1 << 14);
    /// // 1 MiB in each of 1024 lines: 8 blocks for each.
    /// assert_eq!(Plan::new(shape(1024, 1 << 18), 16).pieces, 8);
    /// ```
    pub fn new(shape: Shape, vector: u64) -> Self {
        let Shape { lines, length, bytes, even, aligned } = shape;
        let per_vector = vector / bytes;
        let vectors = length.div_ceil(per_vector).max(1);
        let by_vectors = aligned && length.is_multiple_of(per_vector);
        let many = by_vectors && vectors <= SHORT_OF_VECTORS && u64::from(lines) >= 4 * MANY;
        // Lines without elements have no place; the others take none for what they are.
        if even && (vectors < SHORT || many) && length > 0 {
            let (way, units) = if by_vectors { (SHORT_VECTORS, vectors) } else { (SHORT_ELEMENTS, length) };
            return Self::shared(lines, way, lanes(units), 4);
        }
        let few = vectors <= 4 * 32;
        if few || vectors <= MIDDLING && u64::from(lines) >= MANY {
            let lanes = (vectors.div_ceil(4).clamp(4, 32) as u32).next_power_of_two();
            return Self::shared(lines, GROUPED, lanes, 1);
        }
        Self::long(u64::from(lines), length, bytes, per_vector)
    }

    /// Several lines for each block: as many as make 64 KiB in four turns of it, if there are enough to go round.
    fn shared(lines: u32, way: u32, lanes: u32, at_once: u32) -> Self {
        let turn = THREADS / lanes * at_once;
        let turns = (lines / (turn * MANY as u32)).clamp(1, 4);
        let lines_per_block = turn * turns;
        let cut = [way, lanes.trailing_zeros(), lines_per_block, 0];
        Self { blocks: lines.div_ceil(lines_per_block), pieces: 1, cut }
    }

    fn long(lines: u64, length: u64, bytes: u64, per_vector: u64) -> Self {
        let total = lines.saturating_mul(length).saturating_mul(bytes);
        let worth = (total / MOST_BLOCKS).clamp(LEAST_PIECE, PIECE);
        let wanted = (length.saturating_mul(bytes)).div_ceil(worth);
        let pieces = wanted.min((MOST_BLOCKS / lines).max(1));
        // Pieces of whole vectors, so that each starts as the line does.
        let piece = length.div_ceil(pieces).next_multiple_of(per_vector);
        let pieces = length.div_ceil(piece);
        let cut = [LONG, pieces as u32, piece as u32, (piece >> 32) as u32];
        Self { blocks: (lines * pieces) as u32, pieces: pieces as u32, cut }
    }

    /// 8-byte words of a workspace for `lines` lines, where a state has `state` words: 0 if none is needed.
    pub fn workspace_words(&self, lines: u32, state: usize) -> usize {
        if self.pieces == 1 {
            return 0;
        }
        crate::reduce::along::TICKETS + lines as usize * self.pieces as usize * state
    }

    /// The most merges that an element of a line of `length` elements passes through, where an access has `per_vector`.
    pub fn depth(&self, length: u64, per_vector: u64) -> u64 {
        let [way, second, third, fourth] = self.cut;
        let within = per_vector - 1;
        match way {
            LONG => {
                let piece = u64::from(third) | u64::from(fourth) << 32;
                let turns = piece.div_ceil(per_vector).div_ceil(u64::from(THREADS) * 4) + 1;
                // Both ends; a warp and a block; the same for the states of pieces.
                let pieces = u64::from(second);
                let last = if pieces == 1 { 0 } else { pieces.div_ceil(u64::from(THREADS)) + 8 };
                within + 2 + turns + 2 * per_vector + 8 + last
            }
            GROUPED => {
                let turns = length.div_ceil(per_vector).div_ceil(4 << second) + 1;
                within + 2 + turns + 2 * per_vector + u64::from(second)
            }
            SHORT_VECTORS => within + length.div_ceil(per_vector << second) + u64::from(second),
            _ => length.div_ceil(1 << second) + u64::from(second),
        }
    }
}

/// Lanes for a short line of `units` vectors or elements: of 8, 16 and 32 those of which the fewest idle.
fn lanes(units: u64) -> u32 {
    if units <= 8 {
        return (units as u32).next_power_of_two();
    }
    [32, 16, 8].into_iter().min_by_key(|&lanes| units.next_multiple_of(u64::from(lanes))).unwrap_or(32)
}
