//! What a block does.

use simt::element::{Lanes, Vector};
use simt::opaque;
use simt::prelude::*;
use simt::warp::{lane_id, sync_warp};

use super::operand::{Operand, Strip};
use super::{ACCUMULATOR_PITCH, CHUNK_BYTES, LARGE_EXTENT, LOADS, Smem, large_operand, small_operand};
use crate::gemm::args::{GemmArgs, Operands, TRANSPOSE_A, TRANSPOSE_B, strides};
use crate::gemm::number::Number;

/// A warp's sums for `ROWS` × [`LARGE_EXTENT`] elements of C, of elements `T`, `V` of them in 16 bytes.
pub(super) trait Accumulators<T: Lanes<V>, const V: usize>: Copy {
    /// Zeros.
    const ZERO: Self;

    /// Adds a chunk of a large operand whose vectors run along k: vector r of lane (g, q), which is lane 4·g + q, is
    /// piece q of row 8·r + g. The small one's piece is staged from `own` on.
    fn add_k_major<const STAGE: usize>(
        &mut self,
        small: &SharedArray<T, STAGE>,
        own: u32,
        large: &[Vector<T, V>; LOADS],
        lane: u32,
    );

    /// Adds a chunk of a large operand whose vectors are MN-major: vector 4·j + i of a lane is piece lane / (V/2) of
    /// the row that is step 2·V·j + 4·(lane mod V/2) + i along k.
    fn add_mn_major<const STAGE: usize>(
        &mut self,
        small: &SharedArray<T, STAGE>,
        own: u32,
        large: &[Vector<T, V>; LOADS],
        lane: u32,
    );

    /// Calls `put` with row of the small operand, row or column of the large one, and sum, for each sum that this lane
    /// is to write. `K_MAJOR` says how they were made.
    fn each<const K_MAJOR: bool>(self, lane: u32, put: impl FnMut(u32, u32, f32));
}

/// The tile of C of this block, in all matrices of its share of the batch.
#[cfg_attr(optimised, inline(always))]
pub(super) fn gemm<
    T: Number<Wide = f32> + Lanes<V>,
    S: Accumulators<T, V>,
    const V: usize,
    const ROWS: usize,
    const THREADS: u32,
    const SMALL_IS_A: bool,
    const STAGE: usize,
    const SCRATCH: usize,
>(
    smem: &Smem<T, STAGE, SCRATCH>,
    Operands { a, b, ld, stride: batch }: Operands<'_, T>,
    args: GemmArgs<'_, T>,
) {
    let GemmArgs { m, n, k, batch: batches, flags, .. } = args;
    let rows = ROWS as u32;
    let tile = if SMALL_IS_A { [rows, LARGE_EXTENT] } else { [LARGE_EXTENT, rows] };
    let tiles = n.div_ceil(tile[1]).max(1);
    let (row0, col0) = (block_idx_x() / tiles * tile[0], block_idx_x() % tiles * tile[1]);
    if row0 >= m || col0 >= n {
        return;
    }
    let (a_down, a_along) = strides(ld[0], flags & TRANSPOSE_A != 0);
    let (b_along, b_across) = strides(ld[1], flags & TRANSPOSE_B != 0);
    let of_a = Operand { elements: a, batch: batch[0], across: a_down, k_major: a_along, first: row0, extent: m };
    let of_b = Operand { elements: b, batch: batch[1], across: b_across, k_major: b_along, first: col0, extent: n };
    let (of_small, of_large) = if SMALL_IS_A { (of_a, of_b) } else { (of_b, of_a) };
    let (few, many) = (of_small.count(rows), of_large.count(LARGE_EXTENT));

    let mut matrix = block_idx_z();
    while matrix < batches {
        let (small, large) = (of_small.strip(matrix, few, k), of_large.strip(matrix, many, k));
        if large.k_major {
            let sums = sum::<T, S, V, ROWS, THREADS, STAGE, SCRATCH, true>(smem, small, large, k);
            write::<S, T, V, ROWS, THREADS, SCRATCH, true>(sums, &smem.scratch);
        } else {
            let sums = sum::<T, S, V, ROWS, THREADS, STAGE, SCRATCH, false>(smem, small, large, k);
            write::<S, T, V, ROWS, THREADS, SCRATCH, false>(sums, &smem.scratch);
        }
        sync_threads();
        // Neighbouring threads take neighbours in a row of C.
        let mut element = thread_idx_x();
        while element < rows * LARGE_EXTENT {
            let (few_at, many_at) = if SMALL_IS_A {
                (element / LARGE_EXTENT, element % LARGE_EXTENT)
            } else {
                (element % rows, element / rows)
            };
            if few_at < few && many_at < many {
                let mut sum = 0.0;
                for warp in 0..THREADS / 32 {
                    sum += smem.scratch.get(place::<ROWS>(warp, few_at, many_at));
                }
                let (row, col) = if SMALL_IS_A { (few_at, many_at) } else { (many_at, few_at) };
                let (row, col) = (row0 + row, col0 + col);
                args.store(sum, args.index(matrix, row, col), (row, col));
            }
            element += THREADS;
        }
        sync_threads();
        matrix = matrix.saturating_add(grid_dim_z());
    }
}

