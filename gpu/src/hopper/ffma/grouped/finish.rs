//! How the groups' sums become C: they meet in the ring's memory, where nothing is any more, and are added where they leave it in rows.

use simt::prelude::*;

use crate::gemm::call::epilogue;
use crate::gemm::place::Place;
use crate::hopper::ffma::finish::CROSSED;
use crate::hopper::gemm::finish::Finish;
use crate::unroll::unroll;

/// Puts the sums of this thread, whose group has the steps that are `group` modulo the number of groups, down in that tile of `staging`.
#[inline(always)]
#[track_caller]
pub(super) fn put_down<const M: usize, const N: usize, const MQ: usize, const LEN: usize>(
    sums: &[[[[f32; 4]; 2]; 4]; MQ],
    staging: &SharedArray<f32, LEN>,
    mine: Place,
    group: u32,
) {
    unroll!(for quad in 0..4 {
        if quad < MQ {
            unroll!(for i in 0..4 {
                let row = (mine.row + (16 * quad + i) as u32) % M as u32;
                unroll!(for j in 0..2 {
                    let four = CROSSED.map(|of| sums[quad][i][j][of]);
                    let at = row * N as u32 + (mine.col + 32 * j as u32) % N as u32;
                    staging.set_vec4(group * (M * N) as u32 + at, four.into());
                });
            });
        }
    });
}

/// Adds up the groups' tiles in their order and writes the tile of C at `[row, column, matrix]`. Thread `t` of all has four neighbours of C
/// at a time where they are one access, else one.
#[inline(always)]
#[track_caller]
pub(super) fn write<const M: usize, const N: usize, const GROUPS: u32, const WARPS: u32, const LEN: usize>(
    staging: &SharedArray<f32, LEN>,
    t: u32,
    [row, col, matrix]: [u32; 3],
    [m, n]: [u32; 2],
    how: Finish<'_, f32>,
) {
    let threads = WARPS * GROUPS * 32;
    let start =
        |line: u32, column: u32| matrix as u64 * how.strides[1] + (row + line) as u64 * how.strides[0] + column as u64;
    let rows = m.saturating_sub(row).min(M as u32);
    let width = N as u32;
    if how.by_fours(n) {
        let piece = t % (width / 4) * 4;
        let mut line = t / (width / 4);
        while line < rows && col + piece < n {
            let at = line % M as u32 * width + piece;
            let mut four = staging.get_vec4(at).lanes;
            unroll!(for group in 1..17 {
                if group < GROUPS as usize {
                    let more = staging.get_vec4(at + (group * M * N) as u32).lanes;
                    four = [four[0] + more[0], four[1] + more[1], four[2] + more[2], four[3] + more[3]];
                }
            });
            how.four(CROSSED.map(|of| four[of]), start(line, col + piece), (row + line, col + piece));
            line += 4 * threads / width;
        }
    } else {
        let column = t % width;
        let mut line = t / width;
        while line < rows && col + column < n {
            let at = line % M as u32 * width + (column ^ 1);
            let mut sum = staging.get(at);
            unroll!(for group in 1..17 {
                if group < GROUPS as usize {
                    sum += staging.get(at + (group * M * N) as u32);
                }
            });
            let place = (row + line, col + column);
            epilogue(sum, start(line, col + column), (how.c, how.wide), how.bias, place, how.scale, how.flags);
            line += threads / width;
        }
    }
}
