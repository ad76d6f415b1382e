//! A permutation of dimensions of which the fastest are short, on one side or both.
//!
//! Where a row of A or B is a few elements – an image's three channels, a sixteenth of a tensor – a tile of one dimension by
//! another would be mostly empty. Here a block moves a *box*: some of each of up to four dimensions, so many that what lies
//! together is long on both sides.
//!
//! ```text
//!   N H W C → N C H W, C = 3               orders of six dimensions of 16, 531420
//!   A  r g b r g b r g b r g b …           A  lines of 16 × 8: dimension 5, and 8 of dimension 4
//!   B  r r r r … g g g g … b b b b …       B  lines of 16 × 4: dimension 0, and 4 of dimension 2
//!   box: 3 channels of 8192 pixels         box: 16 · 8 · 16 · 4
//! ```
//!
//! The box lies in shared memory as its lines of A do, one after the other. A *line* is what lies together on one side: the
//! fastest dimension, or all of it and some of the next. Lines are cut into parts of at most a word for each thread of the
//! block. Threads stand side by side along a part, and step from one to those below:
//!
//! 1. Each part of a line gets an entry in a table, by one thread: where it starts in global and shared memory, how much of
//!    the line is left there. All division by extents is in that.
//! 2. Neighbouring lanes read neighbouring words of A (4 bytes, or one element if it is wider) and put them to the tile.
//! 3. Neighbouring lanes write neighbouring words of B. A word is gathered by elements: where they lie, relative to the part,
//!    a thread finds out once and keeps. Parts of B are shifted down by what the line is past a word, so that only the ends
//!    of lines are written by elements.
//!
//! Conflicts of banks in the gathering depend on extents alone. The host counts them, and skips one unit of shared memory
//! after every 2ᵐ for the m that leaves the fewest.
//!
//! Cost of 4 bytes: some 75 instructions for bytes, 40 for 4-byte elements; an H200 issues 59 per lane in the time in which its
//! memory reads and writes them. So bytes are bound by instructions, at four fifths of a copy's speed, wider elements by memory.

#![allow(clippy::too_many_arguments, reason = "arguments of a kernel are numbers and arrays of numbers, no structures")]

use simt::element::{Element, Vec4};
use simt::global::{Window, WindowMut};
use simt::prelude::*;

use super::boxed::{Boxed, spread};
use super::permute::DIMS;
use super::strided::quotient;

/// Threads of a block.
pub const THREADS: u32 = 256;
/// Bytes of shared memory for a box, those skipped among them.
pub const BYTES: usize = 34_816;
/// Most parts of lines on either side.
pub const PARTS: usize = 128;
/// Numbers that say what is done on one side.
pub const SIDE: usize = 8;
/// No unit is skipped: there are fewer than 2 to that.
pub const NO_GAPS: u32 = 24;
/// Marks the last part of a line.
const LAST: u32 = 1 << 31;
/// Marks a part that is whole and starts at a word.
const PLAIN: u32 = 1 << 30;
/// What is marked neither in a part's number.
const NUMBER: u32 = PLAIN - 1;

/// Elements of `bytes` bytes in a word that is moved.
pub const fn per_unit(bytes: usize) -> usize {
    if bytes < 4 { 4 / bytes } else { 1 }
}

/// Shared memory: a box of `N` elements, and for each part of a line of A, then of B, where it starts in global memory, where in
/// the box, how many elements of its line are left there, and its number in the line, marked.
#[repr(C)]
#[derive(Shared)]
pub struct Scratch<T: Element, const N: usize> {
    tile: SharedArray<T, N>,
    parts: [SharedArray<Vec4<u32>, PARTS>; 2],
}

/// What every kernel here is told: see [`permute_boxes_b8`].
#[derive(Clone, Copy)]
struct Task {
    extents: [u32; DIMS],
    boxes: [u32; DIMS],
    counts: [u32; DIMS],
    reciprocals: [u32; 2 * DIMS],
    places: [u32; DIMS],
    tuning: [u32; 2],
}

