//! A row of the table as a type.

use half::{bf16, f16};
use simt::wgmma::{Accumulators, Columns, KMajor, Major, MnMajor, Width};

use super::epilogue::MmaElement;
use super::mainloop_wgmma;
use super::pipeline::{PipelineState, Smem};
use crate::gemm::args::GemmArgs;
use crate::gemm::configs::WgmmaConfig;

/// A configuration for an element type and a layout.
pub(super) trait Config: Sized {
    /// The elements of C.
    type Element: MmaElement;
    /// What tensor cores multiply: the elements of A and B, or their planes.
    type Operand: MmaElement;
    /// What [`Self::finish`] needs.
    type Source<'a>: Copy;
    /// How the MMA reads its A from shared memory.
    type MajorA: Major;
    /// How it reads its B.
    type MajorB: Major;
    /// The row of the table.
    const CONFIG: WgmmaConfig;
    /// Whether the MMA's A and its B are K-major in memory.
    const K_MAJOR: [bool; 2];
    /// Whether C's rows belong to groups: a tile may end within 64 rows, and what is below is another's.
    const GROUPED: bool = false;

    /// The main loop: the sums of 64 rows from row `row` of the MMA tile on, over the stages `from` to `to` of k, at
    /// least one. `place` finds the row and the column of C where these sums begin, and the matrix; it is called where
    /// that costs no time, and its result is returned. See [`mainloop_wgmma::accumulate`].
    #[inline(always)]
    fn accumulate<const N: usize, const A: usize, const B: usize, const STAGES: usize>(
        smem: &Smem<Self::Operand, A, B, STAGES>,
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
        let range = (row, to - from);
        mainloop_wgmma::accumulate::<Self, 1, N, A, B, STAGES>(smem, accumulator, state, range, || at = place());
        at
    }

    /// What is done with the sums of a tile of the matrix `place[2]` before the epilogue: those of 64 rows from row
    /// `place[0]`, column `place[1]` of C on.
    #[inline(always)]
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

/// How the MMA reads an operand of these elements from shared memory, whether it is K-major in memory or not.
pub(super) trait Staged<const K_MAJOR: bool> {
    type Major: Major;
}

impl<T> Staged<true> for T {
    type Major = KMajor;
}
impl Staged<false> for f16 {
    type Major = MnMajor;
}
impl Staged<false> for bf16 {
    type Major = MnMajor;
}
// Tensor cores read tf32 from shared memory K-major alone: an MN-major A goes through registers.
impl Staged<false> for f32 {
    type Major = KMajor;
}
