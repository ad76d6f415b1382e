//! Atomic operations of different sizes on the same bytes.

use crate::case::{Bench, Case, Group};
use simt::Kernel;
use simt::prelude::*;
use simt::shared::SharedArray;
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("atomic_sizes.rs"),
    cases: &[
        Case::new("shared counter of 64 bits whose low half is increased alone", Kind::Race, |b| {
            b.launch_one((count_faulty, count_fixed), 1)
        }),
        Case::new("half of a pair of 64 bits read alone", Kind::Race, |b| b.launch_one((best_faulty, best_fixed), 2)),
        Case::new("pair of 64 bits stored over one of its halves", Kind::Race, |b| {
            b.launch_one((store_faulty, store_fixed), 2)
        }),
    ],
};

type Launched = Kernel<(VecMut<'static, u64>, VecMut<'static, u64>)>;

impl Bench {
    /// Launches kernels on two elements that are 0, and gives whether the second one becomes 64.
    fn launch_one(&mut self, kernels: (Launched, Launched), blocks: u32) -> bool {
        let (mut x, mut y) = (Buffer::zeroed(1), Buffer::zeroed(1));
        self.launch(kernels, Grid::line(blocks, 64), (&mut x, &mut y));
        y.to_vec() == [64]
    }
}

/// The two halves of a vector's elements.
fn halves<'a>(x: &VecMut<'a, u64>) -> VecMut<'a, u32> {
    // SAFETY: the elements of the first buffer that each kernel here is launched with, as twice as many words.
    unsafe { VecMut::from_raw_parts(x.as_mut_ptr().cast(), x.len() as u64 * 2, 0) }
}

#[repr(C)]
#[derive(Shared)]
struct Counter {
    words: SharedArray<u32, 2>,
}

/// Counts the threads of the block in 64 bits.
#[kernel(block = 64)]
fn count_faulty(#[shared] counter: &Counter, _x: VecMut<u64>, y: VecMut<u64>) {
    let t = thread_idx_x();
    let count = counter.words.cast::<u64>();
    if t == 0 {
        count.set(0, 0);
    }
    sync_threads();
    if t < 32 {
        counter.words.atomic(0).fetch_add(1, Order::Relaxed, Scope::Block); // FAULT: the carry would be lost
    } else {
        count.atomic(0).fetch_add(1, Order::Relaxed, Scope::Block); // FAULT
    }
    sync_threads();
    if t == 0 {
        y.set(0, count.get(0));
    }
}

#[kernel(block = 64)]
fn count_fixed(#[shared] counter: &Counter, _x: VecMut<u64>, y: VecMut<u64>) {
    let t = thread_idx_x();
    let count = counter.words.cast::<u64>();
    if t == 0 {
        count.set(0, 0);
    }
    sync_threads();
    count.atomic(0).fetch_add(1, Order::Relaxed, Scope::Block);
    sync_threads();
    if t == 0 {
        y.set(0, count.get(0));
    }
}

/// The first block updates a pair of index and value; the second one waits for the value.
#[kernel(block = 64)]
fn best_faulty(x: VecMut<u64>, y: VecMut<u64>) {
    match (block_idx_x(), thread_idx_x()) {
        (0, 0) => {
            x.atomic(0).fetch_max(64 << 32 | 5, Order::Relaxed, Scope::Device); // FAULT
        }
        (1, 0) => {
            while halves(&x).atomic(1).load(Order::Relaxed, Scope::Device) == 0 {} // FAULT: half of the pair
            y.set(0, 64);
        }
        _ => {}
    }
}

#[kernel(block = 64)]
fn best_fixed(x: VecMut<u64>, y: VecMut<u64>) {
    match (block_idx_x(), thread_idx_x()) {
        (0, 0) => {
            x.atomic(0).fetch_max(64 << 32 | 5, Order::Relaxed, Scope::Device);
        }
        (1, 0) => {
            while x.atomic(0).load(Order::Relaxed, Scope::Device) == 0 {}
            y.set(0, 64);
        }
        _ => {}
    }
}

/// One block stores both halves of an element, another one its upper half, which it holds anyway. Then both words are
/// known, in whichever order that happens.
#[kernel(block = 64)]
fn store_faulty(x: VecMut<u64>, y: VecMut<u64>) {
    match (block_idx_x(), thread_idx_x()) {
        (0, 0) => x.atomic(0).store(7 << 32 | 3, Order::Relaxed, Scope::Device), // FAULT
        (1, 0) => {
            halves(&x).atomic(1).store(7, Order::Relaxed, Scope::Device); // FAULT: the pair may be torn
            y.set(0, 64);
        }
        _ => {}
    }
}

#[kernel(block = 64)]
fn store_fixed(x: VecMut<u64>, y: VecMut<u64>) {
    match (block_idx_x(), thread_idx_x()) {
        (0, 0) => x.atomic(0).store(7 << 32 | 3, Order::Relaxed, Scope::Device),
        (1, 0) => {
            x.atomic(0).store(7 << 32 | 4, Order::Relaxed, Scope::Device);
            y.set(0, 64);
        }
        _ => {}
    }
}
