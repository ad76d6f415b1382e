//! Reductions that the last block finishes: with too weak an order, too narrow a scope, or a ticket that is not reset.

use crate::case::{Bench, Case, Group};
use simt::Kernel;
use simt::prelude::*;
use simt::shared::SharedArray;
use simt::sync::fence;
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("last_block.rs"),
    cases: &[
        Case::new("last block without its fence", Kind::Race, |b| last(b, last_faulty_none)),
        Case::new("last block with a fence for its own block", Kind::Race, |b| last(b, last_faulty_block)),
        Case::new("last block that does not acquire", Kind::Race, |b| last(b, last_faulty_release)),
        Case::new("last block whose ticket is not reset", Kind::Uninitialised, reset),
    ],
};

const BLOCKS: u32 = 5;

#[repr(C)]
#[derive(Shared)]
struct Word {
    word: SharedArray<u32, 1>,
}

/// Each block adds 32 elements; the last one to finish copies all sums and resets the ticket.
#[kernel(block = 32)]
fn last_fixed(#[shared] before: &Word, x: VecRef<u32>, part: VecMut<u32>, ticket: VecMut<u32>, sums: VecMut<u32>) {
    let (t, b) = (thread_idx_x() as usize, block_idx_x() as usize);
    if t == 0 {
        part.set(b, (b * 32..b * 32 + 32).map(|i| x.get(i)).sum());
        fence(Scope::Device);
        before.word.set(0, ticket.atomic(0).fetch_add(1, Order::Relaxed, Scope::Device));
        fence(Scope::Device);
    }
    sync_threads();
    if before.word.get(0) == grid_dim_x() - 1 && t < part.len() {
        sums.set(t, part.get(t));
        if t == 0 {
            ticket.atomic(0).store(0, Order::Relaxed, Scope::Device);
        }
    }
}

#[kernel(block = 32)]
fn last_faulty_none(
    #[shared] before: &Word,
    x: VecRef<u32>,
    part: VecMut<u32>,
    ticket: VecMut<u32>,
    sums: VecMut<u32>,
) {
    let (t, b) = (thread_idx_x() as usize, block_idx_x() as usize);
    if t == 0 {
        part.set(b, (b * 32..b * 32 + 32).map(|i| x.get(i)).sum()); // FAULT: no fence before the ticket
        before.word.set(0, ticket.atomic(0).fetch_add(1, Order::Relaxed, Scope::Device));
        fence(Scope::Device);
    }
    sync_threads();
    if before.word.get(0) == grid_dim_x() - 1 && t < part.len() {
        sums.set(t, part.get(t)); // FAULT
        if t == 0 {
            ticket.atomic(0).store(0, Order::Relaxed, Scope::Device);
        }
    }
}

#[kernel(block = 32)]
fn last_faulty_block(
    #[shared] before: &Word,
    x: VecRef<u32>,
    part: VecMut<u32>,
    ticket: VecMut<u32>,
    sums: VecMut<u32>,
) {
    let (t, b) = (thread_idx_x() as usize, block_idx_x() as usize);
    if t == 0 {
        part.set(b, (b * 32..b * 32 + 32).map(|i| x.get(i)).sum()); // FAULT: the fence is for this block
        fence(Scope::Block);
        before.word.set(0, ticket.atomic(0).fetch_add(1, Order::Relaxed, Scope::Device));
        fence(Scope::Device);
    }
    sync_threads();
    if before.word.get(0) == grid_dim_x() - 1 && t < part.len() {
        sums.set(t, part.get(t)); // FAULT
        if t == 0 {
            ticket.atomic(0).store(0, Order::Relaxed, Scope::Device);
        }
    }
}

#[kernel(block = 32)]
fn last_faulty_release(
    #[shared] before: &Word,
    x: VecRef<u32>,
    part: VecMut<u32>,
    ticket: VecMut<u32>,
    sums: VecMut<u32>,
) {
    let (t, b) = (thread_idx_x() as usize, block_idx_x() as usize);
    if t == 0 {
        part.set(b, (b * 32..b * 32 + 32).map(|i| x.get(i)).sum()); // FAULT: the ticket does not acquire
        before.word.set(0, ticket.atomic(0).fetch_add(1, Order::Release, Scope::Device));
    }
    sync_threads();
    if before.word.get(0) == grid_dim_x() - 1 && t < part.len() {
        sums.set(t, part.get(t)); // FAULT
        if t == 0 {
            ticket.atomic(0).store(0, Order::Relaxed, Scope::Device);
        }
    }
}

type LastArgs = (VecRef<'static, u32>, VecMut<'static, u32>, VecMut<'static, u32>, VecMut<'static, u32>);

fn section_sums(x: &[u32]) -> Vec<u32> {
    x.chunks(32).map(|section| section.iter().sum()).collect()
}

fn last(bench: &mut Bench, faulty: Kernel<LastArgs>) -> bool {
    let values: Vec<u32> = (0..BLOCKS * 32).collect();
    let (x, mut ticket) = (Buffer::new(&values), Buffer::zeroed(1));
    let (mut part, mut sums) = (Buffer::unwritten(BLOCKS as usize), Buffer::unwritten(BLOCKS as usize));
    let args = (&x, &mut part, &mut ticket, &mut sums);
    bench.launch((faulty, last_fixed), Grid::line(BLOCKS, 32), args);
    sums.to_vec() == section_sums(&values) && ticket.to_vec() == [0]
}

/// [`last_fixed`] without resetting the ticket: in a second launch no block draws the last one.
#[kernel(block = 32)]
fn last_once(#[shared] before: &Word, x: VecRef<u32>, part: VecMut<u32>, ticket: VecMut<u32>, sums: VecMut<u32>) {
    let (t, b) = (thread_idx_x() as usize, block_idx_x() as usize);
    if t == 0 {
        part.set(b, (b * 32..b * 32 + 32).map(|i| x.get(i)).sum());
        fence(Scope::Device);
        before.word.set(0, ticket.atomic(0).fetch_add(1, Order::Relaxed, Scope::Device));
        fence(Scope::Device);
    }
    sync_threads();
    if before.word.get(0) == grid_dim_x() - 1 && t < part.len() {
        sums.set(t, part.get(t));
    }
}

/// Reads the sums of the previous launch.
#[kernel(block = 32)]
fn copy(sums: VecRef<u32>, y: VecMut<u32>) {
    let i = index_1d();
    if i < sums.len() {
        y.set(i, sums.get(i)); // FAULT: no block wrote them
    }
}

fn reset(bench: &mut Bench) -> bool {
    let values: Vec<u32> = (0..BLOCKS * 32).collect();
    let (x, mut ticket) = (Buffer::new(&values), Buffer::zeroed(1));
    let mut right = true;
    for _ in 0..2 {
        let unwritten = || Buffer::unwritten(BLOCKS as usize);
        let (mut part, mut sums, mut y) = (unwritten(), unwritten(), unwritten());
        let args = (&x, &mut part, &mut ticket, &mut sums);
        bench.launch((last_once, last_fixed), Grid::line(BLOCKS, 32), args);
        bench.launch((copy, copy), Grid::line(1, 32), (&sums, &mut y));
        right &= y.to_vec() == section_sums(&values);
    }
    right
}
