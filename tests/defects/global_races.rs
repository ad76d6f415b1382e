//! Races in global memory, within a block and across blocks. A block barrier does not order accesses of different
//! blocks.

use crate::case::{Bench, Case, Group};
use simt::prelude::*;
use simt::warp::{FULL_MASK, sync_warp};
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("global_races.rs"),
    cases: &[
        Case::new("exchange within a block without its barrier", Kind::Race, exchange),
        Case::new("neighbour block's result after a barrier of the block", Kind::Race, halo),
        Case::new("division by the first element, in place", Kind::Race, normalise),
        Case::new("total of two blocks by plain addition", Kind::Race, total),
        Case::new("chunks that overlap by one", Kind::Race, chunks),
        Case::new("counter reset while other threads count", Kind::Race, count),
        Case::new("sync_warp in a block of two warps", Kind::Race, pivot),
        Case::new("every column writes the row's result", Kind::Race, rows),
    ],
};

fn ramp(n: u32) -> Vec<u32> {
    (0..n).map(|i| 3 * i + 1).collect()
}

/// Swaps neighbours through `stage`.
#[kernel(block = 64)]
fn exchange_faulty(x: VecRef<u32>, stage: VecMut<u32>, y: VecMut<u32>) {
    let i = index_1d();
    stage.set(i, x.get(i)); // FAULT
    y.set(i, stage.get(i ^ 1)); // FAULT
}

#[kernel(block = 64)]
fn exchange_fixed(x: VecRef<u32>, stage: VecMut<u32>, y: VecMut<u32>) {
    let i = index_1d();
    stage.set(i, x.get(i));
    sync_threads();
    y.set(i, stage.get(i ^ 1));
}

fn exchange(bench: &mut Bench) -> bool {
    let (x, mut stage, mut y) = (Buffer::new(&ramp(128)), Buffer::unwritten(128), Buffer::unwritten(128));
    bench.launch((exchange_faulty, exchange_fixed), Grid::line(2, 64), (&x, &mut stage, &mut y));
    y.to_vec() == (0..128).map(|i| 3 * (i ^ 1) + 1).collect::<Vec<_>>()
}

/// The sum of the squares of neighbours, cyclically.
#[kernel(block = 64)]
fn halo_faulty(x: VecRef<u32>, squares: VecMut<u32>, y: VecMut<u32>) {
    let i = index_1d();
    squares.set(i, x.get(i) * x.get(i)); // FAULT
    sync_threads();
    y.set(i, squares.get(i) + squares.get((i + 1) % x.len())); // FAULT: the last thread reads another block's
}

#[kernel(block = 64)]
fn halo_fixed(x: VecRef<u32>, squares: VecMut<u32>, y: VecMut<u32>) {
    let i = index_1d();
    squares.set(i, x.get(i) * x.get(i));
    sync_threads();
    let next = x.get((i + 1) % x.len());
    y.set(i, squares.get(i) + next * next);
}

fn halo(bench: &mut Bench) -> bool {
    let (x, mut squares, mut y) = (Buffer::new(&ramp(192)), Buffer::unwritten(192), Buffer::unwritten(192));
    bench.launch((halo_faulty, halo_fixed), Grid::line(3, 64), (&x, &mut squares, &mut y));
    let x = ramp(192);
    y.to_vec() == (0..192).map(|i| x[i] * x[i] + x[(i + 1) % 192] * x[(i + 1) % 192]).collect::<Vec<_>>()
}

/// Divides by the first element: the barrier orders only the accesses of its own block.
#[kernel(block = 64)]
fn normalise_faulty(x: VecMut<u32>, _y: VecMut<u32>) {
    let first = x.get(0); // FAULT
    sync_threads();
    x.set(index_1d(), x.get(index_1d()) / first); // FAULT
}

#[kernel(block = 64)]
fn normalise_fixed(x: VecMut<u32>, y: VecMut<u32>) {
    let first = x.get(0);
    sync_threads();
    y.set(index_1d(), x.get(index_1d()) / first);
}

fn normalise(bench: &mut Bench) -> bool {
    let values: Vec<u32> = (1..=192).map(|i| 5 * i).collect();
    let (mut x, mut y) = (Buffer::new(&values), Buffer::unwritten(192));
    bench.launch((normalise_faulty, normalise_fixed), Grid::line(3, 64), (&mut x, &mut y));
    y.to_vec() == (1..=192).collect::<Vec<_>>()
}

/// The number of blocks.
#[kernel(block = 32)]
fn total_faulty(total: VecMut<u32>) {
    if thread_idx_x() == 0 {
        total.set(0, total.get(0) + 1); // FAULT
    }
}

