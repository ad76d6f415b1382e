//! Threads and blocks for columns. They depend on shapes and alignment alone, because they determine the order of
//! merges.

use super::thread::{BATCH, STRIPED_BATCH};
use crate::reduce::along::{THREADS, TICKETS};

/// Largest TX for long lines: 512 bytes of each row.
const MAX_THREADS_X: u64 = 32;
/// Blocks from which the last wave of blocks is negligible.
const BALANCED_BLOCKS: u64 = 4224;
/// Tiles from which no line is shared by several blocks.
const ENOUGH_TILES: u64 = BALANCED_BLOCKS / 2;
/// Blocks of two full waves.
const TWO_WAVES: u64 = 1056;
/// Most words of all states of a tile: one block merges them in a few microseconds.
const MAX_MERGED_WORDS: u64 = 10_240;
/// Least bytes of a chunk.
const MIN_CHUNK_BYTES: u64 = 1 << 15;

/// Kinds of items: values of the first number of a kernel's `config`. One line for a thread; a vector of neighbouring
/// lines; or several lines for a thread, TX apart.
pub(crate) const SINGLE_LINES: u32 = 0;
pub(crate) const VECTORS: u32 = 1;
pub(crate) const STRIPED: u32 = 2;

/// Items of a thread if they are striped, for elements of `bytes` bytes: 16 bytes, but at most four lines.
pub(crate) const fn striped_items(bytes: u64) -> u64 {
    if bytes < 4 { 4 } else { 16 / bytes }
}

/// Number and shape of the lines.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Number of items: vectors of lines, or single lines.
    pub items: u32,
    /// Lines of an item.
    pub lines_per_item: u64,
    /// Elements of a line.
    pub length: u64,
    /// Bytes of an element.
    pub bytes: u64,
    /// Words of a state.
    pub state: u64,
    /// Whether the elements of a line are closer together than neighbouring lines.
    pub dense_lines: bool,
}

/// Launch configuration for lines of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Blocks.
    pub blocks: u32,
    /// Elements of a chunk, a block's part of a line.
    pub per_chunk: u64,
    /// Argument of the kernel: kind of its items, base-2 logarithm of TX, tiles, chunks.
    pub config: [u32; 4],
    /// Lines of a tile.
    lines: u64,
    state: u64,
}

impl Plan {
    /// The plan for at least one item.
    ///
    /// ```
    /// use gpu::reduce::columns::plan::{Plan, Shape};
    /// let shape =
    ///     |items, length| Shape { items, lines_per_item: 4, length, bytes: 4, state: 1, dense_lines: false };
    /// // 16 rows of 2²⁴ floats: a thread for each 4 columns.
    /// assert_eq!(Plan::new(shape(1 << 22, 16)).config, [1, 8, 1 << 14, 1]);
    /// // 2²⁰ rows of 256 floats: 128 blocks for each 32 columns.
    /// assert_eq!(Plan::new(shape(64, 1 << 20)).config, [1, 3, 8, 128]);
    /// // 33 rows of 8134407 floats, which are misaligned: 4 columns for a thread, 128 apart.
    /// let odd = Shape { lines_per_item: 1, ..shape(8_134_407, 33) };
    /// assert_eq!(Plan::new(odd).config, [2, 7, 15_888, 1]);
    /// ```
    pub fn new(shape: Shape) -> Self {
        let Shape { items, lines_per_item, length, bytes, state, dense_lines } = shape;
        let items = u64::from(items.max(1));
        let max_threads_y = if dense_lines { u64::from(THREADS) } else { u64::from(THREADS) / MAX_THREADS_X };
        let threads_y = below(length / (2 * u64::from(BATCH)), max_threads_y);
        // Misaligned lines, enough of them for each load of a warp to be contiguous.
        let is_striped = lines_per_item == 1 && !dense_lines && items >= 32 * striped_items(bytes);
        let (lines_per_item, min_threads_x) = if is_striped { (striped_items(bytes), 32) } else { (lines_per_item, 8) };
        let items = if is_striped { items.div_ceil(lines_per_item) } else { items };
        let mut threads_x = (u64::from(THREADS) / threads_y).min(items.next_power_of_two());
        let tiles = |threads_x: u64| items.div_ceil(threads_x);
        let max_chunks = |threads_x: u64| (MAX_MERGED_WORDS / (threads_x * lines_per_item * state)).max(1);
        let long = |threads_x: u64| length >= 2 * u64::from(BATCH) * u64::from(THREADS) / threads_x;
        while threads_x > min_threads_x && tiles(threads_x) * max_chunks(threads_x) < TWO_WAVES && long(threads_x / 2) {
            threads_x /= 2;
        }
        let (tiles, max_chunks) = (tiles(threads_x), max_chunks(threads_x));
        let wanted = if tiles < ENOUGH_TILES { BALANCED_BLOCKS.div_ceil(tiles) } else { 1 };
        let worth = length.saturating_mul(threads_x * lines_per_item * bytes) / MIN_CHUNK_BYTES;
        let mut chunks = wanted.min(worth).max(1);
        if chunks > max_chunks {
            chunks = max_chunks.min((TWO_WAVES / tiles).max(1));
        }
        let step = u64::from(BATCH) * u64::from(THREADS) / threads_x;
        // A window of a chunk has at most 2³² − 1 rows.
        let per_chunk = length.div_ceil(chunks).max(1).next_multiple_of(step).min(1 << 31);
        let chunks = length.div_ceil(per_chunk).max(1);
        let kind = match (is_striped, lines_per_item) {
            (true, _) => STRIPED,
            (_, 1) => SINGLE_LINES,
            _ => VECTORS,
        };
        let config = [kind, threads_x.trailing_zeros(), tiles as u32, chunks as u32];
        Self { blocks: (tiles * chunks) as u32, per_chunk, config, lines: threads_x * lines_per_item, state }
    }

    /// 8-byte words of workspace; 0 if none is needed.
    pub fn workspace_words(&self) -> usize {
        let [_, _, tiles, chunks] = self.config.map(u64::from);
        if chunks == 1 { 0 } else { TICKETS + (tiles * chunks * self.lines * self.state) as usize }
    }

    /// The most merges that an element passes through.
    pub fn depth(&self) -> u64 {
        let [_, shift, _, chunks] = self.config.map(u64::from);
        let threads_y = u64::from(THREADS) >> shift;
        let batch = if self.config[0] == STRIPED { STRIPED_BATCH } else { BATCH };
        let steps = self.per_chunk.div_ceil(u64::from(batch) * threads_y);
        let last = if chunks == 1 { 0 } else { chunks + u64::from(THREADS) / self.lines.min(u64::from(THREADS)) };
        u64::from(BATCH) + steps + 1 + 5 + 8 + last
    }
}

/// The greatest power of two that is at most `x` and `max_chunks`, a power of two; at least 1.
fn below(x: u64, max_chunks: u64) -> u64 {
    if x >= max_chunks { max_chunks } else { 1 << x.max(1).ilog2() }
}
