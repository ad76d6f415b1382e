//! Races with an atomic operation that is not the last one on its element, and rings that are written too early: what
//! is found must not depend on who came last.

use crate::case::{Bench, Case, Group};
use simt::Kernel;
use simt::prelude::*;
use simt::shared::SharedArray;
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("earlier_atomics.rs"),
    cases: &[
        Case::new("store after one of two atomic readers", Kind::Race, |b| clear(b, clear_faulty)),
        Case::new("read after one of two atomic writers", Kind::Race, total),
        Case::new("read after one of two atomic writers of shared memory", Kind::Race, total_in_block),
        Case::new("store after one of two atomic readers of shared memory", Kind::Race, clear_in_block),
        Case::new("exchange against a plain read", Kind::Race, exchange),
        Case::new("ring without a look at the tail", Kind::Race, ring),
    ],
};

/// Blocks 1 and 2 look at an element and set a flag each; block 0 then sets the element to 9.
#[kernel(block = 32)]
fn clear_faulty(x: VecMut<u32>, flags: VecMut<u32>) {
    let b = block_idx_x() as usize;
    if thread_idx_x() == 0 && b == 0 {
        while flags.atomic(2).load(Order::Acquire, Scope::Device) == 0 {}
        x.set(0, 9); // FAULT: block 1 may not have read yet
    } else if thread_idx_x() == 0 {
        let seen = x.atomic(0).load(Order::Relaxed, Scope::Device); // FAULT
        flags.atomic(b).store(1 + seen, Order::Release, Scope::Device);
    }
}

#[kernel(block = 32)]
fn clear_fixed(x: VecMut<u32>, flags: VecMut<u32>) {
    let b = block_idx_x() as usize;
    if thread_idx_x() == 0 && b == 0 {
        while flags.atomic(1).load(Order::Acquire, Scope::Device) == 0 {}
        while flags.atomic(2).load(Order::Acquire, Scope::Device) == 0 {}
        x.set(0, 9);
    } else if thread_idx_x() == 0 {
        let seen = x.atomic(0).load(Order::Relaxed, Scope::Device);
        flags.atomic(b).store(1 + seen, Order::Release, Scope::Device);
    }
}

fn clear(bench: &mut Bench, faulty: Kernel<(VecMut<'static, u32>, VecMut<'static, u32>)>) -> bool {
    let (mut x, mut flags) = (Buffer::zeroed(1), Buffer::zeroed(3));
    bench.launch((faulty, clear_fixed), Grid::line(3, 32), (&mut x, &mut flags));
    x.to_vec() == [9]
}

/// Blocks 1 and 2 add to a total and set a flag each; block 0 then reads the total.
#[kernel(block = 32)]
fn total_faulty(total: VecMut<u32>, flags: VecMut<u32>, y: VecMut<u32>) {
    let b = block_idx_x() as usize;
    if thread_idx_x() == 0 && b == 0 {
        while flags.atomic(2).load(Order::Acquire, Scope::Device) == 0 {}
        y.set(0, total.get(0)); // FAULT: block 1 may not have added yet
    } else if thread_idx_x() == 0 {
        total.atomic(0).fetch_add(5, Order::Relaxed, Scope::Device); // FAULT
        flags.atomic(b).store(1, Order::Release, Scope::Device);
    }
}

#[kernel(block = 32)]
fn total_fixed(total: VecMut<u32>, flags: VecMut<u32>, y: VecMut<u32>) {
    let b = block_idx_x() as usize;
    if thread_idx_x() == 0 && b == 0 {
        while flags.atomic(1).load(Order::Acquire, Scope::Device) == 0 {}
        while flags.atomic(2).load(Order::Acquire, Scope::Device) == 0 {}
        y.set(0, total.get(0));
    } else if thread_idx_x() == 0 {
        total.atomic(0).fetch_add(5, Order::Relaxed, Scope::Device);
        flags.atomic(b).store(1, Order::Release, Scope::Device);
    }
}

