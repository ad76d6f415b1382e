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
use crate::gemm::args::{BlockScales, SCALE_BLOCK};
use crate::unroll::{each, unroll};

/// Columns of a part.
const PART: usize = 128;

/// How a part is added to the sum.
pub(super) trait Promotion: Copy {
    /// The factors of a part: of the upper and of the lower one of this thread's rows.
    type Factors: Copy;
    /// Those of no part.
    const NONE: Self::Factors;
    /// The factors of both parts in stage `stage` of k.
    fn factors(self, stage: u32) -> [Self::Factors; 2];
    /// Adds the part to the columns of the sum from `first` on.
    fn add<const N: usize>(sum: &mut Accumulators<N>, first: u32, part: &Accumulators<PART>, factors: Self::Factors)
    where
        Columns<N>: Width;
}

/// As it is.
#[derive(Clone, Copy)]
pub(super) struct Unscaled;

impl Promotion for Unscaled {
    type Factors = ();
    const NONE: () = ();
    #[inline(always)]
    fn factors(self, _stage: u32) -> [(); 2] {
        [(); 2]
    }
    #[inline(always)]
    fn add<const N: usize>(sum: &mut Accumulators<N>, first: u32, part: &Accumulators<PART>, (): ())
    where
        Columns<N>: Width,
    {
        sum.add_columns::<PART>(first, part);
    }
}

/// Times the factors of blocks. A part is a block of B wide and deep.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'a> {
    scales: BlockScales<'a>,
    /// The upper one of this thread's rows.
    row: u32,
    /// The block of columns where the tile begins.
    block: u32,
}

impl<'a> Blocks<'a> {
    /// The factors of the sums that begin at a row and a column of C.
    #[inline(always)]
    pub(super) fn new(scales: BlockScales<'a>, [row, col, _]: [u32; 3]) -> Self {
        const { assert!(PART == SCALE_BLOCK as usize) }
        let (down, _) = Accumulators::<PART>::position(0);
        Self { scales, row: row + down, block: col / SCALE_BLOCK }
    }
}

impl Promotion for Blocks<'_> {
    type Factors = [f32; 2];
    const NONE: [f32; 2] = [0.0; 2];
    #[inline(always)]
    fn factors(self, stage: u32) -> [[f32; 2]; 2] {
        let BlockScales { a, b } = self.scales;
        let rows = each!([0, 8], |down| a.get_or(self.row + down, stage, 0.0));
        each!(each!([0, 1], |part| b.get_or(self.block + part, stage, 0.0)), |block| each!(rows, |row| row * block))
    }
    #[inline(always)]
    fn add<const N: usize>(sum: &mut Accumulators<N>, first: u32, part: &Accumulators<PART>, factors: [f32; 2])
    where
        Columns<N>: Width,
    {
        sum.add_scaled_columns::<PART>(first, part, factors);
    }
}

/// Sums the stages `from` to `to` of k, at least one, from stage `state` of the pipeline on, into `sum`: the 64 rows
/// from `row` of the tile on.
#[inline(always)]
pub(super) fn accumulate<C: Config, P: Promotion, const N: usize, const A: usize, const B: usize, const STAGES: usize>(
    smem: &Smem<C::Operand, A, B, STAGES>,
    sum: &mut Accumulators<N>,
    state: &mut PipelineState<STAGES>,
    (row, [from, to]): (u32, [u32; 2]),
    promotion: P,
) where
    Columns<N>: Width,
{
    const { assert!(N == PART || N == 2 * PART, "one part or two") }
    let mut part = Accumulators::<PART>::zeroed();
    // Those of the part that is not yet added.
    let mut factors = P::NONE;
    let mut step = from;
    loop {
        // From memory while products are under way.
        let next = promotion.factors(step);
        let stage = state.stage();
        smem.full.wait(stage, state.parity);
        let (a, b) = smem.operands::<C>(MmaLayout::of::<C>(), stage, row);
        unroll!(for i in 0..2 {
            if i < N / PART {
                // The part before, at first zeros: between the addition and the product there is no branch, so that
                // ptxas computes descriptors meanwhile.
                P::add(sum, if i == 0 { N - PART } else { 0 } as u32, &part, factors);
                let b = b.advance((i * PART) as u32 * 128);
                part.multiply::<<C::Operand as MmaElement>::Kind, 4, C::MajorA, C::MajorB, 0>(a, b, true);
                factors = next[i];
            }
        });
        smem.release::<C>(stage);
        state.advance();
        step += 1;
        if step >= to {
            break;
        }
    }
    P::add(sum, (N - PART) as u32, &part, factors);
}
