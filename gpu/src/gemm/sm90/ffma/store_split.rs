//! From the accumulators of a block's warp groups to C: they are staged side by side and added where they leave shared
//! memory in rows.

use simt::prelude::*;

use super::config::Config;
use super::store::{stage, store_rows};
use crate::gemm::args::GemmArgs;
use crate::gemm::microtile::Microtile;
use crate::unroll::unroll;

/// Stages the accumulators of this thread, whose group has the steps that are `group` modulo the number of groups, in
/// that tile of `staging`.
#[cfg_attr(optimised, inline(always))]
pub(super) fn stage_group<C: Config, const MQ: usize, const LEN: usize>(
    accumulators: &[[[[f32; 4]; 2]; 4]; MQ],
    staging: &SharedArray<f32, LEN>,
    mine: Microtile,
    group: u32,
) {
    let [m, n] = C::CONFIG.tile;
    stage(accumulators, staging, |row, col| group * m * n + (mine.row + row) % m * n + (mine.col + col) % n);
}

/// Adds up the groups' tiles in their order and stores the tile of C at `[row, column, matrix]`, by thread `t` of all.
#[cfg_attr(optimised, inline(always))]
pub(super) fn store<C: Config, const LEN: usize>(
    staging: &SharedArray<f32, LEN>,
    t: u32,
    place: [u32; 3],
    gemm: GemmArgs<'_, f32>,
) {
    let ([m, n], groups) = (C::CONFIG.tile, C::CONFIG.groups as usize);
    let quad = |at: u32| {
        let mut four = staging.get_vec4(at).lanes;
        unroll!(for group in 1..17 {
            if group < groups {
                let more = staging.get_vec4(at + group as u32 * m * n).lanes;
                four = [four[0] + more[0], four[1] + more[1], four[2] + more[2], four[3] + more[3]];
            }
        });
        four
    };
    let one = |at: u32| {
        let mut value = staging.get(at);
        unroll!(for group in 1..17 {
            if group < groups {
                value += staging.get(at + group as u32 * m * n);
            }
        });
        value
    };
    store_rows::<C>(t, place, gemm, quad, one);
}
