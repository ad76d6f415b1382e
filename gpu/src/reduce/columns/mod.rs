//! Reductions of lines whose elements do not lie side by side, each to one element of `out`: columns of a matrix, above all.
//!
//! ```text
//!               unit 0   unit 1  …            a unit: 16 bytes of neighbouring lines, or one line
//!  batch 0   │ 8 rows  │        │   thread (x, y) of TX × TY reads unit x, batches y, y + TY … of 8 rows,
//!  batch 1   │         │        │   all 8 under way; the states of TY threads merge in the block
//!  …
//!  piece 1   │         │        │   another block's; the block that finishes last merges the pieces
//! ```
//!
//! Where rows begin beside 16-byte boundaries, or lines have few neighbours, units are lines. If there are many, a thread has four
//! of them, x, x + TX, x + 2·TX and x + 3·TX of its tile: each access of a warp is of neighbours, and as many bytes are under way as with vectors.
//!
//! A thread keeps a state for each line of its unit (`unit`), the block merges them by column of the tile (`tile`). How many
//! threads stand side by side, and how many blocks share a line, goes by shapes alone ([`plan`]): the result has the same bits on
//! every GPU and on the simulator. One read of the lines; of each piece, states of 8 bytes a word for each line; 1 or 5 barriers.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array held by value keeps it in local memory")]

pub mod plan;
pub mod tile;
mod unit;

use half::{bf16, f16};
use simt::element::Lanes;
use simt::prelude::*;

use self::tile::{Place, Scratch};
use crate::reduce::along::dims::{DIMS, start};
use crate::reduce::along::list::reductions;
use crate::reduce::along::{Along, THREADS, best, totals};
use crate::reduce::whole::order::Ignore;
use crate::reduce::whole::reduction::{Merge, State};
use crate::reduce::whole::{counts, moments, products, squares};
use crate::unroll::unroll;

/// What a kernel is told of its lines.
#[derive(Clone, Copy)]
struct Lines {
    /// Elements of a line, units between neighbours, and elements for a block.
    length: [u64; 3],
    /// Extents of the dimensions beside it, in units, as [`start`] has them; strides in `x` in units, in `out` in elements.
    extents: [u32; DIMS],
    strides: [u64; DIMS],
    out_strides: [u64; DIMS],
    /// What units are; the logarithm of TX; tiles; pieces: see [`plan::Plan`].
    cut: [u32; 4],
    /// Elements of `out` between neighbouring lines of a unit.
    out_step: u64,
    /// The reduction's own.
    parameter: u64,
}

/// The whole of a kernel.
#[inline(always)]
#[track_caller]
fn columns<R: Along, const N: usize, const K: usize, const S: usize>(
    scratch: &Scratch<S>,
    x: VecRef<R::Element>,
    workspace: VecMut<u64>,
    out: VecMut<R::Output>,
    lines: Lines,
) where
    R::Element: Lanes<N>,
{
    let Lines { length: [length, stride, per_piece], extents, strides, cut: [kind, shift, tiles, pieces], .. } = lines;
    let (t, block, tiles) = (thread_idx_x(), block_idx_x(), tiles.max(1));
    let place = Place {
        shift,
        tile: block % tiles,
        piece: block / tiles,
        pieces,
        per: if kind == plan::VECTORS { N.trailing_zeros() } else { 0 },
        spread: if kind == plan::SPREAD { K.trailing_zeros() } else { 0 },
    };
    let from = (u64::from(place.piece) * per_piece).min(length);
    // Threads beyond the last unit read it once more; what they find goes nowhere.
    let begin = |which: u32| {
        let unit = place.unit(t, which).min(tile::last(extents));
        start(unit, extents, strides).wrapping_add(from.wrapping_mul(stride))
    };
    let rows = unit::Rows {
        begin: begin(0),
        count: (length - from).min(per_piece) as u32,
        stride,
        first: from,
        thread: t >> shift,
        threads: THREADS >> shift,
    };
    if kind == plan::VECTORS {
        let states = unit::of_rows::<R, _, N>(x.vectors::<N>(), rows, |vector| vector.lanes, lines.parameter);
        tile::put::<R, N, S>(scratch, place, states);
    } else if kind == plan::SPREAD {
        let mut begins = [rows.begin; K];
        unroll!(for which in 0..K {
            begins[which] = begin(which as u32);
        });
        let states = unit::of_spread_rows::<R, K>(x, rows, begins, lines.parameter);
        tile::put::<R, K, S>(scratch, place, states);
    } else {
        let states = unit::of_rows::<R, _, 1>(x, rows, |x| [x], lines.parameter);
        tile::put::<R, 1, S>(scratch, place, states);
    }
    tile::reduce::<R, S>(scratch, workspace, place, |unit, line, state| {
        if unit <= tile::last(extents) {
            let at = start(unit, extents, lines.out_strides).wrapping_add(u64::from(line).wrapping_mul(lines.out_step));
            out.set_within(at as usize, R::finish(state, lines.parameter));
        }
    });
}

macro_rules! kernels {
    ($($(#[$doc:meta])* [$_rows:ident $name:ident $_segments:ident] [$_:literal $blocks:literal $__:literal] ($t:ident by $n:literal => $out:ident) $reduction:ty;)+) => {
        $(
            $(#[$doc])*
            ///
            /// `out` has one element for each line, at `out_strides`, and `out_step` within a unit; `length` is that of a line, the
            /// stride between its elements, and elements for a block; `extents`, `strides`, `cut` are those of a [`plan::Plan`],
            /// and the workspace is as large as it says, with tickets of 0.
            #[simt::kernel(
                block = (THREADS),
                min_blocks = $blocks,
                registers = crate::reduce::along::registers($blocks),
                barriers = 5,
                traps = 11 + $n + plan::spread(size_of::<$t>() as u64) as u32,
                global_load_bytes = size_of::<$t>() as u32,
                global_store_bytes = size_of::<$out>() as u32
            )]
            #[allow(clippy::too_many_arguments, reason = "a launch passes numbers one by one")]
            pub fn $name(
                #[shared] scratch: &Scratch<{ <<$reduction as Merge>::State as State>::WORDS * 256 * $n }>,
                x: VecRef<$t>,
                workspace: VecMut<u64>,
                out: VecMut<$out>,
                length: [u64; 3],
                extents: [u32; 5],
                strides: [u64; 5],
                out_strides: [u64; 5],
                cut: [u32; 4],
                out_step: u64,
                parameter: u64,
            ) {
                let lines = Lines { length, extents, strides, out_strides, cut, out_step, parameter };
                columns::<$reduction, $n, { plan::spread(size_of::<$t>() as u64) as usize }, _>(scratch, x, workspace, out, lines);
            }
        )+

        /// The family's kernels.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const KERNELS: &[&simt::KernelInfo] = &[$($name.info()),+];
    };
}
reductions!(kernels);
