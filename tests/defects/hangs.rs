//! Kernels that wait forever.

use crate::case::{Bench, Case, Group};
use simt::prelude::*;
use simt::warp::{FULL_MASK, warp_shuffle_idx};
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("hangs.rs"),
    cases: &[
        Case::new("flag that no block sets", Kind::Hang, flag),
        Case::new("count that is never reached", Kind::Hang, count),
        Case::new("lock that is never released", Kind::Hang, lock),
        Case::new("flag that no block sets, polled by a warp", Kind::Hang, flag_by_warp),
        Case::new("flag that no block sets, polled by a block", Kind::Hang, flag_by_block),
    ],
};

/// Each block but the first waits for the one before it.
#[kernel(block = 32)]
fn flag_faulty(done: VecMut<u32>) {
    let b = block_idx_x() as usize;
    if thread_idx_x() == 0 {
        let ready = || b == 0 || done.atomic(b - 1).load(Order::Acquire, Scope::Device) == 1; // FAULT
        while !ready() {
            nanosleep(100);
        }
        if b > 0 {
            done.atomic(b).store(1, Order::Release, Scope::Device);
        }
    }
}

#[kernel(block = 32)]
fn flag_fixed(done: VecMut<u32>) {
    let b = block_idx_x() as usize;
    if thread_idx_x() == 0 {
        let ready = || b == 0 || done.atomic(b - 1).load(Order::Acquire, Scope::Device) == 1;
        while !ready() {
            nanosleep(100);
        }
        done.atomic(b).store(1, Order::Release, Scope::Device);
    }
}

fn flag(bench: &mut Bench) -> bool {
    let mut done = Buffer::zeroed(4);
    bench.launch((flag_faulty, flag_fixed), Grid::line(4, 32), (&mut done,));
    done.to_vec() == [1; 4]
}

/// All blocks wait for each other.
#[kernel(block = 32)]
fn count_faulty(arrived: VecMut<u32>, y: VecMut<u32>) {
    if thread_idx_x() == 0 {
        arrived.atomic(0).fetch_add(1, Order::AcqRel, Scope::Device);
        while arrived.atomic(0).load(Order::Acquire, Scope::Device) <= grid_dim_x() {} // FAULT: too many
    }
    sync_threads();
    y.set(index_1d(), 1);
}

#[kernel(block = 32)]
fn count_fixed(arrived: VecMut<u32>, y: VecMut<u32>) {
    if thread_idx_x() == 0 {
        arrived.atomic(0).fetch_add(1, Order::AcqRel, Scope::Device);
        while arrived.atomic(0).load(Order::Acquire, Scope::Device) < grid_dim_x() {}
    }
    sync_threads();
    y.set(index_1d(), 1);
}

fn count(bench: &mut Bench) -> bool {
    let (mut arrived, mut y) = (Buffer::zeroed(1), Buffer::unwritten(96));
    bench.launch((count_faulty, count_fixed), Grid::line(3, 32), (&mut arrived, &mut y));
    y.to_vec() == [1; 96]
}

/// Each block adds 1 to a total, under a lock.
#[kernel(block = 32)]
fn lock_faulty(lock: VecMut<u32>, total: VecMut<u32>) {
    if thread_idx_x() == 0 {
        while lock.atomic(0).swap(1, Order::AcqRel, Scope::Device) == 1 {} // FAULT
        total.set(0, total.get(0) + 1);
    }
}

#[kernel(block = 32)]
fn lock_fixed(lock: VecMut<u32>, total: VecMut<u32>) {
    if thread_idx_x() == 0 {
        while lock.atomic(0).swap(1, Order::AcqRel, Scope::Device) == 1 {}
        total.set(0, total.get(0) + 1);
        lock.atomic(0).store(0, Order::Release, Scope::Device);
    }
}

fn lock(bench: &mut Bench) -> bool {
    let (mut lock, mut total) = (Buffer::zeroed(1), Buffer::zeroed(1));
    bench.launch((lock_faulty, lock_fixed), Grid::line(4, 32), (&mut lock, &mut total));
    total.to_vec() == [4]
}

/// Each block but the first waits for the one before it: its first lane polls, and tells the others.
#[kernel(block = 32)]
fn flag_by_warp_faulty(done: VecMut<u32>) {
    let (b, t) = (block_idx_x() as usize, thread_idx_x());
    loop {
        let ready = t == 0 && (b == 0 || done.atomic(b - 1).load(Order::Acquire, Scope::Device) == 1); // FAULT
        if warp_shuffle_idx(FULL_MASK, u32::from(ready), 0, 32).0 == 1 {
            break;
        }
    }
    if t == 0 && b > 0 {
        done.atomic(b).store(1, Order::Release, Scope::Device);
    }
}

#[kernel(block = 32)]
fn flag_by_warp_fixed(done: VecMut<u32>) {
    let (b, t) = (block_idx_x() as usize, thread_idx_x());
    loop {
        let ready = t == 0 && (b == 0 || done.atomic(b - 1).load(Order::Acquire, Scope::Device) == 1);
        if warp_shuffle_idx(FULL_MASK, u32::from(ready), 0, 32).0 == 1 {
            break;
        }
    }
    if t == 0 {
        done.atomic(b).store(1, Order::Release, Scope::Device);
    }
}

fn flag_by_warp(bench: &mut Bench) -> bool {
    let mut done = Buffer::zeroed(4);
    bench.launch((flag_by_warp_faulty, flag_by_warp_fixed), Grid::line(4, 32), (&mut done,));
    done.to_vec() == [1; 4]
}

/// The same with a vote of the block.
#[kernel(block = 64)]
fn flag_by_block_faulty(done: VecMut<u32>) {
    let (b, t) = (block_idx_x() as usize, thread_idx_x());
    loop {
        let ready = t == 40 && (b == 0 || done.atomic(b - 1).load(Order::Acquire, Scope::Device) == 1); // FAULT
        if sync_threads_or(ready) {
            break;
        }
    }
    if t == 0 && b > 0 {
        done.atomic(b).store(1, Order::Release, Scope::Device);
    }
}

#[kernel(block = 64)]
fn flag_by_block_fixed(done: VecMut<u32>) {
    let (b, t) = (block_idx_x() as usize, thread_idx_x());
    loop {
        let ready = t == 40 && (b == 0 || done.atomic(b - 1).load(Order::Acquire, Scope::Device) == 1);
        if sync_threads_or(ready) {
            break;
        }
    }
    if t == 0 {
        done.atomic(b).store(1, Order::Release, Scope::Device);
    }
}

fn flag_by_block(bench: &mut Bench) -> bool {
    let mut done = Buffer::zeroed(4);
    bench.launch((flag_by_block_faulty, flag_by_block_fixed), Grid::line(4, 64), (&mut done,));
    done.to_vec() == [1; 4]
}