fn total(bench: &mut Bench) -> bool {
    let (mut total, mut flags, mut y) = (Buffer::zeroed(1), Buffer::zeroed(3), Buffer::unwritten(1));
    bench.launch((total_faulty, total_fixed), Grid::line(3, 32), (&mut total, &mut flags, &mut y));
    y.to_vec() == [10]
}

#[repr(C)]
#[derive(Shared)]
struct Words {
    total: SharedArray<u32, 1>,
    flags: SharedArray<u32, 3>,
}

/// The same among three warps of a block.
#[kernel(block = 96)]
fn total_in_block_faulty(#[shared] words: &Words, y: VecMut<u32>) {
    let (warp, lane) = (thread_idx_x() / 32, thread_idx_x() % 32);
    if lane == 0 {
        words.flags.set(warp, 0);
        words.total.atomic(0).store(0, Order::Relaxed, Scope::Block);
    }
    sync_threads();
    if lane == 0 && warp == 0 {
        while words.flags.atomic(2).load(Order::Acquire, Scope::Block) == 0 {}
        y.set(0, words.total.get(0)); // FAULT: warp 1 may not have added yet
    } else if lane == 0 {
        words.total.atomic(0).fetch_add(5, Order::Relaxed, Scope::Block); // FAULT
        words.flags.atomic(warp).store(1, Order::Release, Scope::Block);
    }
}

#[kernel(block = 96)]
fn total_in_block_fixed(#[shared] words: &Words, y: VecMut<u32>) {
    let (warp, lane) = (thread_idx_x() / 32, thread_idx_x() % 32);
    if lane == 0 {
        words.flags.set(warp, 0);
        words.total.atomic(0).store(0, Order::Relaxed, Scope::Block);
    }
    sync_threads();
    if lane == 0 && warp == 0 {
        while words.flags.atomic(1).load(Order::Acquire, Scope::Block) == 0 {}
        while words.flags.atomic(2).load(Order::Acquire, Scope::Block) == 0 {}
        y.set(0, words.total.get(0));
    } else if lane == 0 {
        words.total.atomic(0).fetch_add(5, Order::Relaxed, Scope::Block);
        words.flags.atomic(warp).store(1, Order::Release, Scope::Block);
    }
}

fn total_in_block(bench: &mut Bench) -> bool {
    let mut y = Buffer::unwritten(1);
    bench.launch((total_in_block_faulty, total_in_block_fixed), Grid::line(1, 96), (&mut y,));
    y.to_vec() == [10]
}

/// Warps 1 and 2 look at a word and set a flag each; warp 0 then sets the word to 9.
#[kernel(block = 96)]
fn clear_in_block_faulty(#[shared] words: &Words, y: VecMut<u32>) {
    let (warp, lane) = (thread_idx_x() / 32, thread_idx_x() % 32);
    if lane == 0 {
        words.flags.set(warp, 0);
        words.total.atomic(0).store(0, Order::Relaxed, Scope::Block);
    }
    sync_threads();
    if lane == 0 && warp == 0 {
        while words.flags.atomic(2).load(Order::Acquire, Scope::Block) == 0 {}
        words.total.set(0, 9); // FAULT: warp 1 may not have read yet
        y.set(0, words.total.get(0));
    } else if lane == 0 {
        let seen = words.total.atomic(0).load(Order::Relaxed, Scope::Block); // FAULT
        words.flags.atomic(warp).store(1 + seen, Order::Release, Scope::Block);
    }
}

#[kernel(block = 96)]
fn clear_in_block_fixed(#[shared] words: &Words, y: VecMut<u32>) {
    let (warp, lane) = (thread_idx_x() / 32, thread_idx_x() % 32);
    if lane == 0 {
        words.flags.set(warp, 0);
        words.total.atomic(0).store(0, Order::Relaxed, Scope::Block);
    }
    sync_threads();
    if lane == 0 && warp == 0 {
        while words.flags.atomic(1).load(Order::Acquire, Scope::Block) == 0 {}
        while words.flags.atomic(2).load(Order::Acquire, Scope::Block) == 0 {}
        words.total.set(0, 9);
        y.set(0, words.total.get(0));
    } else if lane == 0 {
        let seen = words.total.atomic(0).load(Order::Relaxed, Scope::Block);
        words.flags.atomic(warp).store(1 + seen, Order::Release, Scope::Block);
    }
}

