//! Mbarriers: initialisation, arrivals and bytes that do not add up, and rings of stages that are used again too early.

use crate::case::{Bench, Case, Group};
use simt::mbarrier::{Mbarriers, fence_mbarrier_init};
use simt::prelude::*;
use simt::tma::{Swizzle, TensorMap, load_2d};
use simt::warp::sync_warp;
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("mbarriers.rs"),
    cases: &[
        Case::new("fewer bytes expected than come", Kind::Mbarrier, |b| expect(b, fewer_kernel, 2048)),
        Case::new("more bytes expected than come", Kind::AbandonedMbarrier, |b| expect(b, more_kernel, 8192)),
        Case::new("mbarrier used before it is made", Kind::Mbarrier, |b| sums(b, early_faulty)),
        Case::new("mbarrier made twice", Kind::Mbarrier, |b| sums(b, again_faulty)),
        Case::new("mbarrier used after its end", Kind::Mbarrier, |b| hand_over(b, invalidated_faulty)),
        Case::new("one arrival too few", Kind::AbandonedMbarrier, |b| sums(b, count_faulty)),
        Case::new("consumers that never free a stage", Kind::AbandonedMbarrier, |b| sums(b, kept_faulty)),
        Case::new("stage filled again without a wait", Kind::AsyncRace, |b| sums(b, refill_faulty)),
        Case::new("stage freed before it is read", Kind::AsyncRace, |b| sums(b, hasty_faulty)),
        Case::new("stage freed for lanes that still read", Kind::AsyncRace, |b| sums(b, drift_faulty)),
        Case::new("hand-over after the arrival", Kind::Race, |b| hand_over(b, late_faulty)),
        Case::new("hand-over without a wait", Kind::Race, |b| hand_over(b, unwaited_faulty)),
    ],
};

/// Threads: a warp that loads, two that add.
const BLOCK: u32 = 96;
/// Columns, one per adding thread; rows of a box; stages; boxes.
const COLS: u32 = 64;
const ROWS: u32 = 16;
const STAGES: u32 = 2;
const STEPS: u32 = 5;
const BOX: usize = 1024;
const BYTES: u32 = 4096;

#[repr(C, align(128))]
#[derive(Shared)]
struct Ring {
    stages: [SharedArray<f32, BOX>; 2],
    full: Mbarriers<2>,
    empty: Mbarriers<2>,
}

/// Makes the ring's mbarriers; two arrivals free a stage.
#[track_caller]
fn begin(ring: &Ring, freeing: u32) {
    if thread_idx_x() == 0 {
        for stage in 0..STAGES {
            ring.full.init(stage, 1);
            ring.empty.init(stage, freeing);
        }
        fence_mbarrier_init();
    }
    sync_threads();
}

/// Loads box `step`.
#[track_caller]
fn load(ring: &Ring, x: &TensorMap<f32>, step: u32) {
    let stage = step % STAGES;
    ring.full.arrive_expect_tx(stage, BYTES);
    load_2d(ring.stages[stage as usize].slot::<BOX>(0), x, [0, (step * ROWS) as i32], ring.full.at(stage));
}

/// Waits for box `step`.
#[track_caller]
fn await_box(ring: &Ring, step: u32) {
    ring.full.wait(step % STAGES, step / STAGES % 2);
}

/// Waits until box `step` may be loaded.
#[track_caller]
fn await_room(ring: &Ring, step: u32) {
    ring.empty.wait(step % STAGES, (step / STAGES % 2) ^ 1);
}

/// The sum of a column of box `step`.
#[track_caller]
fn add(ring: &Ring, step: u32, col: u32) -> f32 {
    let stage = &ring.stages[(step % STAGES) as usize];
    let mut sum = 0.0;
    for row in 0..ROWS {
        sum += stage.get(row * COLS + col);
    }
    sum
}

/// One lane of the warp says that all have done with box `step`.
#[track_caller]
fn free(ring: &Ring, step: u32) {
    if thread_idx_x().is_multiple_of(32) {
        ring.empty.arrive(step % STAGES);
    }
}

/// The sums of the columns.
#[kernel(block = BLOCK)]
fn sums_mended(#[shared] ring: &Ring, x: &TensorMap<f32>, y: VecMut<f32>) {
    begin(ring, 2);
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            await_room(ring, step);
            load(ring, x, step);
        } else if t >= 32 {
            await_box(ring, step);
            sum += add(ring, step, t - 32);
            sync_warp(u32::MAX);
            free(ring, step);
        }
    }
    if t >= 32 {
        y.set((t - 32) as usize, sum);
    }
}

