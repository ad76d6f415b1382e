//! Races in shared memory between plain accesses that should be atomic.

use crate::case::{Bench, Case, Group};
use simt::prelude::*;
use simt::shared::SharedArray;
use simt::warp::sync_warp;
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("shared_atomics.rs"),
    cases: &[
        Case::new("histogram by plain increments", Kind::Race, histogram),
        Case::new("shared counter reset while other threads count", Kind::Race, count),
        Case::new("end of a search signalled by a plain store", Kind::Race, search),
        Case::new("word increased after reads by warps with different clocks", Kind::Race, late_increment),
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

/// How often each of 8 values occurs in a section of 64.
#[kernel(block = 64)]
fn histogram_faulty(#[shared] bins: &Line, x: VecRef<u32>, counts: VecMut<u32>) {
    let t = thread_idx_x();
    bins.words.set(t, 0);
    sync_threads();
    let bin = x.get(index_1d()) % 8;
    bins.words.set(bin, bins.words.get(bin) + 1); // FAULT
    sync_threads();
    if t < 8 {
        counts.set((block_idx_x() * 8 + t) as usize, bins.words.get(t));
    }
}

#[kernel(block = 64)]
fn histogram_fixed(#[shared] bins: &Line, x: VecRef<u32>, counts: VecMut<u32>) {
    let t = thread_idx_x();
    bins.words.set(t, 0);
    sync_threads();
    let bin = x.get(index_1d()) % 8;
    bins.words.atomic(bin).fetch_add(1, Order::Relaxed, Scope::Block);
    sync_threads();
    if t < 8 {
        counts.set((block_idx_x() * 8 + t) as usize, bins.words.get(t));
    }
}

fn histogram(bench: &mut Bench) -> bool {
    let (x, mut counts) = (Buffer::new(&ramp(128)), Buffer::unwritten(16));
    bench.launch((histogram_faulty, histogram_fixed), Grid::line(2, 64), (&x, &mut counts));
    counts.to_vec() == [8_u32; 16]
}

/// How many elements of each section of 64 are odd.
#[kernel(block = 64)]
fn count_faulty(#[shared] odd: &Line, x: VecRef<u32>, counts: VecMut<u32>) {
    if thread_idx_x() == 0 {
        odd.words.set(0, 0); // FAULT
    }
    odd.words.atomic(0).fetch_add(x.get(index_1d()) % 2, Order::Relaxed, Scope::Block); // FAULT
    sync_threads();
    if thread_idx_x() == 0 {
        counts.set(block_idx_x() as usize, odd.words.get(0));
    }
}

#[kernel(block = 64)]
fn count_fixed(#[shared] odd: &Line, x: VecRef<u32>, counts: VecMut<u32>) {
    if thread_idx_x() == 0 {
        odd.words.set(0, 0);
    }
    sync_threads();
    odd.words.atomic(0).fetch_add(x.get(index_1d()) % 2, Order::Relaxed, Scope::Block);
    sync_threads();
    if thread_idx_x() == 0 {
        counts.set(block_idx_x() as usize, odd.words.get(0));
    }
}

fn count(bench: &mut Bench) -> bool {
    let (x, mut counts) = (Buffer::new(&ramp(128)), Buffer::unwritten(2));
    bench.launch((count_faulty, count_fixed), Grid::line(2, 64), (&x, &mut counts));
    counts.to_vec() == [32, 32]
}

/// Whether a value is among 512: threads stop looking once one has found it.
#[kernel(block = 64)]
fn search_faulty(#[shared] found: &Line, x: VecRef<u32>, value: u32, y: VecMut<u32>) {
    let t = thread_idx_x() as usize;
    found.words.set(t as u32, 0);
    sync_threads();
    for i in (t..x.len()).step_by(64) {
        let done = found.words.atomic(0).load(Order::Relaxed, Scope::Block) == 1; // FAULT
        if done {
            break;
        }
        if x.get(i) == value {
            found.words.set(0, 1); // FAULT
        }
    }
    sync_threads();
    y.set(t, found.words.get(0));
}

#[kernel(block = 64)]
fn search_fixed(#[shared] found: &Line, x: VecRef<u32>, value: u32, y: VecMut<u32>) {
    let t = thread_idx_x() as usize;
    found.words.set(t as u32, 0);
    sync_threads();
    for i in (t..x.len()).step_by(64) {
        let done = found.words.atomic(0).load(Order::Relaxed, Scope::Block) == 1;
        if done {
            break;
        }
        if x.get(i) == value {
            found.words.atomic(0).store(1, Order::Relaxed, Scope::Block);
        }
    }
    sync_threads();
    y.set(t, found.words.get(0));
}

fn search(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(512)), Buffer::unwritten(64));
    bench.launch((search_faulty, search_fixed), Grid::line(1, 64), (&x, 3 * 300 + 1, &mut y));
    y.to_vec() == [1; 64]
}

/// Waits for the thread before this one in a sequence, which a relaxed flag does not order.
fn wait_for_turn(turns: VecMut<u32>, turn: u32) {
    while turns.atomic(0).load(Order::Relaxed, Scope::Device) != turn {}
}

fn end_turn(turns: VecMut<u32>, turn: u32) {
    turns.atomic(0).store(turn + 1, Order::Relaxed, Scope::Device);
}

/// Writes the words, and gives the second warp a barrier of its own. The turns of the first two threads of each warp.
fn begin(line: &Line) -> Option<u32> {
    let t = thread_idx_x();
    line.words.set(t, 7);
    sync_threads();
    if t >= 32 {
        sync_warp(u32::MAX);
    }
    (t % 32 < 2).then_some(t % 32 * 2 + t / 32)
}

/// Reads by two warps, of which one has had a barrier of its own, one after the other in a fixed sequence; then an
/// atomic operation.
#[kernel(block = 64)]
fn late_increment_faulty(#[shared] line: &Line, turns: VecMut<u32>, y: VecMut<u32>) {
    if let Some(turn) = begin(line) {
        wait_for_turn(turns, turn);
        if turn < 3 {
            y.set(turn as usize, line.words.get(0)); // FAULT
        } else {
            y.set(3, line.words.atomic(0).fetch_add(1, Order::Relaxed, Scope::Block)); // FAULT
        }
        end_turn(turns, turn);
    }
}

#[kernel(block = 64)]
fn late_increment_fixed(#[shared] line: &Line, turns: VecMut<u32>, y: VecMut<u32>) {
    let turn = begin(line);
    if let Some(turn) = turn
        && turn < 3
    {
        wait_for_turn(turns, turn);
        y.set(turn as usize, line.words.get(0));
        end_turn(turns, turn);
    }
    sync_threads();
    if turn == Some(3) {
        y.set(3, line.words.atomic(0).fetch_add(1, Order::Relaxed, Scope::Block));
    }
}

fn late_increment(bench: &mut Bench) -> bool {
    let (mut turns, mut y) = (Buffer::new(&[0_u32]), Buffer::unwritten(4));
    bench.launch((late_increment_faulty, late_increment_fixed), Grid::line(1, 64), (&mut turns, &mut y));
    y.to_vec() == [7_u32; 4]
}
