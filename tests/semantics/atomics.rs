//! Atomic operations compared with simple models, their order under each seed, and waits between blocks.

use crate::{schedules, silent};
use simt::prelude::*;
use simulator::{Config, Level};
use std::collections::HashSet;
use warpwright_tests::sim::{Buffer, Grid, launch};

const R: Order = Order::Relaxed;
const D: Scope = Scope::Device;

/// Every operation on unsigned numbers, each on an element of its own.
#[kernel(block = 64)]
fn unsigned(x: VecRef<u32>, y: VecMut<u32>, z: VecMut<u64>) {
    let v = x.get(index_1d());
    let wide = u64::from(v) << 20;
    y.atomic(0).fetch_add(v, R, D);
    y.atomic(1).fetch_min(v, R, D);
    y.atomic(2).fetch_max(v, R, D);
    y.atomic(3).fetch_and(v, R, D);
    y.atomic(4).fetch_or(v, R, D);
    y.atomic(5).fetch_xor(v, R, D);
    z.atomic(0).fetch_add(wide, R, D);
    z.atomic(1).fetch_min(wide, R, D);
    z.atomic(2).fetch_max(wide, R, D);
    z.atomic(3).fetch_and(wide, R, D);
    z.atomic(4).fetch_or(wide, R, D);
    z.atomic(5).fetch_xor(wide, R, D);
}

#[test]
fn unsigned_operations_agree_with_their_models() {
    let x: Vec<u32> = (0..192_u32).map(|i| i.wrapping_mul(2_654_435_761) | 1).collect();
    let start = [7, u32::MAX, 0, u32::MAX, 0, 0];
    let ops: [fn(u64, u64) -> u64; 6] =
        [u64::wrapping_add, u64::min, u64::max, |a, b| a & b, |a, b| a | b, |a, b| a ^ b];
    let wide = |v: u32| if v == u32::MAX { u64::MAX } else { u64::from(v) };
    let fold = |i: usize, shift: u32| x.iter().fold(wide(start[i]), |acc, &v| ops[i](acc, u64::from(v) << shift));
    for config in schedules(10) {
        let (dx, mut y) = (Buffer::new(&x), Buffer::new(&start));
        let mut z = Buffer::new(&start.map(wide));
        silent(&launch(&config, unsigned, Grid::line(3, 64), (&dx, &mut y, &mut z)).unwrap(), &config);
        assert_eq!(y.to_vec(), (0..6).map(|i| fold(i, 0) as u32).collect::<Vec<_>>());
        assert_eq!(z.to_vec(), (0..6).map(|i| fold(i, 20)).collect::<Vec<_>>());
    }
}

/// Operations on signed and on floating-point numbers.
#[kernel(block = 64)]
fn signed(x: VecRef<i32>, y: VecMut<i32>, z: VecMut<i64>, f: VecMut<f32>, g: VecMut<f64>) {
    let v = x.get(index_1d());
    y.atomic(0).fetch_add(v, R, D);
    y.atomic(1).fetch_min(v, R, D);
    y.atomic(2).fetch_max(v, R, D);
    z.atomic(0).fetch_min(i64::from(v) << 33, R, D);
    z.atomic(1).fetch_max(i64::from(v) << 33, R, D);
    f.atomic(0).fetch_add(v as f32, R, D);
    g.atomic(0).fetch_add(f64::from(v) / 1024.0, R, D);
}

#[test]
fn signed_and_floating_point_operations_agree_with_their_models() {
    // The sums are exact, whatever the order: integers below 2²⁴ and multiples of 2⁻¹⁰.
    let x: Vec<i32> = (0..128).map(|i| (i * 37 % 101 - 50) * 3).collect();
    let (sum, min, max) = (x.iter().sum::<i32>(), *x.iter().min().unwrap(), *x.iter().max().unwrap());
    for config in schedules(10) {
        let (dx, mut y, mut z) = (Buffer::new(&x), Buffer::zeroed(3), Buffer::zeroed(2));
        let (mut f, mut g) = (Buffer::zeroed(1), Buffer::zeroed(1));
        let args = (&dx, &mut y, &mut z, &mut f, &mut g);
        silent(&launch(&config, signed, Grid::line(2, 64), args).unwrap(), &config);
        assert_eq!(y.to_vec(), [sum, min, max]);
        assert_eq!(z.to_vec(), [i64::from(min) << 33, i64::from(max) << 33]);
        assert_eq!((f.to_vec()[0], g.to_vec()[0]), (sum as f32, f64::from(sum) / 1024.0));
    }
}

