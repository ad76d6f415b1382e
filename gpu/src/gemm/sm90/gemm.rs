//! What a block does: raster order and stream-K.

use simt::cluster::cluster_rank;
use simt::grid::{dependency_wait, launch_dependents};
use simt::opaque;
use simt::prelude::*;
use simt::tma::{CachePolicy, prefetch};
use simt::warpgroup::{decrease_registers, increase_registers, warpgroup_id};
use simt::wgmma::{Accumulators, Columns, Width};

use super::config::Config;
use super::epilogue::Epilogue;
use super::fixup::Fixup;
use super::layout::MmaLayout;
use super::pipeline::{BlockSmem, PipelineState, Smem, StageLoads, init_pipeline};
use super::schedule::raster::Tiles;
use super::schedule::stream_k::{Blocks, StreamK, WorkUnit};
use super::{CONSUMER_REGISTERS, MANY_REGISTERS, PRODUCER_REGISTERS, TensorMaps};
use crate::gemm::args::{LAUNCHES_LATE, STREAMS_A, STREAMS_B, TMA_STORE, TmaGemmArgs};
use crate::unroll::each;

/// Gives the registers back that the producer does not need.
#[cfg_attr(optimised, inline(always))]
fn decrease_for_producer<C: Config>() {
    if const { C::CONFIG.has_many_accumulators() } {
        decrease_registers::<{ MANY_REGISTERS[0] }>();
    } else {
        decrease_registers::<PRODUCER_REGISTERS>();
    }
}

/// Takes them for a consumer.
#[cfg_attr(optimised, inline(always))]
fn increase_for_consumer<C: Config>() {
    if const { C::CONFIG.has_many_accumulators() } {
        increase_registers::<{ MANY_REGISTERS[1] }>();
    } else {
        increase_registers::<CONSUMER_REGISTERS>();
    }
}

/// Steps along k of which a streamed operand is prefetched to L2 while the predecessor ends.
const PREFETCHED: u32 = 4;

/// The policies for the loads of the MMA's A and of its B, where it is not the usual one.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn policies(flags: u32, swap_ab: bool) -> [Option<CachePolicy>; 2] {
    let first = CachePolicy::evict_first();
    let streams = if swap_ab { [STREAMS_B, STREAMS_A] } else { [STREAMS_A, STREAMS_B] };
    each!(streams, |streams| if flags & streams != 0 { Some(first) } else { None })
}

/// The tiles and parts of tiles that this block computes: see [`stream_k`](super::schedule::stream_k).
///
/// `a` and `b` are the maps of the operands, `c` is that of C, which counts only with [`TMA_STORE`].
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(super) fn gemm<
    C: Config,
    const N: usize,
    const A: usize,
    const B: usize,
    const STAGES: usize,
    const E: usize,
    const F: usize,
