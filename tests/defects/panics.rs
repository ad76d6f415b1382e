//! Kernels that panic. A GPU traps; the simulator reports the message and the place.

use crate::case::{Bench, Case, Group};
use simt::prelude::*;
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("panics.rs"),
    cases: &[
        Case::new("index outside a table in registers", Kind::Panic, table),
        Case::new("division by zero", Kind::Panic, mean),
        Case::new("assertion about the block", Kind::Panic, shape),
        Case::new("unwrap of None", Kind::Panic, before),
    ],
};

const PRIMES: [u32; 4] = [2, 3, 5, 7];

/// The prime that each element selects. The other threads wait at the barrier and are not reported.
#[kernel(block = 64)]
fn table_faulty(x: VecRef<u32>, y: VecMut<u32>) {
    y.set(index_1d(), PRIMES[x.get(index_1d()) as usize]); // FAULT
    sync_threads();
}

#[kernel(block = 64)]
fn table_fixed(x: VecRef<u32>, y: VecMut<u32>) {
    y.set(index_1d(), PRIMES.get(x.get(index_1d()) as usize).copied().unwrap_or(0));
    sync_threads();
}

fn table(bench: &mut Bench) -> bool {
    let mut values: Vec<u32> = (0..128).map(|i| i % 4).collect();
    values[77] = 4;
    let (x, mut y) = (Buffer::new(&values), Buffer::unwritten(128));
    bench.launch((table_faulty, table_fixed), Grid::line(2, 64), (&x, &mut y));
    y.to_vec() == values.iter().map(|&i| PRIMES.get(i as usize).copied().unwrap_or(0)).collect::<Vec<_>>()
}

/// The mean of sections whose sums and counts are given.
#[kernel(block = 32)]
fn mean_faulty(sums: VecRef<u32>, counts: VecRef<u32>, y: VecMut<u32>) {
    let i = index_1d();
    y.set(i, sums.get(i) / counts.get(i)); // FAULT
}

#[kernel(block = 32)]
fn mean_fixed(sums: VecRef<u32>, counts: VecRef<u32>, y: VecMut<u32>) {
    let i = index_1d();
    y.set(i, sums.get(i).checked_div(counts.get(i)).unwrap_or(0));
}

fn mean(bench: &mut Bench) -> bool {
    let counts: Vec<u32> = (0..32).map(|i| i % 8).collect();
    let sums: Vec<u32> = counts.iter().map(|count| 6 * count).collect();
    let (sums, counts, mut y) = (Buffer::new(&sums), Buffer::new(&counts), Buffer::unwritten(32));
    bench.launch((mean_faulty, mean_fixed), Grid::line(1, 32), (&sums, &counts, &mut y));
    y.to_vec() == (0..32).map(|i| if i % 8 == 0 { 0 } else { 6 }).collect::<Vec<_>>()
}

/// The number of threads that are inside, for any block.
#[kernel]
fn shape_faulty(x: VecRef<u32>, y: VecMut<u32>) {
    assert!(block_dim_x().is_power_of_two(), "blocks of {} threads are not supported", block_dim_x()); // FAULT
    let inside = sync_threads_count(index_1d() < x.len());
    if thread_idx_x() == 0 {
        y.set(block_idx_x() as usize, inside);
    }
}

#[kernel]
fn shape_fixed(x: VecRef<u32>, y: VecMut<u32>) {
    let inside = sync_threads_count(index_1d() < x.len());
    if thread_idx_x() == 0 {
        y.set(block_idx_x() as usize, inside);
    }
}

fn shape(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::zeroed(70), Buffer::unwritten(2));
    bench.launch((shape_faulty, shape_fixed), Grid::line(2, 48), (&x, &mut y));
    y.to_vec() == [48, 22]
}

/// The index before each thread's, cyclically.
#[kernel(block = 64)]
fn before_faulty(y: VecMut<u32>) {
    let i = thread_idx_x();
    y.set(i as usize, i.checked_sub(1).unwrap()); // FAULT
}

#[kernel(block = 64)]
fn before_fixed(y: VecMut<u32>) {
    let i = thread_idx_x();
    y.set(i as usize, i.checked_sub(1).unwrap_or(63));
}

fn before(bench: &mut Bench) -> bool {
    let mut y = Buffer::unwritten(64);
    bench.launch((before_faulty, before_fixed), Grid::line(1, 64), (&mut y,));
    y.to_vec() == (0..64).map(|i| (i + 63) % 64).collect::<Vec<_>>()
}