#[kernel(block = 32)]
fn total_fixed(total: VecMut<u32>) {
    if thread_idx_x() == 0 {
        total.atomic(0).fetch_add(1, Order::Relaxed, Scope::Device);
    }
}

fn total(bench: &mut Bench) -> bool {
    let mut total = Buffer::zeroed(1);
    bench.launch((total_faulty, total_fixed), Grid::line(2, 32), (&mut total,));
    total.to_vec() == [2]
}

/// Each thread copies four elements.
#[kernel(block = 32)]
fn chunks_faulty(x: VecRef<u32>, y: VecMut<u32>) {
    let first = index_1d() * 4;
    for i in first..=(first + 4).min(x.len() - 1) {
        y.set(i, x.get(i)); // FAULT: the fifth is the next thread's first
    }
}

#[kernel(block = 32)]
fn chunks_fixed(x: VecRef<u32>, y: VecMut<u32>) {
    let first = index_1d() * 4;
    for i in first..(first + 4).min(x.len()) {
        y.set(i, x.get(i));
    }
}

fn chunks(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(255)), Buffer::unwritten(255));
    bench.launch((chunks_faulty, chunks_fixed), Grid::line(2, 32), (&x, &mut y));
    y.to_vec() == ramp(255)
}

/// How many elements of each section of 64 are odd.
#[kernel(block = 64)]
fn count_faulty(x: VecRef<u32>, odd: VecMut<u32>) {
    let b = block_idx_x() as usize;
    if thread_idx_x() == 0 {
        odd.set(b, 0); // FAULT
    }
    odd.atomic(b).fetch_add(x.get(index_1d()) % 2, Order::Relaxed, Scope::Block); // FAULT
}

#[kernel(block = 64)]
fn count_fixed(x: VecRef<u32>, odd: VecMut<u32>) {
    let b = block_idx_x() as usize;
    if thread_idx_x() == 0 {
        odd.set(b, 0);
    }
    sync_threads();
    odd.atomic(b).fetch_add(x.get(index_1d()) % 2, Order::Relaxed, Scope::Block);
}

fn count(bench: &mut Bench) -> bool {
    let (x, mut odd) = (Buffer::new(&ramp(128)), Buffer::unwritten(2));
    bench.launch((count_faulty, count_fixed), Grid::line(2, 64), (&x, &mut odd));
    odd.to_vec() == [32, 32]
}

/// Adds the first element to all, including itself.
#[kernel(block = 64)]
fn pivot_faulty(x: VecMut<u32>) {
    let (t, first) = (index_1d(), x.get(0)); // FAULT
    sync_warp(FULL_MASK);
    x.set(t, x.get(t) + first); // FAULT: the other warp may not have read it yet
}

#[kernel(block = 64)]
fn pivot_fixed(x: VecMut<u32>) {
    let (t, first) = (index_1d(), x.get(0));
    sync_threads();
    x.set(t, x.get(t) + first);
}

fn pivot(bench: &mut Bench) -> bool {
    let mut x = Buffer::new(&ramp(64));
    bench.launch((pivot_faulty, pivot_fixed), Grid::line(1, 64), (&mut x,));
    x.to_vec() == ramp(64).iter().map(|v| v + 1).collect::<Vec<_>>()
}

/// The sum of each row.
#[kernel(block = (4, 16))]
fn rows_faulty(a: MatRef<u32>, sums: VecMut<u32>) {
    let row = block_idx_y() * 16 + thread_idx_y();
    let sum = (0..a.cols()).map(|col| a.get(row, col)).sum();
    sums.set(row as usize, sum); // FAULT: by four threads
}

#[kernel(block = (4, 16))]
fn rows_fixed(a: MatRef<u32>, sums: VecMut<u32>) {
    let row = block_idx_y() * 16 + thread_idx_y();
    let sum = (0..a.cols()).map(|col| a.get(row, col)).sum();
    if thread_idx_x() == 0 {
        sums.set(row as usize, sum);
    }
}

fn rows(bench: &mut Bench) -> bool {
    let (a, mut sums) = (Buffer::new(&ramp(32 * 5)), Buffer::unwritten(32));
    bench.launch((rows_faulty, rows_fixed), Grid::new([1, 2, 1], [4, 16, 1]), (a.matrix(32, 5), &mut sums));
    sums.to_vec() == ramp(32 * 5).chunks(5).map(|row| row.iter().sum()).collect::<Vec<u32>>()
}