#[kernel(block = BLOCK)]
fn early_faulty(#[shared] ring: &Ring, x: &TensorMap<f32>, y: VecMut<f32>) {
    let t = thread_idx_x();
    if t == 1 {
        ring.empty.arrive(0); // FAULT: no barrier between this and the initialisation
    }
    begin(ring, 2); // FAULT
    let mut sum = 0.0;
    for step in 0..2 {
        if t == 0 {
            load(ring, x, step);
        } else if t >= 32 {
            await_box(ring, step);
            sum += add(ring, step, t - 32);
        }
    }
    if t >= 32 {
        y.set((t - 32) as usize, sum);
    }
}

#[kernel(block = BLOCK)]
fn again_faulty(#[shared] ring: &Ring, x: &TensorMap<f32>, y: VecMut<f32>) {
    begin(ring, 2); // FAULT
    begin(ring, 2); // FAULT: not invalidated before
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            await_room(ring, step);
            load(ring, x, step);
        } else if t >= 32 {
            await_box(ring, step);
            sum += add(ring, step, t - 32);
            sync_warp(u32::MAX);
            free(ring, step);
        }
    }
    if t >= 32 {
        y.set((t - 32) as usize, sum);
    }
}

#[kernel(block = BLOCK)]
fn count_faulty(#[shared] ring: &Ring, x: &TensorMap<f32>, y: VecMut<f32>) {
    begin(ring, 3); // FAULT: two warps arrive
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            await_room(ring, step); // FAULT
            load(ring, x, step);
        } else if t >= 32 {
            await_box(ring, step);
            sum += add(ring, step, t - 32);
            sync_warp(u32::MAX);
            free(ring, step);
        }
    }
    if t >= 32 {
        y.set((t - 32) as usize, sum);
    }
}

#[kernel(block = BLOCK)]
fn kept_faulty(#[shared] ring: &Ring, x: &TensorMap<f32>, y: VecMut<f32>) {
    begin(ring, 2); // FAULT
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            await_room(ring, step); // FAULT
            load(ring, x, step);
        } else if t >= 32 {
            await_box(ring, step);
            sum += add(ring, step, t - 32);
            sync_threads_of_consumers();
        }
    }
    if t >= 32 {
        y.set((t - 32) as usize, sum);
    }
}

/// Keeps the adding warps together, so that the faults of [`kept_faulty`] do not depend on how far each is.
fn sync_threads_of_consumers() {
    simt::sync::named_barrier(1, 64);
}

#[kernel(block = BLOCK)]
fn refill_faulty(#[shared] ring: &Ring, x: &TensorMap<f32>, y: VecMut<f32>) {
    begin(ring, 2);
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            load(ring, x, step); // FAULT: whether there is room or not
            await_box(ring, step);
        } else if t >= 32 {
            await_box(ring, step);
            sum += add(ring, step, t - 32); // FAULT
        }
    }
    if t >= 32 {
        y.set((t - 32) as usize, sum);
    }
}

#[kernel(block = BLOCK)]
fn hasty_faulty(#[shared] ring: &Ring, x: &TensorMap<f32>, y: VecMut<f32>) {
    begin(ring, 2);
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            await_room(ring, step);
            load(ring, x, step); // FAULT
        } else if t >= 32 {
            await_box(ring, step);
            sync_warp(u32::MAX);
            free(ring, step);
            sum += add(ring, step, t - 32); // FAULT: it is free already
        }
    }
    if t >= 32 {
        y.set((t - 32) as usize, sum);
    }
}

#[kernel(block = BLOCK)]
fn drift_faulty(#[shared] ring: &Ring, x: &TensorMap<f32>, y: VecMut<f32>) {
    begin(ring, 2);
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            await_room(ring, step);
            load(ring, x, step); // FAULT
        } else if t >= 32 {
            await_box(ring, step);
            sum += add(ring, step, t - 32); // FAULT: no sync_warp before one lane speaks for all
            free(ring, step);
        }
    }
    if t >= 32 {
        y.set((t - 32) as usize, sum);
    }
}

