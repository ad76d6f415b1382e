//! Warp operations whose mask does not match the lanes that execute them, or that read from lanes that have exited or
//! do not exist.

use crate::case::{Bench, Case, Group};
use simt::prelude::*;
use simt::warp::{
    FULL_MASK, lane_id, warp_id, warp_reduce, warp_reduce_add, warp_shuffle_down, warp_shuffle_idx, warp_shuffle_xor,
    warp_size, warp_vote_any,
};
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("warps.rs"),
    cases: &[
        Case::new("mask of the other half", Kind::WarpMask, halves),
        Case::new("full mask in a branch of half of the lanes", Kind::WarpMask, lower),
        Case::new("shuffle from lanes outside the mask", Kind::WarpMask, outside),
        Case::new("shuffle of several numbers from lanes outside the mask", Kind::WarpMask, several),
        Case::new("shuffles of one and of several numbers in two branches", Kind::WarpMask, unequal),
        Case::new("one vote as two calls in two branches", Kind::WarpMask, votes),
        Case::new("shuffles after an early return", Kind::WarpExited, early),
        Case::new("reduction after an early return", Kind::WarpExited, tree),
        Case::new("a reduction and a shuffle in two branches", Kind::WarpMask, branches),
        Case::new("broadcast from a lane that has exited", Kind::WarpExited, leader),
        Case::new("butterfly in a block of one and a half warps", Kind::WarpExited, partial),
        Case::new("butterfly over 32 lanes, on warps of 16", Kind::WarpExited, width).on_warps_of(16),
    ],
};

fn ramp(n: u32) -> Vec<u32> {
    (0..n).map(|i| 3 * i + 1).collect()
}

/// Each of the first 8 lanes of a half warp adds the element 8 further on.
#[kernel(block = 32)]
fn halves_faulty(x: VecRef<u32>, y: VecMut<u32>) {
    let v = x.get(index_1d());
    let (other, inside) = warp_shuffle_down(0x0000_ffff, v, 8, 16); // FAULT: the upper half names the lower
    y.set(index_1d(), if inside { v + other } else { v });
}

#[kernel(block = 32)]
fn halves_fixed(x: VecRef<u32>, y: VecMut<u32>) {
    let v = x.get(index_1d());
    let (other, inside) = warp_shuffle_down(FULL_MASK, v, 8, 16);
    y.set(index_1d(), if inside { v + other } else { v });
}

fn halves(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(64)), Buffer::unwritten(64));
    bench.launch((halves_faulty, halves_fixed), Grid::line(2, 32), (&x, &mut y));
    let x = ramp(64);
    y.to_vec() == (0..64).map(|i| if i % 16 < 8 { x[i] + x[i + 8] } else { x[i] }).collect::<Vec<_>>()
}

/// The sum of the first 16 elements.
#[kernel(block = 32)]
fn lower_faulty(x: VecRef<u32>, sum: VecMut<u32>) {
    let lane = lane_id();
    if lane < 16 {
        let total = warp_reduce_add(FULL_MASK, x.get(lane as usize)); // FAULT
        if lane == 0 {
            sum.set(0, total);
        }
    }
    sync_threads(); // FAULT: where the other lanes are
}

#[kernel(block = 32)]
fn lower_fixed(x: VecRef<u32>, sum: VecMut<u32>) {
    let lane = lane_id();
    if lane < 16 {
        let total = warp_reduce_add(0xffff, x.get(lane as usize));
        if lane == 0 {
            sum.set(0, total);
        }
    }
    sync_threads();
}

fn lower(bench: &mut Bench) -> bool {
    let (x, mut sum) = (Buffer::new(&ramp(16)), Buffer::unwritten(1));
    bench.launch((lower_faulty, lower_fixed), Grid::line(1, 32), (&x, &mut sum));
    sum.to_vec() == [ramp(16).iter().sum::<u32>()]
}

/// Each of the first 16 elements plus the one 8 further on, if that is among the first 16 too.
#[kernel(block = 32)]
fn outside_faulty(x: VecRef<u32>, y: VecMut<u32>) {
    let (lane, v) = (lane_id(), x.get(index_1d()));
    if lane < 16 {
        let (other, inside) = warp_shuffle_down(0xffff, v, 8, 32); // FAULT: lanes 8 to 15 read from 16 to 23
        y.set(lane as usize, if inside { v + other } else { v });
    }
    sync_threads();
}

