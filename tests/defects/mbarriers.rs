//! Mbarriers: missing initialisation, wrong numbers of arrivals and bytes, and stages of a pipeline that are reused too
//! early.

use crate::case::{Bench, Case, Group};
use simt::mbarrier::{Mbarriers, fence_mbarrier_init};
use simt::prelude::*;
use simt::sync::fence_proxy_async;
use simt::tma::{Swizzle, TensorMap, load_2d};
use simt::warp::sync_warp;
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("mbarriers.rs"),
    cases: &[
        Case::new("fewer bytes expected than arrive", Kind::Mbarrier, |b| expect(b, fewer_kernel, 2048)),
        Case::new("more bytes expected than arrive", Kind::AbandonedMbarrier, |b| expect(b, more_kernel, 8192)),
        Case::new("mbarrier used before its initialisation", Kind::Mbarrier, |b| sums(b, early_faulty)),
        Case::new("mbarrier initialised twice", Kind::Mbarrier, |b| sums(b, again_faulty)),
        Case::new("mbarrier used after its invalidation", Kind::Mbarrier, |b| pass_message(b, invalidated_faulty)),
        Case::new("one arrival too few", Kind::AbandonedMbarrier, |b| sums(b, count_faulty)),
        Case::new("consumers that never release a stage", Kind::AbandonedMbarrier, |b| sums(b, never_released_faulty)),
        Case::new("stage loaded again without a wait", Kind::AsyncRace, |b| sums(b, refill_faulty)),
        Case::new("stage released before it is read", Kind::AsyncRace, |b| sums(b, early_release_faulty)),
        Case::new("stage released while other lanes still read", Kind::AsyncRace, |b| sums(b, drift_faulty)),
        Case::new("stage released while loads may be under way", Kind::ProxyFence, |b| sums(b, unfenced_faulty)),
        Case::new("write after the arrival", Kind::Race, |b| pass_message(b, late_faulty)),
        Case::new("read without a wait", Kind::Race, |b| pass_message(b, unwaited_faulty)),
    ],
};

/// Threads: a producer warp, two consumer warps.
const BLOCK: u32 = 96;
/// Columns, one per consumer thread; rows of a box; stages; boxes.
const COLS: u32 = 64;
const ROWS: u32 = 16;
const STAGES: u32 = 2;
const STEPS: u32 = 5;
const BOX: usize = 1024;
const BYTES: u32 = 4096;

#[repr(C, align(128))]
#[derive(Shared)]
struct Pipeline {
    stages: [SharedArray<f32, BOX>; 2],
    full: Mbarriers<2>,
    empty: Mbarriers<2>,
}

/// Initialises the mbarriers; `arrivals` arrivals release a stage.
#[track_caller]
fn init_barriers(pipeline: &Pipeline, arrivals: u32) {
    if thread_idx_x() == 0 {
        for stage in 0..STAGES {
            pipeline.full.init(stage, 1);
            pipeline.empty.init(stage, arrivals);
        }
        fence_mbarrier_init();
    }
    sync_threads();
}

/// Loads box `step`.
#[track_caller]
fn load(pipeline: &Pipeline, x: &TensorMap<f32>, step: u32) {
    let stage = step % STAGES;
    pipeline.full.arrive_expect_tx(stage, BYTES);
    load_2d(pipeline.stages[stage as usize].slot::<BOX>(0), x, [0, (step * ROWS) as i32], pipeline.full.at(stage));
}

/// Waits for box `step`.
#[track_caller]
fn wait_full(pipeline: &Pipeline, step: u32) {
    pipeline.full.wait(step % STAGES, step / STAGES % 2);
}

/// Waits until box `step` may be loaded.
#[track_caller]
fn wait_empty(pipeline: &Pipeline, step: u32) {
    pipeline.empty.wait(step % STAGES, (step / STAGES % 2) ^ 1);
}

/// The sum of a column of box `step`.
#[track_caller]
fn add(pipeline: &Pipeline, step: u32, col: u32) -> f32 {
    let stage = &pipeline.stages[(step % STAGES) as usize];
    let mut sum = 0.0;
    for row in 0..ROWS {
        sum += stage.get(row * COLS + col);
    }
    // TMA will write there again.
    fence_proxy_async();
    sum
}

/// One lane of the warp releases the stage of box `step`.
#[track_caller]
fn release(pipeline: &Pipeline, step: u32) {
    if thread_idx_x().is_multiple_of(32) {
        pipeline.empty.arrive(step % STAGES);
    }
}

/// The sums of the columns.
#[kernel(block = BLOCK)]
fn sums_fixed(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barriers(pipeline, 2);
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            wait_empty(pipeline, step);
            load(pipeline, x, step);
        } else if t >= 32 {
            wait_full(pipeline, step);
            sum += add(pipeline, step, t - 32);
            sync_warp(u32::MAX);
            release(pipeline, step);
        }
    }
    if t >= 32 {
        y.set((t - 32) as usize, sum);
    }
}

