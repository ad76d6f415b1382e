//! A permutation of dimensions by N-dimensional tiles, for short fastest dimensions in A, in B, or in both.
//!
//! Where a row of A or B has few elements – an image's three channels, a dimension of 16 – a tile of one dimension by
//! another would be mostly empty. Here the tile of a block extends along up to four dimensions, so that its contiguous
//! rows are long in both A and B.
//!
//! ```text
//!   N H W C → N C H W, C = 3               orders of six dimensions of 16, 531420
//!   A  r g b r g b r g b r g b …           A  rows of 16 × 8: dimension 5, and 8 of dimension 4
//!   B  r r r r … g g g g … b b b b …       B  rows of 16 × 4: dimension 0, and 4 of dimension 2
//!   tile: 3 channels of 8192 pixels        tile: 16 · 8 · 16 · 4
//! ```
//!
//! The tile is stored in shared memory as its rows of A, one after the other. A *row* is contiguous in A or in B: the
//! fastest dimension, or all of it and a part of the next. Rows are cut into *segments* of at most one word for each
//! thread of the block. Neighbouring threads take neighbouring words of a segment, then step to later segments:
//!
//! 1. One thread for each segment writes its table entry: where it starts in global and shared memory, and how many
//!    elements of the row remain from there. All divisions by extents happen here.
//! 2. Neighbouring lanes read neighbouring words of A (4 bytes, or one element if it is wider) and write them to the
//!    tile.
//! 3. Neighbouring lanes write neighbouring words of B. A word is gathered element by element; a thread computes the
//!    positions of its elements relative to the segment once and keeps them. Segments of B are shifted down by the
//!    row's misalignment to a word, so that only the ends of rows are written by single elements.
//!
//! Bank conflicts in step 3 depend on the extents alone. The host counts them, and adds one word of padding after every
//! 2ᵐ words of shared memory, for the m with the fewest conflicts.
//!
//! Cost of 4 bytes: about 75 instructions for 1-byte elements, 40 for 4-byte elements; an H200 issues 59 per lane in
//! the time in which its memory reads and writes them. So 1-byte elements are bound by instructions, at four fifths of
//! a copy's speed, and wider elements by memory.

use simt::KernelArg;
use simt::element::{Element, Vec4};
use simt::global::{Window, WindowMut};
use simt::prelude::*;

use super::permute::DIMS;
use super::strided::quotient;
use super::word_access::{WordAccess, padded};
use crate::unroll::{each, from_fn};

/// Threads of a block.
pub const THREADS: u32 = 256;
/// Bytes of shared memory for a tile, padding included.
pub const BYTES: usize = 34_816;
/// Most segments of a tile, for A and for B each.
pub const SEGMENTS: usize = 128;
/// Numbers that describe the segments of A, or of B: see [`PermuteNdArgs::read`].
pub const SIDE: usize = 8;
/// The m that means no padding: a tile has fewer than 2ᵐ words.
pub const NO_PADDING: u32 = 24;
/// Marks the last segment of a row.
const LAST: u32 = 1 << 31;
/// Marks a segment that is complete and starts at an aligned word.
const WHOLE: u32 = 1 << 30;
/// Mask of a segment's number in its row, without the marks.
const NUMBER: u32 = WHOLE - 1;

/// Elements of `bytes` bytes in a word.
pub const fn per_word(bytes: usize) -> usize {
    if bytes < 4 { 4 / bytes } else { 1 }
}

/// Shared memory: a tile of `N` elements, and the table of segments of A, then of B. An entry has the segment's start
/// in global memory, its start in the tile, the elements of its row that remain from there, and its number in the row
/// with marks.
#[repr(C)]
#[derive(Shared)]
pub struct Scratch<T: Element, const N: usize> {
    tile: SharedArray<T, N>,
    segments: [SharedArray<Vec4<u32>, SEGMENTS>; 2],
}

