//! The main loop for 8-bit floating-point numbers whose sums are promoted: those of a stage, 128 of k, are added to the
//! whole sum in other registers.
//!
//! ```text
//!   wait full(s) ─▶ part = wgmma(s) ─▶ wait ─▶ release(s) ─▶ sum += part ─▶ …
//! ```
//!
//! Tensor cores add products of 8-bit numbers with fewer bits than an `f32` has ([`simt::wgmma`](simt::wgmma#numbers)).
//! While one of the two consumer warpgroups adds, the tensor cores have the other's products.

use simt::wgmma::{Accumulators, Columns, Width};

use super::config::Config;
use super::epilogue::MmaElement;
use super::pipeline::{PipelineState, Smem};

/// Sums `steps` stages of the pipeline from `state` on, at least one, into `sum`: the 64 rows from `row` of the tile
/// on. `meanwhile` is called after the last product.
#[inline(always)]
pub(super) fn accumulate<C: Config, const N: usize, const A: usize, const B: usize, const STAGES: usize>(
    smem: &Smem<C::Operand, A, B, STAGES>,
    sum: &mut Accumulators<N>,
    state: &mut PipelineState<STAGES>,
    (row, steps): (u32, u32),
    meanwhile: impl FnOnce(),
) where
    Columns<N>: Width,
{
    let mut part = Accumulators::<N>::zeroed();
    for _ in 0..steps {
        let stage = state.stage();
        smem.full.wait(stage, state.parity);
        let (a, b) = smem.operands::<C>(stage, row);
        part.multiply::<<C::Operand as MmaElement>::Kind, 4, C::MajorA, C::MajorB, 0>(a, b, true);
        smem.release::<C>(stage);
        state.advance();
        sum.add(&part);
    }
    meanwhile();
}

/// [`accumulate`] with two parts in turn: one is added to the sum while the tensor cores have the products of the
/// other.
#[inline(always)]
pub(super) fn accumulate_ahead<C: Config, const N: usize, const A: usize, const B: usize, const STAGES: usize>(
    smem: &Smem<C::Operand, A, B, STAGES>,
    sum: &mut Accumulators<N>,
    state: &mut PipelineState<STAGES>,
    (row, steps): (u32, u32),
    meanwhile: impl FnOnce(),
) where
    Columns<N>: Width,
{
    let (mut even, mut odd) = (Accumulators::<N>::zeroed(), Accumulators::<N>::zeroed());
    // Starts the products of the next stage, and gives that stage.
    let mut start = |part: &mut Accumulators<N>| {
        let stage = state.stage();
        smem.full.wait(stage, state.parity);
        let (a, b) = smem.operands::<C>(stage, row);
        part.multiply::<<C::Operand as MmaElement>::Kind, 4, C::MajorA, C::MajorB, 1>(a, b, true);
        state.advance();
        stage
    };
    let mut before = start(&mut even);
    let mut left = steps - 1;
    while left >= 2 {
        let stage = start(&mut odd);
        even.wait::<1>();
        smem.release::<C>(before);
        sum.add(&even);
        before = start(&mut even);
        odd.wait::<1>();
        smem.release::<C>(stage);
        sum.add(&odd);
        left -= 2;
    }
    if left > 0 {
        let stage = start(&mut odd);
        odd.wait::<0>();
        smem.release::<C>(stage);
        sum.add(&odd);
    }
    even.wait::<0>();
    smem.release::<C>(before);
    sum.add(&even);
    meanwhile();
}
