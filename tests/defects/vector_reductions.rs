//! Reductions of a whole vector in one launch: states passed between blocks with too weak an order, a wait that never
//! ends, a ticket that is not reset, and vectors at misaligned addresses.

use crate::case::{Bench, Case, Group};
use simt::Kernel;
use simt::element::Vec4;
use simt::prelude::*;
use simt::shared::SharedArray;
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("vector_reductions.rs"),
    cases: &[
        Case::new("partial sums whose ticket does not release", Kind::Race, |b| reduced(b, reduce_faulty_acquire)),
        Case::new("partial sums read without acquire", Kind::Race, |b| reduced(b, reduce_faulty_release)),
        Case::new("a reduction whose ticket is not reset", Kind::Uninitialised, launched_twice),
        Case::new("a partial sum whose ready flag is in another word", Kind::Race, |b| {
            published(b, publish_faulty_words)
        }),
        Case::new("the last block waits for its own partial sum", Kind::Hang, |b| published(b, publish_faulty_wait)),
        Case::new("a head peeled by index instead of by address", Kind::Misaligned, peeled),
    ],
};

const BLOCKS: u32 = 5;
const THREADS: u32 = 64;

#[repr(C)]
#[derive(Shared)]
struct Word {
    last: SharedArray<u32, 1>,
}

/// Thread 0 of each block adds 64 elements; the threads of the last block write the partial sums to `sums`.
#[kernel(block = THREADS)]
fn reduce_fixed(#[shared] word: &Word, x: VecRef<u32>, partials: VecMut<u32>, ticket: VecMut<u32>, sums: VecMut<u32>) {
    let (t, b) = (thread_idx_x() as usize, block_idx_x() as usize);
    if t == 0 {
        partials.set(b, (b * 64..b * 64 + 64).map(|i| x.get(i)).sum());
        let drawn = ticket.atomic(0).fetch_add(1, Order::AcqRel, Scope::Device);
        word.last.set(0, u32::from(drawn == grid_dim_x() - 1));
    }
    sync_threads();
    if word.last.get(0) == 1 && t < partials.len() {
        sums.set(t, partials.get(t));
        if t == 0 {
            ticket.atomic(0).store(0, Order::Relaxed, Scope::Device);
        }
    }
}

#[kernel(block = THREADS)]
fn reduce_faulty_acquire(
    #[shared] word: &Word,
    x: VecRef<u32>,
    partials: VecMut<u32>,
    ticket: VecMut<u32>,
    sums: VecMut<u32>,
) {
    let (t, b) = (thread_idx_x() as usize, block_idx_x() as usize);
    if t == 0 {
        partials.set(b, (b * 64..b * 64 + 64).map(|i| x.get(i)).sum()); // FAULT: not released
        let drawn = ticket.atomic(0).fetch_add(1, Order::Acquire, Scope::Device);
        word.last.set(0, u32::from(drawn == grid_dim_x() - 1));
    }
    sync_threads();
    if word.last.get(0) == 1 && t < partials.len() {
        sums.set(t, partials.get(t)); // FAULT
        if t == 0 {
            ticket.atomic(0).store(0, Order::Relaxed, Scope::Device);
        }
    }
}

#[kernel(block = THREADS)]
fn reduce_faulty_release(
    #[shared] word: &Word,
    x: VecRef<u32>,
    partials: VecMut<u32>,
    ticket: VecMut<u32>,
    sums: VecMut<u32>,
) {
    let (t, b) = (thread_idx_x() as usize, block_idx_x() as usize);
    if t == 0 {
        partials.set(b, (b * 64..b * 64 + 64).map(|i| x.get(i)).sum()); // FAULT: not acquired
        let drawn = ticket.atomic(0).fetch_add(1, Order::Release, Scope::Device);
        word.last.set(0, u32::from(drawn == grid_dim_x() - 1));
    }
    sync_threads();
    if word.last.get(0) == 1 && t < partials.len() {
        sums.set(t, partials.get(t)); // FAULT
        if t == 0 {
            ticket.atomic(0).store(0, Order::Relaxed, Scope::Device);
        }
    }
}

