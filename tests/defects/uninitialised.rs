//! Reads of memory that nothing has written.

use crate::case::{Bench, Case, Group};
use simt::prelude::*;
use simt::shared::SharedArray;
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("uninitialised.rs"),
    cases: &[
        Case::new("halo of a shared array that is not loaded", Kind::Uninitialised, halo),
        Case::new("shared bins that are not set to zero", Kind::Uninitialised, bins),
        Case::new("shared bytes after the last one written", Kind::Uninitialised, bytes),
        Case::new("sum added to an output that is not written", Kind::Uninitialised, accumulate),
        Case::new("padding between the rows of a matrix", Kind::Uninitialised, padding),
        Case::new("counter that is not set to zero", Kind::Uninitialised, counter),
    ],
};

fn ramp(n: u32) -> Vec<u32> {
    (0..n).map(|i| 3 * i + 1).collect()
}

#[repr(C)]
#[derive(Shared)]
struct Halo {
    words: SharedArray<u32, 66>,
}

/// The largest of each element and its existing neighbours.
#[kernel(block = 64)]
fn halo_faulty(#[shared] line: &Halo, x: VecRef<u32>, y: VecMut<u32>) {
    let (i, t) = (index_1d(), thread_idx_x());
    line.words.set(t + 1, x.get(i));
    sync_threads();
    let largest = (0..3).map(|k| line.words.get(t + k)).fold(0, u32::max); // FAULT: elements 0 and 65
    y.set(i, largest);
}

#[kernel(block = 64)]
fn halo_fixed(#[shared] line: &Halo, x: VecRef<u32>, y: VecMut<u32>) {
    let (i, t) = (index_1d(), thread_idx_x());
    line.words.set(t + 1, x.get(i));
    if t == 0 {
        line.words.set(0, if i == 0 { 0 } else { x.get(i - 1) });
    } else if t == 63 {
        line.words.set(65, x.get_or(i + 1, 0));
    }
    sync_threads();
    let largest = (0..3).map(|k| line.words.get(t + k)).fold(0, u32::max);
    y.set(i, largest);
}

fn halo(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(128)), Buffer::unwritten(128));
    bench.launch((halo_faulty, halo_fixed), Grid::line(2, 64), (&x, &mut y));
    y.to_vec() == (0..128).map(|i| 3 * (i + 1).min(127) + 1).collect::<Vec<_>>()
}

#[repr(C)]
#[derive(Shared)]
struct Bins {
    counts: SharedArray<u32, 8>,
}

/// How often each of 8 values occurs in a section of 64.
#[kernel(block = 64)]
fn bins_faulty(#[shared] bins: &Bins, x: VecRef<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    bins.counts.atomic(x.get(index_1d()) % 8).fetch_add(1, Order::Relaxed, Scope::Block); // FAULT
    sync_threads();
    if t < 8 {
        y.set((block_idx_x() * 8 + t) as usize, bins.counts.get(t));
    }
}

#[kernel(block = 64)]
fn bins_fixed(#[shared] bins: &Bins, x: VecRef<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    if t < 8 {
        bins.counts.set(t, 0);
    }
    sync_threads();
    bins.counts.atomic(x.get(index_1d()) % 8).fetch_add(1, Order::Relaxed, Scope::Block);
    sync_threads();
    if t < 8 {
        y.set((block_idx_x() * 8 + t) as usize, bins.counts.get(t));
    }
}

fn bins(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(128)), Buffer::unwritten(16));
    bench.launch((bins_faulty, bins_fixed), Grid::line(2, 64), (&x, &mut y));
    y.to_vec() == [8; 16]
}

#[repr(C)]
#[derive(Shared)]
struct Bytes {
    bytes: SharedArray<u8, 64>,
}

/// Reverses 46 bytes.
#[kernel(block = 64)]
fn bytes_faulty(#[shared] line: &Bytes, x: VecRef<u8>, y: VecMut<u8>) {
    let t = thread_idx_x();
    if (t as usize) < x.len() {
        line.bytes.set(t, x.get(t as usize));
    }
    sync_threads();
    if (t as usize) < x.len() {
        y.set(t as usize, line.bytes.get(x.len() as u32 - t)); // FAULT: byte 46, in a word with two written bytes
    }
}

