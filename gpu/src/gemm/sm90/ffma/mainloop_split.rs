//! What a block does: intra-block split-K.

use simt::grid::{dependency_wait, launch_dependents};
use simt::opaque;
use simt::prelude::*;
use simt::sync::{fence_proxy_async, named_barrier};
use simt::tma::{TensorMap, load_3d, prefetch};
use simt::warp::sync_warp;

use super::config::Config;
use super::mainloop::SplitSmem;
use super::store_split::{stage_group, store};
use super::transpose::transpose;
use crate::gemm::args::TmaGemmArgs;
use crate::gemm::microtile::{Microtile, accumulate};
use crate::gemm::sm90::pipeline::{PipelineState, init_pipeline};
use crate::gemm::sm90::schedule::raster::Tiles;
use crate::unroll::unroll;

/// Steps of k that the loop is unrolled for. With few of them the compiler leaves the FFMAs in the order in which they
/// share operands.
const UNROLLED: usize = 2;

/// The tiles of C whose number is that of this block modulo the grid's size.
///
/// Each group of warps has `OWN` stages of its own; a thread has `MQ` · 4 × 8 elements of a tile. An operand that is
/// K-major in memory is transposed in shared memory. Stage s is that of group s modulo the number of groups.
#[cfg_attr(optimised, inline(always))]
pub(super) fn gemm<C: Config, const MQ: usize, const OWN: usize, const ELEMENTS: usize, const STAGES: usize>(
    smem: &SplitSmem<ELEMENTS, STAGES>,
    (a, b): (&TensorMap<f32>, &TensorMap<f32>),
    args: TmaGemmArgs<'_, f32>,
) {
    const {
        let ([m, n], groups) = (C::CONFIG.tile, C::CONFIG.groups);
        assert!(
            C::CONFIG.threads as usize / groups as usize * MQ * 32 == (m * n) as usize
                && STAGES == OWN * groups as usize
        );
        assert!(ELEMENTS == ((m + n) * C::CONFIG.depth) as usize * STAGES);
        // The accumulators of all groups are staged where the stages were.
        assert!((groups * m * n) as usize <= ELEMENTS && n == 64);
    }
    let ([tile_m, tile_n], depth, groups) = (C::CONFIG.tile, C::CONFIG.depth, C::CONFIG.groups);
    let warps = C::CONFIG.threads / 32 / groups;
    let (box_a, box_b) = (tile_m * depth, tile_n * depth);
    let stage_len = box_a + box_b;
    let (m, n, k, batch) = (args.gemm.m, args.gemm.n, args.gemm.k, args.gemm.batch);
    let t = thread_idx_x() % C::CONFIG.threads;
    if k == 0 {
        dependency_wait();
        return;
    }
    if t == 0 {
        prefetch(a);
        prefetch(b);
    }
    init_pipeline!(smem, STAGES, t, warps, 1);
    launch_dependents();
    let within = t % (warps * 32);
    let group = opaque(t / (warps * 32)).min(groups - 1);
    let tiles = Tiles { rows: m.div_ceil(tile_m), cols: n.div_ceil(tile_n) };
    let (steps, all) = (k.div_ceil(depth), tiles.per_matrix() * batch);
    let mine = Microtile::of::<MQ, 2>(const { C::CONFIG.tile[1] / 64 }, within);
    // Of the group's own stages.
    let (mut state, mut ahead) = (PipelineState::<OWN>::CONSUMER, PipelineState::<OWN>::PRODUCER);
    // The group that has the tile's first step.
    let mut first = 0;
    let mut tile = block_idx_x();
    while tile < all {
        let (matrix, row, col) = tiles.at(tile);
        let (row, col) = (row * tile_m, col * tile_n);
        // As in the sequential main loop: the place is known before the predecessor ends.
        if opaque(col) < n {
            dependency_wait();
        }
        // The first step of this group. Its accumulators are staged in the same place whichever group it is.
        let start = (group + groups - first) % groups;
        // Loads the group's step of this number, if there is one. Its warps take turns.
        let mut load = |number: u32| {
            let step = start + number * groups;
            if step < steps {
                if within == number % warps * 32 {
                    let at = (step * depth) as i32;
                    let stage = ahead.stage() * groups + group;
                    smem.empty.wait(stage, ahead.parity);
                    smem.full.arrive_expect_tx(stage, stage_len * size_of::<f32>() as u32);
                    let bar = smem.full.at(stage);
                    let [inner, outer] = if C::K_MAJOR[0] { [at, row as i32] } else { [row as i32, at] };
                    let place = [inner, outer, (matrix * args.batch_step[0]) as i32];
                    load_3d(smem.stages.tma_box(stage * stage_len, box_a), a, place, bar);
                    let [inner, outer] = if C::K_MAJOR[1] { [at, col as i32] } else { [col as i32, at] };
                    let place = [inner, outer, (matrix * args.batch_step[1]) as i32];
                    load_3d(smem.stages.tma_box(stage * stage_len + box_a, box_b), b, place, bar);
                }
                ahead.advance();
            }
        };
        for number in 0..OWN as u32 {
            load(number);
        }
        let mut accumulators = const { [[[[0.0_f32; 4]; 2]; 4]; MQ] };
        let (group_steps, thread) = ([group, start, steps], (mine, within));
        state =
            steps_of_group::<C, MQ, OWN, ELEMENTS, STAGES>(smem, &mut accumulators, state, group_steps, thread, load);
        first = (first + steps) % groups;
        // The pipeline is empty, and no load under way.
        sync_threads();
        stage_group::<C, MQ, ELEMENTS>(&accumulators, &smem.stages, mine, start);
        sync_threads();
        store::<C, ELEMENTS>(&smem.stages, t, [row, col, matrix], args.gemm);
        tile += grid_dim_x();
        if tile < all {
            fence_proxy_async();
            sync_threads();
        }
    }
}

