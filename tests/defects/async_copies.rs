//! Asynchronous copies without their commit, their wait, or the barrier that makes them visible to other threads.

use crate::case::{Bench, Case, Group};
use simt::async_copy::{cp_async, cp_async_commit, cp_async_or_zero, cp_async_wait_all, cp_async_wait_group};
use simt::prelude::*;
use simt::shared::{SharedArray, SharedTile};
use simt::warp::{FULL_MASK, lane_id, warp_reduce_add};
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("async_copies.rs"),
    cases: &[
        Case::new("asynchronous copy without a wait", Kind::AsyncNotWaited, no_wait),
        Case::new("wait for one group too few", Kind::AsyncNotWaited, count),
        Case::new("wait for a group that was never committed", Kind::AsyncNotWaited, commit),
        Case::new("wait without a barrier after it", Kind::Race, no_barrier),
        Case::new("buffer refilled while other threads read it", Kind::Race, refill),
        Case::new("source overwritten before the wait", Kind::AsyncNotWaited, source),
        Case::new("zeros under way to memory that is written", Kind::AsyncNotWaited, zeros),
    ],
};

fn ramp(n: u32) -> Vec<u32> {
    (0..n).map(|i| 3 * i + 1).collect()
}

fn reversed(n: u32, section: usize) -> Vec<u32> {
    ramp(n).chunks(section).flat_map(|part| part.iter().rev().copied()).collect()
}

#[repr(C)]
#[derive(Shared)]
struct Line {
    words: SharedArray<u32, 64>,
}

/// Reverses each section of 64.
#[kernel(block = 64)]
fn no_wait_faulty(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let (i, t) = (index_1d(), thread_idx_x());
    cp_async(line.words.slot::<1>(t), x.slot(i)); // FAULT: the barrier does not wait for it
    cp_async_commit();
    sync_threads();
    y.set(i, line.words.get(63 - t)); // FAULT
}

#[kernel(block = 64)]
fn no_wait_fixed(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let (i, t) = (index_1d(), thread_idx_x());
    cp_async(line.words.slot::<1>(t), x.slot(i));
    cp_async_commit();
    cp_async_wait_group::<0>();
    sync_threads();
    y.set(i, line.words.get(63 - t));
}

fn no_wait(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(128)), Buffer::unwritten(128));
    bench.launch((no_wait_faulty, no_wait_fixed), Grid::line(2, 64), (&x, &mut y));
    y.to_vec() == reversed(128, 64)
}

#[repr(C)]
#[derive(Shared)]
struct Stages {
    stages: SharedTile<u32, 2, 128>,
}

/// Reverses rows of 128: while one row is read, the next is copied.
#[kernel(block = 32)]
fn count_faulty(#[shared] shared: &Stages, x: MatRef<u32>, y: MatMut<u32>) {
    let (t, rows) = (thread_idx_x(), x.rows());
    let load = |row: u32| {
        if row < rows {
            cp_async(shared.stages.slot::<4>(row % 2, 4 * t), x.slot(row, 4 * t)); // FAULT
        }
        cp_async_commit();
    };
    load(0);
    for row in 0..rows {
        load(row + 1);
        cp_async_wait_group::<2>(); // one of the two groups in flight should be complete
        sync_threads();
        (0..4).for_each(|k| y.set(row, 32 * k + t, shared.stages.get(row % 2, 127 - 32 * k - t))); // FAULT
        sync_threads();
    }
}

#[kernel(block = 32)]
fn count_fixed(#[shared] shared: &Stages, x: MatRef<u32>, y: MatMut<u32>) {
    let (t, rows) = (thread_idx_x(), x.rows());
    let load = |row: u32| {
        if row < rows {
            cp_async(shared.stages.slot::<4>(row % 2, 4 * t), x.slot(row, 4 * t));
        }
        cp_async_commit();
    };
    load(0);
    for row in 0..rows {
        load(row + 1);
        cp_async_wait_group::<1>();
        sync_threads();
        (0..4).for_each(|k| y.set(row, 32 * k + t, shared.stages.get(row % 2, 127 - 32 * k - t)));
        sync_threads();
    }
}

fn count(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(5 * 128)), Buffer::unwritten(5 * 128));
    let args = (x.matrix(5, 128), y.matrix_mut(5, 128));
    bench.launch((count_faulty, count_fixed), Grid::line(1, 32), args);
    y.to_vec() == reversed(5 * 128, 128)
}

/// Reverses each section of 64.
#[kernel(block = 64)]
fn commit_faulty(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let (i, t) = (index_1d(), thread_idx_x());
    cp_async(line.words.slot::<1>(t), x.slot(i)); // FAULT: in no group
    cp_async_wait_group::<0>();
    sync_threads();
    y.set(i, line.words.get(63 - t)); // FAULT
}

#[kernel(block = 64)]
fn commit_fixed(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let (i, t) = (index_1d(), thread_idx_x());
    cp_async(line.words.slot::<1>(t), x.slot(i));
    cp_async_wait_all();
    sync_threads();
    y.set(i, line.words.get(63 - t));
}

fn commit(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(128)), Buffer::unwritten(128));
    bench.launch((commit_faulty, commit_fixed), Grid::line(2, 64), (&x, &mut y));
    y.to_vec() == reversed(128, 64)
}

/// Reverses each section of 64.
#[kernel(block = 64)]
fn no_barrier_faulty(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let (i, t) = (index_1d(), thread_idx_x());
    cp_async(line.words.slot::<1>(t), x.slot(i)); // FAULT: complete for its own thread only
    cp_async_wait_all();
    y.set(i, line.words.get(63 - t)); // FAULT
}

