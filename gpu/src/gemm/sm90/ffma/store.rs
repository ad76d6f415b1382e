//! From a block's accumulators to C.
//!
//! They are staged in the stages' memory, which is free by then, and leave it in rows: neighbours of C are then stored
//! at once, and the epilogue stands in the program once and not for each of a thread's accumulators.

use simt::prelude::*;

use super::config::Config;
use crate::gemm::args::GemmArgs;
use crate::gemm::microtile::Microtile;
use crate::unroll::{each, unroll};

/// The permuted order in which four accumulators are staged. Accumulators of one access lie in four consecutive
/// registers. In this order they are an even and an odd one where four neighbours of B are an odd and an even one, so
/// that an FFMA finds its accumulator and its element of B in different register banks.
pub(super) const PERMUTED: [usize; 4] = [1, 0, 3, 2];

/// Stages a thread's accumulators, whose microtile begins at element `at` of rows of `width` elements. `inside` tells
/// the compiler that a place is inside.
#[cfg_attr(optimised, inline(always))]
pub(super) fn stage<const MQ: usize, const NQ: usize, const LEN: usize>(
    accumulators: &[[[[f32; 4]; NQ]; 4]; MQ],
    staging: &SharedArray<f32, LEN>,
    at: impl Fn(u32, u32) -> u32,
) {
    unroll!(for quad in 0..4 {
        if quad < MQ {
            unroll!(for i in 0..4 {
                unroll!(for j in 0..4 {
                    if j < NQ {
                        let four = each!(PERMUTED, |of| accumulators[quad][i][j][of]);
                        staging.set_vec4(at((16 * quad + i) as u32, 32 * j as u32), four.into());
                    }
                });
            });
        }
    });
}

/// Stores the tile of C at `[row, column, matrix]` from the accumulators of this block's threads.
#[cfg_attr(optimised, inline(always))]
pub(super) fn store<C: Config, const MQ: usize, const NQ: usize, const LEN: usize>(
    accumulators: &[[[[f32; 4]; NQ]; 4]; MQ],
    staging: &SharedArray<f32, LEN>,
    mine: Microtile,
    place: [u32; 3],
    gemm: GemmArgs<'_, f32>,
) {
    let [m, n] = C::CONFIG.tile;
    const {
        assert!(
            (C::CONFIG.tile[0] * C::CONFIG.tile[1]) as usize <= LEN
                && (C::CONFIG.tile[0] * C::CONFIG.tile[1]).is_power_of_two()
        );
    }
    let start = mine.row * n + mine.col;
    // The mask tells the compiler that all four are inside.
    stage(accumulators, staging, |row, col| (start + row * n + col) & (m * n - 4));
    sync_threads();
    let quad = |at: u32| staging.get_vec4(at).lanes;
    store_rows::<C>(thread_idx_x() % C::CONFIG.threads, place, gemm, quad, |at| staging.get(at));
}

/// Stores the tile of C at `[row, column, matrix]` by thread `t` of all: `quad` and `one` give staged values, four in
/// their permuted order and one.
#[cfg_attr(optimised, inline(always))]
pub(super) fn store_rows<C: Config>(
    t: u32,
    [row, col, matrix]: [u32; 3],
    gemm: GemmArgs<'_, f32>,
    quad: impl Fn(u32) -> [f32; 4],
    one: impl Fn(u32) -> f32,
) {
    let ([tile_m, width], threads) = (C::CONFIG.tile, C::CONFIG.threads);
    let rows = gemm.m.saturating_sub(row).min(tile_m);
    if gemm.has_quads(gemm.n) {
        let column = t % (width / 4) * 4;
        let mut line = t / (width / 4);
        while line < rows && col + column < gemm.n {
            let four = quad(line % tile_m * width + column);
            let at = gemm.index(matrix, row + line, col + column);
            gemm.store_quad(each!(PERMUTED, |of| four[of]), at, (row + line, col + column));
            line += 4 * threads / width;
        }
    } else {
        let column = t % width;
        let mut line = t / width;
        while line < rows && col + column < gemm.n {
            let value = one(line % tile_m * width + (column ^ 1));
            let place = (row + line, col + column);
            gemm.store(value, gemm.index(matrix, row + line, col + column), place);
            line += if threads > width { threads / width } else { 1 };
        }
    }
}