#[kernel(block = BLOCK)]
fn early_faulty(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, y: VecMut<f32>) {
    let t = thread_idx_x();
    if t == 1 {
        pipeline.empty.arrive(0); // FAULT: no barrier between this and the initialisation
    }
    init_barriers(pipeline, 2); // FAULT
    let mut sum = 0.0;
    for step in 0..2 {
        if t == 0 {
            load(pipeline, x, step);
        } else if t >= 32 {
            wait_full(pipeline, step);
            sum += add(pipeline, step, t - 32);
        }
    }
    if t >= 32 {
        y.set((t - 32) as usize, sum);
    }
}

#[kernel(block = BLOCK)]
fn again_faulty(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barriers(pipeline, 2); // FAULT
    init_barriers(pipeline, 2); // FAULT: not invalidated
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            wait_empty(pipeline, step);
            load(pipeline, x, step);
        } else if t >= 32 {
            wait_full(pipeline, step);
            sum += add(pipeline, step, t - 32);
            sync_warp(u32::MAX);
            release(pipeline, step);
        }
    }
    if t >= 32 {
        y.set((t - 32) as usize, sum);
    }
}

#[kernel(block = BLOCK)]
fn count_faulty(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barriers(pipeline, 3); // FAULT: two warps arrive
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            wait_empty(pipeline, step); // FAULT
            load(pipeline, x, step);
        } else if t >= 32 {
            wait_full(pipeline, step);
            sum += add(pipeline, step, t - 32);
            sync_warp(u32::MAX);
            release(pipeline, step);
        }
    }
    if t >= 32 {
        y.set((t - 32) as usize, sum);
    }
}

#[kernel(block = BLOCK)]
fn never_released_faulty(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barriers(pipeline, 2); // FAULT
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            wait_empty(pipeline, step); // FAULT
            load(pipeline, x, step);
        } else if t >= 32 {
            wait_full(pipeline, step);
            sum += add(pipeline, step, t - 32);
            sync_threads_of_consumers();
        }
    }
    if t >= 32 {
        y.set((t - 32) as usize, sum);
    }
}

/// Synchronises the consumer warps, so that the reports of [`never_released_faulty`] do not depend on their progress.
fn sync_threads_of_consumers() {
    simt::sync::named_barrier(1, 64);
}

#[kernel(block = BLOCK)]
fn refill_faulty(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barriers(pipeline, 2);
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            load(pipeline, x, step); // FAULT: no wait for an empty stage
            wait_full(pipeline, step);
        } else if t >= 32 {
            wait_full(pipeline, step);
            sum += add(pipeline, step, t - 32); // FAULT
        }
    }
    if t >= 32 {
        y.set((t - 32) as usize, sum);
    }
}

#[kernel(block = BLOCK)]
fn early_release_faulty(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barriers(pipeline, 2);
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            wait_empty(pipeline, step);
            load(pipeline, x, step); // FAULT
        } else if t >= 32 {
            wait_full(pipeline, step);
            sync_warp(u32::MAX);
            release(pipeline, step);
            sum += add(pipeline, step, t - 32); // FAULT: already released
        }
    }
    if t >= 32 {
        y.set((t - 32) as usize, sum);
    }
}

#[kernel(block = BLOCK)]
fn drift_faulty(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barriers(pipeline, 2);
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            wait_empty(pipeline, step);
            load(pipeline, x, step); // FAULT
        } else if t >= 32 {
            wait_full(pipeline, step);
            sum += add(pipeline, step, t - 32); // FAULT: no sync_warp before the arrival
            release(pipeline, step);
        }
    }
    if t >= 32 {
        y.set((t - 32) as usize, sum);
    }
}

/// As `gemm_sm90_f64_…` once was: in a warp whose loads had to wait, the arrival came before them.
#[kernel(block = BLOCK)]
fn unfenced_faulty(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barriers(pipeline, 2);
    let t = thread_idx_x();
    let mut sum = 0.0;
    for step in 0..STEPS {
        if t == 0 {
            wait_empty(pipeline, step);
            load(pipeline, x, step); // FAULT
        } else if t >= 32 {
            wait_full(pipeline, step);
            for row in 0..ROWS {
                sum += pipeline.stages[(step % STAGES) as usize].get(row * COLS + t - 32); // FAULT: no proxy fence
            }
            sync_warp(u32::MAX);
            release(pipeline, step);
        }
    }
    if t >= 32 {
        y.set((t - 32) as usize, sum);
    }
}

type Sums = simt::Kernel<(TensorMap<'static, f32>, VecMut<'static, f32>)>;