/// The entry of part `part` on a side with these strides, in a box of which `left` is left along each dimension.
#[inline(always)]
fn entry(part: u32, side: [u32; SIDE], strides: [u64; DIMS], left: [u32; DIMS], task: &Task) -> Vec4<u32> {
    let [_, _, parts, length, step, x, y, _] = side;
    let number = part % parts.max(1);
    let (mut rest, mut start, mut place) = (part / parts.max(1), number * length, number * step);
    let (mut whole, mut inside) = (1, true);
    let mut along = |k: usize| {
        if k as u32 == x || k as u32 == y {
            whole *= left[k];
        } else if task.boxes[k] > 1 {
            let digit = rest % task.boxes[k];
            rest /= task.boxes[k];
            inside &= digit < left[k];
            start = start.wrapping_add(digit.wrapping_mul(strides[k] as u32));
            place += digit * task.places[k];
        }
    };
    along(0);
    along(1);
    along(2);
    along(3);
    along(4);
    along(5);
    let left = if inside { whole as i32 - (number * length) as i32 } else { i32::MIN / 2 };
    let last = if number + 1 == parts { LAST } else { 0 };
    Vec4::new([start, place, left as u32, number | last])
}

/// Reads the box, the thread's word of each part that it comes to, `BATCH` of them under way.
#[inline(always)]
fn fill<T: Boxed, const N: usize, const BATCH: usize>(
    scratch: &Scratch<T, N>,
    a: &Window<T>,
    [lanes, step, _, length, _, _, _, parts]: [u32; SIDE],
    m: u32,
) {
    let (word, mut part) = (thread_idx_x() % lanes.max(1), thread_idx_x() / lanes.max(1));
    let j = T::PER_UNIT * word;
    let busy = thread_idx_x() < lanes * step && j < length;
    if !busy {
        return;
    }
    let table = |part: u32| scratch.parts[0].get(part % PARTS as u32).lanes;
    // Where the thread's unit of a part starts in A and in the tile; how much of the line is left there, nothing if negative;
    // and whether there is a word before it.
    let entry = |part: u32| {
        let [start, place, left, number] = table(part);
        let left = (left as i32).wrapping_sub(j as i32);
        let at = if left > 0 { start.wrapping_add(j) } else { u32::MAX };
        (at, spread::<T>(place + j, m), left, j > 0 || number & NUMBER > 0)
    };
    let one = |part: u32| {
        let (at, place, left, before) = entry(part);
        if left > 0 {
            let whole = T::has_words(a, at, before, left);
            T::put(&scratch.tile, place, if whole { T::load(a, at) } else { T::load_some(a, at, left) });
        }
    };
    // The ends are no constants, so that the loops are not unrolled.
    let ahead = (BATCH as u32 - 1) * step;
    while part + ahead < parts {
        let (mut plain, mut whole) = (PLAIN, T::PER_UNIT > 1);
        for i in 0..BATCH {
            plain &= table(part + i as u32 * step)[3];
        }
        if plain > 0 {
            let units: [(T::Unit, u32); BATCH] = core::array::from_fn(|i| {
                let [start, place, ..] = table(part + i as u32 * step);
                (T::load_word(a, start.wrapping_add(j)), spread::<T>(place + j, m))
            });
            #[allow(clippy::needless_range_loop, reason = "an iterator over the array would have it in local memory")]
            for i in 0..BATCH {
                T::put(&scratch.tile, units[i].1, units[i].0);
            }
            part += ahead + step;
            continue;
        }
        if T::PER_UNIT > 1 {
            for i in 0..BATCH {
                let (at, _, left, before) = entry(part + i as u32 * step);
                whole &= left > 0 && T::has_words(a, at, before, left);
            }
        }
        if whole {
            let units: [T::Unit; BATCH] = core::array::from_fn(|i| T::load(a, entry(part + i as u32 * step).0));
            #[allow(clippy::needless_range_loop, reason = "an iterator over the array would have it in local memory")]
            for i in 0..BATCH {
                T::put(&scratch.tile, entry(part + i as u32 * step).1, units[i]);
            }
        } else {
            for i in 0..BATCH {
                one(part + i as u32 * step);
            }
        }
        part += ahead + step;
    }
    while part < parts {
        one(part);
        part += step;
    }
}