fn clear_in_block(bench: &mut Bench) -> bool {
    let mut y = Buffer::unwritten(1);
    bench.launch((clear_in_block_faulty, clear_in_block_fixed), Grid::line(1, 96), (&mut y,));
    y.to_vec() == [9]
}

/// Block 1 reads an element that holds 3; block 0 exchanges it if it holds another value. An exchange that fails only
/// reads.
#[kernel(block = 32)]
fn exchange_faulty(x: VecMut<u32>, y: VecMut<u32>) {
    if thread_idx_x() == 0 && block_idx_x() == 0 {
        let _ = x.atomic(0).compare_exchange(3, 4, Order::AcqRel, Scope::Device); // FAULT: the value that it holds
    } else if thread_idx_x() == 0 {
        y.set(0, u32::from(x.get(0) >= 3)); // FAULT
    }
}

#[kernel(block = 32)]
fn exchange_fixed(x: VecMut<u32>, y: VecMut<u32>) {
    if thread_idx_x() == 0 && block_idx_x() == 0 {
        let _ = x.atomic(0).compare_exchange(2, 4, Order::AcqRel, Scope::Device);
    } else if thread_idx_x() == 0 {
        y.set(0, u32::from(x.get(0) >= 3));
    }
}

fn exchange(bench: &mut Bench) -> bool {
    let (mut x, mut y) = (Buffer::new(&[3]), Buffer::unwritten(1));
    bench.launch((exchange_faulty, exchange_fixed), Grid::line(2, 32), (&mut x, &mut y));
    y.to_vec() == [1]
}

/// Items that block 0 sends to block 1 through a ring of `SLOTS`.
const ITEMS: u32 = 12;
const SLOTS: u32 = 8;

#[kernel(block = 32)]
fn ring_faulty(slots: VecMut<u32>, head: VecMut<u32>, tail: VecMut<u32>, y: VecMut<u32>) {
    if thread_idx_x() == 0 && block_idx_x() == 0 {
        for item in 0..ITEMS {
            slots.set((item % SLOTS) as usize, 10 + item); // FAULT: block 1 may not have read what is there
            head.atomic(0).store(item + 1, Order::Release, Scope::Device);
        }
    } else if thread_idx_x() == 0 {
        for item in 0..ITEMS {
            while head.atomic(0).load(Order::Acquire, Scope::Device) <= item {}
            y.set(item as usize, slots.get((item % SLOTS) as usize)); // FAULT
            tail.atomic(0).store(item + 1, Order::Release, Scope::Device);
        }
    }
}

#[kernel(block = 32)]
fn ring_fixed(slots: VecMut<u32>, head: VecMut<u32>, tail: VecMut<u32>, y: VecMut<u32>) {
    if thread_idx_x() == 0 && block_idx_x() == 0 {
        for item in 0..ITEMS {
            while tail.atomic(0).load(Order::Acquire, Scope::Device) + SLOTS <= item {}
            slots.set((item % SLOTS) as usize, 10 + item);
            head.atomic(0).store(item + 1, Order::Release, Scope::Device);
        }
    } else if thread_idx_x() == 0 {
        for item in 0..ITEMS {
            while head.atomic(0).load(Order::Acquire, Scope::Device) <= item {}
            y.set(item as usize, slots.get((item % SLOTS) as usize));
            tail.atomic(0).store(item + 1, Order::Release, Scope::Device);
        }
    }
}

fn ring(bench: &mut Bench) -> bool {
    let (mut slots, mut y) = (Buffer::unwritten(SLOTS as usize), Buffer::unwritten(ITEMS as usize));
    let (mut head, mut tail) = (Buffer::zeroed(1), Buffer::zeroed(1));
    bench.launch((ring_faulty, ring_fixed), Grid::line(2, 32), (&mut slots, &mut head, &mut tail, &mut y));
    y.to_vec() == (0..ITEMS).map(|item| 10 + item).collect::<Vec<_>>()
}
