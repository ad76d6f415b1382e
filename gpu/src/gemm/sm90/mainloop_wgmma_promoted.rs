//! The main loop for 8-bit floating-point numbers whose sums are promoted: those of a stage, 128 of k, are added to the
//! whole sum in other registers.
//!
//! ```text
//!   wait full(s) ─▶ part = wgmma(s, left) ─▶ wait ─▶ sum += part ─▶ part = wgmma(s, right) ─▶ wait ─▶ release(s) ─▶ …
//! ```
//!
//! Tensor cores add products of 8-bit numbers with fewer bits than an `f32` has ([`simt::wgmma`](simt::wgmma#numbers)).
//! While one of the two consumer warpgroups adds, the tensor cores have the other's products. A part has 128 columns:
//! with the 128 registers of a whole sum of 256 columns there are 64 for a part.

use simt::wgmma::{Accumulators, Columns, Width};

use super::config::Config;
use super::epilogue::MmaElement;
use super::layout::MmaLayout;
use super::pipeline::{PipelineState, Smem};
use crate::unroll::unroll;

/// Columns of a part.
pub(super) const PART: usize = 128;

/// Sums `steps` stages, at least one, from stage `state` of the pipeline on, into `sum`: the 64 rows from `row` of the
/// tile on.
#[cfg_attr(optimised, inline(always))]
pub(super) fn accumulate<C: Config, const N: usize, const A: usize, const B: usize, const STAGES: usize>(
    smem: &Smem<C::Operand, A, B, STAGES>,
    sum: &mut Accumulators<N>,
    state: &mut PipelineState<STAGES>,
    (row, steps): (u32, u32),
) where
    Columns<N>: Width,
{
    const { assert!(N == PART || N == 2 * PART, "one part or two") }
    let mut part = Accumulators::<PART>::zeroed();
    let mut step = 0;
    loop {
        let stage = state.stage();
        smem.full.wait(stage, state.parity);
        let (a, b) = smem.operands::<C>(MmaLayout::of::<C>(), stage, row);
        unroll!(for i in 0..2 {
            if i < N / PART {
                // The part before, at first zeros: between the addition and the product there is no branch, so that
                // ptxas computes descriptors meanwhile.
                sum.add_columns::<PART>(if i == 0 { N - PART } else { 0 } as u32, &part);
                let b = b.advance((i * PART) as u32 * 128);
                part.multiply::<<C::Operand as MmaElement>::Kind, 4, C::MajorA, C::MajorB, 0>(a, b, true);
            }
        });
        smem.release::<C>(stage);
        state.advance();
        step += 1;
        if step >= steps {
            break;
        }
    }
    sum.add_columns::<PART>((N - PART) as u32, &part);
}
