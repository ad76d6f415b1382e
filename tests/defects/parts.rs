//! Sums of a tile that one block hands to the block after it, by a flag that is up when it equals the launch's token: taken too
//! early, or announced too early.

use crate::case::{Bench, Case, Group};
use simt::Kernel;
use simt::prelude::*;
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("parts.rs"),
    cases: &[
        Case::new("sums taken without a look at the flag", Kind::Race, |b| shared(b, blind_faulty)),
        Case::new("no barrier after the wait for the flag", Kind::Race, |b| shared(b, alone_faulty)),
        Case::new("a flag raised before all have stored", Kind::Race, |b| shared(b, early_faulty)),
        Case::new("a flag raised without release", Kind::Race, |b| shared(b, relaxed_faulty)),
    ],
};

const BLOCKS: u32 = 4;
const THREADS: u32 = 64;
const TOKEN: u64 = 0x1234_5678_9abc_def0;

/// Waits until flag `i` is up, and lowers it.
#[track_caller]
fn lower(flags: VecMut<u64>, i: usize) {
    while flags.atomic(i).load(Order::Acquire, Scope::Device) != TOKEN {}
    flags.atomic(i).store(0, Order::Relaxed, Scope::Device);
}

/// Raises flag `i`.
#[track_caller]
fn raise(flags: VecMut<u64>, i: usize, order: Order) {
    flags.atomic(i).store(TOKEN, order, Scope::Device);
}

/// Block b adds what block b − 1 hands on to its own numbers, and hands the sums on; the last one has the sums of all.
#[kernel(block = THREADS)]
fn chain_mended(x: VecRef<u32>, parts: VecMut<u32>, flags: VecMut<u64>, y: VecMut<u32>) {
    let (t, b) = (thread_idx_x() as usize, block_idx_x() as usize);
    let mut sum = x.get(b * 64 + t);
    if b > 0 {
        if t == 0 {
            lower(flags, b - 1);
        }
        sync_threads();
        sum += parts.get((b - 1) * 64 + t);
    }
    if b == grid_dim_x() as usize - 1 {
        y.set(t, sum);
        return;
    }
    parts.set(b * 64 + t, sum);
    sync_threads();
    if t == 0 {
        raise(flags, b, Order::Release);
    }
}

#[kernel(block = THREADS)]
fn blind_faulty(x: VecRef<u32>, parts: VecMut<u32>, flags: VecMut<u64>, y: VecMut<u32>) {
    let (t, b) = (thread_idx_x() as usize, block_idx_x() as usize);
    if b == 1 {
        y.set(t, x.get(64 + t) + parts.get(t)); // FAULT: perhaps not there yet
    }
    if b == 0 {
        parts.set(t, x.get(t)); // FAULT
        sync_threads();
        if t == 0 {
            raise(flags, b, Order::Release);
        }
    }
}

#[kernel(block = THREADS)]
fn alone_faulty(x: VecRef<u32>, parts: VecMut<u32>, flags: VecMut<u64>, y: VecMut<u32>) {
    let (t, b) = (thread_idx_x() as usize, block_idx_x() as usize);
    if b == 1 {
        if t == 0 {
            lower(flags, 0);
        }
        y.set(t, x.get(64 + t) + parts.get(t)); // FAULT: one thread has waited
    }
    if b == 0 {
        parts.set(t, x.get(t)); // FAULT
        sync_threads();
        if t == 0 {
            raise(flags, 0, Order::Release);
        }
    }
}

#[kernel(block = THREADS)]
fn early_faulty(x: VecRef<u32>, parts: VecMut<u32>, flags: VecMut<u64>, y: VecMut<u32>) {
    let (t, b) = (thread_idx_x() as usize, block_idx_x() as usize);
    if b == 1 {
        if t == 0 {
            lower(flags, 0);
        }
        sync_threads();
        y.set(t, x.get(64 + t) + parts.get(t)); // FAULT
    }
    if b == 0 {
        parts.set(t, x.get(t)); // FAULT: thread 0 speaks for itself
        if t == 0 {
            raise(flags, 0, Order::Release);
        }
    }
}

#[kernel(block = THREADS)]
fn relaxed_faulty(x: VecRef<u32>, parts: VecMut<u32>, flags: VecMut<u64>, y: VecMut<u32>) {
    let (t, b) = (thread_idx_x() as usize, block_idx_x() as usize);
    if b == 1 {
        if t == 0 {
            lower(flags, 0);
        }
        sync_threads();
        y.set(t, x.get(64 + t) + parts.get(t)); // FAULT
    }
    if b == 0 {
        parts.set(t, x.get(t)); // FAULT: nothing releases it
        sync_threads();
        if t == 0 {
            raise(flags, 0, Order::Relaxed);
        }
    }
}

type Args = (VecRef<'static, u32>, VecMut<'static, u32>, VecMut<'static, u64>, VecMut<'static, u32>);

/// Twice with the same flags, as a graph would: they are put back.
fn shared(bench: &mut Bench, faulty: Kernel<Args>) -> bool {
    let values: Vec<u32> = (0..BLOCKS * THREADS).collect();
    let (x, mut flags) = (Buffer::new(&values), Buffer::new(&[7_u64, 0, u64::MAX, 1]));
    let expected: Vec<u32> = (0..THREADS).map(|t| (0..BLOCKS).map(|b| b * THREADS + t).sum()).collect();
    (0..2).all(|_| {
        let (mut parts, mut y) = (Buffer::unwritten(values.len()), Buffer::unwritten(THREADS as usize));
        let args = (&x, &mut parts, &mut flags, &mut y);
        bench.launch((faulty, chain_mended), Grid::line(BLOCKS, THREADS), args);
        y.to_vec() == expected && !flags.to_vec().contains(&TOKEN)
    })
}
