//! What a block does: sequential accumulation.

use simt::grid::{dependency_wait, launch_dependents};
use simt::mbarrier::Mbarriers;
use simt::opaque;
use simt::prelude::*;
use simt::sync::fence_proxy_async;
use simt::tma::{TensorMap, load_3d};
use simt::warp::sync_warp;

use super::config::Config;
use super::fixup::{load_partials, store_partials};
use super::store::store;
use crate::gemm::args::TmaGemmArgs;
use crate::gemm::microtile::{Microtile, accumulate};
use crate::gemm::sm90::pipeline::{PipelineState, init_pipeline};
use crate::gemm::sm90::schedule::raster::Tiles;
use crate::gemm::sm90::schedule::stream_k::{Blocks, StreamK, WorkUnit};
use crate::unroll::unroll;

/// Shared memory: stages of a box of A and one of B, with `ELEMENTS` elements in all `STAGES` stages.
#[repr(C, align(128))]
#[derive(Shared)]
pub(super) struct Smem<const ELEMENTS: usize, const STAGES: usize> {
    pub(super) stages: SharedArray<f32, ELEMENTS>,
    pub(super) full: Mbarriers<STAGES>,
    pub(super) empty: Mbarriers<STAGES>,
}

/// [`Smem`] for swizzled boxes.
#[repr(C, align(1024))]
#[derive(Shared)]
pub(super) struct SplitSmem<const ELEMENTS: usize, const STAGES: usize> {
    pub(super) stages: SharedArray<f32, ELEMENTS>,
    pub(super) full: Mbarriers<STAGES>,
    pub(super) empty: Mbarriers<STAGES>,
}

/// The tiles and parts of tiles that this block computes: see [`stream_k`](crate::gemm::sm90::schedule::stream_k) and
/// [`fixup`](super::fixup).
///
/// A lies as k × m, B as k × n. A thread has `MQ` · 4 × `NQ` · 4 elements of a tile. The warps take turns in loading
/// stages, by one thread each.
#[cfg_attr(optimised, inline(always))]
pub(super) fn gemm<C: Config, const MQ: usize, const NQ: usize, const ELEMENTS: usize, const STAGES: usize>(
    smem: &Smem<ELEMENTS, STAGES>,
    (a, b): (&TensorMap<f32>, &TensorMap<f32>),
    args: TmaGemmArgs<'_, f32>,
) {
    const {
        let [m, n] = C::CONFIG.tile;
        assert!(C::CONFIG.threads as usize * MQ * NQ * 16 == (m * n) as usize);
        assert!(ELEMENTS == ((m + n) * C::CONFIG.depth) as usize * STAGES);
        assert!(
            C::CONFIG.depth.is_multiple_of(C::CONFIG.unroll)
                && C::CONFIG.depth > C::CONFIG.unroll
                && C::CONFIG.unroll <= 16
        );
    }
    let ([tile_m, tile_n], depth) = (C::CONFIG.tile, C::CONFIG.depth);
    let (box_a, box_b, warps) = (tile_m * depth, tile_n * depth, C::CONFIG.threads / 32);
    let stage_len = box_a + box_b;
    let (m, n, k, batch) = (args.gemm.m, args.gemm.n, args.gemm.k, args.gemm.batch);
    let t = thread_idx_x() % C::CONFIG.threads;
    init_pipeline!(smem, STAGES, t, warps, 1);
    launch_dependents();
    dependency_wait();
    if k == 0 {
        return;
    }
    let mine = Microtile::of::<MQ, NQ>(const { C::CONFIG.tile[1] / (32 * NQ as u32) }, t);
    // Kept, not computed again for each stage. (The minima are what they cannot exceed, so that no access needs a check
    // of its own.)
    let mine = Microtile {
        row: opaque(mine.row / 4).min((tile_m - 16 * (MQ as u32 - 1) - 4) / 4) * 4,
        col: opaque(mine.col / 4).min((tile_n - 32 * (NQ as u32 - 1) - 4) / 4) * 4,
    };
    let tiles = Tiles { rows: m.div_ceil(tile_m), cols: n.div_ceil(tile_n) };
    let steps = k.div_ceil(depth);
    let blocks = Blocks { count: grid_dim_x(), parts: 0, tiles: args.stream_k.tiles, steps };
    let mut schedule = StreamK::new(block_idx_x(), blocks, tiles.per_matrix() * batch);
    let mut state = PipelineState::<STAGES>::CONSUMER;
    while let Some(WorkUnit { tile, from, to }) = schedule.next_unit() {
        let (matrix, row, col) = tiles.at(tile);
        let (row, col) = (row * tile_m, col * tile_n);
        let load = |step: u32, ahead: PipelineState<STAGES>| {
            let at = (step * depth) as i32;
            smem.empty.wait(ahead.stage(), ahead.parity);
            smem.full.arrive_expect_tx(ahead.stage(), stage_len * size_of::<f32>() as u32);
            let bar = smem.full.at(ahead.stage());
            let to = ahead.stage() * stage_len;
            load_3d(smem.stages.tma_box(to, box_a), a, [row as i32, at, (matrix * args.batch_step[0]) as i32], bar);
            let to = to + box_a;
            load_3d(smem.stages.tma_box(to, box_b), b, [col as i32, at, (matrix * args.batch_step[1]) as i32], bar);
        };
        for ahead in 0..(STAGES as u32 - 1).min(to - from) {
            if t == (from + ahead) % warps * 32 {
                load(from + ahead, state.producer_after(ahead));
            }
        }
        let fragments = |stage: u32, line: u32| {
            let first = stage * stage_len;
            mine.fragments(&smem.stages, first + line * tile_m, first + box_a + line * tile_n)
        };
        // The minimum says again what the opaque value is below.
        let stage_of = |state: PipelineState<STAGES>| opaque(state.stage()).min(STAGES as u32 - 1);
        let whole = (k / depth).min(to);
        let mut first = ([[0.0; 4]; MQ], [[0.0; 4]; NQ]);
        if from < whole {
            let stage = stage_of(state);
            smem.full.wait(stage, state.parity);
            first = fragments(stage, 0);
        }
        let mut accumulators = const { [[[[0.0_f32; 4]; NQ]; 4]; MQ] };
        if from > 0 {
            load_partials::<C, MQ, NQ>(&args.stream_k, &mut accumulators);
        }
        if from < whole {
            let range = [from, whole, to];
            state = whole_steps::<C, MQ, NQ, ELEMENTS, STAGES>(
                smem,
                &mut accumulators,
                first,
                state,
                range,
                load,
                fragments,
            );
        }
        if whole < to {
            let stage = stage_of(state);
            smem.full.wait(stage, state.parity);
            for line in 0..k % depth {
                let (x, y) = fragments(stage, line % depth);
                accumulate(&mut accumulators, &x, &y);
            }
            // The stage is loaded again behind the fence that follows the store.
            sync_warp(u32::MAX);
            if t.is_multiple_of(32) {
                smem.empty.arrive(stage);
            }
            state.advance();
        }
        if to < steps {
            store_partials::<C, MQ, NQ>(&args.stream_k, &accumulators);
            continue;
        }
        // The pipeline is empty, and no load under way.
        sync_threads();
        store::<C, MQ, NQ, ELEMENTS>(&accumulators, &smem.stages, mine, [row, col, matrix], args.gemm);
        fence_proxy_async();
        sync_threads();
    }
}

