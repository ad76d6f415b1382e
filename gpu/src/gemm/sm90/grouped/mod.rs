//! `C_g = alpha · A_g·op(B_g) + beta · C_g` for groups g of different numbers of rows: products of a mixture of
//! experts.
//!
//! ```text
//!            k                 B_0   B_1   B_2        n
//!   ┌─────────────────┐       ┌───┐ ┌───┐ ┌───┐   ┌───────┐   offsets[0]
//!   │       A_0       │       │   │ │   │ │   │   │  C_0  │
//!   ├─────────────────┤   ·   │   │ │   │ │   │ = ├───────┤   offsets[1]
//!   │       A_1       │       │   │ │   │ │   │   │  C_1  │
//!   ├─────────────────┤       └───┘ └───┘ └───┘   ├───────┤   offsets[2]
//!   │       A_2       │                           │  C_2  │
//!   └─────────────────┘                           └───────┘   offsets[3]
//! ```
//!
//! The rows of all groups lie one below the other, and only the device knows where each begins: nothing waits for the
//! host. Pipeline, main loop and fix-up are those of [the module above](super), the schedule is
//! [`schedule::grouped`](super::schedule::grouped). One tensor map describes all of A, so a tile that reaches beyond
//! its group loads rows of the next one, whose products are not stored: of such a tile, threads store the group's rows
//! from where they are staged for TMA. A warpgroup whose 64 rows are all beyond the group releases its stages without
//! multiplying.
//!
//! The twin is [`grouped_reference`](crate::gemm::grouped_reference).

mod kernels;

// The PTX has the kernels alone, which nobody calls by name.
#[cfg(not(target_arch = "nvptx64"))]
pub use kernels::*;

use simt::grid::{dependency_wait, launch_dependents};
use simt::opaque;
use simt::prelude::*;
use simt::tma::prefetch;
use simt::warp::lane_id;
use simt::warpgroup::{decrease_registers, increase_registers, warpgroup_id};
use simt::wgmma::{Accumulators, Columns, Width};

use super::config::Config;
use super::epilogue::Epilogue;
use super::fixup::Fixup;
use super::layout::MmaLayout;
use super::pipeline::{BlockSmem, PipelineState, Smem, init_pipeline};
use super::schedule::grouped::{self, GroupTile, GroupTiles, Groups};
use super::schedule::stream_k::WorkUnit;
use super::{CONSUMER_REGISTERS, PRODUCER_REGISTERS, TensorMaps};
use crate::gemm::args::{GemmArgs, GroupedGemmArgs, Scales, TMA_STORE};

/// The tiles and parts of tiles that this block computes. `a` and `b` are the maps of the operands, `c` is that of C,
/// which counts only with [`TMA_STORE`].
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn gemm<
    C: Config<Operand = <C as Config>::Element> + for<'s> Config<Source<'s> = Scales<'s>>,
    const N: usize,
    const A: usize,
    const B: usize,
    const STAGES: usize,
    const E: usize,
