//! Barriers that not all threads reach, or not all at the same place.

use crate::case::{Bench, Case, Group};
use simt::prelude::*;
use simt::shared::SharedArray;
use simt::sync::{named_barrier, named_barrier_arrive};
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("barriers.rs"),
    cases: &[
        Case::new("early return before a barrier", Kind::AbandonedBarrier, tail),
        Case::new("barrier of one warp of two", Kind::AbandonedBarrier, first_warp),
        Case::new("barrier in a loop whose length differs by warp", Kind::AbandonedBarrier, loops),
        Case::new("named barrier with too few participants", Kind::AbandonedBarrier, few),
        Case::new("named barrier with one arrival too many", Kind::AbandonedBarrier, many),
        Case::new("barriers in both branches", Kind::DivergentBarrier, branches),
        Case::new("named barrier with two counts", Kind::DivergentBarrier, counts),
        Case::new("named barriers in opposite orders", Kind::DivergentBarrier, crossed),
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

/// Reverses each section of 64, the last of which may be shorter.
#[kernel(block = 64)]
fn tail_faulty(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let (i, t) = (index_1d(), thread_idx_x());
    if i >= x.len() {
        return;
    }
    let last = (x.len() - (i - t as usize)).min(64) as u32 - 1;
    line.words.set(t, x.get(i));
    sync_threads(); // FAULT
    y.set(i, line.words.get(last - t));
}

#[kernel(block = 64)]
fn tail_fixed(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let (i, t) = (index_1d(), thread_idx_x());
    let inside = i < x.len();
    if inside {
        line.words.set(t, x.get(i));
    }
    sync_threads();
    if inside {
        let last = (x.len() - (i - t as usize)).min(64) as u32 - 1;
        y.set(i, line.words.get(last - t));
    }
}

fn tail(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(100)), Buffer::unwritten(100));
    bench.launch((tail_faulty, tail_fixed), Grid::line(2, 64), (&x, &mut y));
    y.to_vec() == ramp(100).chunks(64).flat_map(|section| section.iter().rev().copied()).collect::<Vec<_>>()
}

/// Reverses 32 elements; the second warp has nothing to do.
#[kernel(block = 64)]
fn first_warp_faulty(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    if t < 32 {
        line.words.set(t, x.get(t as usize));
        sync_threads(); // FAULT
        y.set(t as usize, line.words.get(31 - t));
    }
}

#[kernel(block = 64)]
fn first_warp_fixed(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    if t < 32 {
        line.words.set(t, x.get(t as usize));
    }
    sync_threads();
    if t < 32 {
        y.set(t as usize, line.words.get(31 - t));
    }
}

fn first_warp(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(32)), Buffer::unwritten(32));
    bench.launch((first_warp_faulty, first_warp_fixed), Grid::line(1, 64), (&x, &mut y));
    y.to_vec() == ramp(32).into_iter().rev().collect::<Vec<_>>()
}

/// Warp w adds w + 1 rows of 64, with a barrier after each.
#[kernel(block = 64)]
fn loops_faulty(rows: MatRef<u32>, sums: VecMut<u32>) {
    let (t, mut sum) = (thread_idx_x(), 0);
    for row in 0..=t / 32 {
        sum += rows.get(row, t);
        sync_threads(); // FAULT
    }
    sums.set(t as usize, sum);
}

#[kernel(block = 64)]
fn loops_fixed(rows: MatRef<u32>, sums: VecMut<u32>) {
    let (t, mut sum) = (thread_idx_x(), 0);
    for row in 0..rows.rows() {
        if row <= t / 32 {
            sum += rows.get(row, t);
        }
        sync_threads();
    }
    sums.set(t as usize, sum);
}

fn loops(bench: &mut Bench) -> bool {
    let (rows, mut sums) = (Buffer::new(&ramp(128)), Buffer::unwritten(64));
    bench.launch((loops_faulty, loops_fixed), Grid::line(1, 64), (rows.matrix(2, 64), &mut sums));
    let x = ramp(128);
    sums.to_vec() == (0..64).map(|i| if i < 32 { x[i] } else { x[i] + x[i + 64] }).collect::<Vec<_>>()
}

/// The first warp reverses 32 elements, with a named barrier.
#[kernel(block = 64)]
fn few_faulty(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    if t < 32 {
        line.words.set(t, x.get(t as usize));
        named_barrier(1, 64); // FAULT
        y.set(t as usize, line.words.get(31 - t));
    }
}

#[kernel(block = 64)]
fn few_fixed(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    if t < 32 {
        line.words.set(t, x.get(t as usize));
        named_barrier(1, 32);
        y.set(t as usize, line.words.get(31 - t));
    }
}

fn few(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(32)), Buffer::unwritten(32));
    bench.launch((few_faulty, few_fixed), Grid::line(1, 64), (&x, &mut y));
    y.to_vec() == ramp(32).into_iter().rev().collect::<Vec<_>>()
}

