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
use simt::KernelArg;
use simt::element::Lanes;
use simt::prelude::*;

use crate::reduce::along::chunks::Scratch;
use crate::reduce::along::dims::DIMS;
use crate::reduce::along::list::reductions;
use crate::reduce::along::{THREADS, best, totals};
use crate::reduce::reducer::{Reducer, reducer};
use crate::reduce::whole::compare::Ignore;
use crate::reduce::whole::reduction::state_words;
use crate::reduce::whole::{counts, moments, products, squares};

/// Arguments of a kernel besides memory, those of 64 bits: rustc passes a struct as words of its alignment, and would
/// take apart two numbers of 32 bits in one of them.
#[repr(C)]
#[derive(Clone, Copy, KernelArg)]
pub struct RowArgs {
    /// Elements of a line.
    pub length: u64,
    /// Strides of the other dimensions; [`dims`](crate::reduce::along::dims) says how lines are numbered.
    pub strides: [u64; DIMS],
    /// The parameter of the reduction.
    pub parameter: u64,
}

/// The body of a kernel.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn rows<R: Reducer, const N: usize, const W: usize>(
    r: R,
    scratch: &Scratch<W>,
    x: VecRef<R::Element>,
    workspace: VecMut<u64>,
    out: VecMut<R::Output>,
    (args, extents, config): (RowArgs, [u32; DIMS], [u32; 4]),
) where
    R::Element: Lanes<N>,
{
    match config[0] {
        plan::LONG_LINES | plan::MEDIUM_LINES => {
            streamed::reduce::<R, N, W>(r, scratch, x, workspace, out, (args, extents, config));
        }
        _ => short::reduce::<R, N>(r, x, out, args, config),
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
            /// `out` has one element for each line. `extents` are those of the other dimensions; `config` is that of a
            /// [`plan::Plan`], and the workspace is as large as the plan says, with tickets of 0.
            #[simt::kernel(
                block = (THREADS),
                min_blocks = $blocks,
                registers = crate::reduce::along::registers($blocks),
                barriers = 3,
                traps = 4,
                global_load_bytes = size_of::<$t>() as u32,
                global_store_bytes = size_of::<$out>() as u32
            )]
            pub fn $name(
                #[shared] scratch: &Scratch<{ state_words::<$reduction>() }>,
                x: VecRef<$t>,
                workspace: VecMut<u64>,
                out: VecMut<$out>,
                args: RowArgs,
                extents: [u32; DIMS],
                config: [u32; 4],
            ) {
                let r = reducer::<$reduction>();
                rows::<_, $n, _>(r, scratch, x.bits_as(), workspace, out.bits_as(), (args, extents, config));
            }
        )+

        /// The family's kernels.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const KERNELS: &[&simt::KernelInfo] = &[$($name.info()),+];
    };
}
reductions!(kernels);
