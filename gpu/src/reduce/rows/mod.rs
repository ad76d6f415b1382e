//! Reductions of lines whose elements lie side by side, each to one element of `out`: rows of a matrix, above all.
//!
//! How many threads a line gets goes by its length alone, or, of long ones, also by how many there are ([`plan`]):
//!
//! ```text
//!  short      up to 16 vectors of 16 bytes, many lines of whole vectors up to 128; 1 to 32 lanes
//!             each, four lines under way at once                                                      short.rs
//!  middling   4 to 32 lanes each, four vectors of a line under way                                    ┐ streamed.rs
//!  long       a block each; or several, which leave their states to the one that finishes last        ┘
//! ```
//!
//! Within a line the order of merges depends on its length, how it is aligned to 16 bytes, and for long ones on the number of
//! lines: the result has the same bits on every GPU and on the simulator. One read of the lines, no barrier for short and middling
//! ones, 2 to 4 in a block of a long one.
//!
//! Lines start anywhere: dimension by dimension ([`dims`](crate::reduce::along::dims)). Only short lines must lie at equal
//! distances, which the kernel is told by `cut`; others of few elements go the middling way.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array held by value keeps it in local memory")]

pub mod plan;
mod short;
mod streamed;

use half::{bf16, f16};
use simt::element::Lanes;
use simt::prelude::*;

use crate::reduce::along::block::Scratch;
use crate::reduce::along::dims::DIMS;
use crate::reduce::along::list::reductions;
use crate::reduce::along::{Along, THREADS, best, totals};
use crate::reduce::whole::order::Ignore;
use crate::reduce::whole::reduction::{Merge, State};
use crate::reduce::whole::{counts, moments, products, squares};

/// What a kernel is told of its lines.
#[derive(Clone, Copy)]
struct Lines {
    /// Elements of a line.
    length: u64,
    /// Extents and strides of the dimensions beside it, as [`start`](crate::reduce::along::dims::start) has them.
    extents: [u32; DIMS],
    strides: [u64; DIMS],
    /// The way, then the numbers that it takes: see [`plan::Plan`].
    cut: [u32; 4],
    /// The reduction's own.
    parameter: u64,
}

/// The whole of a kernel.
#[inline(always)]
#[track_caller]
fn rows<R: Along, const N: usize, const W: usize>(
    scratch: &Scratch<W>,
    x: VecRef<R::Element>,
    workspace: VecMut<u64>,
    out: VecMut<R::Output>,
    lines: Lines,
) where
    R::Element: Lanes<N>,
{
    match lines.cut[0] {
        plan::LONG | plan::GROUPED => streamed::reduce::<R, N, W>(scratch, x, workspace, out, lines),
        way => short::reduce::<R, N>(x, out, lines, way == plan::SHORT_VECTORS),
    }
}

macro_rules! kernels {
    ($($(#[$doc:meta])* [$name:ident $_columns:ident $_segments:ident] [$blocks:literal $_:literal $__:literal] ($t:ident by $n:literal => $out:ident) $reduction:ty;)+) => {
        $(
            $(#[$doc])*
            ///
            /// `out` has one element for each line; `length`, `extents`, `strides`, `cut` are those of a
            /// [`plan::Plan`], and the workspace is as large as it says, with tickets of 0.
            #[simt::kernel(
                block = (THREADS),
                min_blocks = $blocks,
                registers = crate::reduce::along::registers($blocks),
                barriers = 3,
                traps = 4,
                global_load_bytes = size_of::<$t>() as u32,
                global_store_bytes = size_of::<$out>() as u32
            )]
            #[allow(clippy::too_many_arguments, reason = "a launch passes numbers one by one")]
            pub fn $name(
                #[shared] scratch: &Scratch<{ <<$reduction as Merge>::State as State>::WORDS }>,
                x: VecRef<$t>,
                workspace: VecMut<u64>,
                out: VecMut<$out>,
                length: u64,
                extents: [u32; 5],
                strides: [u64; 5],
                cut: [u32; 4],
                parameter: u64,
            ) {
                rows::<$reduction, $n, _>(scratch, x, workspace, out, Lines { length, extents, strides, cut, parameter });
            }
        )+

        /// The family's kernels.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const KERNELS: &[&simt::KernelInfo] = &[$($name.info()),+];
    };
}
reductions!(kernels);
