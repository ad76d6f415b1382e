//! Races in shared memory that a block barrier fixes.

use crate::case::{Bench, Case, Group};
use simt::prelude::*;
use simt::shared::{SharedArray, SharedTile};
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("shared_races.rs"),
    cases: &[
        Case::new("reversal without its barrier", Kind::Race, reverse),
        Case::new("tile loop without its second barrier", Kind::Race, tiles),
        Case::new("tree without a barrier between its steps", Kind::Race, tree),
        Case::new("broadcast word overwritten too early", Kind::Race, broadcast),
        Case::new("terminator written to a neighbour's byte", Kind::Race, bytes),
        Case::new("stencil in place", Kind::Race, stencil),
    ],
};

#[repr(C)]
#[derive(Shared)]
struct Line {
    words: SharedArray<u32, 64>,
}

fn ramp(n: u32) -> Vec<u32> {
    (0..n).map(|i| 3 * i + 1).collect()
}

/// Reverses each section of 64.
#[kernel(block = 64)]
fn reverse_faulty(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    line.words.set(t, x.get(index_1d())); // FAULT
    y.set(index_1d(), line.words.get(63 - t)); // FAULT
}

#[kernel(block = 64)]
fn reverse_fixed(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    line.words.set(t, x.get(index_1d()));
    sync_threads();
    y.set(index_1d(), line.words.get(63 - t));
}

fn reverse(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(192)), Buffer::unwritten(192));
    bench.launch((reverse_faulty, reverse_fixed), Grid::line(3, 64), (&x, &mut y));
    let reversed: Vec<u32> = ramp(192).chunks(64).flat_map(|section| section.iter().rev().copied()).collect();
    y.to_vec() == reversed
}

#[repr(C)]
#[derive(Shared)]
struct Tiles {
    a: SharedTile<u32, 8, 8>,
    b: SharedTile<u32, 8, 8>,
}

/// C = A·B for square matrices of a multiple of 8.
#[kernel(block = (8, 8))]
fn tiles_faulty(#[shared] tiles: &Tiles, a: MatRef<u32>, b: MatRef<u32>, c: MatMut<u32>) {
    let (x, y) = (thread_idx_x(), thread_idx_y());
    let (row, col) = (block_idx_y() * 8 + y, block_idx_x() * 8 + x);
    let mut sum = 0;
    for tile in 0..a.cols() / 8 {
        tiles.a.set(y, x, a.get(row, tile * 8 + x)); // FAULT: others may still read the previous tile
        tiles.b.set(y, x, b.get(tile * 8 + y, col)); // FAULT
        sync_threads();
        for k in 0..8 {
            sum += tiles.a.get(y, k) * tiles.b.get(k, x); // FAULT
        }
    }
    c.set(row, col, sum);
}

#[kernel(block = (8, 8))]
fn tiles_fixed(#[shared] tiles: &Tiles, a: MatRef<u32>, b: MatRef<u32>, c: MatMut<u32>) {
    let (x, y) = (thread_idx_x(), thread_idx_y());
    let (row, col) = (block_idx_y() * 8 + y, block_idx_x() * 8 + x);
    let mut sum = 0;
    for tile in 0..a.cols() / 8 {
        tiles.a.set(y, x, a.get(row, tile * 8 + x));
        tiles.b.set(y, x, b.get(tile * 8 + y, col));
        sync_threads();
        for k in 0..8 {
            sum += tiles.a.get(y, k) * tiles.b.get(k, x);
        }
        sync_threads();
    }
    c.set(row, col, sum);
}

fn tiles(bench: &mut Bench) -> bool {
    let n = 24;
    let a: Vec<u32> = (0..n * n).map(|i| i % 7).collect();
    let b: Vec<u32> = (0..n * n).map(|i| i % 5).collect();
    let (da, db, mut c) = (Buffer::new(&a), Buffer::new(&b), Buffer::unwritten((n * n) as usize));
    let args = (da.matrix(n, n), db.matrix(n, n), c.matrix_mut(n, n));
    bench.launch((tiles_faulty, tiles_fixed), Grid::new([3, 3, 1], [8, 8, 1]), args);
    let at = |m: &[u32], row: u32, col: u32| m[(row * n + col) as usize];
    let product = (0..n * n).map(|i| (0..n).map(|k| at(&a, i / n, k) * at(&b, k, i % n)).sum());
    c.to_vec() == product.collect::<Vec<u32>>()
}

/// The sum of each section of 64.
#[kernel(block = 64)]
fn tree_faulty(#[shared] line: &Line, x: VecRef<u32>, sums: VecMut<u32>) {
    let t = thread_idx_x();
    line.words.set(t, x.get(index_1d()));
    sync_threads();
    let mut stride = 32;
    while stride > 0 {
        if t < stride {
            line.words.set(t, line.words.get(t) + line.words.get(t + stride)); // FAULT
        }
        stride /= 2;
    }
    if t == 0 {
        sums.set(block_idx_x() as usize, line.words.get(0));
    }
}

