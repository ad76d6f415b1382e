//! The planes of A and of B, in one launch.
//!
//! ```text
//!   row of op(A), column of op(B)   │ x₀ … x₆₃ │ x₆₄ … x₁₂₇ │ … x_k │
//!   row of the planes               │ 64 of plane 0 │ of plane 2 │ of plane 1 │ 64 of plane 0 │ … 0 … 0 │
//! ```
//!
//! K-major whatever the operand's layout, and in the order in which `mainloop` wants them: 64 of k
//! are 128 bytes, what TMA loads of a row.
//!
//! A thread splits 8 neighbours along k, which gives 16 bytes of each plane. Of a K-major operand the lanes of a warp
//! take neighbouring eights, and write them. Of an MN-major one they take neighbouring rows, since those are neighbours
//! in memory:
//!
//! ```text
//!   block   64 of k × 32 rows: warp w has k = 8·w …, lane r row r       a load takes 128 bytes
//!     ─▶    shared memory: row by row, 24 vectors of 16 bytes each, of which vector v is at v ^ (row % 8)
//!     ─▶    8 lanes write the 128 bytes of a plane and a row
//! ```
//!
//! 4 bytes read and 6 written for each element: as fast as memory where it is larger than the L2 cache.

use half::bf16;
use simt::KernelArg;
use simt::convert::{bf16_from_f32, f32_from_bf16};
use simt::element::{Vec4, zeroed};
use simt::grid::{dependency_wait, launch_dependents};
use simt::prelude::*;

use super::{DEPTH, PLANES, SCALE};
use crate::unroll::each;

/// Threads of a block.
pub const THREADS: u32 = 256;
/// Elements along k of a vector of 16 bytes.
const EIGHT: u32 = 8;
/// Vectors of a plane for [`DEPTH`] of k.
const VECTORS: u32 = DEPTH / EIGHT;
/// Vectors of all planes of a row for [`DEPTH`] of k.
const OF_ROW: u32 = VECTORS * PLANES;
/// Rows of an MN-major operand that a block takes: one for each lane.
const ROWS: u32 = 32;
/// Words of shared memory for their planes.
const WORDS: usize = (ROWS * OF_ROW * 4) as usize;

/// An operand and its planes.
#[repr(C)]
#[derive(Clone, Copy, KernelArg)]
pub struct SplitArgs<'a> {
    /// The matrices, the first at element 0.
    pub from: VecRef<'a, f32>,
    /// The planes, in vectors of 16 bytes: rows one after the other, through all matrices.
    pub to: VecMut<'a, Vec4<u32>>,
    /// Elements of `from` from line to line in memory, and from matrix to matrix.
    pub strides: [u64; 2],
    /// Rows of op(A), columns of op(B).
    pub rows: u32,
    /// Elements of a row.
    pub k: u32,
    /// Number of matrices.
    pub matrices: u32,
    /// Whether a line in memory is a row, and runs along k; else one step along k.
    pub is_k_major: u32,
    /// Blocks: see [`blocks`].
    pub blocks: u32,
}

/// Blocks for an operand; none if 32 bits do not count their threads.
#[must_use]
pub const fn blocks(matrices: usize, rows: usize, k: usize, is_k_major: bool) -> Option<u32> {
    let depths = k.div_ceil(DEPTH as usize);
    let Some(lines) = matrices.checked_mul(rows) else { return None };
    let Some(threads) = lines.checked_mul(depths * VECTORS as usize) else { return None };
    if threads > i32::MAX as usize {
        return None;
    }
    let blocks =
        if is_k_major { threads.div_ceil(THREADS as usize) } else { matrices * depths * rows.div_ceil(ROWS as usize) };
    if blocks > i32::MAX as usize / THREADS as usize { None } else { Some(blocks as u32) }
}

/// `bf16` of a row of the planes.
#[must_use]
pub const fn row_len(k: usize) -> usize {
    k.div_ceil(DEPTH as usize) * (DEPTH * PLANES) as usize
}

/// `x` · 2¹⁶ as the sum of three `bf16`: exact below 2¹¹¹, else NaN and zeros.
///
/// ```
/// use gpu::gemm::sm90::bf16x6::split::split;
/// for x in [1.0_f32, -0.1, 1e-45, -3e-39, f32::MIN_POSITIVE, 1.0 + f32::EPSILON, 2.59e33] {
///     let sum: f64 = split(x).iter().map(|plane| plane.to_f64()).sum();
///     assert_eq!(sum / 65536.0, f64::from(x));
/// }
/// assert!(split(f32::INFINITY)[0].is_nan() && split(2.6e33)[0].is_nan());
/// ```
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn split(x: f32) -> [bf16; 3] {
    let x = x * SCALE;
    // 2¹²⁷ or more, infinite or NaN. Rounded to bf16, what is smaller is finite.
    if x.to_bits() & 0x7fff_ffff >= 0x7f00_0000 {
        return [bf16::NAN, bf16::ZERO, bf16::ZERO];
    }
    let high = bf16_from_f32(x);
    let rest = x - f32_from_bf16(high);
    let middle = bf16_from_f32(rest);
    [high, middle, bf16_from_f32(rest - f32_from_bf16(middle))]
}