>(
    block: &BlockSmem<C::Operand, A, B, STAGES, E, 0>,
    (a, b, c): TensorMaps<'_, C::Operand, C::Element>,
    args: GroupedGemmArgs<'_, C::Element>,
    layout: MmaLayout,
) where
    Columns<N>: Width,
{
    let BlockSmem { staging, pipeline: smem, .. } = block;
    let GroupedGemmArgs { gemm, offsets, scales, stream_k } = args;
    if gemm.k == 0 {
        dependency_wait();
        return;
    }
    let t = thread_idx_x();
    if t == 0 {
        prefetch(a);
        prefetch(b);
        if gemm.flags & TMA_STORE != 0 {
            prefetch(c);
        }
    }
    let consumers = C::CONFIG.consumers();
    init_pipeline!(smem, STAGES, t, consumers * 4, 1);
    launch_dependents();
    let ([rows, cols], depth) = (C::CONFIG.mma, Smem::<C::Operand, A, B, STAGES>::DEPTH);
    let steps = gemm.k.div_ceil(depth);
    let groups = Groups { offsets, count: gemm.batch, rows: gemm.m };
    let work = |tiles: &mut GroupTiles<'_>| {
        let splits = C::CONFIG.stream_k && stream_k.tiles > 0;
        grouped::work(tiles, splits, block_idx_x(), grid_dim_x(), steps)
    };
    let consumer = warpgroup_id().wrapping_sub(1);
    let is_consumer = consumer < consumers;
    if !is_consumer {
        if consumers > 1 {
            decrease_registers::<PRODUCER_REGISTERS>();
        }
        // A warp finds the tiles, one thread of it loads.
        if t < 32 {
            dependency_wait();
            let mut tiles = GroupTiles::new(groups, rows, gemm.n.div_ceil(cols));
            let (mut schedule, _) = work(&mut tiles);
            let mut state = PipelineState::<STAGES>::PRODUCER;
            while let Some(WorkUnit { tile, from, to }) = schedule.next_unit() {
                let Some(GroupTile { group, row, col, .. }) = tiles.seek(tile) else { break };
                if t == 0 {
                    // Opaque, so that no test but that of the thread stands before the loads: with another one in it
                    // ptxas does not see that one lane is left, and makes each load a loop over lanes.
                    for step in opaque(from)..to {
                        let place = [row as i32, (col * cols) as i32, (step * depth) as i32, 0, group as i32];
                        smem.load_stage::<C>(layout, state, (a, b), place, (cols, 0), [None; 2]);
                        state.advance();
                    }
                }
            }
        }
        return;
    }

    if consumers > 1 {
        increase_registers::<CONSUMER_REGISTERS>();
    }
    dependency_wait();
    let mut tiles = GroupTiles::new(groups, rows, gemm.n.div_ceil(cols));
    let (mut schedule, blocks) = work(&mut tiles);
    let fixup = Fixup::new(stream_k, blocks, consumers, 1);
    let mut state = PipelineState::<STAGES>::CONSUMER;
    let mut buffer = 0;
    while let Some(WorkUnit { tile, from, to }) = schedule.next_unit() {
        let Some(GroupTile { row, end, .. }) = tiles.seek(tile) else { break };
        let below = consumer * 64;
        if row + below >= end {
            skip::<C, A, B, STAGES>(smem, &mut state, to - from);
            continue;
        }
        let mut accumulator = [Accumulators::<N>::zeroed()];
        C::accumulate(block, layout, &mut accumulator, &mut state, (below, [from, to]), scales, || [0; 3]);
        if C::CONFIG.stream_k {
            if to < steps {
                fixup.store_partials(&accumulator[0], consumer);
                continue;
            }
            fixup.load_partials(&mut accumulator[0], consumer, tile * steps);
        }
        // Found again: where the tile lies takes no registers while it is computed.
        if let Some(GroupTile { group, row, end, col }) = tiles.seek(opaque(tile)) {
            let (row, col) = (row + below, col * cols);
            C::finish(&mut accumulator[0], scales, [row, group * gemm.n + col, 0], &gemm);
            // For the epilogue C ends with the group.
            let epilogue = Epilogue { staging, map: c, gemm: GemmArgs { m: end, ..gemm } };
            epilogue.store::<C, N>(&accumulator[0], [row, col, 0], &mut buffer);
        }
    }
    Epilogue { staging, map: c, gemm }.drain();
}

/// Releases `steps` stages of the pipeline from `state` on as soon as they are full, without multiplying.
#[inline(always)]
fn skip<C: Config, const A: usize, const B: usize, const STAGES: usize>(
    smem: &Smem<C::Operand, A, B, STAGES>,
    state: &mut PipelineState<STAGES>,
    steps: u32,
) {
    for _ in 0..steps {
        // The lane that releases waits alone: another could find that a phase later than the one it waits for began.
        if lane_id() == 0 {
            smem.full.wait(state.stage(), state.parity);
            smem.empty.arrive(state.stage());
        }
        state.advance();
    }
}