#[kernel(block = 64)]
fn tree_fixed(#[shared] line: &Line, x: VecRef<u32>, sums: VecMut<u32>) {
    let t = thread_idx_x();
    line.words.set(t, x.get(index_1d()));
    sync_threads();
    let mut stride = 32;
    while stride > 0 {
        if t < stride {
            line.words.set(t, line.words.get(t) + line.words.get(t + stride));
        }
        sync_threads();
        stride /= 2;
    }
    if t == 0 {
        sums.set(block_idx_x() as usize, line.words.get(0));
    }
}

fn tree(bench: &mut Bench) -> bool {
    let (x, mut sums) = (Buffer::new(&ramp(128)), Buffer::unwritten(2));
    bench.launch((tree_faulty, tree_fixed), Grid::line(2, 64), (&x, &mut sums));
    sums.to_vec() == ramp(128).chunks(64).map(|section| section.iter().sum()).collect::<Vec<u32>>()
}

/// Each element times the first of its section, plus the second.
#[kernel(block = 64)]
fn broadcast_faulty(#[shared] word: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let (t, first) = (thread_idx_x(), (block_idx_x() * 64) as usize);
    if t == 0 {
        word.words.set(0, x.get(first));
    }
    sync_threads();
    let factor = word.words.get(0); // FAULT
    if t == 0 {
        word.words.set(0, x.get(first + 1)); // FAULT
    }
    sync_threads();
    y.set(index_1d(), x.get(index_1d()) * factor + word.words.get(0));
}

#[kernel(block = 64)]
fn broadcast_fixed(#[shared] word: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let (t, first) = (thread_idx_x(), (block_idx_x() * 64) as usize);
    if t == 0 {
        word.words.set(0, x.get(first));
    }
    sync_threads();
    let factor = word.words.get(0);
    sync_threads();
    if t == 0 {
        word.words.set(0, x.get(first + 1));
    }
    sync_threads();
    y.set(index_1d(), x.get(index_1d()) * factor + word.words.get(0));
}

fn broadcast(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(128)), Buffer::unwritten(128));
    bench.launch((broadcast_faulty, broadcast_fixed), Grid::line(2, 64), (&x, &mut y));
    let x = ramp(128);
    y.to_vec() == (0..128).map(|i| x[i] * x[i / 64 * 64] + x[i / 64 * 64 + 1]).collect::<Vec<_>>()
}

#[repr(C)]
#[derive(Shared)]
struct Bytes {
    bytes: SharedArray<u8, 65>,
}

/// Copies 64 bytes through shared memory, with a 0 after the last. Accesses to different bytes of a word do not race.
#[kernel(block = 64)]
fn bytes_faulty(#[shared] text: &Bytes, x: VecRef<u8>, y: VecMut<u8>) {
    let t = thread_idx_x();
    text.bytes.set(t, x.get(t as usize)); // FAULT
    text.bytes.set(t + 1, 0); // FAULT: the neighbour's byte, except for the last thread
    sync_threads();
    y.set(t as usize, text.bytes.get(t + 1));
}

#[kernel(block = 64)]
fn bytes_fixed(#[shared] text: &Bytes, x: VecRef<u8>, y: VecMut<u8>) {
    let t = thread_idx_x();
    text.bytes.set(t, x.get(t as usize));
    if t == 63 {
        text.bytes.set(t + 1, 0);
    }
    sync_threads();
    y.set(t as usize, text.bytes.get(t + 1));
}

fn bytes(bench: &mut Bench) -> bool {
    let text: Vec<u8> = (1..65).collect();
    let (x, mut y) = (Buffer::new(&text), Buffer::unwritten(64));
    bench.launch((bytes_faulty, bytes_fixed), Grid::line(1, 64), (&x, &mut y));
    y.to_vec()[..63] == text[1..] && y.to_vec()[63] == 0
}

/// Each element becomes the sum of its neighbours, cyclically in sections of 64.
#[kernel(block = 64)]
fn stencil_faulty(#[shared] ring: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    ring.words.set(t, x.get(t as usize));
    sync_threads();
    let sum = ring.words.get((t + 63) % 64) + ring.words.get((t + 1) % 64); // FAULT
    ring.words.set(t, sum); // FAULT
    sync_threads();
    y.set(t as usize, ring.words.get(63 - t));
}

#[kernel(block = 64)]
fn stencil_fixed(#[shared] ring: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    ring.words.set(t, x.get(t as usize));
    sync_threads();
    let sum = ring.words.get((t + 63) % 64) + ring.words.get((t + 1) % 64);
    sync_threads();
    ring.words.set(t, sum);
    sync_threads();
    y.set(t as usize, ring.words.get(63 - t));
}

fn stencil(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(64)), Buffer::unwritten(64));
    bench.launch((stencil_faulty, stencil_fixed), Grid::line(1, 64), (&x, &mut y));
    let x = ramp(64);
    y.to_vec() == (0..64).rev().map(|i| x[(i + 63) % 64] + x[(i + 1) % 64]).collect::<Vec<_>>()
}