/// The planes of 8 elements along k, in their order in memory.
#[cfg_attr(optimised, inline(always))]
fn split_eight(elements: [f32; 8]) -> [Vec4<u32>; 3] {
    let [zero, one, two, three, four, five, six, seven] = each!(elements, split);
    let eight = [[zero, one], [two, three], [four, five], [six, seven]];
    let plane = |read: fn([bf16; 3]) -> bf16| {
        Vec4::new(each!(eight, |[low, high]| read(low).to_bits() as u32 | (read(high).to_bits() as u32) << 16))
    };
    [plane(|[high, _, _]| high), plane(|[_, _, low]| low), plane(|[_, middle, _]| middle)]
}

/// The 8 elements from element `at` of `from` on, `step` apart, as many as there are of a row from `k` on: then zeros.
#[cfg_attr(optimised, inline(always))]
fn load_eight(x: &SplitArgs<'_>, at: u64, step: u64, k: u32) -> [f32; 8] {
    [0, 1, 2, 3, 4, 5, 6, 7].map(
        |i: u32| {
            if k + i < x.k { x.from.get_or((at + i as u64 * step) as usize, 0.0) } else { 0.0 }
        },
    )
}

/// [`load_eight`] of neighbours, by 16 bytes at a time.
#[cfg_attr(optimised, inline(always))]
fn load_quads(x: &SplitArgs<'_>, at: u64, k: u32) -> [f32; 8] {
    let [low, high] = [0, 4].map(|i: u32| {
        if k + i < x.k {
            x.from.vectors::<4>().get_or(((at + i as u64) / 4) as usize, zeroed()).lanes
        } else {
            [0.0; 4]
        }
    });
    [low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3]]
}

/// The first vector of `to` for [`DEPTH`] of k from `k` on; rows count through all matrices.
#[cfg_attr(optimised, inline(always))]
fn planes_at(x: &SplitArgs<'_>, row: u64, k: u32) -> u64 {
    row * (x.k.div_ceil(DEPTH) * OF_ROW) as u64 + (k / DEPTH * OF_ROW) as u64
}

/// 8 elements for each thread, along rows.
#[cfg_attr(optimised, inline(always))]
fn split_rows(x: &SplitArgs<'_>, block: u32) {
    let (rows, eights) = (x.rows.max(1), (x.k.div_ceil(DEPTH) * VECTORS).max(1));
    let [line, matrix] = x.strides;
    let i = block * THREADS + thread_idx_x();
    let (row, k) = (i / eights, i % eights * EIGHT);
    if row / rows >= x.matrices {
        return;
    }
    let at = (row / rows) as u64 * matrix + (row % rows) as u64 * line + k as u64;
    // No quad is only partly in a row.
    let has_quads =
        x.k.is_multiple_of(4) && (line | matrix).is_multiple_of(4) && x.from.as_ptr().addr().is_multiple_of(16);
    let elements = if has_quads { load_quads(x, at, k) } else { load_eight(x, at, 1, k) };
    let to = planes_at(x, row as u64, k) + (k % DEPTH / EIGHT) as u64;
    let [first, second, third] = split_eight(elements);
    x.to.set_within(to as usize, first);
    x.to.set_within((to + VECTORS as u64) as usize, second);
    x.to.set_within((to + 2 * VECTORS as u64) as usize, third);
}

/// [`DEPTH`] of k of [`ROWS`] rows, which are neighbours in memory.
#[cfg_attr(optimised, inline(always))]
fn split_columns(x: &SplitArgs<'_>, smem: &SharedArray<u32, WORDS>, block: u32) {
    let (depths, bands) = (x.k.div_ceil(DEPTH).max(1), x.rows.div_ceil(ROWS).max(1));
    let (band, matrix) = (block % bands, block / bands / depths);
    let depth = block / bands % depths * DEPTH;
    let (eight, lane) = (thread_idx_x() / ROWS, thread_idx_x() % ROWS);
    let (row, k) = (band * ROWS + lane, depth + eight * EIGHT);
    let at = matrix as u64 * x.strides[1] + k as u64 * x.strides[0] + row as u64;
    let elements = load_eight(x, at, x.strides[0], if row < x.rows { k } else { x.k });
    // Where vector `vector` of a plane of a row is staged.
    let staged = |row: u32, plane: u32, vector: u32| (row * OF_ROW + plane * VECTORS + (vector ^ (row % VECTORS))) * 4;
    let [first, second, third] = split_eight(elements);
    smem.set_vec::<4>(staged(lane, 0, eight), first);
    smem.set_vec::<4>(staged(lane, 1, eight), second);
    smem.set_vec::<4>(staged(lane, 2, eight), third);
    sync_threads();
    let (line, vector) = (thread_idx_x() / VECTORS, thread_idx_x() % VECTORS);
    let row = band * ROWS + line;
    if row < x.rows {
        let to = planes_at(x, matrix as u64 * x.rows as u64 + row as u64, depth) + vector as u64;
        for plane in 0..PLANES {
            x.to.set_within((to + (plane * VECTORS) as u64) as usize, smem.get_vec4(staged(line, plane, vector)));
        }
    }
}

/// The planes of A and of B.
#[kernel(pdl, block = (THREADS), registers = 40, barriers = 1, global_load_bytes = 4, global_store_bytes = 16)]
pub fn gemm_sm90_bf16x6_split(#[shared] smem: &SharedArray<u32, WORDS>, a: SplitArgs, b: SplitArgs) {
    launch_dependents();
    dependency_wait();
    let is_a = block_idx_x() < a.blocks;
    let x = if is_a { a } else { b };
    let block = if is_a { block_idx_x() } else { block_idx_x() - a.blocks };
    if x.is_k_major == 0 {
        split_columns(&x, smem, block);
    } else {
        split_rows(&x, block);
    }
}
