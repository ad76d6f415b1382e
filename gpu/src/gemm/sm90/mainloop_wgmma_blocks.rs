//! The main loop for 8-bit floating-point numbers with factors of blocks: as
//! [the one without](super::mainloop_wgmma_promoted), but that a part times its factors is added to the sum.
//!
//! ```text
//!   part = wgmma(s, left) ─▶ sum += part ─▶ part = wgmma(s, right) ─▶ sum += part ─▶ part = wgmma(s + 1, left) ─▶ …
//!    meanwhile: release(s − 1),              meanwhile: wait full(s + 1)
//!               factors of s
//! ```
//!
//! The tensor cores take 256 clocks for a part, so that they wait where both warpgroups take longer from the end of one
//! part to the start of the next: there they add, and everything else is done while a product is under way.

use simt::async_copy::{cp_async_commit, cp_async_if_inside, cp_async_wait_group};
use simt::global::{MatRef, Window};
use simt::prelude::*;
use simt::warp::{FULL_MASK, lane_id, sync_warp, warp_id};
use simt::wgmma::{Accumulators, Columns, Width};

use super::config::Config;
use super::epilogue::MmaElement;
use super::layout::MmaLayout;
use super::mainloop_wgmma_promoted::PART;
use super::pipeline::{PipelineState, Smem};
use crate::gemm::args::{BlockScales, SCALE_BLOCK};
use crate::gemm::configs::{FACTOR_STAGES, WARP_FACTORS};
use crate::unroll::{each, unroll};

/// Elements of a stage in the ring of [`Blocks`]: factors of a warp's 16 rows, rows 8 apart side by side, then those of
/// both blocks.
const STAGE: u32 = WARP_FACTORS as u32;
/// Those of all stages.
const RING: u32 = FACTOR_STAGES as u32 * STAGE;

/// Times the factors of blocks. A part is a block of B wide and deep.
///
/// Each warp copies those that it needs to a ring of its own in shared memory, two stages ahead: with the L2 cache as
/// busy as here, a load takes longer than the products of one stage.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'a, const F: usize> {
    /// What this lane copies: a row, or a block's, of these factors.
    from: Window<'a, f32>,
    row: u32,
    /// The rings of all warps; where this lane copies to in the first place, and where the factors of its rows and
    /// those of the blocks are.
    rings: &'a SharedArray<f32, F>,
    to: u32,
    pairs: [u32; 2],
    /// The places of the next stage and of the one before.
    places: [u32; 2],
    /// The end of the tile's stages.
    end: u32,
}

impl<'a, const F: usize> Blocks<'a, F> {
    /// The factors of the sums that begin at a row and a column of C.
    #[cfg_attr(optimised, inline(always))]
    pub(super) fn new(scales: BlockScales<'a>, [row, col, _]: [u32; 3], rings: &'a SharedArray<f32, F>) -> Self {
        const { assert!(PART == SCALE_BLOCK as usize) }
        let (lane, (down, _)) = (lane_id(), Accumulators::<PART>::position(0));
        // Beyond the last row of C, or the last block of its columns, that one.
        let of = |factors: MatRef<'a, f32>, row: u32| (factors.window(), row.min(factors.rows().wrapping_sub(1)));
        let (from, row) = if lane < 16 {
            of(scales.a, row + down - lane / 4 + lane)
        } else {
            of(scales.b, col / SCALE_BLOCK + (lane - 16))
        };
        // The other lanes copy nothing.
        let row = if lane < STAGE { row } else { u32::MAX };
        // Consumers are the warpgroups from 1 on.
        let first = (warp_id() - 4) * RING;
        // Pairs: the factors of rows r and r + 8, and those of both blocks.
        let to = first + if lane < 16 { lane % 8 * 2 + lane / 8 } else { lane.min(STAGE - 1) };
        Self { from, row, rings, to, pairs: [first + lane / 4 * 2, first + 16], places: [0; 2], end: 0 }
    }

    /// Starts to copy the factors of a stage; of none beyond the tile's, since the next tile's copies go there.
    #[cfg_attr(optimised, inline(always))]
    fn copy(&self, stage: u32, place: u32) {
        // Outside of the matrix.
        let stage = if stage < self.end { stage } else { u32::MAX };
        // SAFETY: `F` has a ring for each warp of the consumers, and the place is in this warp's.
        let to = unsafe { self.rings.slot_unchecked::<1>(self.to + place) };
        cp_async_if_inside(to, self.from.slot_or_zero(self.row, stage));
        cp_async_commit();
    }

