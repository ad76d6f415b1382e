//! Races in shared memory within one warp: only `sync_warp` orders its lanes, and only those of its mask. (Sums wrap,
//! since a racing lane may read any value.)

use crate::case::{Bench, Case, Group};
use simt::prelude::*;
use simt::shared::SharedArray;
use simt::warp::{FULL_MASK, sync_warp, warp_vote_all};
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("warp_races.rs"),
    cases: &[
        Case::new("warp tree with a vote instead of sync_warp", Kind::Race, warp_tree),
        Case::new("sync_warp of the readers only", Kind::Race, half_warp),
        Case::new("sync_warp for 32 threads, on warps of 8", Kind::Race, small_warps).on_warps_of(8),
    ],
};

#[repr(C)]
#[derive(Shared)]
struct Line {
    words: SharedArray<u32, 32>,
}

fn ramp(n: u32) -> Vec<u32> {
    (0..n).map(|i| 3 * i + 1).collect()
}

/// The sum of each section of 32, by one warp.
#[kernel(block = 32)]
fn warp_tree_faulty(#[shared] line: &Line, x: VecRef<u32>, sums: VecMut<u32>) {
    let t = thread_idx_x();
    line.words.set(t, x.get(index_1d())); // FAULT
    let mut stride = 16;
    while stride > 0 {
        warp_vote_all(FULL_MASK, true); // synchronises the lanes, but does not order memory
        if t < stride {
            line.words.set(t, line.words.get(t).wrapping_add(line.words.get(t + stride))); // FAULT
        }
        stride /= 2;
    }
    if t == 0 {
        sums.set(block_idx_x() as usize, line.words.get(0));
    }
}

#[kernel(block = 32)]
fn warp_tree_fixed(#[shared] line: &Line, x: VecRef<u32>, sums: VecMut<u32>) {
    let t = thread_idx_x();
    line.words.set(t, x.get(index_1d()));
    let mut stride = 16;
    while stride > 0 {
        sync_warp(FULL_MASK);
        if t < stride {
            line.words.set(t, line.words.get(t).wrapping_add(line.words.get(t + stride)));
        }
        stride /= 2;
    }
    if t == 0 {
        sums.set(block_idx_x() as usize, line.words.get(0));
    }
}

fn warp_tree(bench: &mut Bench) -> bool {
    let (x, mut sums) = (Buffer::new(&ramp(96)), Buffer::unwritten(3));
    bench.launch((warp_tree_faulty, warp_tree_fixed), Grid::line(3, 32), (&x, &mut sums));
    sums.to_vec() == ramp(96).chunks(32).map(|section| section.iter().sum()).collect::<Vec<u32>>()
}

/// Adds the upper half of a warp to the lower.
#[kernel(block = 32)]
fn half_warp_faulty(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    line.words.set(t, x.get(index_1d())); // FAULT
    if t < 16 {
        sync_warp(0xffff); // the lanes that wrote the upper half are not in it
        y.set((block_idx_x() * 16 + t) as usize, line.words.get(t).wrapping_add(line.words.get(t + 16))); // FAULT
    }
}

#[kernel(block = 32)]
fn half_warp_fixed(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    line.words.set(t, x.get(index_1d()));
    sync_warp(FULL_MASK);
    if t < 16 {
        y.set((block_idx_x() * 16 + t) as usize, line.words.get(t).wrapping_add(line.words.get(t + 16)));
    }
}

fn half_warp(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(64)), Buffer::unwritten(32));
    bench.launch((half_warp_faulty, half_warp_fixed), Grid::line(2, 32), (&x, &mut y));
    let x = ramp(64);
    y.to_vec() == (0..32).map(|i| i / 16 * 32 + i % 16).map(|i| x[i] + x[i + 16]).collect::<Vec<_>>()
}

/// Reverses 32 elements; correct only if 32 threads are one warp.
#[kernel(block = 32)]
fn small_warps_faulty(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    line.words.set(t, x.get(t as usize)); // FAULT
    sync_warp(FULL_MASK);
    y.set(t as usize, line.words.get(31 - t)); // FAULT
}

#[kernel(block = 32)]
fn small_warps_fixed(#[shared] line: &Line, x: VecRef<u32>, y: VecMut<u32>) {
    let t = thread_idx_x();
    line.words.set(t, x.get(t as usize));
    sync_threads();
    y.set(t as usize, line.words.get(31 - t));
}

fn small_warps(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(32)), Buffer::unwritten(32));
    bench.launch((small_warps_faulty, small_warps_fixed), Grid::line(1, 32), (&x, &mut y));
    y.to_vec() == ramp(32).into_iter().rev().collect::<Vec<_>>()
}