fn sums(bench: &mut Bench, faulty: Sums) -> bool {
    let (rows, cols) = (STEPS * ROWS, COLS);
    let x: Vec<f32> = (0..rows * cols).map(|i| (i % 1009) as f32).collect();
    let expected: Vec<f32> = (0..cols as usize).map(|col| x.iter().skip(col).step_by(cols as usize).sum()).collect();
    let (x, mut y) = (Buffer::new(&x), Buffer::unwritten(cols as usize));
    let boxes = x.matrix(rows, cols).tma(ROWS, COLS, Swizzle::None);
    bench.launch((faulty, sums_fixed), Grid::line(1, BLOCK), (boxes, &mut y));
    y.to_vec() == expected
}

/// The defect is in the launch: the number of bytes to expect.
#[kernel(block = 32)]
fn fewer_kernel(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, bytes: u32, y: VecMut<f32>) {
    init_barriers(pipeline, 1); // FAULT
    if thread_idx_x() == 0 {
        pipeline.full.arrive_expect_tx(0, bytes);
        load_2d(pipeline.stages[0].slot::<BOX>(0), x, [0, 0], pipeline.full.at(0)); // FAULT
    }
    pipeline.full.wait(0, 0);
    y.set(thread_idx_x() as usize, add(pipeline, 0, thread_idx_x()));
}

#[kernel(block = 32)]
fn more_kernel(#[shared] pipeline: &Pipeline, x: &TensorMap<f32>, bytes: u32, y: VecMut<f32>) {
    init_barriers(pipeline, 1); // FAULT
    if thread_idx_x() == 0 {
        pipeline.full.arrive_expect_tx(0, bytes);
        load_2d(pipeline.stages[0].slot::<BOX>(0), x, [0, 0], pipeline.full.at(0));
    }
    pipeline.full.wait(0, 0); // FAULT
    y.set(thread_idx_x() as usize, add(pipeline, 0, thread_idx_x()));
}

type Expect = simt::Kernel<(TensorMap<'static, f32>, u32, VecMut<'static, f32>)>;

fn expect(bench: &mut Bench, kernel: Expect, bytes: u32) -> bool {
    let (x, mut y) = (Buffer::new(&vec![0.25_f32; BOX]), Buffer::unwritten(32));
    let bytes = bench.choose(bytes, BYTES);
    let boxes = x.matrix(ROWS, COLS).tma(ROWS, COLS, Swizzle::None);
    bench.launch((kernel, kernel), Grid::line(1, 32), (boxes, bytes, &mut y));
    y.to_vec() == [4.0; 32]
}

#[repr(C)]
#[derive(Shared)]
struct Message {
    words: SharedArray<u32, 64>,
    sent: Mbarriers<1>,
}

/// Initialises the mbarrier for 32 arrivals, those of the first warp.
#[track_caller]
fn init_sent(message: &Message) {
    if thread_idx_x() == 0 {
        message.sent.init(0, 32);
    }
    sync_threads();
}

/// The first warp writes and the second reads, by ordinary accesses.
#[kernel(block = 64)]
fn pass_message_fixed(#[shared] message: &Message, y: VecMut<u32>) {
    init_sent(message);
    let t = thread_idx_x();
    if t < 32 {
        message.words.set(t, 3 * t);
        message.sent.arrive(0);
    } else {
        message.sent.wait(0, 0);
        y.set((t - 32) as usize, message.words.get(63 - t));
    }
}

#[kernel(block = 64)]
fn late_faulty(#[shared] message: &Message, y: VecMut<u32>) {
    init_sent(message);
    let t = thread_idx_x();
    if t < 32 {
        message.sent.arrive(0);
        message.words.set(t, 3 * t); // FAULT
    } else {
        message.sent.wait(0, 0);
        y.set((t - 32) as usize, message.words.get(63 - t)); // FAULT
    }
}

#[kernel(block = 64)]
fn unwaited_faulty(#[shared] message: &Message, y: VecMut<u32>) {
    init_sent(message);
    let t = thread_idx_x();
    if t < 32 {
        message.words.set(t, 3 * t); // FAULT
        message.sent.arrive(0);
    } else {
        y.set((t - 32) as usize, message.words.get(63 - t)); // FAULT
    }
}

#[kernel(block = 64)]
fn invalidated_faulty(#[shared] message: &Message, y: VecMut<u32>) {
    init_sent(message);
    let t = thread_idx_x();
    if t == 0 {
        message.sent.invalidate(0);
    }
    if t < 32 {
        message.words.set(t, 3 * t);
    }
    sync_threads();
    if t < 32 {
        message.sent.arrive(0); // FAULT: after its invalidation
    } else {
        message.sent.wait(0, 0); // FAULT
        y.set((t - 32) as usize, message.words.get(63 - t));
    }
}

fn pass_message(bench: &mut Bench, faulty: simt::Kernel<(VecMut<'static, u32>,)>) -> bool {
    let mut y = Buffer::unwritten(32);
    bench.launch((faulty, pass_message_fixed), Grid::line(1, 64), (&mut y,));
    y.to_vec() == (0..32).map(|t| 3 * (31 - t)).collect::<Vec<u32>>()
}