#[kernel(block = 32)]
fn outside_fixed(x: VecRef<u32>, y: VecMut<u32>) {
    let (lane, v) = (lane_id(), x.get(index_1d()));
    if lane < 16 {
        let (other, inside) = warp_shuffle_down(0xffff, v, 8, 16);
        y.set(lane as usize, if inside { v + other } else { v });
    }
    sync_threads();
}

fn outside(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(32)), Buffer::unwritten(16));
    bench.launch((outside_faulty, outside_fixed), Grid::line(1, 32), (&x, &mut y));
    let x = ramp(32);
    y.to_vec() == (0..16).map(|i| if i < 8 { x[i] + x[i + 8] } else { x[i] }).collect::<Vec<_>>()
}

/// The same of an element and its square.
#[kernel(block = 32)]
fn several_faulty(x: VecRef<u32>, y: VecMut<u32>) {
    let (lane, v) = (lane_id(), x.get(index_1d()));
    if lane < 16 {
        let ((other, square), inside) = warp_shuffle_down(0xffff, (v, u64::from(v * v)), 8, 32); // FAULT: as above
        y.set(lane as usize, if inside { other + square as u32 } else { v });
    }
    sync_threads();
}

#[kernel(block = 32)]
fn several_fixed(x: VecRef<u32>, y: VecMut<u32>) {
    let (lane, v) = (lane_id(), x.get(index_1d()));
    if lane < 16 {
        let ((other, square), inside) = warp_shuffle_down(0xffff, (v, u64::from(v * v)), 8, 16);
        y.set(lane as usize, if inside { other + square as u32 } else { v });
    }
    sync_threads();
}

fn several(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(32)), Buffer::unwritten(16));
    bench.launch((several_faulty, several_fixed), Grid::line(1, 32), (&x, &mut y));
    let x = ramp(32);
    y.to_vec() == (0..16).map(|i| if i < 8 { x[i + 8] + x[i + 8] * x[i + 8] } else { x[i] }).collect::<Vec<_>>()
}

/// Even lanes get the element of their right neighbour, odd lanes also its square from their left one.
#[kernel(block = 32)]
fn unequal_faulty(x: VecRef<u32>, y: VecMut<u32>) {
    let v = x.get(index_1d());
    let taken = if lane_id().is_multiple_of(2) {
        warp_shuffle_xor(FULL_MASK, v, 1, 32).0 // FAULT: odd lanes are elsewhere
    } else {
        let (other, square) = warp_shuffle_xor(FULL_MASK, (v, u64::from(v * v)), 1, 32).0; // FAULT: even lanes are
        other + square as u32
    };
    y.set(index_1d(), taken);
}

#[kernel(block = 32)]
fn unequal_fixed(x: VecRef<u32>, y: VecMut<u32>) {
    let v = x.get(index_1d());
    let (other, square) = warp_shuffle_xor(FULL_MASK, (v, u64::from(v * v)), 1, 32).0;
    y.set(index_1d(), if lane_id().is_multiple_of(2) { other } else { other + square as u32 });
}

fn unequal(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(32)), Buffer::unwritten(32));
    bench.launch((unequal_faulty, unequal_fixed), Grid::line(1, 32), (&x, &mut y));
    let x = ramp(32);
    let expected = |i: usize| if i.is_multiple_of(2) { x[i + 1] } else { x[i - 1] + x[i - 1] * x[i - 1] };
    y.to_vec() == (0..32).map(expected).collect::<Vec<_>>()
}

/// Whether some element is 0: tested by the even lanes' squares and the odd lanes' doubles.
#[kernel(block = 32)]
fn votes_faulty(x: VecRef<u32>, y: VecMut<u32>) {
    let v = x.get(index_1d());
    let any = if lane_id().is_multiple_of(2) {
        warp_vote_any(FULL_MASK, v * v == 0) // FAULT
    } else {
        warp_vote_any(FULL_MASK, 2 * v == 0) // FAULT
    };
    y.set(index_1d(), u32::from(any));
}

