//! How a block's sums become C.
//!
//! They meet in the ring's memory, where nothing is any more, and leave it in rows: neighbours of C are then written at
//! once, and what is done to an element ([`call`](crate::gemm::call)) stands in the program once and not for each of a
//! thread's sums.

use simt::prelude::*;

use crate::gemm::call::epilogue;
use crate::gemm::place::Place;
use crate::hopper::gemm::finish::Finish;
use crate::unroll::unroll;

/// The order in which four sums are put down. Sums that go into one access lie in four registers in a row. In this order
/// they are an even and an odd one where four neighbours of B are an odd and an even one, so that a multiply-add finds its
/// sum and its element of B in different register banks.
pub(super) const CROSSED: [usize; 4] = [1, 0, 3, 2];

/// Writes the tile of C at `[row, column, matrix]` from the sums of this block's threads.
#[inline(always)]
#[track_caller]
pub(super) fn write<
    const M: usize,
    const N: usize,
    const MQ: usize,
    const NQ: usize,
    const THREADS: usize,
    const RING: usize,
>(
    sums: &[[[[f32; 4]; NQ]; 4]; MQ],
    staging: &SharedArray<f32, RING>,
    mine: Place,
    [row, col, matrix]: [u32; 3],
    [m, n]: [u32; 2],
    how: Finish<'_, f32>,
) {
    const { assert!(M * N <= RING && (M * N).is_power_of_two()) }
    let at = mine.row * N as u32 + mine.col;
    unroll!(for quad in 0..4 {
        if quad < MQ {
            unroll!(for i in 0..4 {
                unroll!(for j in 0..4 {
                    if j < NQ {
                        let four = CROSSED.map(|of| sums[quad][i][j][of]);
                        // The mask tells the compiler that all four are inside.
                        let at = (at + ((16 * quad + i) * N + 32 * j) as u32) & (M * N - 4) as u32;
                        staging.set_vec4(at, four.into());
                    }
                });
            });
        }
    });
    sync_threads();
    let t = thread_idx_x() % THREADS as u32;
    let start =
        |line: u32, column: u32| matrix as u64 * how.strides[1] + (row + line) as u64 * how.strides[0] + column as u64;
    let rows = m.saturating_sub(row).min(M as u32);
    if how.by_fours(n) {
        let piece = t % (N as u32 / 4) * 4;
        let mut line = t / (N as u32 / 4);
        while line < rows && col + piece < n {
            let four = staging.get_vec4(line % M as u32 * N as u32 + piece).lanes;
            how.four(CROSSED.map(|of| four[of]), start(line, col + piece), (row + line, col + piece));
            line += (4 * THREADS / N) as u32;
        }
    } else {
        let column = t % N as u32;
        let mut line = t / N as u32;
        while line < rows && col + column < n {
            let sum = staging.get(line % M as u32 * N as u32 + (column ^ 1));
            let place = (row + line, col + column);
            epilogue(sum, start(line, col + column), (how.c, how.wide), how.bias, place, how.scale, how.flags);
            line += const { if THREADS > N { THREADS / N } else { 1 } } as u32;
        }
    }
}