type Sums = simt::Kernel<(TensorMap<f32>, VecMut<'static, f32>)>;

fn sums(bench: &mut Bench, faulty: Sums) -> bool {
    let (rows, cols) = (STEPS * ROWS, COLS);
    let x: Vec<f32> = (0..rows * cols).map(|i| (i % 1009) as f32).collect();
    let expected: Vec<f32> = (0..cols as usize).map(|col| x.iter().skip(col).step_by(cols as usize).sum()).collect();
    let (x, mut y) = (Buffer::new(&x), Buffer::unwritten(cols as usize));
    let boxes = x.matrix(rows, cols).tma(ROWS, COLS, Swizzle::None);
    bench.launch((faulty, sums_mended), Grid::line(1, BLOCK), (boxes, &mut y));
    y.to_vec() == expected
}

/// The defect is in the launch: the bytes that the kernel is told to expect.
#[kernel(block = 32)]
fn fewer_kernel(#[shared] ring: &Ring, x: &TensorMap<f32>, bytes: u32, y: VecMut<f32>) {
    begin(ring, 1); // FAULT
    if thread_idx_x() == 0 {
        ring.full.arrive_expect_tx(0, bytes);
        load_2d(ring.stages[0].slot::<BOX>(0), x, [0, 0], ring.full.at(0)); // FAULT
    }
    ring.full.wait(0, 0);
    y.set(thread_idx_x() as usize, add(ring, 0, thread_idx_x()));
}

#[kernel(block = 32)]
fn more_kernel(#[shared] ring: &Ring, x: &TensorMap<f32>, bytes: u32, y: VecMut<f32>) {
    begin(ring, 1); // FAULT
    if thread_idx_x() == 0 {
        ring.full.arrive_expect_tx(0, bytes);
        load_2d(ring.stages[0].slot::<BOX>(0), x, [0, 0], ring.full.at(0));
    }
    ring.full.wait(0, 0); // FAULT
    y.set(thread_idx_x() as usize, add(ring, 0, thread_idx_x()));
}

type Expect = simt::Kernel<(TensorMap<f32>, u32, VecMut<'static, f32>)>;

fn expect(bench: &mut Bench, kernel: Expect, bytes: u32) -> bool {
    let (x, mut y) = (Buffer::new(&vec![0.25_f32; BOX]), Buffer::unwritten(32));
    let bytes = bench.choose(bytes, BYTES);
    let boxes = x.matrix(ROWS, COLS).tma(ROWS, COLS, Swizzle::None);
    bench.launch((kernel, kernel), Grid::line(1, 32), (boxes, bytes, &mut y));
    y.to_vec() == [4.0; 32]
}

#[repr(C)]
#[derive(Shared)]
struct Letters {
    words: SharedArray<u32, 64>,
    sent: Mbarriers<1>,
}

/// Makes the mbarrier: 32 arrivals, those of the first warp.
#[track_caller]
fn open(letters: &Letters) {
    if thread_idx_x() == 0 {
        letters.sent.init(0, 32);
    }
    sync_threads();
}

/// The first warp writes, the second reads, by ordinary accesses.
#[kernel(block = 64)]
fn hand_over_mended(#[shared] letters: &Letters, y: VecMut<u32>) {
    open(letters);
    let t = thread_idx_x();
    if t < 32 {
        letters.words.set(t, 3 * t);
        letters.sent.arrive(0);
    } else {
        letters.sent.wait(0, 0);
        y.set((t - 32) as usize, letters.words.get(63 - t));
    }
}

#[kernel(block = 64)]
fn late_faulty(#[shared] letters: &Letters, y: VecMut<u32>) {
    open(letters);
    let t = thread_idx_x();
    if t < 32 {
        letters.sent.arrive(0);
        letters.words.set(t, 3 * t); // FAULT
    } else {
        letters.sent.wait(0, 0);
        y.set((t - 32) as usize, letters.words.get(63 - t)); // FAULT
    }
}

#[kernel(block = 64)]
fn unwaited_faulty(#[shared] letters: &Letters, y: VecMut<u32>) {
    open(letters);
    let t = thread_idx_x();
    if t < 32 {
        letters.words.set(t, 3 * t); // FAULT
        letters.sent.arrive(0);
    } else {
        y.set((t - 32) as usize, letters.words.get(63 - t)); // FAULT
    }
}

#[kernel(block = 64)]
fn invalidated_faulty(#[shared] letters: &Letters, y: VecMut<u32>) {
    open(letters);
    let t = thread_idx_x();
    if t == 0 {
        letters.sent.invalidate(0);
    }
    if t < 32 {
        letters.words.set(t, 3 * t);
    }
    sync_threads();
    if t < 32 {
        letters.sent.arrive(0); // FAULT: where it is no more
    } else {
        letters.sent.wait(0, 0); // FAULT
        y.set((t - 32) as usize, letters.words.get(63 - t));
    }
}

fn hand_over(bench: &mut Bench, faulty: simt::Kernel<(VecMut<'static, u32>,)>) -> bool {
    let mut y = Buffer::unwritten(32);
    bench.launch((faulty, hand_over_mended), Grid::line(1, 64), (&mut y,));
    y.to_vec() == (0..32).map(|t| 3 * (31 - t)).collect::<Vec<u32>>()
}