/// A chain of swaps, and increments by compare-exchange, in shared memory and in zeroed global memory.
#[kernel(block = 64)]
fn exchanges(#[shared] count: DynShared<u32>, before: VecMut<u32>, last: VecMut<u32>, counts: VecMut<u32>) {
    let (t, i) = (thread_idx_x(), index_1d());
    before.set(i, last.atomic(0).swap(i as u32 + 1, R, D));
    if t == 0 {
        count.atomic(0).store(0, R, Scope::Block);
    }
    sync_threads();
    let mut seen = count.atomic(0).load(R, Scope::Block);
    while let Err(found) = count.atomic(0).compare_exchange(seen, seen + 1, R, Scope::Block) {
        seen = found;
    }
    sync_threads();
    if t == 0 {
        counts.atomic(block_idx_x() as usize).store(count.atomic(0).load(R, Scope::Block), R, D);
    }
}

#[test]
fn swaps_form_a_chain_and_compare_exchanges_lose_nothing() {
    for config in schedules(20) {
        let (mut before, mut last, mut counts) = (Buffer::unwritten(128), Buffer::zeroed(1), Buffer::unwritten(2));
        let grid = Grid::line(2, 64).shared(4);
        silent(&launch(&config, exchanges, grid, (&mut before, &mut last, &mut counts)).unwrap(), &config);
        let mut links: Vec<u32> = before.to_vec().into_iter().chain(last.to_vec()).collect();
        links.sort_unstable();
        assert_eq!(links, (0..=128).collect::<Vec<_>>(), "each value is found once");
        assert_eq!(counts.to_vec(), [64, 64]);
    }
}

/// The order in which threads take tickets.
#[kernel(block = 64)]
fn tickets(ticket: VecMut<u32>, y: VecMut<u32>) {
    y.set(index_1d(), ticket.atomic(0).fetch_add(1, R, D));
}

#[test]
fn seeds_vary_the_order_of_atomics_and_repeat_it() {
    let order = |seed, resident| {
        let (mut ticket, mut y) = (Buffer::zeroed(1), Buffer::unwritten(256));
        let config = Config::default().seed(seed).resident(resident);
        silent(&launch(&config, tickets, Grid::line(4, 64), (&mut ticket, &mut y)).unwrap(), &config);
        y.to_vec()
    };
    assert_eq!(order(0, 1), (0..256).collect::<Vec<_>>(), "seed 0 keeps to the indices");
    for resident in [1, 4] {
        let mut orders = HashSet::new();
        for seed in 0..20 {
            let taken = order(seed, resident);
            assert_eq!(taken, order(seed, resident), "seed {seed} repeats itself");
            assert_eq!(taken.iter().collect::<HashSet<_>>().len(), 256, "every ticket is taken once");
            orders.insert(taken);
        }
        assert!(orders.len() >= 19, "20 seeds gave only {} orders", orders.len());
    }
}

/// Each block waits for the one `distance` before it, doubles its number and adds 1.
#[kernel(block = 32)]
fn chain(distance: u32, flags: VecMut<u32>, values: VecMut<u32>) {
    let (b, distance) = (block_idx_x() as usize, distance as usize);
    if thread_idx_x() == 0 {
        let mut value = 1;
        if b >= distance {
            while flags.atomic(b - distance).load(Order::Acquire, D) == 0 {}
            value += 2 * values.get(b - distance);
        }
        values.set(b, value);
        flags.atomic(b).store(1, Order::Release, D);
    }
}

#[test]
fn blocks_can_wait_for_each_other_at_every_level_and_residency() {
    let off = [1, 2, 0].map(|threads| Config::new(Level::Off).threads(threads));
    let off = off.into_iter().flat_map(|config| (0..20).map(move |seed| config.clone().seed(seed)));
    let wide = (0..20).map(|seed| Config::default().seed(seed).resident(7));
    for config in schedules(30).chain(wide).chain(off) {
        let (mut flags, mut values) = (Buffer::zeroed(40), Buffer::unwritten(40));
        let outcome = launch(&config, chain, Grid::line(40, 32), (2, &mut flags, &mut values)).unwrap();
        silent(&outcome, &config);
        let expected: Vec<u32> = (0..40).map(|b: u32| (1 << (b / 2 + 1)) - 1).collect();
        assert_eq!(values.to_vec(), expected, "{config:?}");
    }
}
