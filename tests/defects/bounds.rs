//! Indices outside a view, and unchecked accesses outside the buffer.

use crate::case::{Bench, Case, Group};
use simt::prelude::*;
use simt::shared::{DynShared, SharedArray};
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("bounds.rs"),
    cases: &[
        Case::new("grid larger than the data", Kind::OutOfBounds, guard),
        Case::new("difference with the element after the last", Kind::OutOfBounds, difference),
        Case::new("row and column swapped", Kind::OutOfBounds, exchanged),
        Case::new("unchecked read past the end of the buffer", Kind::OutOfBounds, unchecked_read),
        Case::new("unchecked write past the end of shared memory", Kind::OutOfBounds, unchecked_write),
        Case::new("halo wider than the shared array", Kind::OutOfBounds, window),
        Case::new("launch with too little shared memory", Kind::OutOfBounds, section),
        Case::new("histogram of a value without a bin", Kind::OutOfBounds, bins),
    ],
};

fn ramp(n: u32) -> Vec<u32> {
    (0..n).map(|i| 3 * i + 1).collect()
}

/// Doubles each element.
#[kernel(block = 64)]
fn guard_faulty(x: VecRef<u32>, y: VecMut<u32>) {
    let i = index_1d();
    let v = x.get(i); // FAULT
    y.set(i, 2 * v); // FAULT
}

#[kernel(block = 64)]
fn guard_fixed(x: VecRef<u32>, y: VecMut<u32>) {
    let i = index_1d();
    if i < x.len() {
        let v = x.get(i);
        y.set(i, 2 * v);
    }
}

fn guard(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(100)), Buffer::unwritten(100));
    bench.launch((guard_faulty, guard_fixed), Grid::line(2, 64), (&x, &mut y));
    y.to_vec() == ramp(100).iter().map(|v| 2 * v).collect::<Vec<_>>()
}

/// Differences of neighbours; the last element has none and keeps its own value.
#[kernel(block = 64)]
fn difference_faulty(x: VecRef<u32>, y: VecMut<u32>) {
    let i = index_1d();
    if i < x.len() {
        y.set(i, x.get(i).abs_diff(x.get(i + 1))); // FAULT
    }
}

#[kernel(block = 64)]
fn difference_fixed(x: VecRef<u32>, y: VecMut<u32>) {
    let i = index_1d();
    if i < x.len() {
        y.set(i, x.get(i).abs_diff(x.get_or(i + 1, 0)));
    }
}

fn difference(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(100)), Buffer::unwritten(100));
    bench.launch((difference_faulty, difference_fixed), Grid::line(2, 64), (&x, &mut y));
    y.to_vec()[..99] == [3; 99] && y.to_vec()[99] == 298
}

/// Copies a matrix.
#[kernel(block = (16, 4))]
fn exchanged_faulty(a: MatRef<u32>, b: MatMut<u32>) {
    let (row, col) = (block_idx_y() * 4 + thread_idx_y(), block_idx_x() * 16 + thread_idx_x());
    if row < b.rows() && col < b.cols() {
        b.set(row, col, a.get(col, row)); // FAULT
    }
}

#[kernel(block = (16, 4))]
fn exchanged_fixed(a: MatRef<u32>, b: MatMut<u32>) {
    let (row, col) = (block_idx_y() * 4 + thread_idx_y(), block_idx_x() * 16 + thread_idx_x());
    if row < b.rows() && col < b.cols() {
        b.set(row, col, a.get(row, col));
    }
}

fn exchanged(bench: &mut Bench) -> bool {
    let (a, mut b) = (Buffer::new(&ramp(7 * 30)), Buffer::unwritten(7 * 30));
    let args = (a.matrix(7, 30), b.matrix_mut(7, 30));
    bench.launch((exchanged_faulty, exchanged_fixed), Grid::new([2, 2, 1], [16, 4, 1]), args);
    b.to_vec() == ramp(7 * 30)
}

/// Each element plus the next one; the last is unchanged.
#[kernel(block = 64)]
fn unchecked_read_faulty(x: VecRef<u32>, y: VecMut<u32>) {
    let i = index_1d();
    if i < x.len() {
        // SAFETY: none, this is the defect: for the last thread `i + 1` is the length.
        let next = unsafe { x.get_unchecked(i + 1) }; // FAULT
        y.set(i, x.get(i) + next);
    }
}

#[kernel(block = 64)]
fn unchecked_read_fixed(x: VecRef<u32>, y: VecMut<u32>) {
    let i = index_1d();
    if i < x.len() {
        // SAFETY: `i + 1` is less than the length where it is used.
        let next = if i + 1 < x.len() { unsafe { x.get_unchecked(i + 1) } } else { 0 };
        y.set(i, x.get(i) + next);
    }
}

