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
//! The producer's warp finds the tiles, and passes them to the consumers through shared memory ([`units`]): the search
//! takes registers that consumers lack.
//!
//! The twin is [`grouped_reference`](crate::gemm::grouped_reference).

mod kernels;
pub mod units;

// The PTX has the kernels alone, which nobody calls by name.
#[cfg(not(target_arch = "nvptx64"))]
pub use kernels::*;

use simt::cluster::cluster_rank;
use simt::grid::{dependency_wait, launch_dependents};
use simt::opaque;
use simt::prelude::*;
use simt::tma::prefetch;
use simt::warp::{lane_id, sync_warp};
use simt::warpgroup::{decrease_registers, increase_registers, warpgroup_id};
use simt::wgmma::{Accumulators, Columns, Width};

use self::units::{GroupedSmem, Unit, Units};
use super::config::Config;
use super::epilogue::Epilogue;
use super::fixup::Fixup;
use super::layout::MmaLayout;
use super::pipeline::{BlockSmem, PipelineState, Smem, init_pipeline};
use super::schedule::grouped::{self, GroupTile, GroupTiles, Groups};
use super::schedule::stream_k::{Blocks, WorkUnit};
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
    GroupedSmem { block, units }: &GroupedSmem<C::Operand, A, B, STAGES, E>,
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
        Units::init(units, C::CONFIG.consumers() * 4);
    }
    let (cluster, consumers) = (C::CONFIG.cluster, C::CONFIG.consumers());
    init_pipeline!(smem, STAGES, t, cluster * consumers * 4, cluster);
    launch_dependents();
    // Of a cluster's tile each block has so many rows.
    let rank = if cluster > 1 { cluster_rank() } else { 0 };
    let ([rows, cols], depth) = (C::CONFIG.mma, Smem::<C::Operand, A, B, STAGES>::DEPTH);
    let steps = gemm.k.div_ceil(depth);
    let consumer = warpgroup_id().wrapping_sub(1);
    let is_consumer = consumer < consumers;
    if !is_consumer {
        if consumers > 1 {
            decrease_registers::<PRODUCER_REGISTERS>();
        }
        // A warp finds the tiles, one thread of it loads.
        if t < 32 {
            dependency_wait();
            let groups = Groups { offsets, count: gemm.batch, rows: gemm.m };
            let mut tiles = GroupTiles::new(groups, cluster * rows, gemm.n.div_ceil(cols));
            let splits = C::CONFIG.stream_k && stream_k.tiles > 0;
            let (mut schedule, blocks) =
                grouped::work(&mut tiles, splits, block_idx_x() / cluster, grid_dim_x() / cluster, steps);
            let (mut state, mut units) = (PipelineState::<STAGES>::PRODUCER, Units::producer(units));
            while let Some(WorkUnit { tile, from, to }) = schedule.next_unit() {
                let Some(place) = tiles.seek(tile) else { break };
                let place = GroupTile { row: place.row + rank * rows, ..place };
                if t == 0 {
                    units.store(Unit { place, tile, to, steps: to - from, split: blocks.tiles });
                    // Opaque, so that no test but that of the thread stands before the loads: with another one in it
                    // ptxas does not see that one lane is left, and makes each load a loop over lanes.
                    let GroupTile { group, row, col, .. } = place;
                    for step in opaque(from)..to {
                        let place = [row as i32, (col * cols) as i32, (step * depth) as i32, 0, group as i32];
                        smem.load_stage::<C>(layout, state, (a, b), place, (cols, rank), [None; 2]);
                        state.advance();
                    }
                }
            }
            if t == 0 {
                units.finish();
                smem.empty.wait(state.stage(), state.parity);
                smem.full.arrive(state.stage());
                if cluster > 1 {
                    state.advance();
                    smem.drain(state);
                }
            }
        }
        return;
    }

    if consumers > 1 {
        increase_registers::<CONSUMER_REGISTERS>();
    }
    dependency_wait();
    let (mut state, mut units) = (PipelineState::<STAGES>::CONSUMER, Units::consumer(units));
    let mut buffer = 0;
    let below = consumer * 64;
    loop {
        smem.full.wait(state.stage(), state.parity);
        let [of_unit, row, end] = units.range();
        if of_unit == 0 {
            if cluster > 1 {
                smem.release::<C>(state.stage());
            }
            break;
        }
        if row + below >= end {
            let _ = units.take();
            skip::<C, A, B, STAGES>(smem, &mut state, of_unit);
            continue;
        }
        let mut accumulator = [Accumulators::<N>::zeroed()];
        C::accumulate(block, layout, &mut accumulator, &mut state, (below, [0, of_unit]), scales, || [0; 3]);
        // Loaded again: it takes no registers while the tile is computed.
        let Unit { place: GroupTile { group, row, end, col }, tile, to, split, .. } = units.take();
        if C::CONFIG.stream_k {
            let blocks = Blocks { count: grid_dim_x() / cluster, parts: 0, tiles: split, steps };
            let fixup = Fixup::new(stream_k, blocks, consumers, cluster);
            if to < steps {
                fixup.store_partials(&accumulator[0], consumer);
                continue;
            }
            fixup.load_partials(&mut accumulator[0], consumer, tile * steps);
        }
        let (row, col) = (row + below, col * cols);
        C::finish(&mut accumulator[0], scales, [row, group * gemm.n + col, 0], &gemm);
        // For the epilogue C ends with the group.
        let epilogue = Epilogue { staging, map: c, gemm: GemmArgs { m: end, ..gemm } };
        epilogue.store::<C, N>(&accumulator[0], [row, col, 0], &mut buffer);
    }
    Epilogue { staging, map: c, gemm }.drain();
}

/// Releases `steps` stages of the pipeline from `state` on as soon as they are full, without multiplying.
#[cfg_attr(optimised, inline(always))]
fn skip<C: Config, const A: usize, const B: usize, const STAGES: usize>(
    smem: &Smem<C::Operand, A, B, STAGES>,
    state: &mut PipelineState<STAGES>,
    steps: u32,
) {
    // The lanes that release wait alone: another could find that a phase later than the one it waits for began. After
    // that all wait for the phase that follows those which these lanes have seen.
    for _ in 0..steps {
        if lane_id() < C::CONFIG.cluster {
            smem.full.wait(state.stage(), state.parity);
            smem.release::<C>(state.stage());
        }
        state.advance();
    }
    sync_warp(u32::MAX);
}