/// Does not reset the ticket: in a second launch no block draws the last one.
#[kernel(block = THREADS)]
fn reduce_once(#[shared] word: &Word, x: VecRef<u32>, partials: VecMut<u32>, ticket: VecMut<u32>, sums: VecMut<u32>) {
    let (t, b) = (thread_idx_x() as usize, block_idx_x() as usize);
    if t == 0 {
        partials.set(b, (b * 64..b * 64 + 64).map(|i| x.get(i)).sum());
        let drawn = ticket.atomic(0).fetch_add(1, Order::AcqRel, Scope::Device);
        word.last.set(0, u32::from(drawn == grid_dim_x() - 1));
    }
    sync_threads();
    if word.last.get(0) == 1 && t < partials.len() {
        sums.set(t, partials.get(t));
    }
}

/// Reads the sums of the previous launch.
#[kernel(block = THREADS)]
fn copy(sums: VecRef<u32>, y: VecMut<u32>) {
    let i = index_1d();
    if i < sums.len() {
        y.set(i, sums.get(i)); // FAULT: no block wrote them
    }
}

/// Ready bit of 32 bits of state.
const READY: u64 = 1 << 32;

/// Thread 0 of each block but the last publishes the sum of 64 elements; each thread of the last block waits for one.
#[kernel(block = THREADS)]
fn publish_fixed(x: VecRef<u32>, states: VecMut<u64>, sums: VecMut<u32>) {
    let (t, b, last) = (thread_idx_x() as usize, block_idx_x() as usize, grid_dim_x() as usize - 1);
    let sum = || (b * 64..b * 64 + 64).map(|i| x.get(i)).sum::<u32>();
    if b < last {
        if t == 0 {
            states.atomic(b).store(READY | u64::from(sum()), Order::Relaxed, Scope::Device);
        }
    } else if t < last {
        let mut state = 0;
        while state & READY == 0 {
            state = states.atomic(t).load(Order::Relaxed, Scope::Device);
        }
        sums.set(t, state as u32);
        states.atomic(t).store(0, Order::Relaxed, Scope::Device);
    } else if t == last {
        sums.set(t, sum());
    }
}

#[kernel(block = THREADS)]
fn publish_faulty_words(x: VecRef<u32>, states: VecMut<u64>, sums: VecMut<u32>) {
    let (t, b, last) = (thread_idx_x() as usize, block_idx_x() as usize, grid_dim_x() as usize - 1);
    let sum = || (b * 64..b * 64 + 64).map(|i| x.get(i)).sum::<u32>();
    if b < last {
        if t == 0 {
            sums.set(b, sum()); // FAULT: not ordered before the ready bit
            states.atomic(b).store(READY, Order::Relaxed, Scope::Device);
        }
    } else if t < last {
        let mut state = 0;
        while state & READY == 0 {
            state = states.atomic(t).load(Order::Relaxed, Scope::Device);
        }
        sums.set(t, sums.get(t)); // FAULT
        states.atomic(t).store(0, Order::Relaxed, Scope::Device);
    } else if t == last {
        sums.set(t, sum());
    }
}

#[kernel(block = THREADS)]
fn publish_faulty_wait(x: VecRef<u32>, states: VecMut<u64>, sums: VecMut<u32>) {
    let (t, b, last) = (thread_idx_x() as usize, block_idx_x() as usize, grid_dim_x() as usize - 1);
    if b < last {
        if t == 0 {
            let sum = (b * 64..b * 64 + 64).map(|i| x.get(i)).sum::<u32>();
            states.atomic(b).store(READY | u64::from(sum), Order::Relaxed, Scope::Device);
        }
    } else if t <= last {
        let mut state = 0;
        while state & READY == 0 {
            state = states.atomic(t).load(Order::Relaxed, Scope::Device); // FAULT: the last state is never stored
        }
        sums.set(t, state as u32);
    }
}