#[kernel(block = 32)]
fn votes_fixed(x: VecRef<u32>, y: VecMut<u32>) {
    let v = x.get(index_1d());
    let mapped = if lane_id().is_multiple_of(2) { v * v } else { 2 * v };
    y.set(index_1d(), u32::from(warp_vote_any(FULL_MASK, mapped == 0)));
}

fn votes(bench: &mut Bench) -> bool {
    let mut values = ramp(64);
    values[37] = 0;
    let (x, mut y) = (Buffer::new(&values), Buffer::unwritten(64));
    bench.launch((votes_faulty, votes_fixed), Grid::line(2, 32), (&x, &mut y));
    y.to_vec() == (0..64).map(|i| u32::from(i >= 32)).collect::<Vec<_>>()
}

/// The sum of each warp's elements; the last warps have fewer than 32.
#[kernel(block = 64)]
fn early_faulty(x: VecRef<u32>, sums: VecMut<u32>) {
    let i = index_1d();
    if i >= x.len() {
        return;
    }
    let mut sum = x.get(i);
    for delta in [16, 8, 4, 2, 1] {
        sum += warp_shuffle_down(FULL_MASK, sum, delta, 32).0; // FAULT: from lanes that have returned
    }
    if lane_id() == 0 {
        sums.set(i / 32, sum);
    }
}

#[kernel(block = 64)]
fn early_fixed(x: VecRef<u32>, sums: VecMut<u32>) {
    let i = index_1d();
    let mut sum = x.get_or(i, 0);
    for delta in [16, 8, 4, 2, 1] {
        sum += warp_shuffle_down(FULL_MASK, sum, delta, 32).0;
    }
    if lane_id() == 0 && i < x.len() {
        sums.set(i / 32, sum);
    }
}

fn early(bench: &mut Bench) -> bool {
    let (x, mut sums) = (Buffer::new(&ramp(100)), Buffer::unwritten(4));
    bench.launch((early_faulty, early_fixed), Grid::line(2, 64), (&x, &mut sums));
    sums.to_vec() == ramp(100).chunks(32).map(|part| part.iter().sum()).collect::<Vec<u32>>()
}

/// As above, by one reduction.
#[kernel(block = 64)]
fn tree_faulty(x: VecRef<u32>, sums: VecMut<u32>) {
    let i = index_1d();
    if i >= x.len() {
        return;
    }
    let sum = warp_reduce(FULL_MASK, x.get(i), 32, |a, b| a + b); // FAULT: of lanes that have returned
    if lane_id() == 0 {
        sums.set(i / 32, sum);
    }
}

#[kernel(block = 64)]
fn tree_fixed(x: VecRef<u32>, sums: VecMut<u32>) {
    let i = index_1d();
    let sum = warp_reduce(FULL_MASK, x.get_or(i, 0), 32, |a, b| a + b);
    if lane_id() == 0 && i < x.len() {
        sums.set(i / 32, sum);
    }
}

fn tree(bench: &mut Bench) -> bool {
    let (x, mut sums) = (Buffer::new(&ramp(100)), Buffer::unwritten(4));
    bench.launch((tree_faulty, tree_fixed), Grid::line(2, 64), (&x, &mut sums));
    sums.to_vec() == ramp(100).chunks(32).map(|part| part.iter().sum()).collect::<Vec<u32>>()
}

/// Lane 0 gets the sum, the others the first element.
#[kernel(block = 32)]
fn branches_faulty(x: VecRef<u32>, y: VecMut<u32>) {
    let (lane, v) = (lane_id(), x.get(index_1d()));
    let mine = if lane == 0 {
        warp_reduce(FULL_MASK, v, 32, |a, b| a + b) // FAULT: the others are elsewhere
    } else {
        warp_shuffle_idx(FULL_MASK, v, 0, 32).0 // FAULT: lane 0 is elsewhere
    };
    y.set(index_1d(), mine);
}

#[kernel(block = 32)]
fn branches_fixed(x: VecRef<u32>, y: VecMut<u32>) {
    let v = x.get(index_1d());
    let sum = warp_reduce(FULL_MASK, v, 32, |a, b| a + b);
    let first = warp_shuffle_idx(FULL_MASK, v, 0, 32).0;
    y.set(index_1d(), if lane_id() == 0 { sum } else { first });
}