/// Where a sum of a warp lies in shared memory.
#[cfg_attr(optimised, inline(always))]
const fn place<const ROWS: usize>(warp: u32, few: u32, many: u32) -> u32 {
    (warp * ROWS as u32 + few) * ACCUMULATOR_PITCH + many
}

/// The sums of this warp's chunks.
#[cfg_attr(optimised, inline(always))]
fn sum<
    T: Number + Lanes<V>,
    S: Accumulators<T, V>,
    const V: usize,
    const ROWS: usize,
    const THREADS: u32,
    const STAGE: usize,
    const SCRATCH: usize,
    const K_MAJOR: bool,
>(
    smem: &Smem<T, STAGE, SCRATCH>,
    small: Strip<T>,
    large: Strip<T>,
    k: u32,
) -> S {
    let chunk = 4 * V as u32;
    let mut sums = S::ZERO;
    let mut k0 = thread_idx_x() % THREADS / 32 * chunk;
    while k0 < k {
        // No address is worth a register from chunk to chunk.
        let thread = opaque(thread_idx_x()) % THREADS;
        let (warp, lane) = (thread / 32, thread % 32);
        let own = warp * (ROWS * CHUNK_BYTES / size_of::<T>()) as u32;
        // The small operand comes while the large one is under way.
        let vectors = large_operand::chunk::<T, V, THREADS, SCRATCH, K_MAJOR>(large, &smem.scratch, k0, thread);
        small_operand::stage::<T, V, ROWS, STAGE>(small, &smem.small, own, k0, lane);
        sync_warp(u32::MAX);
        if K_MAJOR {
            sums.add_k_major(&smem.small, own, &vectors, lane);
        } else {
            sums.add_mn_major(&smem.small, own, &vectors, lane);
        }
        sync_warp(u32::MAX);
        k0 = k0.saturating_add(THREADS / 32 * chunk);
    }
    sums
}

/// Puts a warp's sums into shared memory, once nobody has vectors there.
#[cfg_attr(optimised, inline(always))]
fn write<
    S: Accumulators<T, V>,
    T: Lanes<V>,
    const V: usize,
    const ROWS: usize,
    const THREADS: u32,
    const SCRATCH: usize,
    const K_MAJOR: bool,
>(
    sums: S,
    scratch: &SharedArray<f32, SCRATCH>,
) {
    let (warp, lane) = (thread_idx_x() % THREADS / 32, lane_id() % 32);
    sync_threads();
    sums.each::<K_MAJOR>(lane, |few, many, sum| scratch.set(place::<ROWS>(warp, few, many), sum));
}
