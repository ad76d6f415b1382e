//! Reductions of the segments of a vector, of any lengths, each to one element of `out`.
//!
//! Segment s is the elements from `offsets[s]` to `offsets[s + 1]` − 1. Work is balanced by a merge path: elements and
//! ends of segments form one list of *items*, each end after the elements of its segment, and every warp has the same
//! number of items (`warp`), whether they are part of one long segment or a thousand empty ones.
//!
//! ```text
//!  list     e e e e ┃ e e e ┃ ┃ e e e e e e e e e e ┃ e e e         e: an element, ┃: the end of a segment
//!  warps    ├──── 0 ────┤├──── 1 ────┤├──── 2 ────┤├── 3 ──┤
//!  carry               begins                ends            segments of several warps are merged in the order
//!                                                            of the warps, then of the blocks (carry.rs)
//! ```
//!
//! (S. Odeh, O. Green et al., *Merge Path – Parallel Merging Made Simple*, 2012; D. Merrill and M. Garland use it for
//! sparse matrices, 2016.) One launch: the block that finishes last merges the carries of all blocks. The partition
//! depends only on the offsets and the lengths of the two vectors, so the result has the same bits on every GPU and on
//! the simulator.
//!
//! If offsets decrease or exceed the length of `x`, the results are wrong, but nothing outside `x` is read and nothing
//! outside `out` is written.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array held by value keeps it in local memory")]

pub mod carry;
pub mod plan;
mod warp;

use half::{bf16, f16};
use simt::KernelArg;
use simt::element::Lanes;
use simt::prelude::*;

use self::carry::Scratch;
use self::warp::Offsets;
use crate::reduce::along::list::reductions;
use crate::reduce::along::{THREADS, best, totals};
use crate::reduce::reducer::{Reducer, reducer};
use crate::reduce::whole::compare::Ignore;
use crate::reduce::whole::reduction::state_words;
use crate::reduce::whole::{counts, moments, products, squares};

/// All segments have the same parameter.
pub const FIXED: u32 = 0;
/// A segment's parameter is the bitwise or of the parameter and its length + 1.
pub const LENGTH_PLUS_ONE: u32 = 1;
/// A segment's parameter is its length minus the parameter, at least 0.
pub const LENGTH_MINUS: u32 = 2;

/// Arguments of a kernel besides memory, those of 32 bits.
#[repr(C)]
#[derive(Clone, Copy, KernelArg)]
pub struct SegmentArgs {
    /// Items for each warp: those of a [`plan::Plan`].
    pub items: u32,
    /// How the parameter of a segment depends on its length: [`FIXED`], [`LENGTH_PLUS_ONE`] or [`LENGTH_MINUS`].
    pub by_length: u32,
    /// 1 if an offset has two words, lower half first, else 0.
    pub wide: u32,
}

impl SegmentArgs {
    /// The parameter for a segment of `length` elements.
    #[cfg_attr(optimised, inline(always))]
    fn parameter(self, parameter: u64, length: u64) -> u64 {
        // Without a branch, across which the compiler would keep two more registers.
        let joined = parameter | (length + 1) & u64::from(self.by_length == LENGTH_PLUS_ONE).wrapping_neg();
        if self.by_length == LENGTH_MINUS { length.saturating_sub(parameter) } else { joined }
    }
}

/// The body of a kernel.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn segments<R: Reducer, const N: usize, const W: usize>(
    r: R,
    scratch: &Scratch<W>,
    x: VecRef<R::Element>,
    offsets: Offsets,
    workspace: VecMut<u64>,
    out: VecMut<R::Output>,
    (args, parameter): (SegmentArgs, u64),
) where
    R::Element: Lanes<N>,
{
    let write = |segment: u32, state: R::State| {
        let length = offsets.at(segment + 1).saturating_sub(offsets.at(segment));
        out.set_within(segment as usize, r.finish(state, args.parameter(parameter, length)));
    };
    let carry_out = warp::reduce::<R, N>(r, x, offsets, args.items, parameter, write);
    let carry_out = carry::combine_warps(r, scratch, carry_out, write);
    carry::combine_blocks(r, scratch, carry_out, workspace, write);
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
            /// `out` has one element for each segment, and there is one offset more. The number of blocks is that of a
            /// [`plan::Plan`], and the workspace is as large as the plan says, with a ticket of 0.
            #[simt::kernel(
                block = (THREADS),
                min_blocks = $blocks,
                registers = crate::reduce::along::registers($blocks),
                barriers = 3,
                traps = 12,
                global_load_bytes = if size_of::<$t>() < 4 { size_of::<$t>() as u32 } else { 4 },
                global_store_bytes = size_of::<$out>() as u32
            )]
            pub fn $name(
                #[shared] scratch: &Scratch<{ state_words::<$reduction>() }>,
                x: VecRef<$t>,
                offsets: VecRef<u32>,
                workspace: VecMut<u64>,
                out: VecMut<$out>,
                args: SegmentArgs,
                parameter: u64,
            ) {
                let offsets = Offsets::new(offsets, args.wide == 1, out.len() as u32, x.len() as u64);
                let (r, x, out) = (reducer::<$reduction>(), x.bits_as(), out.bits_as());
                segments::<_, $n, _>(r, scratch, x, offsets, workspace, out, (args, parameter));
            }
        )+

        /// The family's kernels.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const KERNELS: &[&simt::KernelInfo] = &[$($name.info()),+];
    };
}
reductions!(kernels);