/// Where elements `j` to `j + 3` of a line of B lie in the tile, relative to element 0; `j` is −3 or more.
#[inline(always)]
fn places(j: i32, task: &Task) -> [u32; 4] {
    let (x, step, turn) = (task.boxes[0].max(1), task.places[0], task.tuning[1]);
    // Four rows on, where nothing is negative, and back again.
    let on = (j as u32).wrapping_add(4 * x);
    let (mut right, mut place) = (on % x, (on / x).wrapping_sub(4).wrapping_mul(turn.wrapping_add((x - 1) * step)));
    place = place.wrapping_add(right * step);
    [0; 4].map(|_: u32| {
        let here = place;
        let ends = right + 1 == x;
        place = place.wrapping_add(if ends { turn } else { step });
        right = if ends { 0 } else { right + 1 };
        here
    })
}

/// Writes the box, the thread's word of each part that it comes to.
#[inline(always)]
fn drain<T: Boxed, const N: usize>(
    scratch: &Scratch<T, N>,
    b: &WindowMut<T>,
    [lanes, step, _, length, _, _, _, parts]: [u32; SIDE],
    task: &Task,
) {
    let (word, mut part) = (thread_idx_x() % lanes.max(1), thread_idx_x() / lanes.max(1));
    if thread_idx_x() >= lanes * step {
        return;
    }
    // Where the elements lie of a unit that starts at a word, and of one that starts `past` one.
    let j = T::PER_UNIT * word;
    let straight = places(j as i32, task);
    let (mut past, mut shifted) = (0, straight);
    let at = |place: u32, relative: [u32; 4]| {
        relative.map(|relative| spread::<T>(place.wrapping_add(relative), task.tuning[0]))
    };
    while part < parts {
        let [start, place, left, number] = scratch.parts[1].get(part % PARTS as u32).lanes;
        if number & PLAIN > 0 && j < length {
            T::store(&scratch.tile, b, start.wrapping_add(j), at(place, straight), [0, T::PER_UNIT as i32]);
        } else {
            let (left, now) = (left as i32, T::past_word(b, start));
            if now != past {
                past = now;
                shifted = places(j as i32 - past as i32, task);
            }
            // The part's elements from its first to its last, both moved down by `past`.
            let j = j as i32 - past as i32;
            let skip = if number & NUMBER == 0 { -j } else { 0 };
            let end = if number & LAST == 0 { left.min(length as i32 - past as i32) } else { left };
            T::store(&scratch.tile, b, start.wrapping_add(j as u32), at(place, shifted), [skip, end - j]);
        }
        part += step;
    }
}

