//! The main loop with A in registers: tf32 whose rows run along m, which tensor cores do not read from shared memory.
//!
//! ```text
//!   wait full(s + 1) ─▶ load A(s + 1) to registers ─▶ wgmma(s) ─▶ release(s) ─▶ …   A is loaded during wgmma
//! ```

use simt::prelude::*;
use simt::warp::{FULL_MASK, sync_warp};
use simt::wgmma::{Accumulators, Columns, Width};

use super::config::Config;
use super::epilogue::MmaElement;
use super::fragments;
use super::layout::MmaLayout;
use super::pipeline::{PipelineState, Smem};

/// Multiplies `steps` stages of the pipeline from `state` on, at least one: the accumulator has the 64 rows from `row`
/// of the tile on, in the order of [`fragments::row`].
#[cfg_attr(optimised, inline(always))]
pub(super) fn accumulate<
    C: Config<Operand = f32>,
    const N: usize,
    const A: usize,
    const B: usize,
    const STAGES: usize,
>(
    smem: &Smem<f32, A, B, STAGES>,
    accumulator: &mut Accumulators<N>,
    state: &mut PipelineState<STAGES>,
    (row, steps): (u32, u32),
) where
    Columns<N>: Width,
{
    let t = thread_idx_x();
    let load = |stage: u32| fragments::load(&smem.a, Smem::<f32, A, B, STAGES>::a_at(stage, row), t);
    smem.full.wait(state.stage(), state.parity);
    let mut before = state.stage();
    let mut fragment = load(before);
    state.advance();
    for step in 1..steps {
        smem.full.wait(state.stage(), state.parity);
        let next = load(state.stage());
        let b = smem.operand_b::<C>(MmaLayout::of::<C>(), before);
        accumulator.multiply_registers::<<f32 as MmaElement>::Kind, 4, C::MajorB>(fragment, b, step == 1);
        // TMA may write again what all lanes have read.
        sync_warp(FULL_MASK);
        smem.release::<C>(before);
        fragment = next;
        before = state.stage();
        state.advance();
    }
    let b = smem.operand_b::<C>(MmaLayout::of::<C>(), before);
    accumulator.multiply_registers::<<f32 as MmaElement>::Kind, 4, C::MajorB>(fragment, b, steps == 1);
    sync_warp(FULL_MASK);
    smem.release::<C>(before);
}