/// Arguments of every kernel of this module besides memory and strides.
#[repr(C)]
#[derive(Clone, Copy, KernelArg)]
pub struct PermuteNdArgs {
    /// Elements along each dimension.
    pub extents: [u32; DIMS],
    /// Elements of a tile along each dimension.
    pub tile_extents: [u32; DIMS],
    /// Tiles along each dimension. Their product is the grid.
    pub counts: [u32; DIMS],
    /// The [`reciprocals`](super::strided::reciprocals) of `counts`.
    pub reciprocals: [u32; 2 * DIMS],
    /// Distance in the tile between neighbours along each dimension.
    pub positions: [u32; DIMS],
    /// m (one word of padding after every 2ᵐ words), and the distance in the tile from the last element of dimension 0
    /// to the first of the next index of dimension 1 in a row of B.
    pub tuning: [u32; 2],
    /// The segments of A: threads along a segment; segments in one step; segments of a row; elements of a segment;
    /// distance of segments in the tile; the row's two dimensions, the second [`DIMS`] if there is none; segments of
    /// the whole tile, at most [`SEGMENTS`].
    pub read: [u32; SIDE],
    /// The segments of B, in the same order.
    pub write: [u32; SIDE],
}

/// The table entry of segment `segment` of A or B with these strides, in a tile that has `left[k]` elements along
/// dimension k.
#[cfg_attr(optimised, inline(always))]
fn entry(segment: u32, side: [u32; SIDE], strides: [u64; DIMS], left: [u32; DIMS], args: &PermuteNdArgs) -> Vec4<u32> {
    let [_, _, segments, length, step, x, y, _] = side;
    let number = segment % segments.max(1);
    let (mut rest, mut start, mut position) = (segment / segments.max(1), number * length, number * step);
    let (mut whole, mut inside) = (1, true);
    let mut along = |k: usize| {
        if k as u32 == x || k as u32 == y {
            whole *= left[k];
        } else if args.tile_extents[k] > 1 {
            let digit = rest % args.tile_extents[k];
            rest /= args.tile_extents[k];
            inside &= digit < left[k];
            start = start.wrapping_add(digit.wrapping_mul(strides[k] as u32));
            position += digit * args.positions[k];
        }
    };
    along(0);
    along(1);
    along(2);
    along(3);
    along(4);
    along(5);
    let left = if inside { whole as i32 - (number * length) as i32 } else { i32::MIN / 2 };
    let last = if number + 1 == segments { LAST } else { 0 };
    Vec4::new([start, position, left as u32, number | last])
}

/// Reads the tile: the thread's word of each of its segments, with `BATCH` words in flight.
#[cfg_attr(optimised, inline(always))]
fn fill<T: WordAccess, const N: usize, const BATCH: usize>(
    scratch: &Scratch<T, N>,
    a: &Window<T>,
    [lanes, step, _, length, _, _, _, segments]: [u32; SIDE],
    m: u32,
) {
    let (word, mut segment) = (thread_idx_x() % lanes.max(1), thread_idx_x() / lanes.max(1));
    let j = T::PER_WORD * word;
    let busy = thread_idx_x() < lanes * step && j < length;
    if !busy {
        return;
    }
    let table = |segment: u32| scratch.segments[0].get(segment % SEGMENTS as u32).lanes;
    // Where the thread's word of a segment starts in A and in the tile; how many elements of the row remain from there
    // (none if negative); and whether the row has a word before it.
    let entry = |segment: u32| {
        let [start, position, left, number] = table(segment);
        let left = (left as i32).wrapping_sub(j as i32);
        let at = if left > 0 { start.wrapping_add(j) } else { u32::MAX };
        (at, padded::<T>(position + j, m), left, j > 0 || number & NUMBER > 0)
    };
    let one = |segment: u32| {
        let (at, position, left, before) = entry(segment);
        if left > 0 {
            let whole = T::has_words(a, at, before, left);
            T::put(&scratch.tile, position, if whole { T::load(a, at) } else { T::load_some(a, at, left) });
        }
    };
    // The bounds are not constants, so the loops are not unrolled.
    let ahead = (BATCH as u32 - 1) * step;
    while segment + ahead < segments {
        let (mut whole_words, mut whole) = (WHOLE, T::PER_WORD > 1);
        for i in 0..BATCH {
            whole_words &= table(segment + i as u32 * step)[3];
        }
        if whole_words > 0 {
            let words: [(T::Word, u32); BATCH] = from_fn(|i| {
                let [start, position, ..] = table(segment + i as u32 * step);
                (T::load_word(a, start.wrapping_add(j)), padded::<T>(position + j, m))
            });
            #[allow(clippy::needless_range_loop, reason = "an iterator over the array would keep it in local memory")]
            for i in 0..BATCH {
                T::put(&scratch.tile, words[i].1, words[i].0);
            }
            segment += ahead + step;
            continue;
        }
        if T::PER_WORD > 1 {
            for i in 0..BATCH {
                let (at, _, left, before) = entry(segment + i as u32 * step);
                whole &= left > 0 && T::has_words(a, at, before, left);
            }
        }
        if whole {
            let words: [T::Word; BATCH] = from_fn(|i| T::load(a, entry(segment + i as u32 * step).0));
            #[allow(clippy::needless_range_loop, reason = "an iterator over the array would keep it in local memory")]
            for i in 0..BATCH {
                T::put(&scratch.tile, entry(segment + i as u32 * step).1, words[i]);
            }
        } else {
            for i in 0..BATCH {
                one(segment + i as u32 * step);
            }
        }
        segment += ahead + step;
    }
    while segment < segments {
        one(segment);
        segment += step;
    }
}

