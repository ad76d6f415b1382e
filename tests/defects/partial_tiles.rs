//! Stream-K fix-up: partial sums of a tile that a block passes to the next block, with a flag that is set if it equals
//! the launch's epoch. The defects load or publish them too early.

use crate::case::{Bench, Case, Group};
use simt::Kernel;
use simt::prelude::*;
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("partial_tiles.rs"),
    cases: &[
        Case::new("partial sums loaded without waiting for the flag", Kind::Race, |b| fix_up(b, no_wait_faulty)),
        Case::new("no barrier after the wait for the flag", Kind::Race, |b| fix_up(b, no_barrier_faulty)),
        Case::new("a flag set before all threads have stored", Kind::Race, |b| fix_up(b, early_faulty)),
        Case::new("a flag set without release", Kind::Race, |b| fix_up(b, relaxed_faulty)),
    ],
};

const BLOCKS: u32 = 4;
const THREADS: u32 = 64;
const EPOCH: u64 = 0x1234_5678_9abc_def0;

/// Waits for flag `i`, and resets it.
#[track_caller]
fn wait_and_reset(flags: VecMut<u64>, i: usize) {
    while flags.atomic(i).load(Order::Acquire, Scope::Device) != EPOCH {}
    flags.atomic(i).store(0, Order::Relaxed, Scope::Device);
}

/// Sets flag `i`.
#[track_caller]
fn set_flag(flags: VecMut<u64>, i: usize, order: Order) {
    flags.atomic(i).store(EPOCH, order, Scope::Device);
}

/// Block b adds the partial sums of block b − 1 to its own numbers and publishes the result; the last block writes the
/// totals.
#[kernel(block = THREADS)]
fn chain_fixed(x: VecRef<u32>, partials: VecMut<u32>, flags: VecMut<u64>, y: VecMut<u32>) {
    let (t, b) = (thread_idx_x() as usize, block_idx_x() as usize);
    let mut sum = x.get(b * 64 + t);
    if b > 0 {
        if t == 0 {
            wait_and_reset(flags, b - 1);
        }
        sync_threads();
        sum += partials.get((b - 1) * 64 + t);
    }
    if b == grid_dim_x() as usize - 1 {
        y.set(t, sum);
        return;
    }
    partials.set(b * 64 + t, sum);
    sync_threads();
    if t == 0 {
        set_flag(flags, b, Order::Release);
    }
}

#[kernel(block = THREADS)]
fn no_wait_faulty(x: VecRef<u32>, partials: VecMut<u32>, flags: VecMut<u64>, y: VecMut<u32>) {
    let (t, b) = (thread_idx_x() as usize, block_idx_x() as usize);
    if b == 1 {
        y.set(t, x.get(64 + t) + partials.get(t)); // FAULT: may not be written yet
    }
    if b == 0 {
        partials.set(t, x.get(t)); // FAULT
        sync_threads();
        if t == 0 {
            set_flag(flags, b, Order::Release);
        }
    }
}

#[kernel(block = THREADS)]
fn no_barrier_faulty(x: VecRef<u32>, partials: VecMut<u32>, flags: VecMut<u64>, y: VecMut<u32>) {
    let (t, b) = (thread_idx_x() as usize, block_idx_x() as usize);
    if b == 1 {
        if t == 0 {
            wait_and_reset(flags, 0);
        }
        y.set(t, x.get(64 + t) + partials.get(t)); // FAULT: only one thread has waited
    }
    if b == 0 {
        partials.set(t, x.get(t)); // FAULT
        sync_threads();
        if t == 0 {
            set_flag(flags, 0, Order::Release);
        }
    }
}

#[kernel(block = THREADS)]
fn early_faulty(x: VecRef<u32>, partials: VecMut<u32>, flags: VecMut<u64>, y: VecMut<u32>) {
    let (t, b) = (thread_idx_x() as usize, block_idx_x() as usize);
    if b == 1 {
        if t == 0 {
            wait_and_reset(flags, 0);
        }
        sync_threads();
        y.set(t, x.get(64 + t) + partials.get(t)); // FAULT
    }
    if b == 0 {
        partials.set(t, x.get(t)); // FAULT: no barrier before the flag
        if t == 0 {
            set_flag(flags, 0, Order::Release);
        }
    }
}

#[kernel(block = THREADS)]
fn relaxed_faulty(x: VecRef<u32>, partials: VecMut<u32>, flags: VecMut<u64>, y: VecMut<u32>) {
    let (t, b) = (thread_idx_x() as usize, block_idx_x() as usize);
    if b == 1 {
        if t == 0 {
            wait_and_reset(flags, 0);
        }
        sync_threads();
        y.set(t, x.get(64 + t) + partials.get(t)); // FAULT
    }
    if b == 0 {
        partials.set(t, x.get(t)); // FAULT: not released
        sync_threads();
        if t == 0 {
            set_flag(flags, 0, Order::Relaxed);
        }
    }
}

type Args = (VecRef<'static, u32>, VecMut<'static, u32>, VecMut<'static, u64>, VecMut<'static, u32>);

/// Launches twice with the same flags, as a graph does: the kernel resets them.
fn fix_up(bench: &mut Bench, faulty: Kernel<Args>) -> bool {
    let values: Vec<u32> = (0..BLOCKS * THREADS).collect();
    let (x, mut flags) = (Buffer::new(&values), Buffer::new(&[7_u64, 0, u64::MAX, 1]));
    let expected: Vec<u32> = (0..THREADS).map(|t| (0..BLOCKS).map(|b| b * THREADS + t).sum()).collect();
    (0..2).all(|_| {
        let (mut partials, mut y) = (Buffer::unwritten(values.len()), Buffer::unwritten(THREADS as usize));
        let args = (&x, &mut partials, &mut flags, &mut y);
        bench.launch((faulty, chain_fixed), Grid::line(BLOCKS, THREADS), args);
        y.to_vec() == expected && !flags.to_vec().contains(&EPOCH)
    })
}
