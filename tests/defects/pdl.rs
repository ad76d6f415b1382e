//! Launches that begin before their predecessor is done: what comes too soon.

use crate::case::{Bench, Case, Group};
use simt::async_copy::{cp_async, cp_async_commit, cp_async_wait_all};
use simt::grid::{dependency_wait, launch_dependents};
use simt::mbarrier::{Mbarriers, fence_mbarrier_init};
use simt::prelude::*;
use simt::sync::fence_proxy_async;
use simt::tma::{Swizzle, TensorMap, TensorMapMut, load_2d, store_2d, store_commit, store_wait_read};
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("pdl.rs"),
    cases: &[
        Case::new("read before the wait", KIND, |b| twice(b, read_faulty)),
        Case::new("write before the wait", KIND, |b| twice(b, write_faulty)),
        Case::new("wait of one thread for its block", KIND, |b| twice(b, deputy_faulty)),
        Case::new("asynchronous copy before the wait", KIND, |b| twice(b, copy_faulty)),
        Case::new("end without a wait", KIND, |b| twice(b, return_faulty)),
        Case::new("ticket before the wait", KIND, tickets),
        Case::new("box loaded before the wait", KIND, |b| boxes(b, load_faulty)),
        Case::new("box stored before the wait", KIND, |b| boxes(b, store_faulty)),
    ],
};

const KIND: Kind = Kind::PredecessorNotWaited;

const BLOCK: u32 = 64;
const BLOCKS: u32 = 3;
/// Elements; the last block has threads without one.
const N: u32 = BLOCKS * BLOCK - 5;

#[repr(C)]
#[derive(Shared)]
struct Line {
    values: SharedArray<f32, { BLOCK as usize }>,
}

/// y = 2·x.
#[kernel(pdl, block = BLOCK)]
fn twice_mended(#[shared] line: &Line, x: VecRef<f32>, y: VecMut<f32>) {
    let (t, i) = (thread_idx_x(), index_1d());
    // Shared memory is the block's own.
    line.values.set(t, 2.0);
    launch_dependents();
    dependency_wait();
    if branch(i < y.len()) {
        y.set(i, line.values.get(t) * x.get(i));
    }
}

#[kernel(pdl, block = BLOCK)]
fn read_faulty(#[shared] _line: &Line, x: VecRef<f32>, y: VecMut<f32>) {
    let i = index_1d();
    let value = x.get_or(i, 0.0); // FAULT
    dependency_wait();
    y.set_within(i, 2.0 * value);
}

#[kernel(pdl, block = BLOCK)]
fn write_faulty(#[shared] _line: &Line, x: VecRef<f32>, y: VecMut<f32>) {
    let i = index_1d();
    if i == 0 {
        y.set(i, 0.0); // FAULT: whoever comes before may still read it
    }
    dependency_wait();
    if branch(i < y.len()) {
        y.set(i, 2.0 * x.get(i));
    }
}

#[kernel(pdl, block = BLOCK)]
fn deputy_faulty(#[shared] _line: &Line, x: VecRef<f32>, y: VecMut<f32>) {
    let i = index_1d();
    if thread_idx_x() < 32 {
        dependency_wait();
    }
    sync_threads();
    if branch(i < y.len()) {
        y.set(i, 2.0 * x.get(i)); // FAULT: of the second warp nobody has waited
    }
    dependency_wait();
}

#[kernel(pdl, block = BLOCK)]
fn copy_faulty(#[shared] line: &Line, x: VecRef<f32>, y: VecMut<f32>) {
    let (t, i) = (thread_idx_x(), index_1d());
    if branch(i < y.len()) {
        cp_async(line.values.slot::<1>(t), x.slot::<1>(i)); // FAULT
        cp_async_commit();
    }
    dependency_wait();
    cp_async_wait_all();
    if branch(i < y.len()) {
        y.set(i, 2.0 * line.values.get(t));
    }
}

#[kernel(pdl, block = BLOCK)]
#[rustfmt::skip]
fn return_faulty(#[shared] _line: &Line, x: VecRef<f32>, y: VecMut<f32>) { // FAULT: the last block does not wait
    let rest = grid_dim_x() - 1;
    if block_idx_x() == rest {
        return;
    }
    dependency_wait();
    let mut i = index_1d();
    while branch(i < y.len()) {
        y.set(i, 2.0 * x.get(i));
        i += (rest * BLOCK) as usize;
    }
}

