//! Reductions of lines of strided elements, such as the columns of a matrix, each to one element of `out`.
//!
//! ```text
//!               item 0   item 1  …            an item: a 16-byte vector of neighbouring lines, or one line
//!  batch 0   │ 8 rows  │        │   thread (x, y) of TX × TY reads item x, batches y, y + TY, … of 8 rows,
//!  batch 1   │         │        │   with 8 loads in flight; the states of TY threads merge in the block
//!  …
//!  chunk 1   │         │        │   another block; the block that finishes last merges the chunks
//! ```
//!
//! If rows are not aligned to 16 bytes, or lines have few neighbours, an item is one line. If there are many such
//! lines, items are *striped*: a thread has four, at x, x + TX, x + 2·TX and x + 3·TX of its tile, so that each load of
//! a warp is contiguous and as many bytes are in flight as with vectors.
//!
//! A thread keeps a state for each line of its items (`thread`); the block merges them by column of the tile (`merge`).
//! TX and the number of blocks for a line depend on shapes alone ([`plan`]): the result has the same bits on every GPU
//! and on the simulator. Cost: one read of the lines; one state for each line of each chunk; 1 or 5 barriers.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array held by value keeps it in local memory")]

pub mod merge;
pub mod plan;
mod thread;

use half::{bf16, f16};
use simt::KernelArg;
use simt::element::Lanes;
use simt::prelude::*;

use self::merge::{BlockPosition, Scratch};
use crate::reduce::along::dims::{DIMS, start};
use crate::reduce::along::list::reductions;
use crate::reduce::along::{THREADS, best, totals};
use crate::reduce::reducer::{Reducer, reducer};
use crate::reduce::whole::compare::Ignore;
use crate::reduce::whole::reduction::state_words;
use crate::reduce::whole::{counts, moments, products, squares};
use crate::unroll::unroll;

/// Arguments of a kernel besides memory, those of 64 bits: rustc passes a struct as words of its alignment, and would
/// take apart two numbers of 32 bits in one of them.
#[repr(C)]
#[derive(Clone, Copy, KernelArg)]
pub struct ColumnArgs {
    /// Elements of a line, the distance of consecutive elements in items, and elements of a chunk.
    pub length: [u64; 3],
    /// Strides of the other dimensions in `x`, in items.
    pub strides: [u64; DIMS],
    /// Their strides in `out`, in elements.
    pub out_strides: [u64; DIMS],
    /// Distance in `out` between neighbouring lines of an item.
    pub out_step: u64,
    /// The parameter of the reduction.
    pub parameter: u64,
}

/// The body of a kernel.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn columns<R: Reducer, const N: usize, const K: usize, const S: usize>(
    r: R,
    scratch: &Scratch<S>,
    x: VecRef<R::Element>,
    workspace: VecMut<u64>,
    out: VecMut<R::Output>,
    (args, extents, [kind, shift, tiles, chunks]): (ColumnArgs, [u32; DIMS], [u32; 4]),
) where
    R::Element: Lanes<N>,
{
    let ColumnArgs { length: [length, stride, per_chunk], strides, .. } = args;
    let (t, block, tiles) = (thread_idx_x(), block_idx_x(), tiles.max(1));
    let position = BlockPosition {
        shift,
        tile: block % tiles,
        chunk: block / tiles,
        chunks,
        lines_per_item: if kind == plan::VECTORS { N.trailing_zeros() } else { 0 },
        striped: if kind == plan::STRIPED { K.trailing_zeros() } else { 0 },
    };
    let from = (u64::from(position.chunk) * per_chunk).min(length);
    // Threads beyond the last item read it too; their states are not written.
    let begin = |which: u32| {
        let item = position.item(t, which).min(merge::last(extents));
        start(item, extents, strides).wrapping_add(from.wrapping_mul(stride))
    };
    let rows = thread::Rows {
        begin: begin(0),
        count: (length - from).min(per_chunk) as u32,
        stride,
        first: from,
        thread: t >> shift,
        threads: THREADS >> shift,
    };
    if kind == plan::VECTORS {
        let states = thread::reduce_rows::<R, _, N>(r, x.vectors::<N>(), rows, |vector| vector.lanes, args.parameter);
        merge::store_states(r, scratch, position, states);
    } else if kind == plan::STRIPED {
        let mut begins = [rows.begin; K];
        unroll!(for which in 0..K {
            begins[which] = begin(which as u32);
        });
        let states = thread::reduce_striped_rows(r, x, rows, begins, args.parameter);
        merge::store_states(r, scratch, position, states);
    } else {
        let states = thread::reduce_rows::<R, _, 1>(r, x, rows, |x| [x], args.parameter);
        merge::store_states(r, scratch, position, states);
    }
    merge::reduce(r, scratch, workspace, position, |item, line, state| {
        if item <= merge::last(extents) {
            let at = start(item, extents, args.out_strides).wrapping_add(u64::from(line).wrapping_mul(args.out_step));
            out.set_within(at as usize, r.finish(state, args.parameter));
        }
    });
}

macro_rules! kernels {
    ($(
        $(#[$doc:meta])*
        [$_rows:ident $name:ident $_segments:ident] [$_:literal $blocks:literal $__:literal]
            ($t:ident by $n:literal => $out:ident) $reduction:ty;
    )+) => {
        $(
            $(#[$doc])*
            ///
            /// `out` has one element for each line. `extents` are those of the other dimensions in items, numbered as
            /// in [`dims`](crate::reduce::along::dims). `config` is the kind of the items, the base-2 logarithm of TX,
            /// tiles and chunks of a [`plan::Plan`], and the workspace is as large as the plan says, with tickets of 0.
            #[simt::kernel(
                block = (THREADS),
                min_blocks = $blocks,
                registers = crate::reduce::along::registers($blocks),
                barriers = 5,
                traps = 11 + $n + plan::striped_items(size_of::<$t>() as u64) as u32,
                global_load_bytes = size_of::<$t>() as u32,
                global_store_bytes = size_of::<$out>() as u32
            )]
            pub fn $name(
                #[shared] scratch: &Scratch<{ state_words::<$reduction>() * 256 * $n }>,
                x: VecRef<$t>,
                workspace: VecMut<u64>,
                out: VecMut<$out>,
                args: ColumnArgs,
                extents: [u32; DIMS],
                config: [u32; 4],
            ) {
                const STRIPED: usize = plan::striped_items(size_of::<$t>() as u64) as usize;
                let (r, x, out) = (reducer::<$reduction>(), x.bits_as(), out.bits_as());
                columns::<_, $n, STRIPED, _>(r, scratch, x, workspace, out, (args, extents, config));
            }
        )+

        /// The family's kernels.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const KERNELS: &[&simt::KernelInfo] = &[$($name.info()),+];
    };
}
reductions!(kernels);