#[inline(always)]
fn permute<T: Boxed, const N: usize, const BATCH: usize>(
    scratch: &Scratch<T, N>,
    (a, b): (VecRef<T>, VecMut<T>),
    task: Task,
    (a_strides, b_strides): ([u64; DIMS], [u64; DIMS]),
    (read, write): ([u32; SIDE], [u32; SIDE]),
) {
    let t = thread_idx_x();
    let (mut rest, mut from, mut to) = (block_idx_x(), 0_u64, 0_u64);
    let mut left = |k: usize| {
        if task.counts[k] <= 1 {
            return task.extents[k];
        }
        let next = quotient(rest, task.reciprocals[k], task.reciprocals[DIMS + k]);
        let first = rest.wrapping_sub(next.wrapping_mul(task.counts[k])).wrapping_mul(task.boxes[k]);
        rest = next;
        from = from.wrapping_add((first as u64).wrapping_mul(a_strides[k]));
        to = to.wrapping_add((first as u64).wrapping_mul(b_strides[k]));
        task.extents[k].saturating_sub(first).min(task.boxes[k])
    };
    let left = [left(0), left(1), left(2), left(3), left(4), left(5)];
    // Half of the threads for each side.
    let (first, part) = (t < PARTS as u32, t % PARTS as u32);
    let side = core::array::from_fn(|i| if first { read[i] } else { write[i] });
    let strides = core::array::from_fn(|k| if first { a_strides[k] } else { b_strides[k] });
    let all = |start: u64, len: usize| (len as u64).saturating_sub(start).min(u32::MAX as u64) as u32;
    let windows = (a.window(from, 1, all(from, a.len()), 0), b.window_mut(to, 1, all(to, b.len()), 0));
    let (Some(a), Some(b)) = windows else { return };
    if part < side[7] {
        let [start, place, left, number] = entry(part, side, strides, left, &task).lanes;
        let past = if first { T::past_word(&a, start) } else { T::past_word(&b, start) };
        let plain = if past == 0 && left as i32 >= side[3] as i32 { PLAIN } else { 0 };
        let entry = Vec4::new([start, place, left, number | plain]);
        if first { scratch.parts[0].set(part, entry) } else { scratch.parts[1].set(part, entry) }
    }
    sync_threads();
    fill::<T, N, BATCH>(scratch, &a, read, task.tuning[0]);
    sync_threads();
    drain::<T, N>(scratch, &b, write, &task);
}

macro_rules! kernels {
    ($($(#[$doc:meta])+ $name:ident: $t:ty, $elements:literal, $batch:literal, $registers:literal;)+) => {$(
        $(#[$doc])+
        #[kernel(block = (THREADS), min_blocks = 5, registers = $registers, barriers = 2)]
        pub fn $name(
            #[shared] scratch: &Scratch<$t, $elements>,
            a: VecRef<$t>,
            b: VecMut<$t>,
            extents: [u32; 6],
            boxes: [u32; 6],
            counts: [u32; 6],
            reciprocals: [u32; 12],
            a_strides: [u64; 6],
            b_strides: [u64; 6],
            places: [u32; 6],
            tuning: [u32; 2],
            read: [u32; 8],
            write: [u32; 8],
        ) {
            let task = Task { extents, boxes, counts, reciprocals, places, tuning };
            permute::<$t, $elements, $batch>(scratch, (a, b), task, (a_strides, b_strides), (read, write));
        }
    )+};
}

kernels! {
    /// `b[Σ iₖ·b_strides[k]] = a[Σ iₖ·a_strides[k]]` for all indices below `extents`, of 1-byte elements. Dimension 0 is the
    /// fastest of B, and a line of B some of it, or all of it and some of dimension 1.
    ///
    /// - A block moves `boxes[k]` along dimension k; `counts` are the boxes along each, and their product the grid; their
    ///   [`reciprocals`](super::strided::reciprocals) come from there.
    /// - `places[k]` is how far apart neighbours along dimension k are in the tile. `tuning`: a unit is skipped after every
    ///   2ᵐ; and how far the first element of a line's next row of dimension 0 is from the last of the one before.
    /// - `read` and `write`, for the lines of each side: threads side by side; parts at once; parts of a line; elements of a
    ///   part; how far parts are apart in the tile; the line's two dimensions, the second [`DIMS`] if there is none; parts of
    ///   the whole box, at most [`PARTS`].
    ///
    /// What does not lie in `a` is read as 0, what not in `b` left out.
    permute_boxes_b8: u8, 34816, 4, 48;
    /// [`permute_boxes_b8`] for 2-byte elements.
    permute_boxes_b16: u16, 17408, 4, 48;
    /// [`permute_boxes_b8`] for 4-byte elements.
    permute_boxes_b32: f32, 8704, 4, 48;
    /// [`permute_boxes_b8`] for 8-byte elements.
    permute_boxes_b64: u64, 4352, 4, 48;
    /// [`permute_boxes_b8`] for 16-byte elements.
    permute_boxes_b128: Vec4<u32>, 2176, 2, 48;
}
