//! Reductions of the segments of a vector, whatever their lengths, each to one element of `out`.
//!
//! Segment s is the elements from `offsets[s]` to `offsets[s + 1]` − 1. The work is cut where it is equal, not where segments
//! end: elements and ends of segments are one list, an end behind the elements before it, and each warp has as many of them
//! (`tile`), whether they are a part of one long segment or a thousand empty ones.
//!
//! ```text
//!  list     e e e e ┃ e e e ┃ ┃ e e e e e e e e e e ┃ e e e         e an element, ┃ the end of a segment
//!  warps    ├──── 0 ────┤├──── 1 ────┤├──── 2 ────┤├── 3 ──┤
//!  hands on              begun               ended             what begins in one warp and ends in another is merged
//!                                                              in the order of the warps, then of the blocks (carry.rs)
//! ```
//!
//! (The merge path of S. Odeh, O. Green et al., *Merge Path – Parallel Merging Made Simple*, 2012, as D. Merrill and M. Garland use
//! it for sparse matrices, 2016.) One launch: the block that finishes last merges what blocks hand on. What is cut where depends
//! on the offsets and the lengths of the two vectors alone, so the result has the same bits on every GPU and on the simulator.
//!
//! Offsets that fall, or reach past the end of `x`, make wrong results: some segments twice, some not at all. Nothing outside `x`
//! is read, and nothing outside `out` written, whatever they are.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array held by value keeps it in local memory")]

pub mod carry;
pub mod plan;
mod tile;

use half::{bf16, f16};
use simt::element::Lanes;
use simt::prelude::*;

use self::carry::Scratch;
use self::tile::Offsets;
use crate::reduce::along::{Along, THREADS, best, totals};
use crate::reduce::whole::order::Ignore;
use crate::reduce::whole::reduction::{Merge, State};
use crate::reduce::whole::{counts, moments, products, squares};

/// The parameter is the same for all segments.
pub const AS_IT_IS: u32 = 0;
/// The parameter is joined with the segment's length + 1.
pub const LENGTH: u32 = 1;
/// The parameter is what the segment is longer than it, at least 0.
pub const LESS: u32 = 2;

/// What a kernel is told beside its memory.
#[derive(Clone, Copy)]
struct Segments {
    /// Elements and ends for each warp.
    items: u32,
    /// What the length of a segment has to do with its parameter: one of [`AS_IT_IS`], [`LENGTH`] and [`LESS`].
    by_length: u32,
    /// The reduction's own.
    parameter: u64,
}

impl Segments {
    /// The parameter for a segment of `length` elements.
    #[inline(always)]
    fn parameter(&self, length: u64) -> u64 {
        // Without a branch, round which the compiler would keep two words more.
        let joined = self.parameter | (length + 1) & u64::from(self.by_length == LENGTH).wrapping_neg();
        if self.by_length == LESS { length.saturating_sub(self.parameter) } else { joined }
    }
}

/// The whole of a kernel.
#[inline(always)]
#[track_caller]
fn segments<R: Along, const N: usize, const W: usize>(
    scratch: &Scratch<W>,
    x: VecRef<R::Element>,
    offsets: Offsets,
    workspace: VecMut<u64>,
    out: VecMut<R::Output>,
    told: Segments,
) where
    R::Element: Lanes<N>,
{
    let write = |segment: u32, state: R::State| {
        let length = offsets.at(segment + 1).saturating_sub(offsets.at(segment));
        out.set_within(segment as usize, R::finish(state, told.parameter(length)));
    };
    let passed = tile::reduce::<R, N>(x, offsets, told.items, told.parameter, write);
    let passed = carry::of_block::<R, W>(scratch, passed, write);
    carry::of_grid::<R, W>(scratch, passed, workspace, write);
}