fn twice(bench: &mut Bench, faulty: Kernel) -> bool {
    let values: Vec<f32> = (0..N).map(|i| i as f32 - 7.0).collect();
    let (x, mut y) = (Buffer::new(&values), Buffer::new(&vec![-1.0_f32; N as usize]));
    bench.launch((faulty, twice_mended), Grid::line(BLOCKS, BLOCK), (&x, &mut y));
    y.to_vec().iter().zip(&values).all(|(y, x)| *y == 2.0 * x)
}

type Kernel = simt::Kernel<(VecRef<'static, f32>, VecMut<'static, f32>)>;

/// Counts its threads.
#[kernel(pdl, block = BLOCK)]
fn ticket_faulty(count: VecMut<u32>) {
    count.atomic(0).fetch_add(1, Order::Relaxed, Scope::Device); // FAULT
    dependency_wait();
}

#[kernel(pdl, block = BLOCK)]
fn ticket_mended(count: VecMut<u32>) {
    dependency_wait();
    count.atomic(0).fetch_add(1, Order::Relaxed, Scope::Device);
}

fn tickets(bench: &mut Bench) -> bool {
    let mut count = Buffer::zeroed(1);
    bench.launch((ticket_faulty, ticket_mended), Grid::line(BLOCKS, BLOCK), (&mut count,));
    count.to_vec() == [BLOCKS * BLOCK]
}

/// Rows and columns of a box.
const ROWS: u32 = 8;
const COLS: u32 = 32;
const BOX: usize = (ROWS * COLS) as usize;

#[repr(C, align(128))]
#[derive(Shared)]
struct Box {
    values: SharedArray<f32, BOX>,
    full: Mbarriers<1>,
}

/// The mbarrier, before anything else.
#[track_caller]
fn begin(it: &Box) {
    if thread_idx_x() == 0 {
        it.full.init(0, 1);
        fence_mbarrier_init();
    }
    sync_threads();
}

/// Has the box brought.
#[track_caller]
fn load(it: &Box, x: &TensorMap<f32>) {
    if thread_idx_x() == 0 {
        it.full.arrive_expect_tx(0, (BOX * 4) as u32);
        load_2d(it.values.slot::<BOX>(0), x, [0, 0], it.full.at(0));
    }
}

/// Has the box taken away.
#[track_caller]
fn store(it: &Box, y: &TensorMapMut<f32>) {
    if thread_idx_x() == 0 {
        store_2d(y, [0, 0], it.values.slot::<BOX>(0));
        store_commit();
        store_wait_read::<0>();
    }
}

/// y = x, by way of shared memory.
#[kernel(pdl, block = BLOCK)]
fn box_mended(#[shared] it: &Box, x: &TensorMap<f32>, y: &TensorMapMut<f32>) {
    begin(it);
    launch_dependents();
    dependency_wait();
    load(it, x);
    it.full.wait(0, 0);
    store(it, y);
}

#[kernel(pdl, block = BLOCK)]
fn load_faulty(#[shared] it: &Box, x: &TensorMap<f32>, y: &TensorMapMut<f32>) {
    begin(it);
    load(it, x); // FAULT
    dependency_wait();
    it.full.wait(0, 0);
    store(it, y);
}

/// y = 1, by way of shared memory.
#[kernel(pdl, block = BLOCK)]
fn store_faulty(#[shared] it: &Box, _x: &TensorMap<f32>, y: &TensorMapMut<f32>) {
    for i in 0..BOX as u32 / BLOCK {
        it.values.set(i * BLOCK + thread_idx_x(), 1.0);
    }
    fence_proxy_async();
    sync_threads();
    store(it, y); // FAULT
    dependency_wait();
}

type BoxKernel = simt::Kernel<(TensorMap<f32>, TensorMapMut<f32>)>;

fn boxes(bench: &mut Bench, faulty: BoxKernel) -> bool {
    let values: Vec<f32> = (0..BOX).map(|i| i as f32).collect();
    let (x, mut y) = (Buffer::new(&values), Buffer::new(&vec![-1.0_f32; BOX]));
    let arguments =
        (x.matrix(ROWS, COLS).tma(ROWS, COLS, Swizzle::None), y.matrix_mut(ROWS, COLS).tma(ROWS, COLS, Swizzle::None));
    bench.launch((faulty, box_mended), Grid::line(1, BLOCK), arguments);
    y.to_vec() == values
}