/// The main loop: adds the products of the steps `start`, `start + groups`, … below `steps` by the warps of group
/// `group`. `state` is that of the first of them, `within` the thread's number in its group. `load` loads the group's
/// step of a number. Returns the state after them.
#[cfg_attr(optimised, inline(always))]
fn steps_of_group<C: Config, const MQ: usize, const OWN: usize, const ELEMENTS: usize, const STAGES: usize>(
    smem: &SplitSmem<ELEMENTS, STAGES>,
    accumulators: &mut [[[[f32; 4]; 2]; 4]; MQ],
    mut state: PipelineState<OWN>,
    [group, start, steps]: [u32; 3],
    (mine, within): (Microtile, u32),
    mut load: impl FnMut(u32),
) -> PipelineState<OWN> {
    let ([tile_m, tile_n], depth, groups) = (C::CONFIG.tile, C::CONFIG.depth, C::CONFIG.groups);
    let warps = C::CONFIG.threads / 32 / groups;
    let box_a = tile_m * depth;
    let stage_len = box_a + tile_n * depth;
    // Whether a stage is loaded again while the next one is multiplied: one warp need not wait for others.
    let late = warps > 1 && OWN > 1;
    let mut number = 0;
    while start + number * groups < steps {
        // The minimum says again what the opaque value is below.
        let stage = (opaque(state.stage()) * groups + group).min(STAGES as u32 - 1);
        smem.full.wait(stage, state.parity);
        let (in_a, in_b) = (stage * stage_len, stage * stage_len + box_a);
        if C::K_MAJOR[0] {
            transpose(&smem.stages, in_a, tile_m, warps, within);
        }
        if C::K_MAJOR[1] {
            transpose(&smem.stages, in_b, tile_n, warps, within);
        }
        if C::K_MAJOR[0] || C::K_MAJOR[1] {
            // Barrier 0 is the block's.
            if warps == 1 { sync_warp(u32::MAX) } else { named_barrier(group + 1, warps * 32) }
        }
        // A box that was transposed is 32 x 32 after 32 x 32.
        let (line_a, right_a) = if C::K_MAJOR[0] { (32, 1024) } else { (tile_m, 32) };
        let (line_b, right_b) = if C::K_MAJOR[1] { (32, 1024) } else { (tile_n, 32) };
        let from_a = opaque(in_a + mine.row / 32 * right_a + mine.row % 32);
        let from_b = opaque(in_b + mine.col);
        let fragments = |line: u32| {
            let (at_a, at_b) = (from_a + line * line_a, from_b + line * line_b);
            let mut column = [[0.0_f32; 4]; MQ];
            unroll!(for i in 0..4 {
                if i < MQ {
                    column[i] = four(&smem.stages, at_a + i as u32 / 2 * right_a + i as u32 % 2 * 16);
                }
            });
            (column, [four(&smem.stages, at_b), four(&smem.stages, at_b + right_b)])
        };
        let (mut x, mut y) = fragments(0);
        for part in 0..depth / UNROLLED as u32 - 1 {
            unroll!(for k in 1..17 {
                if k <= UNROLLED {
                    let next = fragments(part * UNROLLED as u32 + k as u32);
                    accumulate(accumulators, &x, &y);
                    (x, y) = next;
                }
            });
        }
        unroll!(for k in 1..17 {
            if k < UNROLLED {
                let next = fragments(depth - UNROLLED as u32 + k as u32);
                if k == UNROLLED / 2 && late && number > 0 {
                    // By now most warps of the group have read the stage before this one.
                    load(number - 1 + OWN as u32);
                }
                accumulate(accumulators, &x, &y);
                (x, y) = next;
            }
        });
        // All of the stage is in registers, or on its way there, where TMA must not overtake it. Every lane has read
        // before one says so.
        fence_proxy_async();
        sync_warp(u32::MAX);
        if within.is_multiple_of(32) {
            smem.empty.arrive(stage);
        }
        if !late {
            load(number + OWN as u32);
        }
        accumulate(accumulators, &x, &y);
        state.advance();
        number += 1;
    }
    state
}

/// Four elements of a box: `at` is in a stage.
#[cfg_attr(optimised, inline(always))]
pub(super) fn four<const LEN: usize>(stages: &SharedArray<f32, LEN>, at: u32) -> [f32; 4] {
    // SAFETY: the stages hold whole boxes, all callers name a stage below STAGES, and in it a line and a multiple of
    // four of it that the box has. The compiler does not see that through the places of threads, and would check each
    // load in the loop.
    unsafe { core::hint::assert_unchecked(at as usize <= LEN - 4) }
    stages.get_vec4(at).lanes
}