/// Positions of elements `j` to `j + 3` of a row of B in the tile, relative to element 0; `j` is −3 or more.
#[cfg_attr(optimised, inline(always))]
fn positions(j: i32, args: &PermuteNdArgs) -> [u32; 4] {
    let (x, step, row_step) = (args.tile_extents[0].max(1), args.positions[0], args.tuning[1]);
    // Moved up by four rows, where nothing is negative, and back again.
    let on = (j as u32).wrapping_add(4 * x);
    let (mut right, mut position) =
        (on % x, (on / x).wrapping_sub(4).wrapping_mul(row_step.wrapping_add((x - 1) * step)));
    position = position.wrapping_add(right * step);
    each!([0; 4], |_: u32| {
        let here = position;
        let ends = right + 1 == x;
        position = position.wrapping_add(if ends { row_step } else { step });
        right = if ends { 0 } else { right + 1 };
        here
    })
}

/// Writes the tile: the thread's word of each of its segments.
#[cfg_attr(optimised, inline(always))]
fn drain<T: WordAccess, const N: usize>(
    scratch: &Scratch<T, N>,
    b: &WindowMut<T>,
    [lanes, step, _, length, _, _, _, segments]: [u32; SIDE],
    args: &PermuteNdArgs,
) {
    let (word, mut segment) = (thread_idx_x() % lanes.max(1), thread_idx_x() / lanes.max(1));
    if thread_idx_x() >= lanes * step {
        return;
    }
    // Positions of the elements of an aligned word, and of a word that starts `past` elements before it.
    let j = T::PER_WORD * word;
    let straight = positions(j as i32, args);
    let (mut past, mut shifted) = (0, straight);
    let at = |position: u32, relative: [u32; 4]| {
        each!(relative, |relative| padded::<T>(position.wrapping_add(relative), args.tuning[0]))
    };
    while segment < segments {
        let [start, position, left, number] = scratch.segments[1].get(segment % SEGMENTS as u32).lanes;
        if number & WHOLE > 0 && j < length {
            T::store(&scratch.tile, b, start.wrapping_add(j), at(position, straight), [0, T::PER_WORD as i32]);
        } else {
            let (left, now) = (left as i32, T::past_word(b, start));
            if now != past {
                past = now;
                shifted = positions(j as i32 - past as i32, args);
            }
            // The first and the last element of the segment, both shifted down by `past`.
            let j = j as i32 - past as i32;
            let skip = if number & NUMBER == 0 { -j } else { 0 };
            let end = if number & LAST == 0 { left.min(length as i32 - past as i32) } else { left };
            T::store(&scratch.tile, b, start.wrapping_add(j as u32), at(position, shifted), [skip, end - j]);
        }
        segment += step;
    }
}