/// Warp 0 passes rows of 32 to warp 1: barrier 1 means "full", barrier 2 "empty".
#[kernel(block = 64)]
fn many_faulty(#[shared] line: &Line, rows: MatRef<u32>, y: MatMut<u32>) {
    let (t, lane) = (thread_idx_x(), thread_idx_x() % 32);
    for row in 0..rows.rows() {
        if t < 32 {
            line.words.set(lane, rows.get(row, lane));
            named_barrier_arrive(1, 64);
            named_barrier(2, 64);
        } else {
            named_barrier(1, 64);
            y.set(row, lane, line.words.get(31 - lane));
            named_barrier_arrive(2, 64);
        }
    }
    if t < 32 {
        named_barrier_arrive(1, 64); // FAULT: no thread waits for another row
    }
}

#[kernel(block = 64)]
fn many_fixed(#[shared] line: &Line, rows: MatRef<u32>, y: MatMut<u32>) {
    let (t, lane) = (thread_idx_x(), thread_idx_x() % 32);
    for row in 0..rows.rows() {
        if t < 32 {
            line.words.set(lane, rows.get(row, lane));
            named_barrier_arrive(1, 64);
            named_barrier(2, 64);
        } else {
            named_barrier(1, 64);
            y.set(row, lane, line.words.get(31 - lane));
            named_barrier_arrive(2, 64);
        }
    }
}

fn many(bench: &mut Bench) -> bool {
    let (rows, mut y) = (Buffer::new(&ramp(96)), Buffer::unwritten(96));
    let args = (rows.matrix(3, 32), y.matrix_mut(3, 32));
    bench.launch((many_faulty, many_fixed), Grid::line(1, 64), args);
    y.to_vec() == ramp(96).chunks(32).flat_map(|row| row.iter().rev().copied()).collect::<Vec<_>>()
}

/// Warp 0 squares, warp 1 doubles; each then reads the other's.
#[kernel(block = 64)]
fn branches_faulty(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let (t, v) = (thread_idx_x(), x.get(index_1d()));
    if t < 32 {
        line.words.set(t, v * v);
        sync_threads(); // FAULT
    } else {
        line.words.set(t, 2 * v);
        sync_threads(); // FAULT
    }
    y.set(index_1d(), line.words.get(63 - t));
}

#[kernel(block = 64)]
fn branches_fixed(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let (t, v) = (thread_idx_x(), x.get(index_1d()));
    line.words.set(t, if t < 32 { v * v } else { 2 * v });
    sync_threads();
    y.set(index_1d(), line.words.get(63 - t));
}

fn branches(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(64)), Buffer::unwritten(64));
    bench.launch((branches_faulty, branches_fixed), Grid::line(1, 64), (&x, &mut y));
    let mapped = ramp(64).into_iter().enumerate().map(|(i, v)| if i < 32 { v * v } else { 2 * v });
    y.to_vec() == mapped.rev().collect::<Vec<_>>()
}

/// Warp 0 signals 32 elements, warp 1 waits for them.
#[kernel(block = 64)]
fn counts_faulty(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let (t, lane) = (thread_idx_x(), thread_idx_x() % 32);
    if t < 32 {
        line.words.set(lane, x.get(lane as usize));
        named_barrier_arrive(1, 64); // FAULT
    }
    named_barrier(2, 64);
    if t >= 32 {
        named_barrier(1, 96); // FAULT
        y.set(lane as usize, line.words.get(31 - lane));
    }
}

#[kernel(block = 64)]
fn counts_fixed(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let (t, lane) = (thread_idx_x(), thread_idx_x() % 32);
    if t < 32 {
        line.words.set(lane, x.get(lane as usize));
        named_barrier_arrive(1, 64);
    }
    named_barrier(2, 64);
    if t >= 32 {
        named_barrier(1, 64);
        y.set(lane as usize, line.words.get(31 - lane));
    }
}

fn counts(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(32)), Buffer::unwritten(32));
    bench.launch((counts_faulty, counts_fixed), Grid::line(1, 64), (&x, &mut y));
    y.to_vec() == ramp(32).into_iter().rev().collect::<Vec<_>>()
}

/// Two warps synchronise twice.
#[kernel(block = 64)]
fn crossed_faulty(y: VecMut<u32>) {
    if thread_idx_x() < 32 {
        named_barrier(1, 64); // FAULT
        named_barrier(2, 64); // FAULT
    } else {
        named_barrier(2, 64); // FAULT
        named_barrier(1, 64); // FAULT
    }
    y.set(index_1d(), thread_idx_x());
}

#[kernel(block = 64)]
fn crossed_fixed(y: VecMut<u32>) {
    named_barrier(1, 64);
    named_barrier(2, 64);
    y.set(index_1d(), thread_idx_x());
}

fn crossed(bench: &mut Bench) -> bool {
    let mut y = Buffer::unwritten(64);
    bench.launch((crossed_faulty, crossed_fixed), Grid::line(1, 64), (&mut y,));
    y.to_vec() == (0..64).collect::<Vec<_>>()
}
