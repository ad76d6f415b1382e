//! What a block does.

use simt::element::{Lanes, Vector};
use simt::opaque;
use simt::prelude::*;
use simt::warp::{lane_id, sync_warp};

use super::strip::{Factor, Strip};
use super::{ACROSS, CHUNK_BYTES, LOADS, Memory, PITCH_OF_SUMS, large, small};
use crate::gemm::call::{TRANSPOSE_A, TRANSPOSE_B, epilogue, strides};
use crate::gemm::number::Number;

/// A warp's sums for `ROWS` × [`ACROSS`] elements of C, of elements `T`, `V` of them in 16 bytes.
pub(super) trait Sums<T: Lanes<V>, const V: usize>: Copy {
    /// Zeros.
    const ZERO: Self;

    /// Adds a chunk of a large factor whose vectors run along k: vector r of lane (g, q), which is lane 4·g + q, is piece q
    /// of row 8·r + g. The small one's piece is staged from `own` on.
    fn add_along<const STAGE: usize>(
        &mut self,
        small: &SharedArray<T, STAGE>,
        own: u32,
        large: &[Vector<T, V>; LOADS],
        lane: u32,
    );

    /// Adds a chunk of a large factor whose vectors run across k: vector 4·j + i of a lane is piece lane / (V/2) of the row
    /// that is step 2·V·j + 4·(lane mod V/2) + i along k.
    fn add_across<const STAGE: usize>(
        &mut self,
        small: &SharedArray<T, STAGE>,
        own: u32,
        large: &[Vector<T, V>; LOADS],
        lane: u32,
    );

    /// Calls `put` with row of the small factor, row or column of the large one, and sum, for each sum that this lane is to
    /// write. `ALONG` says how they were made.
    fn each<const ALONG: bool>(self, lane: u32, put: impl FnMut(u32, u32, f32));
}

/// The tile of C of this block, in all matrices of its share of the batch.
#[inline(always)]
#[track_caller]
pub(super) fn product<
    T: Number<Wide = f32> + Lanes<V>,
    S: Sums<T, V>,
    const V: usize,
    const ROWS: usize,
    const THREADS: u32,
    const SMALL_IS_A: bool,
    const STAGE: usize,
    const SCRATCH: usize,
>(
    memory: &Memory<T, STAGE, SCRATCH>,
    (a, b): (VecRef<T>, VecRef<T>),
    c: (VecMut<T>, VecMut<f32>),
    bias: VecRef<f32>,
    [m, n, k, batches]: [u32; 4],
    ld: [u64; 3],
    batch: [u64; 3],
    scale: [f32; 2],
    flags: u32,
) {
    let rows = ROWS as u32;
    let tile = if SMALL_IS_A { [rows, ACROSS] } else { [ACROSS, rows] };
    let tiles = n.div_ceil(tile[1]).max(1);
    let (row0, col0) = (block_idx_x() / tiles * tile[0], block_idx_x() % tiles * tile[1]);
    if row0 >= m || col0 >= n {
        return;
    }
    let (a_down, a_along) = strides(ld[0], flags & TRANSPOSE_A != 0);
    let (b_along, b_across) = strides(ld[1], flags & TRANSPOSE_B != 0);
    let of_a = Factor { elements: a, batch: batch[0], across: a_down, along: a_along, first: row0, extent: m };
    let of_b = Factor { elements: b, batch: batch[1], across: b_across, along: b_along, first: col0, extent: n };
    let (of_small, of_large) = if SMALL_IS_A { (of_a, of_b) } else { (of_b, of_a) };
    let (few, many) = (of_small.count(rows), of_large.count(ACROSS));

    let mut matrix = block_idx_z();
    while matrix < batches {
        let (small, large) = (of_small.strip(matrix, few, k), of_large.strip(matrix, many, k));
        if large.along {
            let sums = sum::<T, S, V, ROWS, THREADS, STAGE, SCRATCH, true>(memory, small, large, k);
            write::<S, T, V, ROWS, THREADS, SCRATCH, true>(sums, &memory.scratch);
        } else {
            let sums = sum::<T, S, V, ROWS, THREADS, STAGE, SCRATCH, false>(memory, small, large, k);
            write::<S, T, V, ROWS, THREADS, SCRATCH, false>(sums, &memory.scratch);
        }
        sync_threads();
        // Neighbouring threads take neighbours in a row of C.
        let mut element = thread_idx_x();
        while element < rows * ACROSS {
            let (few_at, many_at) =
                if SMALL_IS_A { (element / ACROSS, element % ACROSS) } else { (element % rows, element / rows) };
            if few_at < few && many_at < many {
                let mut sum = 0.0;
                for warp in 0..THREADS / 32 {
                    sum += memory.scratch.get(place::<ROWS>(warp, few_at, many_at));
                }
                let (row, col) = if SMALL_IS_A { (few_at, many_at) } else { (many_at, few_at) };
                let (row, col) = (row0 + row, col0 + col);
                let at = matrix as u64 * batch[2] + row as u64 * ld[2] + col as u64;
                epilogue(sum, at, c, bias, (row, col), scale, flags);
            }
            element += THREADS;
        }
        sync_threads();
        matrix = matrix.saturating_add(grid_dim_z());
    }
}

/// Where a sum of a warp lies in shared memory.
#[inline(always)]
const fn place<const ROWS: usize>(warp: u32, few: u32, many: u32) -> u32 {
    (warp * ROWS as u32 + few) * PITCH_OF_SUMS + many
}

/// The sums of this warp's chunks.
#[inline(always)]
#[track_caller]
fn sum<
    T: Number + Lanes<V>,
    S: Sums<T, V>,
    const V: usize,
    const ROWS: usize,
    const THREADS: u32,
    const STAGE: usize,
    const SCRATCH: usize,
    const ALONG: bool,
>(
    memory: &Memory<T, STAGE, SCRATCH>,
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
        // The small factor comes while the large one is under way.
        let vectors = large::chunk::<T, V, THREADS, SCRATCH, ALONG>(large, &memory.scratch, k0, thread);
        small::stage::<T, V, ROWS, STAGE>(small, &memory.small, own, k0, lane);
        sync_warp(u32::MAX);
        if ALONG {
            sums.add_along(&memory.small, own, &vectors, lane);
        } else {
            sums.add_across(&memory.small, own, &vectors, lane);
        }
        sync_warp(u32::MAX);
        k0 = k0.saturating_add(THREADS / 32 * chunk);
    }
    sums
}

/// Puts a warp's sums into shared memory, once nobody has vectors there.
#[inline(always)]
#[track_caller]
fn write<
    S: Sums<T, V>,
    T: Lanes<V>,
    const V: usize,
    const ROWS: usize,
    const THREADS: u32,
    const SCRATCH: usize,
    const ALONG: bool,
>(
    sums: S,
    scratch: &SharedArray<f32, SCRATCH>,
) {
    let (warp, lane) = (thread_idx_x() % THREADS / 32, lane_id() % 32);
    sync_threads();
    sums.each::<ALONG>(lane, |few, many, sum| scratch.set(place::<ROWS>(warp, few, many), sum));
}