    /// Begins a tile with the stages `from` to `to` of k.
    #[cfg_attr(optimised, inline(always))]
    fn begin(&mut self, [from, to]: [u32; 2]) {
        (self.end, self.places) = (to, [0, RING - STAGE]);
        // The lanes have read the last factors of the tile before.
        sync_warp(FULL_MASK);
        self.copy(from, 0);
        self.copy(from + 1, STAGE);
    }

    /// The factors of both parts of stage `stage`, of the upper and of the lower one of this thread's rows: of all
    /// stages of the tile in their order. Without a branch: this is called while a product is under way, where ptxas
    /// allows none.
    #[cfg_attr(optimised, inline(always))]
    fn next(&mut self, stage: u32) -> [[f32; 2]; 2] {
        cp_async_wait_group::<1>();
        sync_warp(FULL_MASK);
        let [place, before] = self.places;
        // SAFETY: `F` has a ring for each warp of the consumers, and the places are in this warp's; all are even.
        let [rows, blocks] = unsafe { each!(self.pairs, |pair| self.rings.get_vec_unchecked::<2>(pair + place).lanes) };
        // All lanes have read those of the stage before.
        self.copy(stage + 2, before);
        self.places = [if place == RING - STAGE { 0 } else { place + STAGE }, place];
        each!(blocks, |block| each!(rows, |row| row * block))
    }
}

/// Sums the stages `from` to `to` of k, at least one, from stage `state` of the pipeline on, into `sum`: the 64 rows
/// from `row` of the tile on.
#[cfg_attr(optimised, inline(always))]
pub(super) fn accumulate<
    C: Config,
    const N: usize,
    const A: usize,
    const B: usize,
    const STAGES: usize,
    const F: usize,
>(
    smem: &Smem<C::Operand, A, B, STAGES>,
    sum: &mut Accumulators<N>,
    state: &mut PipelineState<STAGES>,
    (row, [from, to]): (u32, [u32; 2]),
    mut blocks: Blocks<'_, F>,
) where
    Columns<N>: Width,
{
    const { assert!(N == PART || N == 2 * PART, "one part or two") }
    let mut part = Accumulators::<PART>::zeroed();
    // Those of the part that is not yet added.
    let mut factors = [0.0; 2];
    blocks.begin([from, to]);
    smem.full.wait(state.stage(), state.parity);
    let (mut a, mut b) = smem.operands::<C>(MmaLayout::of::<C>(), state.stage(), row);
    let (mut step, mut before) = (from, state.stage());
    // The last stage apart, so that the sums of the loop have other registers than those that the epilogue stores in
    // pairs: with those ptxas cannot avoid that the operands of an addition are in the same bank of registers.
    unroll!(for turn in 0..2 {
        while turn == 1 || step + 1 < to {
            // The part before, at first zeros: between the addition and the product there is no branch, so that ptxas
            // computes descriptors meanwhile.
            sum.add_scaled_columns::<PART>((N - PART) as u32, &part, factors);
            part.multiply::<<C::Operand as MmaElement>::Kind, 4, C::MajorA, C::MajorB, 1>(a, b, true);
            if step > from {
                smem.release::<C>(before);
            }
            before = state.stage();
            let [left, right] = blocks.next(step);
            state.advance();
            let of_right = (a, b.advance(PART as u32 * 128));
            if N == PART && turn == 0 {
                smem.full.wait(state.stage(), state.parity);
                (a, b) = smem.operands::<C>(MmaLayout::of::<C>(), state.stage(), row);
            }
            part.wait::<0>();
            factors = left;
            if N > PART {
                sum.add_scaled_columns::<PART>(0, &part, factors);
                let (a_again, right_b) = of_right;
                part.multiply::<<C::Operand as MmaElement>::Kind, 4, C::MajorA, C::MajorB, 1>(a_again, right_b, true);
                if turn == 0 {
                    smem.full.wait(state.stage(), state.parity);
                    (a, b) = smem.operands::<C>(MmaLayout::of::<C>(), state.stage(), row);
                }
                part.wait::<0>();
                factors = right;
            }
            step += 1;
            if turn == 1 {
                break;
            }
        }
    });
    smem.release::<C>(before);
    sum.add_scaled_columns::<PART>((N - PART) as u32, &part, factors);
}
