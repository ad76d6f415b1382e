//! What a block does in a two-width schedule.

use simt::grid::{dependency_wait, launch_dependents};
use simt::opaque;
use simt::prelude::*;
use simt::tma::prefetch;
use simt::warpgroup::{decrease_registers, increase_registers, warpgroup_id};
use simt::wgmma::{Accumulators, Columns, Width};

use super::config::Config;
use super::epilogue::Epilogue;
use super::layout::MmaLayout;
use super::mainloop_wgmma::accumulate;
use super::pipeline::{BlockSmem, PipelineState, Smem, init_pipeline};
use super::schedule::two_width::{NARROW, ROWS, TwoWidth, WIDE};
use super::{CONSUMER_REGISTERS, PRODUCER_REGISTERS, TensorMaps};
use crate::gemm::args::{TMA_STORE, TmaGemmArgs};
use crate::unroll::each;

/// The tiles whose number is that of this block modulo the grid's size.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(super) fn gemm<'a, C: Config, const A: usize, const B: usize, const STAGES: usize, const E: usize>(
    BlockSmem { staging, pipeline: smem, .. }: &'a BlockSmem<C::Operand, A, B, STAGES, E, 0>,
    (a, b, c): TensorMaps<'a, C::Operand, C::Element>,
    args: TmaGemmArgs<'a, C::Element>,
    source: C::Source<'a>,
    layout: MmaLayout,
) {
    const { assert!(C::CONFIG.mma[0] == ROWS && C::CONFIG.mma[1] == WIDE && !C::CONFIG.swap_ab) }
    let (m, n, k, batch) = (args.gemm.m, args.gemm.n, args.gemm.k, args.gemm.batch);
    let depth = Smem::<C::Operand, A, B, STAGES>::DEPTH;
    if k == 0 {
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
        let panels = m.div_ceil(ROWS);
        TwoWidth::new(panels * batch, n, grid_dim_x()).into_words(|i, word| smem.schedule.set(i, word));
        smem.schedule.set(TwoWidth::WORDS as u32, block_idx_x());
    }
    init_pipeline!(smem, STAGES, t, 2 * 4, 1);
    launch_dependents();
    let schedule = || TwoWidth::from_words(|i| smem.schedule.get(i));
    // First row, first column and matrix of a tile.
    let at = |tile: u32| {
        let tile = schedule().at(tile);
        let panels = m.div_ceil(ROWS);
        let matrix = if batch > 1 { tile.panel / panels.max(1) } else { 0 };
        [(tile.panel - matrix * panels) * ROWS, tile.col, matrix]
    };
    let mut tile = block_idx_x();
    let warpgroup = warpgroup_id();
    if warpgroup == 0 {
        decrease_registers::<PRODUCER_REGISTERS>();
        if t == 0 {
            // The first place is known before the predecessor ends.
            let mut place = each!(at(tile), opaque);
            dependency_wait();
            let mut state = PipelineState::<STAGES>::PRODUCER;
            while tile < schedule().count() {
                let [row, col, matrix] = place;
                let matrices = each!(args.batch_step, |step| (matrix * step) as i32);
                let width = if tile < schedule().count_wide() { WIDE } else { NARROW };
                for step in 0..k.div_ceil(depth) {
                    let place = [row as i32, col as i32, (step * depth) as i32, matrices[0], matrices[1]];
                    smem.load_stage::<C>(layout, state, (a, b), place, (width, 0), [None; 2]);
                    state.advance();
                }
                tile += grid_dim_x();
                if tile < schedule().count() {
                    place = at(tile);
                }
            }
        }
        return;
    }

    increase_registers::<CONSUMER_REGISTERS>();
    dependency_wait();
    let epilogue = Epilogue { staging, map: c, gemm: args.gemm };
    let consumer = Consumer::<C, A, B, STAGES, E> {
        smem,
        layout,
        warpgroup: (warpgroup - 1).min(1),
        k,
        epilogue: &epilogue,
        source,
    };
    // Tiles done so far: all else that goes on from tile to tile follows from it, and takes no registers in the
    // epilogue.
    let mut done = 0;
    loop {
        let tile = smem.schedule.get(TwoWidth::WORDS as u32) + done * grid_dim_x();
        if tile >= schedule().count() {
            break;
        }
        let place = || each!(at(tile), opaque);
        if tile < schedule().count_wide() {
            consumer.tile::<{ WIDE as usize }>(done, place);
        } else {
            consumer.tile::<{ NARROW as usize }>(done, place);
        }
        done += 1;
    }
    epilogue.drain();
}

/// A consumer warpgroup.
#[derive(Clone, Copy)]
struct Consumer<'e, 'a, C: Config, const A: usize, const B: usize, const STAGES: usize, const E: usize> {
    smem: &'a Smem<C::Operand, A, B, STAGES>,
    layout: MmaLayout,
    /// 0 or 1.
    warpgroup: u32,
    k: u32,
    epilogue: &'e Epilogue<'a, C::Element, E>,
    source: C::Source<'a>,
}

impl<C: Config, const A: usize, const B: usize, const STAGES: usize, const E: usize>
    Consumer<'_, '_, C, A, B, STAGES, E>
{
    /// This warpgroup's 128 rows of the tile at `place`, the block's tile number `done`: two accumulators of 64 rows.
    #[cfg_attr(optimised, inline(always))]
    fn tile<const N: usize>(&self, done: u32, place: impl Fn() -> [u32; 3])
    where
        Columns<N>: Width,
    {
        let (row, steps) =
            (self.warpgroup * (ROWS / 2), opaque(self.k).div_ceil(Smem::<C::Operand, A, B, STAGES>::DEPTH));
        let mut state = PipelineState::<STAGES>::after(done as u64 * steps as u64);
        let mut accumulators = [Accumulators::<N>::zeroed(), Accumulators::<N>::zeroed()];
        let mut at = [0; 3];
        accumulate::<C, 2, N, A, B, STAGES>(
            self.smem,
            self.layout,
            &mut accumulators,
            &mut state,
            (row, steps),
            || at = place(),
        );
        let [tile_row, col, matrix] = at;
        // A tile is staged in an even number of parts, so that each finds the buffers in turn from the first on.
        let buffer = &mut 0;
        let [upper, lower] = &mut accumulators;
        let (above, below) = ([tile_row + row, col, matrix], [tile_row + row + 64, col, matrix]);
        C::finish(upper, self.source, above, &self.epilogue.gemm);
        self.epilogue.store::<C, N>(upper, above, buffer);
        C::finish(lower, self.source, below, &self.epilogue.gemm);
        self.epilogue.store::<C, N>(lower, below, buffer);
    }
}