fn unchecked_read(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(100)), Buffer::unwritten(100));
    bench.launch((unchecked_read_faulty, unchecked_read_fixed), Grid::line(2, 64), (&x, &mut y));
    let x = ramp(100);
    y.to_vec() == (0..100).map(|i| x[i] + x.get(i + 1).unwrap_or(&0)).collect::<Vec<_>>()
}

#[repr(C)]
#[derive(Shared)]
struct Line {
    words: SharedArray<u32, 64>,
}

/// Shifts the elements up by one; the first becomes 0.
#[kernel(block = 64)]
fn unchecked_write_faulty(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    // SAFETY: none, this is the defect: thread 63 writes past the end of the array.
    unsafe { line.words.set_unchecked(t + 1, x.get(t as usize)) }; // FAULT
    if t == 0 {
        line.words.set(0, 0);
    }
    sync_threads();
    y.set(t as usize, line.words.get(t));
}

#[kernel(block = 64)]
fn unchecked_write_fixed(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    let to = (t + 1) % 64;
    // SAFETY: `to` is less than 64.
    unsafe { line.words.set_unchecked(to, if to == 0 { 0 } else { x.get(t as usize) }) };
    sync_threads();
    y.set(t as usize, line.words.get(t));
}

fn unchecked_write(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(64)), Buffer::unwritten(64));
    bench.launch((unchecked_write_faulty, unchecked_write_fixed), Grid::line(1, 64), (&x, &mut y));
    y.to_vec()[0] == 0 && y.to_vec()[1..] == ramp(64)[..63]
}

/// The sum of each element and its two successors, cyclically in each section of 64.
#[kernel(block = 64)]
fn window_faulty(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    line.words.set(t, x.get(index_1d()));
    sync_threads();
    let sum = (0..3).map(|i| line.words.get(t + i)).sum(); // FAULT
    y.set(index_1d(), sum);
}

#[kernel(block = 64)]
fn window_fixed(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    line.words.set(t, x.get(index_1d()));
    sync_threads();
    let sum = (0..3).map(|i| line.words.get((t + i) % 64)).sum();
    y.set(index_1d(), sum);
}

fn window(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(128)), Buffer::unwritten(128));
    bench.launch((window_faulty, window_fixed), Grid::line(2, 64), (&x, &mut y));
    let x = ramp(128);
    let at = |i: usize, by: usize| x[i / 64 * 64 + (i + by) % 64];
    y.to_vec() == (0..128).map(|i| at(i, 0) + at(i, 1) + at(i, 2)).collect::<Vec<_>>()
}

/// Reverses each section of a block's length. The defect is in the launch: half of the shared memory.
#[kernel]
fn reverse(#[shared] section: DynShared<u32>, x: VecRef<u32>, y: VecMut<u32>) {
    let (t, last) = (thread_idx_x(), block_dim_x() - 1);
    section.set(t, x.get(index_1d())); // FAULT
    sync_threads();
    y.set(index_1d(), section.get(last - t)); // FAULT
}

fn section(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(96)), Buffer::unwritten(96));
    let bytes = bench.choose(96, 48 * 4);
    bench.launch((reverse, reverse), Grid::line(2, 48).shared(bytes), (&x, &mut y));
    y.to_vec() == ramp(96).chunks(48).flat_map(|part| part.iter().rev().copied()).collect::<Vec<_>>()
}

/// Counts in 16 bins, the last of which is for all larger values.
#[kernel(block = 64)]
fn bins_faulty(x: VecRef<u32>, counts: VecMut<u32>) {
    let bin = x.get(index_1d()) / 8;
    counts.atomic(bin as usize).fetch_add(1, Order::Relaxed, Scope::Device); // FAULT
}

#[kernel(block = 64)]
fn bins_fixed(x: VecRef<u32>, counts: VecMut<u32>) {
    let bin = (x.get(index_1d()) / 8).min(15);
    counts.atomic(bin as usize).fetch_add(1, Order::Relaxed, Scope::Device);
}

fn bins(bench: &mut Bench) -> bool {
    let (x, mut counts) = (Buffer::new(&(0..192).collect::<Vec<_>>()), Buffer::zeroed(16));
    bench.launch((bins_faulty, bins_fixed), Grid::line(3, 64), (&x, &mut counts));
    counts.to_vec()[..15] == [8; 15] && counts.to_vec()[15] == 72
}