macro_rules! kernels {
    ($($(#[$doc:meta])* $blocks:literal $name:ident($t:ident by $n:literal => $out:ident) $reduction:ty;)+) => {
        $(
            $(#[$doc])*
            ///
            /// `out` has one element for each segment, `offsets` one more: a word each, or two, the lower first, where `wide` is
            /// 1. `items` and the number of blocks are those of a [`plan::Plan`], and the workspace is as large as it says, with a
            /// ticket of 0. `by_length` is one of [`AS_IT_IS`], [`LENGTH`], [`LESS`].
            #[simt::kernel(
                block = (THREADS),
                min_blocks = $blocks,
                registers = crate::reduce::along::registers($blocks),
                barriers = 3,
                traps = 12,
                global_load_bytes = if size_of::<$t>() < 4 { size_of::<$t>() as u32 } else { 4 },
                global_store_bytes = size_of::<$out>() as u32
            )]
            #[allow(clippy::too_many_arguments, reason = "a launch passes numbers one by one")]
            pub fn $name(
                #[shared] scratch: &Scratch<{ <<$reduction as Merge>::State as State>::WORDS }>,
                x: VecRef<$t>,
                offsets: VecRef<u32>,
                workspace: VecMut<u64>,
                out: VecMut<$out>,
                wide: u32,
                items: u32,
                by_length: u32,
                parameter: u64,
            ) {
                let offsets = Offsets::new(offsets, wide == 1, out.len() as u32, x.len() as u64);
                let told = Segments { items, by_length, parameter };
                segments::<$reduction, $n, _>(scratch, x, offsets, workspace, out, told);
            }
        )+

        /// The family's kernels.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const KERNELS: &[&simt::KernelInfo] = &[$($name.info()),+];
    };
}
kernels! {
    /// Σ x, or Σ x / d: see [`totals`].
    4 segments_total_f32(f32 by 4 => f32) totals::Total<f32>;
    /// Σ x, or Σ x / d.
    4 segments_total_f16(f16 by 8 => f32) totals::Total<f16>;
    /// Σ x, or Σ x / d.
    4 segments_total_bf16(bf16 by 8 => f32) totals::Total<bf16>;
    /// Σ x, or Σ x / d.
    3 segments_total_f64(f64 by 2 => f64) totals::TotalOfF64;
    /// The bits of Σ x, or of Σ x / d.
    4 segments_total_i32(i32 by 4 => u64) totals::TotalOfIntegers<i32>;
    /// The bits of Σ x, or of Σ x / d.
    4 segments_total_u32(u32 by 4 => u64) totals::TotalOfIntegers<u32>;
    /// The bits of Σ x modulo 2⁶⁴; the same for `i64`.
    4 segments_total_u64(u64 by 2 => u64) totals::TotalOfIntegers<u64>;
    /// Σ x, or Σ x / d, of what is no NaN.
    4 segments_nan_total_f32(f32 by 4 => f32) totals::Total<f32, Ignore>;
    /// Σ x, or Σ x / d, of what is no NaN.
    4 segments_nan_total_f16(f16 by 8 => f32) totals::Total<f16, Ignore>;
    /// Σ x, or Σ x / d, of what is no NaN.
    4 segments_nan_total_bf16(bf16 by 8 => f32) totals::Total<bf16, Ignore>;
    /// Σ x, or Σ x / d, of what is no NaN.
    3 segments_nan_total_f64(f64 by 2 => f64) totals::TotalOfF64<Ignore>;
    /// The greatest or least, NaN if there is one: see [`best`].
    4 segments_best_f32(f32 by 4 => f32) best::Best<f32>;
    /// The greatest or least, NaN if there is one.
    4 segments_best_f16(f16 by 8 => f16) best::Best<f16>;
    /// The greatest or least, NaN if there is one.
    4 segments_best_bf16(bf16 by 8 => bf16) best::Best<bf16>;
    /// The greatest or least, NaN if there is one.
    4 segments_best_f64(f64 by 2 => f64) best::Best<f64>;
    /// The greatest or least, of `i32`, too.
    4 segments_best_u32(u32 by 4 => u32) best::Best<u32>;
    /// The greatest or least, of `i64`, too.
    4 segments_best_u64(u64 by 2 => u64) best::Best<u64>;
    /// The greatest or least of what is no NaN.
    4 segments_nan_best_f32(f32 by 4 => f32) best::Best<f32, Ignore>;
    /// The greatest or least of what is no NaN.
    4 segments_nan_best_f16(f16 by 8 => f16) best::Best<f16, Ignore>;
    /// The greatest or least of what is no NaN.
    4 segments_nan_best_bf16(bf16 by 8 => bf16) best::Best<bf16, Ignore>;
    /// The greatest or least of what is no NaN.
    4 segments_nan_best_f64(f64 by 2 => f64) best::Best<f64, Ignore>;
    /// The first index, in its segment, of the greatest or least, or of NaN if there is one.
    4 segments_best_at_f32(f32 by 4 => u64) best::BestAt<f32>;
    /// The first index, in its segment, of the greatest or least, or of NaN if there is one.
    4 segments_best_at_f16(f16 by 8 => u64) best::BestAt<f16>;
    /// The first index, in its segment, of the greatest or least, or of NaN if there is one.
    4 segments_best_at_bf16(bf16 by 8 => u64) best::BestAt<bf16>;
    /// The first index, in its segment, of the greatest or least, or of NaN if there is one.
    4 segments_best_at_f64(f64 by 2 => u64) best::BestAt<f64>;
    /// The first index, in its segment, of the greatest or least, of `i32`, too.
    4 segments_best_at_u32(u32 by 4 => u64) best::BestAt<u32>;
    /// The first index, in its segment, of the greatest or least, of `i64`, too.
    4 segments_best_at_u64(u64 by 2 => u64) best::BestAt<u64>;
    /// The first index, in its segment, of the greatest or least of what is no NaN.
    4 segments_nan_best_at_f32(f32 by 4 => u64) best::BestAt<f32, Ignore>;
    /// The first index, in its segment, of the greatest or least of what is no NaN.
    4 segments_nan_best_at_f16(f16 by 8 => u64) best::BestAt<f16, Ignore>;
    /// The first index, in its segment, of the greatest or least of what is no NaN.
    4 segments_nan_best_at_bf16(bf16 by 8 => u64) best::BestAt<bf16, Ignore>;
    /// The first index, in its segment, of the greatest or least of what is no NaN.
    4 segments_nan_best_at_f64(f64 by 2 => u64) best::BestAt<f64, Ignore>;
    /// Σ x², or its root: see [`totals`].
    3 segments_squares_f32(f32 by 4 => f32) totals::SquareTotal<f32>;
    /// Σ x², or its root.
    3 segments_squares_f16(f16 by 8 => f32) totals::SquareTotal<f16>;
    /// Σ x², or its root.
    3 segments_squares_bf16(bf16 by 8 => f32) totals::SquareTotal<bf16>;
    /// Σ x².
    2 segments_squares_f64(f64 by 2 => f64) squares::SquaresOfF64;
    /// √Σ x².
    2 segments_norm_f64(f64 by 2 => f64) squares::NormOfF64;
    /// Σ x² modulo 2⁶⁴.
    3 segments_squares_i32(i32 by 4 => u64) squares::SquaresOfIntegers<i32>;
    /// Σ x² modulo 2⁶⁴.
    3 segments_squares_u32(u32 by 4 => u64) squares::SquaresOfIntegers<u32>;
    /// Σ x² modulo 2⁶⁴; the same for `i64`.
    2 segments_squares_u64(u64 by 2 => u64) squares::SquaresOfIntegers<u64>;
    /// ∏ x.
    3 segments_product_f32(f32 by 4 => f32) products::Product<f32>;
    /// ∏ x.
    3 segments_product_f16(f16 by 8 => f32) products::Product<f16>;
    /// ∏ x.
    3 segments_product_bf16(bf16 by 8 => f32) products::Product<bf16>;
    /// ∏ x.
    2 segments_product_f64(f64 by 2 => f64) products::ProductOfF64;
    /// ∏ x modulo 2⁶⁴.
    3 segments_product_i32(i32 by 4 => i64) products::ProductOfIntegers<i32>;
    /// ∏ x modulo 2⁶⁴.
    3 segments_product_u32(u32 by 4 => u64) products::ProductOfIntegers<u32>;
    /// ∏ x modulo 2⁶⁴; the same for `i64`.
    2 segments_product_u64(u64 by 2 => u64) products::ProductOfIntegers<u64>;
    /// The count of what is not 0, or whether at least so many are not: see [`counts`].
    2 segments_count_u8(u8 by 16 => u64) counts::Count<u8>;
    /// The same of `f16` or `bf16`, by their bits.
    3 segments_count_f16_bits(u16 by 8 => u64) counts::Count<u16>;
    /// The same of `u32` or `i32`.
    3 segments_count_u32(u32 by 4 => u64) counts::Count<u32>;
    /// The same of `u64` or `i64`.
    2 segments_count_u64(u64 by 2 => u64) counts::Count<u64>;
    /// The same of `f32`.
    3 segments_count_f32(f32 by 4 => u64) counts::Count<f32>;
    /// The same of `f64`.
    2 segments_count_f64(f64 by 2 => u64) counts::Count<f64>;
    /// Σ (x − mean)² / d.
    1 segments_variance_f32(f32 by 4 => f32) moments::Variance<f32>;
    /// Σ (x − mean)² / d.
    1 segments_variance_f16(f16 by 4 => f32) moments::Variance<f16>;
    /// Σ (x − mean)² / d.
    1 segments_variance_bf16(bf16 by 4 => f32) moments::Variance<bf16>;
    /// Σ (x − mean)² / d.
    1 segments_variance_f64(f64 by 2 => f64) moments::VarianceOfF64;
}
