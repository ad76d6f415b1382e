//! Planes to pixels by boxes: lines of the output are cut into parts, which a table says the start of, and each part is shifted
//! down by what the output is past a word.

use crate::case::{Bench, Case, Group};
use simt::prelude::*;
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("permuted_boxes.rs"),
    cases: &[
        Case::new("a part that ends without the shift with which the next begins", Kind::Race, |b| {
            moved(b, unmoved_faulty)
        }),
        Case::new("a box gathered before it is filled", Kind::Race, |b| moved(b, tile_faulty)),
        Case::new("the last box taken for a whole one", Kind::Uninitialised, |b| moved(b, whole_faulty)),
    ],
};

/// Pixels of a box, and threads.
const T: u32 = 8;
/// Elements of a pixel.
const CHANNELS: u32 = 3;
/// Elements in what stands for a word.
const WORD: u32 = 4;
/// Elements of a part: half of the box.
const PART: u32 = T * CHANNELS / 2;

#[repr(C)]
#[derive(Shared)]
struct Scratch {
    tile: SharedTile<u32, 3, 8>,
    starts: SharedArray<u32, 2>,
}

/// Writes where each part starts.
#[inline(always)]
#[track_caller]
fn list(scratch: &Scratch) {
    if thread_idx_x() < 2 {
        scratch.starts.set(thread_idx_x(), (block_idx_x() * 2 + thread_idx_x()) * PART);
    }
}

/// Reads the box, of which the last block's is not whole.
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

/// Writes the thread's word of its part, or what of it lies before element `end` of the part.
#[inline(always)]
#[track_caller]
fn gather(scratch: &Scratch, b: VecMut<u32>, start: u32, past: u32, end: u32) {
    let (part, word) = (thread_idx_x() / 4, thread_idx_x() % 4);
    for k in (word * WORD).max(if part == 0 { past } else { 0 })..(word * WORD + WORD).min(end + past) {
        // Element k − past of the part, in the row before if that is negative.
        let inside = part * PART + k - past;
        b.set((start + k - past) as usize, scratch.tile.get(inside % CHANNELS, inside / CHANNELS));
    }
}

/// Where the part ends: at the word in which the next one begins, or with the last pixel.
#[inline(always)]
fn end(start: u32, past: u32, a: MatRef<u32>) -> u32 {
    let left = (CHANNELS * a.cols()).saturating_sub(start);
    if thread_idx_x() / 4 == 1 { left.min(PART) } else { left.min(PART - past) }
}

#[kernel(block = (T))]
fn mended(#[shared] scratch: &Scratch, a: MatRef<u32>, b: VecMut<u32>, past: u32) {
    list(scratch);
    fill(scratch, a);
    sync_threads();
    let start = scratch.starts.get(thread_idx_x() / 4);
    gather(scratch, b, start, past, end(start, past, a));
}

#[kernel(block = (T))]
fn unmoved_faulty(#[shared] scratch: &Scratch, a: MatRef<u32>, b: VecMut<u32>, past: u32) {
    list(scratch);
    fill(scratch, a);
    sync_threads();
    let start = scratch.starts.get(thread_idx_x() / 4);
    gather(scratch, b, start, past, (CHANNELS * a.cols() - start).min(PART)); // FAULT
}

#[kernel(block = (T))]
fn tile_faulty(#[shared] scratch: &Scratch, a: MatRef<u32>, b: VecMut<u32>, past: u32) {
    list(scratch);
    sync_threads();
    fill(scratch, a); // FAULT
    let start = scratch.starts.get(thread_idx_x() / 4);
    gather(scratch, b, start, past, end(start, past, a)); // FAULT
}

#[kernel(block = (T))]
fn whole_faulty(#[shared] scratch: &Scratch, a: MatRef<u32>, b: VecMut<u32>, past: u32) {
    list(scratch);
    fill(scratch, a);
    sync_threads();
    let start = scratch.starts.get(thread_idx_x() / 4);
    let end = if thread_idx_x() / 4 == 1 { PART } else { PART - past };
    gather(scratch, b, start, past, end); // FAULT
}

type Faulty = simt::Kernel<(MatRef<'static, u32>, VecMut<'static, u32>, u32)>;

fn moved(bench: &mut Bench, faulty: Faulty) -> bool {
    let pixels = 2 * T + 6;
    let (values, n) = ((0..CHANNELS * pixels).collect::<Vec<u32>>(), CHANNELS * pixels);
    // Behind the output lies what a whole box would write.
    let (a, mut b) = (Buffer::new(&values), Buffer::zeroed((n + PART) as usize));
    let grid = Grid::line(pixels.div_ceil(T), T);
    bench.launch((faulty, mended), grid, (a.matrix(CHANNELS, pixels), &mut b, 3));
    b.to_vec()[..n as usize] == (0..n).map(|i| i % CHANNELS * pixels + i / CHANNELS).collect::<Vec<_>>()
}
