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
use crate::reduce::along::list::reductions;
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
    (
        $(
            $(#[$doc:meta])*
            [$_rows:ident $_columns:ident $name:ident] [$_:literal $__:literal $blocks:literal]
            ($t:ident by $n:literal => $out:ident) $reduction:ty;
        )+
    ) => {
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
reductions!(kernels);
