//! Flags, locks and grid barriers with too weak an order or too narrow a scope.

use crate::case::{Bench, Case, Group};
use simt::Kernel;
use simt::prelude::*;
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("flags_and_locks.rs"),
    cases: &[
        Case::new("flag stored without release", Kind::Race, |b| message(b, message_faulty_store)),
        Case::new("flag loaded without acquire", Kind::Race, |b| message(b, message_faulty_load)),
        Case::new("flag exchanged in block scope", Kind::Race, |b| message(b, message_faulty_scope)),
        Case::new("flag set by a plain store", Kind::Race, |b| message(b, message_faulty_plain)),
        Case::new("lock taken without acquire", Kind::Race, lock),
        Case::new("grid barrier that only the first thread waits at", Kind::Race, grid_barrier),
    ],
};

/// Block 0 sends 8 numbers to block 1.
#[kernel(block = 32)]
fn message_fixed(x: VecRef<u32>, data: VecMut<u32>, flag: VecMut<u32>, y: VecMut<u32>) {
    if thread_idx_x() == 0 && block_idx_x() == 0 {
        (0..8).for_each(|i| data.set(i, x.get(i)));
        flag.atomic(0).store(1, Order::Release, Scope::Device);
    } else if thread_idx_x() == 0 {
        while flag.atomic(0).load(Order::Acquire, Scope::Device) == 0 {}
        (0..8).for_each(|i| y.set(i, data.get(i)));
    }
}

#[kernel(block = 32)]
fn message_faulty_store(x: VecRef<u32>, data: VecMut<u32>, flag: VecMut<u32>, y: VecMut<u32>) {
    if thread_idx_x() == 0 && block_idx_x() == 0 {
        (0..8).for_each(|i| data.set(i, x.get(i))); // FAULT
        flag.atomic(0).store(1, Order::Relaxed, Scope::Device);
    } else if thread_idx_x() == 0 {
        while flag.atomic(0).load(Order::Acquire, Scope::Device) == 0 {}
        (0..8).for_each(|i| y.set(i, data.get(i))); // FAULT
    }
}

#[kernel(block = 32)]
fn message_faulty_load(x: VecRef<u32>, data: VecMut<u32>, flag: VecMut<u32>, y: VecMut<u32>) {
    if thread_idx_x() == 0 && block_idx_x() == 0 {
        (0..8).for_each(|i| data.set(i, x.get(i))); // FAULT
        flag.atomic(0).store(1, Order::Release, Scope::Device);
    } else if thread_idx_x() == 0 {
        while flag.atomic(0).load(Order::Relaxed, Scope::Device) == 0 {}
        (0..8).for_each(|i| y.set(i, data.get(i))); // FAULT
    }
}

#[kernel(block = 32)]
fn message_faulty_scope(x: VecRef<u32>, data: VecMut<u32>, flag: VecMut<u32>, y: VecMut<u32>) {
    if thread_idx_x() == 0 && block_idx_x() == 0 {
        (0..8).for_each(|i| data.set(i, x.get(i))); // FAULT
        flag.atomic(0).store(1, Order::Release, Scope::Block); // FAULT
    } else if thread_idx_x() == 0 {
        while flag.atomic(0).load(Order::Acquire, Scope::Block) == 0 {} // FAULT
        (0..8).for_each(|i| y.set(i, data.get(i))); // FAULT
    }
}

#[kernel(block = 32)]
fn message_faulty_plain(x: VecRef<u32>, data: VecMut<u32>, flag: VecMut<u32>, y: VecMut<u32>) {
    if thread_idx_x() == 0 && block_idx_x() == 0 {
        (0..8).for_each(|i| data.set(i, x.get(i))); // FAULT
        flag.set(0, 1); // FAULT
    } else if thread_idx_x() == 0 {
        while flag.atomic(0).load(Order::Acquire, Scope::Device) == 0 {} // FAULT
        (0..8).for_each(|i| y.set(i, data.get(i))); // FAULT
    }
}

type MessageArgs = (VecRef<'static, u32>, VecMut<'static, u32>, VecMut<'static, u32>, VecMut<'static, u32>);

fn message(bench: &mut Bench, faulty: Kernel<MessageArgs>) -> bool {
    let x = Buffer::new(&[2, 3, 5, 7, 11, 13, 17, 19]);
    let (mut data, mut flag, mut y) = (Buffer::unwritten(8), Buffer::zeroed(1), Buffer::unwritten(8));
    bench.launch((faulty, message_fixed), Grid::line(2, 32), (&x, &mut data, &mut flag, &mut y));
    y.to_vec() == x.to_vec()
}

/// Each block adds its number to a total, under a lock.
#[kernel(block = 32)]
fn lock_faulty(lock: VecMut<u32>, total: VecMut<u32>) {
    if thread_idx_x() == 0 {
        while lock.atomic(0).compare_exchange(0, 1, Order::Relaxed, Scope::Device).is_err() {}
        total.set(0, total.get(0) + block_idx_x()); // FAULT
        lock.atomic(0).store(0, Order::Release, Scope::Device);
    }
}

#[kernel(block = 32)]
fn lock_fixed(lock: VecMut<u32>, total: VecMut<u32>) {
    if thread_idx_x() == 0 {
        while lock.atomic(0).compare_exchange(0, 1, Order::Acquire, Scope::Device).is_err() {}
        total.set(0, total.get(0) + block_idx_x());
        lock.atomic(0).store(0, Order::Release, Scope::Device);
    }
}

fn lock(bench: &mut Bench) -> bool {
    let (mut lock, mut total) = (Buffer::zeroed(1), Buffer::zeroed(1));
    bench.launch((lock_faulty, lock_fixed), Grid::line(6, 32), (&mut lock, &mut total));
    total.to_vec() == [15]
}

/// Rotates the elements by one block, after a grid barrier.
#[kernel(block = 32)]
fn grid_barrier_faulty(x: VecRef<u32>, stage: VecMut<u32>, arrived: VecMut<u32>, y: VecMut<u32>) {
    let i = index_1d();
    stage.set(i, x.get(i)); // FAULT
    sync_threads();
    if thread_idx_x() == 0 {
        arrived.atomic(0).fetch_add(1, Order::AcqRel, Scope::Device);
        while arrived.atomic(0).load(Order::Acquire, Scope::Device) < grid_dim_x() {}
    }
    y.set(i, stage.get((i + 32) % x.len())); // FAULT
}

#[kernel(block = 32)]
fn grid_barrier_fixed(x: VecRef<u32>, stage: VecMut<u32>, arrived: VecMut<u32>, y: VecMut<u32>) {
    let i = index_1d();
    stage.set(i, x.get(i));
    sync_threads();
    if thread_idx_x() == 0 {
        arrived.atomic(0).fetch_add(1, Order::AcqRel, Scope::Device);
        while arrived.atomic(0).load(Order::Acquire, Scope::Device) < grid_dim_x() {}
    }
    sync_threads();
    y.set(i, stage.get((i + 32) % x.len()));
}

fn grid_barrier(bench: &mut Bench) -> bool {
    let values: Vec<u32> = (0..160).collect();
    let (x, mut arrived) = (Buffer::new(&values), Buffer::zeroed(1));
    let (mut stage, mut y) = (Buffer::unwritten(160), Buffer::unwritten(160));
    bench.launch((grid_barrier_faulty, grid_barrier_fixed), Grid::line(5, 32), (&x, &mut stage, &mut arrived, &mut y));
    y.to_vec() == (0..160).map(|i| (i + 32) % 160).collect::<Vec<_>>()
}
