//! Scopes that are too narrow: in chains of releases and acquires, and of atomics that order nothing.

use crate::case::{Bench, Case, Group};
use simt::Kernel;
use simt::prelude::*;
use simt::sync::fence;
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("scopes.rs"),
    cases: &[
        Case::new("chain whose middle hop has block scope", Kind::Race, |b| relay(b, relay_faulty_middle)),
        Case::new("chain whose last hop has block scope", Kind::Race, |b| relay(b, relay_faulty_last)),
        Case::new("chain through an update of block scope", Kind::Race, |b| relay(b, relay_faulty_update)),
        Case::new("chain through one flag whose last hop has block scope", Kind::Race, one_flag),
        Case::new("ticket of block scope", Kind::Race, tickets),
    ],
};

/// Block 0 sends a number to block 3: its first thread to its 32nd in block scope, that one to block 1, and block 1 to
/// block 3 in device scope. Block 2 adds 1 to the last flag.
#[kernel(block = 64)]
fn relay_fixed(data: VecMut<u32>, flags: VecMut<u32>, y: VecMut<u32>) {
    match (block_idx_x(), thread_idx_x()) {
        (0, 0) => {
            data.set(0, 17);
            flags.atomic(0).store(1, Order::Release, Scope::Block);
        }
        (0, 32) => {
            while flags.atomic(0).load(Order::Acquire, Scope::Block) == 0 {}
            flags.atomic(1).store(1, Order::Release, Scope::Device);
        }
        (1, 0) => {
            while flags.atomic(1).load(Order::Acquire, Scope::Device) == 0 {}
            flags.atomic(2).store(1, Order::Release, Scope::Device);
        }
        (2, 0) => {
            while flags.atomic(2).load(Order::Relaxed, Scope::Device) == 0 {}
            flags.atomic(2).fetch_add(1, Order::Relaxed, Scope::Device);
        }
        (3, 0) => {
            while flags.atomic(2).load(Order::Acquire, Scope::Device) < 2 {}
            y.set(0, data.get(0));
        }
        _ => {}
    }
}

#[kernel(block = 64)]
fn relay_faulty_middle(data: VecMut<u32>, flags: VecMut<u32>, y: VecMut<u32>) {
    match (block_idx_x(), thread_idx_x()) {
        (0, 0) => {
            data.set(0, 17); // FAULT
            flags.atomic(0).store(1, Order::Release, Scope::Block);
        }
        (0, 32) => {
            while flags.atomic(0).load(Order::Acquire, Scope::Block) == 0 {}
            flags.atomic(1).store(1, Order::Release, Scope::Device); // FAULT
        }
        (1, 0) => {
            while flags.atomic(1).load(Order::Acquire, Scope::Block) == 0 {} // FAULT
            flags.atomic(2).store(1, Order::Release, Scope::Device);
        }
        (2, 0) => {
            while flags.atomic(2).load(Order::Relaxed, Scope::Device) == 0 {}
            flags.atomic(2).fetch_add(1, Order::Relaxed, Scope::Device);
        }
        (3, 0) => {
            while flags.atomic(2).load(Order::Acquire, Scope::Device) < 2 {}
            y.set(0, data.get(0)); // FAULT
        }
        _ => {}
    }
}

#[kernel(block = 64)]
fn relay_faulty_last(data: VecMut<u32>, flags: VecMut<u32>, y: VecMut<u32>) {
    match (block_idx_x(), thread_idx_x()) {
        (0, 0) => {
            data.set(0, 17); // FAULT
            flags.atomic(0).store(1, Order::Release, Scope::Block);
        }
        (0, 32) => {
            while flags.atomic(0).load(Order::Acquire, Scope::Block) == 0 {}
            flags.atomic(1).store(1, Order::Release, Scope::Device);
        }
        (1, 0) => {
            while flags.atomic(1).load(Order::Acquire, Scope::Device) == 0 {}
            flags.atomic(2).store(1, Order::Release, Scope::Device); // FAULT
        }
        (2, 0) => {
            while flags.atomic(2).load(Order::Relaxed, Scope::Device) == 0 {}
            flags.atomic(2).fetch_add(1, Order::Relaxed, Scope::Device); // FAULT
        }
        (3, 0) => {
            while flags.atomic(2).load(Order::Acquire, Scope::Block) < 2 {} // FAULT
            y.set(0, data.get(0)); // FAULT
        }
        _ => {}
    }
}

