//! A row of the table as a type.

use simt::wgmma::{Accumulators, Columns, Major, Width};

use super::epilogue::{Form, MmaElement};
use super::layout::MmaLayout;
use super::mainloop_wgmma;
use super::pipeline::{BlockSmem, PipelineState};
use crate::gemm::args::GemmArgs;
use crate::gemm::configs::WgmmaConfig;

/// A configuration for an element type, and in PTX for a layout: see [`MmaLayout`].
pub(super) trait Config: Sized {
    /// The elements of C.
    type Element: MmaElement;
    /// What tensor cores multiply: the elements of A and B, or their planes.
    type Operand: MmaElement;
    /// What the epilogue must know of it.
    type Form: Form;
    /// What [`Self::finish`] needs.
    type Source<'a>: Copy;
    /// How the MMA reads its A from shared memory, in the layout of which this is the type.
    type MajorA: Major;
    /// How it reads its B.
    type MajorB: Major;
    /// The row of the table.
    const CONFIG: WgmmaConfig;
    /// Whether the MMA's A and its B are K-major in memory in that layout.
    const K_MAJOR: [bool; 2];

    /// The main loop: the sums of 64 rows from row `row` of the MMA tile on, over the stages `from` to `to` of k, at
    /// least one. `place` finds the row and the column of C where these sums begin, and the matrix; it is called where
    /// that costs no time, and its result is returned. See [`mainloop_wgmma::accumulate`].
    #[cfg_attr(optimised, inline(always))]
    fn accumulate<const N: usize, const A: usize, const B: usize, const STAGES: usize, const E: usize, const F: usize>(
        BlockSmem { pipeline: smem, .. }: &BlockSmem<Self::Operand, A, B, STAGES, E, F>,
        layout: MmaLayout,
        accumulator: &mut [Accumulators<N>; 1],
        state: &mut PipelineState<STAGES>,
        (row, [from, to]): (u32, [u32; 2]),
        _source: Self::Source<'_>,
        place: impl FnOnce() -> [u32; 3],
    ) -> [u32; 3]
    where
        Columns<N>: Width,
    {
        let mut at = [0; 3];
        let (range, meanwhile) = ((row, to - from), || at = place());
        mainloop_wgmma::accumulate::<Self, 1, N, A, B, STAGES>(smem, layout, accumulator, state, range, meanwhile);
        at
    }

    /// What is done with the sums of a tile of the matrix `place[2]` before the epilogue: those of 64 rows from row
    /// `place[0]`, column `place[1]` of C on.
    #[cfg_attr(optimised, inline(always))]
    fn finish<const N: usize>(
        _accumulator: &mut Accumulators<N>,
        _source: Self::Source<'_>,
        _place: [u32; 3],
        _gemm: &GemmArgs<'_, Self::Element>,
    ) where
        Columns<N>: Width,
    {
    }
}

/// [`Config::accumulate`] of operands `$operand`, with `$source`. The body has, by the names given: the memory,
/// the sum, the pipeline's state, the range of rows and stages, the source, and the function for the place.
macro_rules! accumulate {
    (
        $operand:ty, $source:ty,
        |$block:ident, $sum:ident, $state:ident, $range:pat, $given:ident, $place:ident| $body:block
    ) => {
        #[cfg_attr(optimised, inline(always))]
        fn accumulate<
            const N: usize,
            const A: usize,
            const B: usize,
            const STAGES: usize,
            const E: usize,
            const F: usize,
        >(
            $block: &BlockSmem<$operand, A, B, STAGES, E, F>,
            _layout: MmaLayout,
            accumulator: &mut [Accumulators<N>; 1],
            $state: &mut PipelineState<STAGES>,
            $range: (u32, [u32; 2]),
            $given: $source,
            $place: impl FnOnce() -> [u32; 3],
        ) -> [u32; 3]
        where
            Columns<N>: Width,
        {
            let $sum = &mut accumulator[0];
            $body
        }
    };
}
pub(super) use accumulate;

/// What a flag changes in a [`Config`].
macro_rules! mainloop {
    (a_in_registers) => {
        accumulate!(f32, (), |block, sum, state, (row, [from, to]), _source, place| {
            mainloop_wgmma_rs::accumulate::<Self, N, A, B, STAGES>(&block.pipeline, sum, state, (row, to - from));
            place()
        });
    };
    (promotes) => {
        accumulate!(Self::Operand, Scales<'_>, |block, sum, state, (row, [from, to]), _source, place| {
            let range = (row, to - from);
            mainloop_wgmma_promoted::accumulate::<Self, N, A, B, STAGES>(&block.pipeline, sum, state, range);
            place()
        });
    };
    (promotes_blocks) => {
        accumulate!(Self::Operand, BlockScales<'_>, |block, sum, state, range, source, place| {
            let place = place();
            let blocks = Blocks::new(source, place, &block.factors);
            mainloop_wgmma_blocks::accumulate::<Self, N, A, B, STAGES, F>(&block.pipeline, sum, state, range, blocks);
            place
        });
    };
    ($flag:ident) => {};
}
pub(super) use mainloop;

/// `has!([flags] flag)`: whether the flag is among them.
macro_rules! has {
    ([$($flag:ident)*] $wanted:ident) => { false $(|| has!(@$flag $wanted))* };
    (@swap_ab swap_ab) => { true };
    (@two_width two_width) => { true };
    (@stream_k stream_k) => { true };
    (@a_in_registers a_in_registers) => { true };
    (@promotes promotes) => { true };
    (@promotes_blocks promotes) => { true };
    (@promotes_blocks promotes_blocks) => { true };
    (@$flag:ident $wanted:ident) => { false };
}
pub(super) use has;

/// Sums of which rows and columns have factors in a [`Config`].
macro_rules! scaled {
    () => {
        #[cfg_attr(optimised, inline(always))]
        fn finish<const N: usize>(
            accumulator: &mut Accumulators<N>,
            scales: Scales<'_>,
            place: [u32; 3],
            gemm: &GemmArgs<'_, Self::Element>,
        ) where
            Columns<N>: Width,
        {
            crate::gemm::sm90::scales::scale(accumulator, scales, place, gemm);
        }
    };
}
pub(super) use scaled;