#[kernel(block = 64)]
fn no_barrier_fixed(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let (i, t) = (index_1d(), thread_idx_x());
    cp_async(line.words.slot::<1>(t), x.slot(i));
    cp_async_wait_all();
    sync_threads();
    y.set(i, line.words.get(63 - t));
}

fn no_barrier(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(128)), Buffer::unwritten(128));
    bench.launch((no_barrier_faulty, no_barrier_fixed), Grid::line(2, 64), (&x, &mut y));
    y.to_vec() == reversed(128, 64)
}

/// The sums of the halves of rows of 64, the second half first. The next row is copied while the warps add.
#[kernel(block = 64)]
fn refill_faulty(#[shared] line: &Line, x: MatRef<u32>, sums: MatMut<u32>) {
    let t = thread_idx_x();
    let load = |row: u32| {
        if row < x.rows() {
            cp_async(line.words.slot::<1>(t), x.slot(row, t)); // FAULT: others may still read the row before
        }
    };
    load(0);
    for row in 0..x.rows() {
        cp_async_wait_all();
        sync_threads();
        let v = line.words.get(63 - t); // FAULT
        load(row + 1);
        let sum = warp_reduce_add(FULL_MASK, v);
        if lane_id() == 0 {
            sums.set(row, t / 32, sum);
        }
    }
}

#[kernel(block = 64)]
fn refill_fixed(#[shared] line: &Line, x: MatRef<u32>, sums: MatMut<u32>) {
    let t = thread_idx_x();
    let load = |row: u32| {
        if row < x.rows() {
            cp_async(line.words.slot::<1>(t), x.slot(row, t));
        }
    };
    load(0);
    for row in 0..x.rows() {
        cp_async_wait_all();
        sync_threads();
        let v = line.words.get(63 - t);
        sync_threads();
        load(row + 1);
        let sum = warp_reduce_add(FULL_MASK, v);
        if lane_id() == 0 {
            sums.set(row, t / 32, sum);
        }
    }
}

fn refill(bench: &mut Bench) -> bool {
    let (x, mut sums) = (Buffer::new(&ramp(256)), Buffer::unwritten(8));
    let args = (x.matrix(4, 64), sums.matrix_mut(4, 2));
    bench.launch((refill_faulty, refill_fixed), Grid::line(1, 64), args);
    let halves =
        ramp(256).chunks(64).flat_map(|row| [row[32..].iter().sum(), row[..32].iter().sum()]).collect::<Vec<u32>>();
    sums.to_vec() == halves
}

/// Reverses each section of 64, and sets it to 0: the copy may read at any time until its wait.
#[kernel(block = 64)]
fn source_faulty(#[shared] line: &Line, x: VecMut<u32>, y: VecMut<u32>) {
    let (i, t) = (index_1d(), thread_idx_x());
    cp_async(line.words.slot::<1>(t), x.slot(i)); // FAULT
    cp_async_commit();
    sync_threads();
    x.set(i ^ 1, 0); // FAULT: before the wait
    cp_async_wait_group::<0>();
    sync_threads();
    y.set(i, line.words.get(63 - t));
}

#[kernel(block = 64)]
fn source_fixed(#[shared] line: &Line, x: VecMut<u32>, y: VecMut<u32>) {
    let (i, t) = (index_1d(), thread_idx_x());
    cp_async(line.words.slot::<1>(t), x.slot(i));
    cp_async_commit();
    cp_async_wait_group::<0>();
    sync_threads();
    x.set(i ^ 1, 0);
    y.set(i, line.words.get(63 - t));
}

fn source(bench: &mut Bench) -> bool {
    let (mut x, mut y) = (Buffer::new(&ramp(128)), Buffer::unwritten(128));
    bench.launch((source_faulty, source_fixed), Grid::line(2, 64), (&mut x, &mut y));
    y.to_vec() == reversed(128, 64) && x.to_vec() == [0; 128]
}

/// As a pipeline does behind the last step, copies a row behind the last one: zeros. Then reverses each row.
#[kernel(block = 64)]
fn zeros_faulty(#[shared] line: &Line, x: MatRef<u32>, y: MatMut<u32>) {
    let (row, t) = (block_idx_x(), thread_idx_x());
    cp_async_or_zero(line.words.slot::<1>(t), x.window().slot_or_zero(x.rows(), t)); // FAULT
    cp_async_commit();
    line.words.set(t, x.get(row, t)); // FAULT: before the wait
    cp_async_wait_group::<0>();
    sync_threads();
    y.set(row, t, line.words.get(63 - t));
}

#[kernel(block = 64)]
fn zeros_fixed(#[shared] line: &Line, x: MatRef<u32>, y: MatMut<u32>) {
    let (row, t) = (block_idx_x(), thread_idx_x());
    cp_async_or_zero(line.words.slot::<1>(t), x.window().slot_or_zero(x.rows(), t));
    cp_async_commit();
    cp_async_wait_group::<0>();
    line.words.set(t, x.get(row, t));
    sync_threads();
    y.set(row, t, line.words.get(63 - t));
}

fn zeros(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(128)), Buffer::unwritten(128));
    bench.launch((zeros_faulty, zeros_fixed), Grid::line(2, 64), (x.matrix(2, 64), y.matrix_mut(2, 64)));
    y.to_vec() == reversed(128, 64)
}