#[kernel(block = 64)]
fn bytes_fixed(#[shared] line: &Bytes, x: VecRef<u8>, y: VecMut<u8>) {
    let t = thread_idx_x();
    if (t as usize) < x.len() {
        line.bytes.set(t, x.get(t as usize));
    }
    sync_threads();
    if (t as usize) < x.len() {
        y.set(t as usize, line.bytes.get(x.len() as u32 - 1 - t));
    }
}

fn bytes(bench: &mut Bench) -> bool {
    let text: Vec<u8> = (1..=46).collect();
    let (x, mut y) = (Buffer::new(&text), Buffer::unwritten(46));
    bench.launch((bytes_faulty, bytes_fixed), Grid::line(1, 64), (&x, &mut y));
    y.to_vec() == text.into_iter().rev().collect::<Vec<_>>()
}

/// C = A + B.
#[kernel(block = (16, 4))]
fn accumulate_faulty(a: MatRef<f32>, b: MatRef<f32>, c: MatMut<f32>) {
    let (row, col) = (block_idx_y() * 4 + thread_idx_y(), block_idx_x() * 16 + thread_idx_x());
    if row < c.rows() && col < c.cols() {
        c.set(row, col, c.get(row, col) + a.get(row, col) + b.get(row, col)); // FAULT: C is not written yet
    }
}

#[kernel(block = (16, 4))]
fn accumulate_fixed(a: MatRef<f32>, b: MatRef<f32>, c: MatMut<f32>) {
    let (row, col) = (block_idx_y() * 4 + thread_idx_y(), block_idx_x() * 16 + thread_idx_x());
    if row < c.rows() && col < c.cols() {
        c.set(row, col, a.get(row, col) + b.get(row, col));
    }
}

fn accumulate(bench: &mut Bench) -> bool {
    let values: Vec<f32> = (0..150_u8).map(f32::from).collect();
    let (a, b, mut c) = (Buffer::new(&values), Buffer::new(&values), Buffer::unwritten(150));
    let args = (a.matrix(6, 25), b.matrix(6, 25), c.matrix_mut(6, 25));
    bench.launch((accumulate_faulty, accumulate_fixed), Grid::new([2, 2, 1], [16, 4, 1]), args);
    c.to_vec() == values.iter().map(|v| v + v).collect::<Vec<_>>()
}

/// The largest element of each row of 10; rows are `ld` elements apart.
#[kernel(block = 32)]
fn padding_faulty(a: VecRef<u32>, ld: u32, y: VecMut<u32>) {
    let row = index_1d();
    if row < y.len() {
        let cells = row * ld as usize..(row + 1) * ld as usize;
        y.set(row, cells.map(|i| a.get(i)).fold(0, u32::max)); // FAULT: the last two are padding
    }
}

#[kernel(block = 32)]
fn padding_fixed(a: VecRef<u32>, ld: u32, y: VecMut<u32>) {
    let row = index_1d();
    if row < y.len() {
        let cells = row * ld as usize..row * ld as usize + 10;
        y.set(row, cells.map(|i| a.get(i)).fold(0, u32::max));
    }
}

fn padding(bench: &mut Bench) -> bool {
    let (mut a, mut y) = (Buffer::unwritten(7 * 12), Buffer::unwritten(7));
    ramp(70).chunks(10).enumerate().for_each(|(row, cells)| a.write(12 * row, cells));
    bench.launch((padding_faulty, padding_fixed), Grid::line(1, 32), (&a, 12, &mut y));
    y.to_vec() == (1..=7).map(|row| 3 * (10 * row - 1) + 1).collect::<Vec<_>>()
}

/// Counts the odd elements. The defect is in the launch: the counter is not initialised.
#[kernel(block = 64)]
fn odd(x: VecRef<u32>, count: VecMut<u32>) {
    count.atomic(0).fetch_add(x.get(index_1d()) % 2, Order::Relaxed, Scope::Device); // FAULT
}

fn counter(bench: &mut Bench) -> bool {
    let x = Buffer::new(&ramp(128));
    let mut count = bench.choose(Buffer::unwritten(1), Buffer::zeroed(1));
    bench.launch((odd, odd), Grid::line(2, 64), (&x, &mut count));
    count.to_vec() == [64]
}