/// The main loop: adds the products of the steps `from..whole` of a unit that ends at `to`, while it loads those up to
/// `to`. `(x, y)` are the elements of the first step's first line, and `state` is that of its stage. Returns the state
/// after them.
#[cfg_attr(optimised, inline(always))]
fn whole_steps<C: Config, const MQ: usize, const NQ: usize, const ELEMENTS: usize, const STAGES: usize>(
    smem: &Smem<ELEMENTS, STAGES>,
    accumulators: &mut [[[[f32; 4]; NQ]; 4]; MQ],
    (mut x, mut y): ([[f32; 4]; MQ], [[f32; 4]; NQ]),
    mut state: PipelineState<STAGES>,
    [from, whole, to]: [u32; 3],
    load: impl Fn(u32, PipelineState<STAGES>),
    fragments: impl Fn(u32, u32) -> ([[f32; 4]; MQ], [[f32; 4]; NQ]),
) -> PipelineState<STAGES> {
    let (depth, unrolled, warps) = (C::CONFIG.depth, C::CONFIG.unroll, C::CONFIG.threads / 32);
    let t = thread_idx_x() % C::CONFIG.threads;
    let mut step = from;
    loop {
        let stage = state.stage();
        for part in 0..depth / unrolled - 1 {
            unroll!(for k in 1..17 {
                if k <= unrolled as usize {
                    let next = fragments(stage, part * unrolled + k as u32);
                    accumulate(accumulators, &x, &y);
                    (x, y) = next;
                }
            });
        }
        let mut following = state;
        following.advance();
        let mut is_full = false;
        unroll!(for k in 1..17 {
            if k < unrolled as usize {
                let next = fragments(stage, depth - unrolled + k as u32);
                let ahead = step + STAGES as u32 - 1;
                if k == unrolled as usize / 2 && t == ahead % warps * 32 && ahead < to {
                    // By now all warps have read the stage before this one.
                    load(ahead, state.producer_after(STAGES as u32 - 1));
                }
                if k + 1 == unrolled as usize {
                    // Asked for before the answer is needed: a wait takes its time even where it is over.
                    is_full = smem.full.test(following.stage(), following.parity);
                }
                accumulate(accumulators, &x, &y);
                (x, y) = next;
            }
        });
        // All of the stage is in registers, or on its way there, where TMA must not overtake it. Every lane has read
        // before one says so.
        fence_proxy_async();
        sync_warp(u32::MAX);
        if t.is_multiple_of(32) {
            smem.empty.arrive(stage);
        }
        state = following;
        step += 1;
        if step == whole {
            accumulate(accumulators, &x, &y);
            return state;
        }
        // The minimum says again what the opaque value is below.
        let stage = opaque(state.stage()).min(STAGES as u32 - 1);
        if !is_full {
            smem.full.wait(stage, state.parity);
        }
        let next = fragments(stage, 0);
        accumulate(accumulators, &x, &y);
        (x, y) = next;
    }
}

impl Microtile {
    /// The thread's elements of a line of A and one of B, which start at these elements of the stages.
    #[cfg_attr(optimised, inline(always))]
    fn fragments<const MQ: usize, const NQ: usize, const ELEMENTS: usize>(
        self,
        stages: &SharedArray<f32, ELEMENTS>,
        of_a: u32,
        of_b: u32,
    ) -> ([[f32; 4]; MQ], [[f32; 4]; NQ]) {
        let (mut a, mut b) = ([[0.0; 4]; MQ], [[0.0; 4]; NQ]);
        unroll!(for i in 0..4 {
            if i < NQ {
                b[i] = stages.get_vec4(of_b + self.col + 32 * i as u32).lanes;
            }
        });
        unroll!(for i in 0..4 {
            if i < MQ {
                a[i] = stages.get_vec4(of_a + self.row + 16 * i as u32).lanes;
            }
        });
        (a, b)
    }
}