/// The sums of all elements but the first, 4 at a time: indices are multiples of 4, addresses are not multiples of 16
/// bytes.
#[kernel(block = THREADS)]
fn peel_faulty(x: VecRef<u32>, sums: VecMut<u32>) {
    let t = thread_idx_x() as usize;
    let Some(x) = x.part(1, x.len() - 1) else { return };
    if 4 * t + 4 <= x.len() {
        sums.set(t, x.get_vec4(4 * t).lanes.iter().sum()); // FAULT: the address is not a multiple of 16 bytes
    }
}

#[kernel(block = THREADS)]
fn peel_fixed(x: VecRef<u32>, sums: VecMut<u32>) {
    let t = thread_idx_x() as usize;
    let Some(x) = x.part(1, x.len() - 1) else { return };
    let (head, body, tail) = x.align_to::<4>();
    let mut sum = body.get_or(t, Vec4::new([0; 4])).lanes.iter().sum::<u32>();
    if t == 0 {
        sum += (0..head.len()).map(|i| head.get(i)).sum::<u32>();
        sum += (0..tail.len()).map(|i| tail.get(i)).sum::<u32>();
    }
    sums.set_within(t, sum);
}

type Args = (VecRef<'static, u32>, VecMut<'static, u32>, VecMut<'static, u32>, VecMut<'static, u32>);

fn section_sums(x: &[u32]) -> Vec<u32> {
    x.chunks(THREADS as usize).map(|section| section.iter().sum()).collect()
}

fn reduced(bench: &mut Bench, faulty: Kernel<Args>) -> bool {
    let values: Vec<u32> = (0..BLOCKS * THREADS).collect();
    let (x, mut ticket) = (Buffer::new(&values), Buffer::zeroed(1));
    let (mut partials, mut sums) = (Buffer::unwritten(BLOCKS as usize), Buffer::unwritten(BLOCKS as usize));
    bench.launch((faulty, reduce_fixed), Grid::line(BLOCKS, THREADS), (&x, &mut partials, &mut ticket, &mut sums));
    sums.to_vec() == section_sums(&values) && ticket.to_vec() == [0]
}

type PublishArgs = (VecRef<'static, u32>, VecMut<'static, u64>, VecMut<'static, u32>);

/// Launches twice with the same states: the kernel resets them.
fn published(bench: &mut Bench, faulty: Kernel<PublishArgs>) -> bool {
    let values: Vec<u32> = (0..BLOCKS * THREADS).collect();
    let (x, mut states) = (Buffer::new(&values), Buffer::zeroed(BLOCKS as usize));
    (0..2).all(|_| {
        let mut sums = Buffer::unwritten(BLOCKS as usize);
        bench.launch((faulty, publish_fixed), Grid::line(BLOCKS, THREADS), (&x, &mut states, &mut sums));
        sums.to_vec() == section_sums(&values) && states.to_vec().iter().all(|&state: &u64| state == 0)
    })
}

fn launched_twice(bench: &mut Bench) -> bool {
    let values: Vec<u32> = (0..BLOCKS * THREADS).collect();
    let (x, mut ticket) = (Buffer::new(&values), Buffer::zeroed(1));
    let mut right = true;
    for _ in 0..2 {
        let unwritten = || Buffer::unwritten(BLOCKS as usize);
        let (mut partials, mut sums, mut y) = (unwritten(), unwritten(), unwritten());
        let args = (&x, &mut partials, &mut ticket, &mut sums);
        bench.launch((reduce_once, reduce_fixed), Grid::line(BLOCKS, THREADS), args);
        bench.launch((copy, copy), Grid::line(1, THREADS), (&sums, &mut y));
        right &= y.to_vec() == section_sums(&values);
    }
    right
}

/// Elements 1 to 256: the head has 3 elements, the tail 1.
fn peeled(bench: &mut Bench) -> bool {
    let values: Vec<u32> = (0..257).collect();
    let (x, mut sums) = (Buffer::new(&values), Buffer::zeroed(THREADS as usize));
    bench.launch((peel_faulty, peel_fixed), Grid::line(1, THREADS), (&x, &mut sums));
    sums.to_vec().iter().sum::<u32>() == (1..=256).sum::<u32>()
}