#[cfg_attr(optimised, inline(always))]
fn permute<T: WordAccess, const N: usize, const BATCH: usize>(
    scratch: &Scratch<T, N>,
    (a, b): (VecRef<T>, VecMut<T>),
    [a_strides, b_strides]: [[u64; DIMS]; 2],
    args: PermuteNdArgs,
) {
    let PermuteNdArgs { read, write, .. } = args;
    let t = thread_idx_x();
    let (mut rest, mut from, mut to) = (block_idx_x(), 0_u64, 0_u64);
    let mut left = |k: usize| {
        if args.counts[k] <= 1 {
            return args.extents[k];
        }
        let next = quotient(rest, args.reciprocals[k], args.reciprocals[DIMS + k]);
        let first = rest.wrapping_sub(next.wrapping_mul(args.counts[k])).wrapping_mul(args.tile_extents[k]);
        rest = next;
        from = from.wrapping_add((first as u64).wrapping_mul(a_strides[k]));
        to = to.wrapping_add((first as u64).wrapping_mul(b_strides[k]));
        args.extents[k].saturating_sub(first).min(args.tile_extents[k])
    };
    let left = [left(0), left(1), left(2), left(3), left(4), left(5)];
    // Half of the threads write the table of A, half that of B.
    let (first, segment) = (t < SEGMENTS as u32, t % SEGMENTS as u32);
    let side = from_fn(|i| if first { read[i] } else { write[i] });
    let strides = from_fn(|k| if first { a_strides[k] } else { b_strides[k] });
    let all = |start: u64, len: usize| (len as u64).saturating_sub(start).min(u32::MAX as u64) as u32;
    let windows = (a.window(from, 1, all(from, a.len()), 0), b.window_mut(to, 1, all(to, b.len()), 0));
    let (Some(a), Some(b)) = windows else { return };
    if segment < side[7] {
        let [start, position, left, number] = entry(segment, side, strides, left, &args).lanes;
        let past = if first { T::past_word(&a, start) } else { T::past_word(&b, start) };
        let whole_words = if past == 0 && left as i32 >= side[3] as i32 { WHOLE } else { 0 };
        let entry = Vec4::new([start, position, left, number | whole_words]);
        if first { scratch.segments[0].set(segment, entry) } else { scratch.segments[1].set(segment, entry) }
    }
    sync_threads();
    fill::<T, N, BATCH>(scratch, &a, read, args.tuning[0]);
    sync_threads();
    drain::<T, N>(scratch, &b, write, &args);
}

macro_rules! kernels {
    ($($(#[$doc:meta])+ $name:ident: $t:ty, $elements:literal, $batch:literal, $registers:literal;)+) => {$(
        $(#[$doc])+
        #[kernel(block = (THREADS), min_blocks = 5, registers = $registers, barriers = 2)]
        pub fn $name(
            #[shared] scratch: &Scratch<$t, $elements>,
            a: VecRef<$t>,
            b: VecMut<$t>,
            a_strides: [u64; DIMS],
            b_strides: [u64; DIMS],
            args: PermuteNdArgs,
        ) {
            permute::<$t, $elements, $batch>(scratch, (a, b), [a_strides, b_strides], args);
        }
    )+};
}

kernels! {
    /// `b[Σ iₖ·b_strides[k]] = a[Σ iₖ·a_strides[k]]` for all indices below `extents`, of 1-byte elements. Dimension 0
    /// is the fastest of B; a row of B is a part of it, or all of it and a part of dimension 1.
    ///
    /// Elements outside `a` are read as 0, elements outside `b` are skipped.
    permute_nd_b8: u8, 34816, 4, 48;
    /// [`permute_nd_b8`] for 2-byte elements.
    permute_nd_b16: u16, 17408, 4, 48;
    /// [`permute_nd_b8`] for 4-byte elements.
    permute_nd_b32: f32, 8704, 4, 48;
    /// [`permute_nd_b8`] for 8-byte elements.
    permute_nd_b64: u64, 4352, 4, 48;
    /// [`permute_nd_b8`] for 16-byte elements.
    permute_nd_b128: Vec4<u32>, 2176, 2, 48;
}
