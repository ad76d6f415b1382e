//! The main loop: six products of planes for each 64 of k, in order of their size.
//!
//! ```text
//!   stages   │ a₀ b₀ │ a₂ b₂ │ a₁ b₁ │ a₀ b₀ │ …
//!              wait    wait ─▶ a₀b₂, a₂b₀
//!                              wait ─▶ a₁b₁, a₀b₁, a₁b₀, a₀b₀ ─▶ release all three ─▶ group += …
//!                                                                      after 8 times:  sum += group
//! ```
//!
//! Sums of 512 of k are added up on their own, so that fewer additions are rounded at the magnitude of the whole sum.
//!
//! While one of the two consumer warpgroups adds, the tensor cores have the other's products.

use half::bf16;
use simt::wgmma::{Accumulators, Columns, Width};

use crate::gemm::sm90::config::Config;
use crate::gemm::sm90::layout::MmaLayout;
use crate::gemm::sm90::pipeline::{PipelineState, Smem};

/// Steps of 64 of k whose sums are added up before they are added to the whole.
const GROUP: u32 = 8;

/// Sums `steps` times 64 of k, at least one, into `sum`: the 64 rows from `row` of the tile on.
#[cfg_attr(optimised, inline(always))]
pub(in crate::gemm::sm90) fn accumulate<
    C: Config<Operand = bf16>,
    const N: usize,
    const A: usize,
    const B: usize,
    const STAGES: usize,
>(
    smem: &Smem<bf16, A, B, STAGES>,
    sum: &mut Accumulators<N>,
    state: &mut PipelineState<STAGES>,
    (row, steps): (u32, u32),
) where
    Columns<N>: Width,
{
    let (mut part, mut group) = (Accumulators::<N>::zeroed(), Accumulators::<N>::zeroed());
    let mut left = steps;
    while left > 0 {
        let mut next = || {
            let (stage, parity) = (state.stage(), state.parity);
            state.advance();
            smem.full.wait(stage, parity);
            (stage, smem.operands::<C>(MmaLayout::of::<C>(), stage, row))
        };
        let (first, (a0, b0)) = next();
        let (second, (a2, b2)) = next();
        // None of these waits for another: six groups are in flight.
        part.multiply::<bf16, 4, C::MajorA, C::MajorB, 7>(a0, b2, true);
        part.multiply::<bf16, 4, C::MajorA, C::MajorB, 7>(a2, b0, false);
        let (third, (a1, b1)) = next();
        part.multiply::<bf16, 4, C::MajorA, C::MajorB, 7>(a1, b1, false);
        part.multiply::<bf16, 4, C::MajorA, C::MajorB, 7>(a0, b1, false);
        part.multiply::<bf16, 4, C::MajorA, C::MajorB, 7>(a1, b0, false);
        part.multiply::<bf16, 4, C::MajorA, C::MajorB, 7>(a0, b0, false);
        part.wait::<0>();
        smem.release::<C>(first);
        smem.release::<C>(second);
        smem.release::<C>(third);
        group.add(&part);
        left -= 1;
        if left % GROUP == 0 {
            sum.add(&group);
            group = Accumulators::zeroed();
        }
    }
}
