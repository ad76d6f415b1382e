//! The main loop with both operands in shared memory.
//!
//! ```text
//!   wait full(s) ─▶ wgmma(s) ─▶ release(s − 1) ─▶ wait full(s + 1) ─▶ …      one group of products is always under way
//! ```

use simt::wgmma::{Accumulators, Columns, Width};

use super::config::Config;
use super::layout::MmaLayout;
use super::pipeline::{PipelineState, Smem};
use crate::unroll::unroll;

/// Multiplies `steps` stages of the pipeline from `state` on, at least one: accumulator i has the 64 rows from `row` +
/// 64·i of the tile on. `meanwhile` is called once products are under way.
#[cfg_attr(optimised, inline(always))]
pub(super) fn accumulate<
    C: Config,
    const COUNT: usize,
    const N: usize,
    const A: usize,
    const B: usize,
    const STAGES: usize,
>(
    smem: &Smem<C::Operand, A, B, STAGES>,
    layout: MmaLayout,
    accumulators: &mut [Accumulators<N>; COUNT],
    state: &mut PipelineState<STAGES>,
    (row, steps): (u32, u32),
    meanwhile: impl FnOnce(),
) where
    Columns<N>: Width,
{
    const { assert!(COUNT <= 2) }
    smem.full.wait(state.stage(), state.parity);
    unroll!(for i in 0..2 {
        if i < COUNT {
            let (a, b) = smem.operands::<C>(layout, state.stage(), row + 64 * i as u32);
            layout.multiply::<C, N>(&mut accumulators[i], (a, b), true);
        }
    });
    meanwhile();
    let mut before = state.stage();
    state.advance();
    for _ in 1..steps {
        smem.full.wait(state.stage(), state.parity);
        unroll!(for i in 0..2 {
            if i < COUNT {
                let (a, b) = smem.operands::<C>(layout, state.stage(), row + 64 * i as u32);
                layout.multiply::<C, N>(&mut accumulators[i], (a, b), false);
                if i == 0 {
                    // All groups but the one just started are done: the stage before can be loaded again.
                    smem.release::<C>(before);
                }
            }
        });
        before = state.stage();
        state.advance();
    }
    unroll!(for i in 0..2 {
        if i < COUNT {
            accumulators[i].wait::<0>();
        }
    });
    smem.release::<C>(before);
}
