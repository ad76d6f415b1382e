//! B = Aᵀ at the speed of memory: 64 × 64 tiles, 16 bytes a lane on both sides, a swizzle instead of padding.
//!
//! ```text
//!   A, 64 columns = 16 chunks of 4            tile in shared memory, by rows of B
//!  ┌────┬────┬────┬─ … ─┐                    ┌────┬────┬─ … ─┐
//!  │ a  │    │    │     │ 4 rows      ┌────► │ aᵀ │    │     │ 4 rows; chunk c of row r
//!  ├────┼────┼────┼─ … ─┤      in registers  ├────┼────┼─ … ─┤ lies at chunk c ^ (r / 4)
//!  │ b  │    │    │     │             └────► │    │ bᵀ │     │
//!  └────┴────┴────┴─ … ─┘                    └────┴────┴─ … ─┘
//! ```
//!
//! A thread takes a 4 × 4 block: four loads of 16 bytes, all under way at once, turned over in registers, four accesses of
//! 16 bytes to shared memory each way, four stores. Half a warp reads or writes 256 bytes that lie together, on both sides.
//!
//! Bank conflicts: a quarter of a warp, 8 lanes of 16 bytes, is served at once. When it writes, its lanes have 8 rows that
//! are 4 apart and one chunk c: without the swizzle all in the same four banks, with it in 8 different chunks. When it
//! reads, its lanes have one row and 8 neighbouring chunks, which the swizzle permutes.
//!
//! Tiles at the edge, and matrices whose rows are not aligned to 16 bytes, go element by element on the side concerned.

use simt::element::Vec4;
use simt::prelude::*;

/// Edge of a tile.
pub const TILE: u32 = 64;
/// Threads of a block: one for each 4 × 4 block of the tile.
pub const THREADS: u32 = 256;

/// Chunks of 4 elements in a row of the tile.
const CHUNKS: u32 = TILE / 4;

/// Shared memory: a tile of B.
pub type Tile = SharedTile<f32, { TILE as usize }, { TILE as usize }>;

/// Blocks for a matrix A of this shape. A grid is at most 65 535 blocks high: beyond 65 535 · [`TILE`] rows, launch again
/// on the rows below.
pub const fn grid(rows: u32, cols: u32) -> [u32; 3] {
    [cols.div_ceil(TILE), rows.div_ceil(TILE), 1]
}

/// B = Aᵀ for any shape: `a` is m × n, `b` is n × m. What A lacks counts as 0, what B lacks is left out.
#[kernel(block = (THREADS), min_blocks = 6, registers = 40, barriers = 1, traps = 0)]
pub fn transpose_f32(#[shared] tile: &Tile, a: MatRef<f32>, b: MatMut<f32>) {
    let t = thread_idx_x();
    let (row0, col0) = (block_idx_y() * TILE, block_idx_x() * TILE);
    let (block_row, block_col) = (t / CHUNKS, t % CHUNKS);
    if let Some(part) = a.part(row0, col0, TILE, TILE).filter(MatRef::has_aligned_rows::<4>) {
        let load = |i| part.get_vec4_cs(4 * block_row + i, 4 * block_col).lanes;
        let rows = [load(0), load(1), load(2), load(3)];
        for j in 0..4 {
            let row = 4 * block_col + j;
            tile.set_vec4(row, 4 * swizzled(row, block_row), Vec4::new(rows.map(|lanes| lanes[j as usize])));
        }
    } else {
        for row in (t / TILE..TILE).step_by((THREADS / TILE) as usize) {
            let col = t % TILE;
            tile.set(col, 4 * swizzled(col, row / 4) + row % 4, a.get_or(row0 + row, col0 + col, 0.0));
        }
    }
    sync_threads();
    if let Some(part) = b.part_mut(col0, row0, TILE, TILE).filter(|part| part.has_aligned_rows::<4>()) {
        for i in 0..4 {
            let row = 4 * block_row + i;
            part.set_vec4_cs(row, 4 * block_col, tile.get_vec4(row, 4 * swizzled(row, block_col)));
        }
    } else {
        for row in (t / TILE..TILE).step_by((THREADS / TILE) as usize) {
            let col = t % TILE;
            b.set_within(col0 + row, row0 + col, tile.get(row, 4 * swizzled(row, col / 4) + col % 4));
        }
    }
}

/// Where chunk `chunk` of row `row` lies.
#[inline(always)]
fn swizzled(row: u32, chunk: u32) -> u32 {
    (chunk ^ (row / 4)) % CHUNKS
}
