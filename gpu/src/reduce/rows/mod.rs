//! Reductions of lines of contiguous elements, such as the rows of a matrix, each to one element of `out`.
//!
//! The number of threads for a line depends on its length, and for long lines also on the number of lines ([`plan`]):
//!
//! ```text
//!  short      up to 16 vectors of 16 bytes, or up to 128 if there are many aligned lines;
//!             1 to 32 lanes for a line, loads of four lines in flight                        short.rs
//!  medium     4 to 32 lanes for a line, four vectors of it in flight                         ┐ streamed.rs
//!  long       one block for a line, or several, whose states the last one merges             ┘
//! ```
//!
//! The order of merges in a line depends on its length and its alignment to 16 bytes, and for long lines on the number
//! of lines: the result has the same bits on every GPU and on the simulator. Cost: one read of the lines; no barrier
//! for short and medium lines, 2 to 4 for a long one.
//!
//! The start of a line is computed from strides ([`dims`](crate::reduce::along::dims)). Short lines must be evenly
//! spaced; otherwise `config` selects the algorithm for medium lines.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array held by value keeps it in local memory")]

pub mod plan;
mod short;
mod streamed;

use half::{bf16, f16};
use simt::element::Lanes;
use simt::prelude::*;

use crate::reduce::along::chunks::Scratch;
use crate::reduce::along::dims::DIMS;
use crate::reduce::along::list::reductions;
use crate::reduce::along::{LineReduction, THREADS, best, totals};
use crate::reduce::whole::compare::Ignore;
use crate::reduce::whole::reduction::{Merge, State};
use crate::reduce::whole::{counts, moments, products, squares};

/// Arguments of a kernel besides memory.
#[derive(Clone, Copy)]
struct Args {
    /// Elements of a line.
    length: u64,
    /// Extents and strides of the other dimensions, as for [`start`](crate::reduce::along::dims::start).
    extents: [u32; DIMS],
    strides: [u64; DIMS],
    /// The algorithm, then its parameters: see [`plan::Plan`].
    config: [u32; 4],
    /// The parameter of the reduction.
    parameter: u64,
}

/// The body of a kernel.
#[inline(always)]
#[track_caller]
fn rows<R: LineReduction, const N: usize, const W: usize>(
    scratch: &Scratch<W>,
    x: VecRef<R::Element>,
    workspace: VecMut<u64>,
    out: VecMut<R::Output>,
    args: Args,
) where
    R::Element: Lanes<N>,
{
    match args.config[0] {
        plan::LONG_LINES | plan::MEDIUM_LINES => streamed::reduce::<R, N, W>(scratch, x, workspace, out, args),
        algorithm => short::reduce::<R, N>(x, out, args, algorithm == plan::SHORT_LINES_VECTORS),
    }
}

macro_rules! kernels {
    ($(
        $(#[$doc:meta])*
        [$name:ident $_columns:ident $_segments:ident] [$blocks:literal $_:literal $__:literal]
            ($t:ident by $n:literal => $out:ident) $reduction:ty;
    )+) => {
        $(
            $(#[$doc])*
            ///
            /// `out` has one element for each line; `config` is that of a [`plan::Plan`], and the workspace is as large
            /// as the plan says, with tickets of 0.
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
                config: [u32; 4],
                parameter: u64,
            ) {
                let args = Args { length, extents, strides, config, parameter };
                rows::<$reduction, $n, _>(scratch, x, workspace, out, args);
            }
        )+

        /// The family's kernels.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const KERNELS: &[&simt::KernelInfo] = &[$($name.info()),+];
    };
}
reductions!(kernels);