fn branches(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(32)), Buffer::unwritten(32));
    bench.launch((branches_faulty, branches_fixed), Grid::line(1, 32), (&x, &mut y));
    let sum = ramp(32).iter().sum();
    y.to_vec() == (0..32).map(|i| if i == 0 { sum } else { 1 }).collect::<Vec<u32>>()
}

/// Each element minus the first of its warp; the first becomes 0 without a subtraction.
#[kernel(block = 64)]
fn leader_faulty(x: VecRef<u32>, y: VecMut<u32>) {
    let v = x.get(index_1d());
    if lane_id() == 0 {
        y.set(index_1d(), 0);
        return;
    }
    let (first, _) = warp_shuffle_idx(FULL_MASK, v, 0, 32); // FAULT
    y.set(index_1d(), v - first.min(v));
}

#[kernel(block = 64)]
fn leader_fixed(x: VecRef<u32>, y: VecMut<u32>) {
    let v = x.get(index_1d());
    let (first, _) = warp_shuffle_idx(FULL_MASK, v, 0, 32);
    y.set(index_1d(), v - first.min(v));
}

fn leader(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(64)), Buffer::unwritten(64));
    bench.launch((leader_faulty, leader_fixed), Grid::line(1, 64), (&x, &mut y));
    y.to_vec() == (0..64).map(|i| 3 * (i % 32)).collect::<Vec<_>>()
}

/// The sum of each warp's elements, in every lane.
#[kernel]
fn partial_faulty(x: VecRef<u32>, y: VecMut<u32>) {
    let mut sum = x.get(index_1d());
    for mask in [16, 8, 4, 2, 1] {
        sum += warp_shuffle_xor(FULL_MASK, sum, mask, 32).0; // FAULT: the second warp has 16 lanes
    }
    y.set(index_1d(), sum);
}

#[kernel]
fn partial_fixed(x: VecRef<u32>, y: VecMut<u32>) {
    let mut sum = x.get(index_1d());
    let lanes = (block_dim_x() - warp_id() * 32).min(32);
    for mask in [16, 8, 4, 2, 1] {
        let partner = lane_id() ^ mask;
        let (other, _) = warp_shuffle_idx(FULL_MASK, sum, if partner < lanes { partner } else { lane_id() }, 32);
        sum += if partner < lanes { other } else { 0 };
    }
    y.set(index_1d(), sum);
}

fn partial(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(48)), Buffer::unwritten(48));
    bench.launch((partial_faulty, partial_fixed), Grid::line(1, 48), (&x, &mut y));
    let sums: Vec<u32> = ramp(48).chunks(32).map(|part| part.iter().sum()).collect();
    y.to_vec() == (0..48).map(|i| sums[i / 32]).collect::<Vec<_>>()
}

/// The sum of each warp's elements, in every lane, for warps of any size.
#[kernel(block = 64)]
fn width_faulty(x: VecRef<u32>, y: VecMut<u32>) {
    let (mut sum, mut mask) = (x.get(index_1d()), 16);
    while mask > 0 {
        sum += warp_shuffle_xor(FULL_MASK, sum, mask, 32).0; // FAULT: there is no lane 16
        mask /= 2;
    }
    y.set(index_1d(), sum);
}

#[kernel(block = 64)]
fn width_fixed(x: VecRef<u32>, y: VecMut<u32>) {
    let (mut sum, mut mask) = (x.get(index_1d()), warp_size() / 2);
    while mask > 0 {
        sum += warp_shuffle_xor(FULL_MASK, sum, mask, warp_size()).0;
        mask /= 2;
    }
    y.set(index_1d(), sum);
}

fn width(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(64)), Buffer::unwritten(64));
    bench.launch((width_faulty, width_fixed), Grid::line(1, 64), (&x, &mut y));
    let sums: Vec<u32> = ramp(64).chunks(16).map(|part| part.iter().sum()).collect();
    y.to_vec() == (0..64).map(|i| sums[i / 16]).collect::<Vec<_>>()
}