>(
    block: &BlockSmem<C::Operand, A, B, STAGES, E, F>,
    (a, b, c): TensorMaps<'_, C::Operand, C::Element>,
    args: TmaGemmArgs<'_, C::Element>,
    source: C::Source<'_>,
    layout: MmaLayout,
) where
    Columns<N>: Width,
{
    let BlockSmem { staging, pipeline: smem, .. } = block;
    let (cluster, consumers) = (C::CONFIG.cluster, C::CONFIG.consumers());
    // Operands, extents and batches of the MMA.
    let ([m, n], [of_a, of_b]) = ([args.gemm.m, args.gemm.n], args.batch_step);
    let (a, b, [m, n], batch_step) =
        if C::CONFIG.swap_ab { (b, a, [n, m], [of_b, of_a]) } else { (a, b, [m, n], [of_a, of_b]) };
    let (depth, planes) = (Smem::<C::Operand, A, B, STAGES>::DEPTH, C::CONFIG.planes);
    if args.gemm.k == 0 {
        dependency_wait();
        return;
    }
    let t = thread_idx_x();
    if t == 0 {
        prefetch(a);
        prefetch(b);
        if args.gemm.flags & TMA_STORE != 0 {
            prefetch(c);
        }
    }
    init_pipeline!(smem, STAGES, t, cluster * consumers * 4, cluster);
    if args.gemm.flags & LAUNCHES_LATE == 0 {
        launch_dependents();
    }
    let rank = if cluster > 1 { cluster_rank() } else { 0 };
    let [rows, cols] = C::CONFIG.mma;
    // Tiles of a cluster.
    let tiles = Tiles { rows: m.div_ceil(cluster * rows), cols: n.div_ceil(cols) };
    let (steps, count) = (args.gemm.k.div_ceil(depth), tiles.per_matrix() * args.gemm.batch);
    // Matrix, first row and first column of this block's tile.
    let at = |tile: u32| {
        let (matrix, row, col) = tiles.at(tile);
        (matrix, (row * cluster + rank) * rows, col * cols)
    };
    let split = if C::CONFIG.stream_k { args.stream_k.tiles } else { 0 };
    let parts = if C::CONFIG.stream_k { args.stream_k.parts } else { 0 };
    let blocks = Blocks { count: grid_dim_x() / cluster, parts, tiles: split, steps };
    let mut schedule = StreamK::new(block_idx_x() / cluster, blocks, count);
    // Warpgroup 0 is the producer. With a branch on the consumers' condition ptxas places the producer's code next,
    // with one on the producer's at the end of the kernel, where the instruction cache does not have it yet: 0.1 µs.
    let consumer = warpgroup_id().wrapping_sub(1);
    let is_consumer = consumer < consumers;
    if !is_consumer {
        if consumers > 1 {
            decrease_for_producer::<C>();
        }
        let mut unit = schedule.next_unit();
        let first = at(unit.map_or(0, |unit| unit.tile));
        // The first place is known before the predecessor ends, for which the others of this warpgroup need not wait.
        let mut place = (opaque(first.0), opaque(first.1), opaque(first.2));
        if t == 0 {
            let boxes = |(matrix, row, col): (u32, u32, u32), stage: u32| {
                let matrices = each!(batch_step, |step| (matrix * step) as i32);
                [row as i32, col as i32, (stage * depth) as i32, matrices[0], matrices[1]]
            };
            // Large tiles leave no registers for policies, and a cluster's branch for each of its boxes costs more than
            // they save: 0.5 µs of 7.2 at 1000³.
            let has_policies = consumers == 1 && cluster == 1;
            let streams = if has_policies { policies(args.gemm.flags, C::CONFIG.swap_ab) } else { [None; 2] };
            if let Some(WorkUnit { from, to, .. }) = unit {
                for stage in from * planes..to.min(from + PREFETCHED) * planes {
                    StageLoads::of::<C>(layout).prefetch((a, b), (boxes(place, stage), (cols, rank)), streams);
                }
            }
            dependency_wait();
            let mut state = PipelineState::<STAGES>::PRODUCER;
            while let Some(WorkUnit { from, to, .. }) = unit {
                for stage in from * planes..to * planes {
                    smem.load_stage::<C>(layout, state, (a, b), boxes(place, stage), (cols, rank), streams);
                    state.advance();
                }
                unit = schedule.next_unit();
                if let Some(unit) = unit {
                    place = at(unit.tile);
                }
            }
            if args.gemm.flags & LAUNCHES_LATE != 0 {
                launch_dependents();
            }
            if cluster > 1 {
                smem.drain(state);
            }
        }
        return;
    }

    if consumers > 1 {
        increase_for_consumer::<C>();
    }
    dependency_wait();
    let fixup = Fixup::new(args.stream_k, blocks, consumers, cluster);
    let epilogue = Epilogue { staging, map: c, gemm: args.gemm };
    let mut state = PipelineState::<STAGES>::CONSUMER;
    let mut buffer = 0;
    while let Some(WorkUnit { tile, from, to }) = schedule.next_unit() {
        let mut accumulator = [Accumulators::<N>::zeroed()];
        // Where the tile lies is computed while products are under way.
        let place = || {
            let (matrix, row, col) = at(tile);
            [opaque(row) + consumer * 64, opaque(col), opaque(matrix)]
        };
        let range = (consumer * 64, [from, to]);
        let place = C::accumulate(block, layout, &mut accumulator, &mut state, range, source, place);
        if C::CONFIG.stream_k {
            if to < steps {
                fixup.store_partials(&accumulator[0], consumer);
                continue;
            }
            if from > 0 {
                fixup.load_partials(&mut accumulator[0], consumer, tile * steps);
            }
        }
        C::finish(&mut accumulator[0], source, place, &args.gemm);
        epilogue.store::<C, N>(&accumulator[0], place, &mut buffer);
    }
    epilogue.drain();
}
