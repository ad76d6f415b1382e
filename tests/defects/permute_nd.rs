//! Planes to pixels by N-dimensional tiles: rows of the output are cut into segments, whose starts are in a table, and
//! each segment is shifted down by the misalignment of the output to a word.

use crate::case::{Bench, Case, Group};
use simt::prelude::*;
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("permute_nd.rs"),
    cases: &[
        Case::new("a segment whose end is not shifted like the start of the next", Kind::Race, |b| {
            permuted(b, unshifted_end_faulty)
        }),
        Case::new("a tile read before it is filled", Kind::Race, |b| permuted(b, tile_faulty)),
        Case::new("the last tile treated as a complete one", Kind::Uninitialised, |b| permuted(b, complete_faulty)),
    ],
};

/// Pixels of a tile, and threads.
const T: u32 = 8;
/// Channels of a pixel.
const CHANNELS: u32 = 3;
/// Elements of a word.
const WORD: u32 = 4;
/// Elements of a segment: half of the tile.
const SEGMENT: u32 = T * CHANNELS / 2;

#[repr(C)]
#[derive(Shared)]
struct Scratch {
    tile: SharedTile<u32, 3, 8>,
    starts: SharedArray<u32, 2>,
}

/// Writes the start of each segment.
#[inline(always)]
#[track_caller]
fn write_table(scratch: &Scratch) {
    if thread_idx_x() < 2 {
        scratch.starts.set(thread_idx_x(), (block_idx_x() * 2 + thread_idx_x()) * SEGMENT);
    }
}

/// Reads the tile; that of the last block is incomplete.
#[inline(always)]
#[track_caller]
fn fill(scratch: &Scratch, a: MatRef<u32>) {
    let pixel = block_idx_x() * T + thread_idx_x();
    for channel in 0..CHANNELS {
        if pixel < a.cols() {
            scratch.tile.set(channel, thread_idx_x(), a.get(channel, pixel));
        }
    }
}

/// Writes the thread's word of its segment, up to element `end` of the segment.
#[inline(always)]
#[track_caller]
fn gather(scratch: &Scratch, b: VecMut<u32>, start: u32, past: u32, end: u32) {
    let (segment, word) = (thread_idx_x() / 4, thread_idx_x() % 4);
    for k in (word * WORD).max(if segment == 0 { past } else { 0 })..(word * WORD + WORD).min(end + past) {
        // Element k − past of the segment, in the segment before if that is negative.
        let element = segment * SEGMENT + k - past;
        b.set((start + k - past) as usize, scratch.tile.get(element % CHANNELS, element / CHANNELS));
    }
}

/// The end of the segment: the word in which the next one starts, or the last pixel.
#[inline(always)]
fn end(start: u32, past: u32, a: MatRef<u32>) -> u32 {
    let left = (CHANNELS * a.cols()).saturating_sub(start);
    if thread_idx_x() / 4 == 1 { left.min(SEGMENT) } else { left.min(SEGMENT - past) }
}

#[kernel(block = (T))]
fn fixed(#[shared] scratch: &Scratch, a: MatRef<u32>, b: VecMut<u32>, past: u32) {
    write_table(scratch);
    fill(scratch, a);
    sync_threads();
    let start = scratch.starts.get(thread_idx_x() / 4);
    gather(scratch, b, start, past, end(start, past, a));
}

#[kernel(block = (T))]
fn unshifted_end_faulty(#[shared] scratch: &Scratch, a: MatRef<u32>, b: VecMut<u32>, past: u32) {
    write_table(scratch);
    fill(scratch, a);
    sync_threads();
    let start = scratch.starts.get(thread_idx_x() / 4);
    gather(scratch, b, start, past, (CHANNELS * a.cols() - start).min(SEGMENT)); // FAULT
}

#[kernel(block = (T))]
fn tile_faulty(#[shared] scratch: &Scratch, a: MatRef<u32>, b: VecMut<u32>, past: u32) {
    write_table(scratch);
    sync_threads();
    fill(scratch, a); // FAULT
    let start = scratch.starts.get(thread_idx_x() / 4);
    gather(scratch, b, start, past, end(start, past, a)); // FAULT
}

#[kernel(block = (T))]
fn complete_faulty(#[shared] scratch: &Scratch, a: MatRef<u32>, b: VecMut<u32>, past: u32) {
    write_table(scratch);
    fill(scratch, a);
    sync_threads();
    let start = scratch.starts.get(thread_idx_x() / 4);
    let end = if thread_idx_x() / 4 == 1 { SEGMENT } else { SEGMENT - past };
    gather(scratch, b, start, past, end); // FAULT
}

type Faulty = simt::Kernel<(MatRef<'static, u32>, VecMut<'static, u32>, u32)>;

fn permuted(bench: &mut Bench, faulty: Faulty) -> bool {
    let pixels = 2 * T + 6;
    let (values, n) = ((0..CHANNELS * pixels).collect::<Vec<u32>>(), CHANNELS * pixels);
    // The output has room for the elements that a complete tile would write.
    let (a, mut b) = (Buffer::new(&values), Buffer::zeroed((n + SEGMENT) as usize));
    let grid = Grid::line(pixels.div_ceil(T), T);
    bench.launch((faulty, fixed), grid, (a.matrix(CHANNELS, pixels), &mut b, 3));
    b.to_vec()[..n as usize] == (0..n).map(|i| i % CHANNELS * pixels + i / CHANNELS).collect::<Vec<_>>()
}
