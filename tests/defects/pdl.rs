//! Programmatic dependent launch: accesses before the wait for the previous grid.

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
        Case::new("wait by one thread for its block", KIND, |b| twice(b, one_thread_faulty)),
        Case::new("asynchronous copy before the wait", KIND, |b| twice(b, copy_faulty)),
        Case::new("end without a wait", KIND, |b| twice(b, return_faulty)),
        Case::new("ticket before the wait", KIND, tickets),
        Case::new("box loaded before the wait", KIND, |b| tma_copy(b, load_faulty)),
        Case::new("box stored before the wait", KIND, |b| tma_copy(b, store_faulty)),
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
fn twice_fixed(#[shared] line: &Line, x: VecRef<f32>, y: VecMut<f32>) {
    let (t, i) = (thread_idx_x(), index_1d());
    // Shared memory does not depend on the previous grid.
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
        y.set(i, 0.0); // FAULT: the previous grid may still read it
    }
    dependency_wait();
    if branch(i < y.len()) {
        y.set(i, 2.0 * x.get(i));
    }
}

#[kernel(pdl, block = BLOCK)]
fn one_thread_faulty(#[shared] _line: &Line, x: VecRef<f32>, y: VecMut<f32>) {
    let i = index_1d();
    if thread_idx_x() < 32 {
        dependency_wait();
    }
    sync_threads();
    if branch(i < y.len()) {
        y.set(i, 2.0 * x.get(i)); // FAULT: no thread of the second warp has waited
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
    bench.launch((faulty, twice_fixed), Grid::line(BLOCKS, BLOCK), (&x, &mut y));
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
fn ticket_fixed(count: VecMut<u32>) {
    dependency_wait();
    count.atomic(0).fetch_add(1, Order::Relaxed, Scope::Device);
}

fn tickets(bench: &mut Bench) -> bool {
    let mut count = Buffer::zeroed(1);
    bench.launch((ticket_faulty, ticket_fixed), Grid::line(BLOCKS, BLOCK), (&mut count,));
    count.to_vec() == [BLOCKS * BLOCK]
}

/// Rows and columns of a box.
const ROWS: u32 = 8;
const COLS: u32 = 32;
const BOX: usize = (ROWS * COLS) as usize;

#[repr(C, align(128))]
#[derive(Shared)]
struct Stage {
    values: SharedArray<f32, BOX>,
    full: Mbarriers<1>,
}

/// Initialises the mbarrier.
#[track_caller]
fn init_barrier(stage: &Stage) {
    if thread_idx_x() == 0 {
        stage.full.init(0, 1);
        fence_mbarrier_init();
    }
    sync_threads();
}

/// Loads the box.
#[track_caller]
fn load(stage: &Stage, x: &TensorMap<f32>) {
    if thread_idx_x() == 0 {
        stage.full.arrive_expect_tx(0, (BOX * 4) as u32);
        load_2d(stage.values.slot::<BOX>(0), x, [0, 0], stage.full.at(0));
    }
}

/// Stores the box.
#[track_caller]
fn store(stage: &Stage, y: &TensorMapMut<f32>) {
    if thread_idx_x() == 0 {
        store_2d(y, [0, 0], stage.values.slot::<BOX>(0));
        store_commit();
        store_wait_read::<0>();
    }
}

/// y = x, through shared memory.
#[kernel(pdl, block = BLOCK)]
fn box_fixed(#[shared] stage: &Stage, x: &TensorMap<f32>, y: &TensorMapMut<f32>) {
    init_barrier(stage);
    launch_dependents();
    dependency_wait();
    load(stage, x);
    stage.full.wait(0, 0);
    store(stage, y);
}

#[kernel(pdl, block = BLOCK)]
fn load_faulty(#[shared] stage: &Stage, x: &TensorMap<f32>, y: &TensorMapMut<f32>) {
    init_barrier(stage);
    load(stage, x); // FAULT
    dependency_wait();
    stage.full.wait(0, 0);
    store(stage, y);
}

/// y = 1, through shared memory.
#[kernel(pdl, block = BLOCK)]
fn store_faulty(#[shared] stage: &Stage, _x: &TensorMap<f32>, y: &TensorMapMut<f32>) {
    for i in 0..BOX as u32 / BLOCK {
        stage.values.set(i * BLOCK + thread_idx_x(), 1.0);
    }
    fence_proxy_async();
    sync_threads();
    store(stage, y); // FAULT
    dependency_wait();
}

type BoxKernel = simt::Kernel<(TensorMap<'static, f32>, TensorMapMut<'static, f32>)>;

fn tma_copy(bench: &mut Bench, faulty: BoxKernel) -> bool {
    let values: Vec<f32> = (0..BOX).map(|i| i as f32).collect();
    let (x, mut y) = (Buffer::new(&values), Buffer::new(&vec![-1.0_f32; BOX]));
    let arguments =
        (x.matrix(ROWS, COLS).tma(ROWS, COLS, Swizzle::None), y.matrix_mut(ROWS, COLS).tma(ROWS, COLS, Swizzle::None));
    bench.launch((faulty, box_fixed), Grid::line(1, BLOCK), arguments);
    y.to_vec() == values
}