#[kernel(block = 64)]
fn relay_faulty_update(data: VecMut<u32>, flags: VecMut<u32>, y: VecMut<u32>) {
    match (block_idx_x(), thread_idx_x()) {
        (0, 0) => {
            data.set(0, 17); // FAULT
            flags.atomic(0).store(1, Order::Release, Scope::Block);
        }
        (0, 32) => {
            while flags.atomic(0).load(Order::Acquire, Scope::Block) == 0 {}
            flags.atomic(1).store(1, Order::Release, Scope::Device);
        }
        (1, 0) => {
            while flags.atomic(1).load(Order::Acquire, Scope::Device) == 0 {}
            flags.atomic(2).store(1, Order::Release, Scope::Device); // FAULT
        }
        (2, 0) => {
            while flags.atomic(2).load(Order::Relaxed, Scope::Device) == 0 {}
            flags.atomic(2).fetch_add(1, Order::Relaxed, Scope::Block); // FAULT
        }
        (3, 0) => {
            while flags.atomic(2).load(Order::Acquire, Scope::Device) < 2 {} // FAULT
            y.set(0, data.get(0)); // FAULT
        }
        _ => {}
    }
}

type RelayArgs = (VecMut<'static, u32>, VecMut<'static, u32>, VecMut<'static, u32>);

fn relay(bench: &mut Bench, faulty: Kernel<RelayArgs>) -> bool {
    let (mut data, mut flags, mut y) = (Buffer::unwritten(1), Buffer::zeroed(3), Buffer::unwritten(1));
    bench.launch((faulty, relay_fixed), Grid::line(4, 64), (&mut data, &mut flags, &mut y));
    y.to_vec() == [17]
}

/// Block 0 sends a number to block 1 through one flag: its first thread to its 32nd with a fence of block scope, that
/// one to block 1 with a fence of device scope.
#[kernel(block = 64)]
fn one_flag_fixed(data: VecMut<u32>, flag: VecMut<u32>, y: VecMut<u32>) {
    match (block_idx_x(), thread_idx_x()) {
        (0, 0) => {
            data.set(0, 17);
            fence(Scope::Block);
            flag.atomic(0).swap(1, Order::Relaxed, Scope::Device);
        }
        (0, 32) => {
            while flag.atomic(0).load(Order::Acquire, Scope::Block) == 0 {}
            fence(Scope::Device);
            flag.atomic(0).swap(2, Order::Relaxed, Scope::Device);
        }
        (1, 0) => {
            while flag.atomic(0).load(Order::Acquire, Scope::Device) < 2 {}
            y.set(0, data.get(0));
        }
        _ => {}
    }
}

#[kernel(block = 64)]
fn one_flag_faulty(data: VecMut<u32>, flag: VecMut<u32>, y: VecMut<u32>) {
    match (block_idx_x(), thread_idx_x()) {
        (0, 0) => {
            data.set(0, 17); // FAULT
            fence(Scope::Block);
            flag.atomic(0).swap(1, Order::Relaxed, Scope::Device);
        }
        (0, 32) => {
            while flag.atomic(0).load(Order::Acquire, Scope::Block) == 0 {}
            fence(Scope::Block); // the defect: the next hop is to another block
            flag.atomic(0).swap(2, Order::Relaxed, Scope::Device);
        }
        (1, 0) => {
            while flag.atomic(0).load(Order::Acquire, Scope::Device) < 2 {}
            y.set(0, data.get(0)); // FAULT
        }
        _ => {}
    }
}

fn one_flag(bench: &mut Bench) -> bool {
    let (mut data, mut flag, mut y) = (Buffer::unwritten(1), Buffer::zeroed(1), Buffer::unwritten(1));
    bench.launch((one_flag_faulty, one_flag_fixed), Grid::line(2, 64), (&mut data, &mut flag, &mut y));
    y.to_vec() == [17]
}

/// Each block takes a ticket and sets an element of that number. No ticket orders anything: the places differ.
#[kernel(block = 32)]
fn tickets_faulty(ticket: VecMut<u32>, y: VecMut<u32>) {
    if thread_idx_x() == 0 {
        let at = ticket.atomic(0).fetch_add(1, Order::Relaxed, Scope::Block); // FAULT: two blocks may draw the same
        y.set(at as usize, 1);
    }
}

#[kernel(block = 32)]
fn tickets_fixed(ticket: VecMut<u32>, y: VecMut<u32>) {
    if thread_idx_x() == 0 {
        let at = ticket.atomic(0).fetch_add(1, Order::Relaxed, Scope::Device);
        y.set(at as usize, 1);
    }
}

fn tickets(bench: &mut Bench) -> bool {
    let (mut ticket, mut y) = (Buffer::zeroed(1), Buffer::unwritten(6));
    bench.launch((tickets_faulty, tickets_fixed), Grid::line(6, 32), (&mut ticket, &mut y));
    y.to_vec() == [1; 6]
}
