//! TMA loads: boxes that are read too early, loaded to slots of the wrong size or alignment, or never waited for.

use crate::case::{Bench, Case, Group};
use simt::mbarrier::{Mbarriers, fence_mbarrier_init};
use simt::prelude::*;
use simt::sync::fence_proxy_async;
use simt::tma::{Swizzle, TensorMap, load_2d, load_3d};
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("tma_loads.rs"),
    cases: &[
        Case::new("box read without a wait", Kind::AsyncRace, |b| copy(b, unwaited_faulty)),
        Case::new("box read after a wait for the phase before", Kind::AsyncRace, |b| copy(b, parity_faulty)),
        Case::new("box read by threads that have not waited", Kind::AsyncRace, |b| copy(b, one_waits_faulty)),
        Case::new("box loaded over data that other threads still read", Kind::AsyncRace, reload),
        Case::new("load that no thread waits for", Kind::AsyncNotWaited, |b| copy_nothing(b, not_waited_faulty)),
        Case::new("mbarrier initialisation without a fence", Kind::ProxyFence, |b| copy(b, unfenced_faulty)),
        Case::new("box loaded over ordinary writes without a proxy fence", Kind::ProxyFence, overwrite),
        Case::new("box larger than its slot", Kind::UnfitBox, |b| slot_size(b, [32, 64])),
        Case::new("box smaller than its slot", Kind::UnfitBox, |b| slot_size(b, [16, 32])),
        Case::new("three-dimensional load with a two-dimensional map", Kind::UnfitBox, dimensions),
        Case::new("slot not aligned to 128 bytes", Kind::Misaligned, misaligned_slot),
        Case::new("slot not aligned to the swizzle pattern", Kind::Misaligned, pattern),
        Case::new("box at a column not aligned to 16 bytes", Kind::Misaligned, misaligned_column),
        Case::new("load from a tensor that is half written", Kind::Uninitialised, unwritten),
    ],
};

/// Rows and columns of a tile, its elements and bytes.
const SIDE: u32 = 32;
const TILE: usize = 1024;
const BYTES: u32 = 4096;

#[repr(C, align(1024))]
#[derive(Shared)]
struct Stage {
    tile: SharedArray<f32, 1152>,
    full: Mbarriers<1>,
}

/// Initialises the mbarrier for phases of one arrival.
#[track_caller]
fn init_barrier(stage: &Stage) {
    if thread_idx_x() == 0 {
        stage.full.init(0, 1);
        fence_mbarrier_init();
    }
    sync_threads();
}

/// Thread 0 loads the tile of this block.
#[track_caller]
fn load(stage: &Stage, x: &TensorMap<f32>, block: u32) {
    if thread_idx_x() == 0 {
        stage.full.arrive_expect_tx(0, BYTES);
        load_2d(stage.tile.slot::<TILE>(0), x, [0, (block * SIDE) as i32], stage.full.at(0));
    }
}

/// Each of 64 threads writes 16 elements to `y`.
#[track_caller]
fn write_out(stage: &Stage, y: VecMut<f32>) {
    let first = block_idx_x() as usize * TILE;
    for i in (thread_idx_x()..TILE as u32).step_by(64) {
        y.set(first + i as usize, stage.tile.get(i));
    }
}

#[kernel(block = 64)]
fn copy_fixed(#[shared] stage: &Stage, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barrier(stage);
    load(stage, x, block_idx_x());
    stage.full.wait(0, 0);
    write_out(stage, y);
}

#[kernel(block = 64)]
fn unwaited_faulty(#[shared] stage: &Stage, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barrier(stage);
    load(stage, x, block_idx_x()); // FAULT
    sync_threads();
    write_out(stage, y); // FAULT: no thread has waited
    stage.full.wait(0, 0);
}

#[kernel(block = 64)]
fn parity_faulty(#[shared] stage: &Stage, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barrier(stage);
    load(stage, x, block_idx_x()); // FAULT
    stage.full.wait(0, 1); // the phase before the first, which is over
    write_out(stage, y); // FAULT
    stage.full.wait(0, 0);
}

#[kernel(block = 64)]
fn one_waits_faulty(#[shared] stage: &Stage, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barrier(stage);
    load(stage, x, block_idx_x()); // FAULT
    if thread_idx_x() == 0 {
        stage.full.wait(0, 0); // without a barrier for the others
    }
    write_out(stage, y); // FAULT
}

#[kernel(block = 64)]
fn unfenced_faulty(#[shared] stage: &Stage, x: &TensorMap<f32>, y: VecMut<f32>) {
    if thread_idx_x() == 0 {
        stage.full.init(0, 1); // FAULT: no fence
    }
    sync_threads();
    load(stage, x, block_idx_x()); // FAULT
    stage.full.wait(0, 0);
    write_out(stage, y);
}

type Copy = simt::Kernel<(TensorMap<'static, f32>, VecMut<'static, f32>)>;

fn ramp(n: usize) -> Vec<f32> {
    (0..n).map(|i| i as f32 + 0.5).collect()
}

fn copy(bench: &mut Bench, faulty: Copy) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(2 * TILE)), Buffer::unwritten(2 * TILE));
    let map = x.matrix(2 * SIDE, SIDE).tma(SIDE, SIDE, Swizzle::None);
    bench.launch((faulty, copy_fixed), Grid::line(2, 64), (map, &mut y));
    y.to_vec() == ramp(2 * TILE)
}

#[kernel(block = 64)]
fn not_waited_faulty(#[shared] stage: &Stage, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barrier(stage);
    load(stage, x, block_idx_x()); // FAULT
    y.set(block_idx_x() as usize * 64 + thread_idx_x() as usize, 1.0);
}

#[kernel(block = 64)]
fn not_waited_fixed(#[shared] stage: &Stage, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barrier(stage);
    load(stage, x, block_idx_x());
    y.set(block_idx_x() as usize * 64 + thread_idx_x() as usize, 1.0);
    stage.full.wait(0, 0);
}

fn copy_nothing(bench: &mut Bench, faulty: Copy) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(2 * TILE)), Buffer::unwritten(128));
    let map = x.matrix(2 * SIDE, SIDE).tma(SIDE, SIDE, Swizzle::None);
    bench.launch((faulty, not_waited_fixed), Grid::line(2, 64), (map, &mut y));
    y.to_vec() == [1.0; 128]
}

/// Two tiles one after the other in one slot.
#[kernel(block = 64)]
fn reload_faulty(#[shared] stage: &Stage, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barrier(stage);
    load(stage, x, 0);
    stage.full.wait(0, 0);
    let last = stage.tile.get(TILE as u32 - 1 - thread_idx_x()); // FAULT: the other warp may still be here
    fence_proxy_async();
    load(stage, x, 1); // FAULT
    stage.full.wait(0, 1);
    y.set(thread_idx_x() as usize, last + stage.tile.get(thread_idx_x()));
}

#[kernel(block = 64)]
fn reload_fixed(#[shared] stage: &Stage, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barrier(stage);
    load(stage, x, 0);
    stage.full.wait(0, 0);
    let last = stage.tile.get(TILE as u32 - 1 - thread_idx_x());
    fence_proxy_async();
    sync_threads();
    load(stage, x, 1);
    stage.full.wait(0, 1);
    y.set(thread_idx_x() as usize, last + stage.tile.get(thread_idx_x()));
}

fn reload(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(2 * TILE)), Buffer::unwritten(64));
    let map = x.matrix(2 * SIDE, SIDE).tma(SIDE, SIDE, Swizzle::None);
    bench.launch((reload_faulty, reload_fixed), Grid::line(1, 64), (map, &mut y));
    y.to_vec() == [2048.0; 64]
}

/// The slot of the tile is written by ordinary stores first.
#[kernel(block = 64)]
fn overwrite_faulty(#[shared] stage: &Stage, x: &TensorMap<f32>, y: VecMut<f32>) {
    stage.tile.set(thread_idx_x(), thread_idx_x() as f32); // FAULT: no proxy fence after it
    init_barrier(stage);
    load(stage, x, 0); // FAULT
    stage.full.wait(0, 0);
    y.set(thread_idx_x() as usize, stage.tile.get(thread_idx_x()));
}

#[kernel(block = 64)]
fn overwrite_fixed(#[shared] stage: &Stage, x: &TensorMap<f32>, y: VecMut<f32>) {
    stage.tile.set(thread_idx_x(), thread_idx_x() as f32);
    fence_proxy_async();
    init_barrier(stage);
    load(stage, x, 0);
    stage.full.wait(0, 0);
    y.set(thread_idx_x() as usize, stage.tile.get(thread_idx_x()));
}

fn overwrite(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(TILE)), Buffer::unwritten(64));
    let map = x.matrix(SIDE, SIDE).tma(SIDE, SIDE, Swizzle::None);
    bench.launch((overwrite_faulty, overwrite_fixed), Grid::line(1, 64), (map, &mut y));
    y.to_vec() == ramp(64)
}

/// The defect is in the launch: the box of its map.
#[kernel(block = 64)]
fn slot_size_kernel(#[shared] stage: &Stage, x: &TensorMap<f32>, bytes: u32, y: VecMut<f32>) {
    init_barrier(stage);
    if thread_idx_x() == 0 {
        stage.full.arrive_expect_tx(0, bytes);
        load_2d(stage.tile.slot::<TILE>(0), x, [0, 0], stage.full.at(0)); // FAULT
    }
    stage.full.wait(0, 0);
    y.set(thread_idx_x() as usize, stage.tile.get(thread_idx_x()));
}

fn slot_size(bench: &mut Bench, shape: [u32; 2]) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(64 * 64)), Buffer::unwritten(64));
    let [rows, cols] = bench.choose(shape, [16, 64]);
    let map = x.matrix(64, 64).tma(rows, cols, Swizzle::None);
    let args = (map, rows * cols * 4, &mut y);
    bench.launch((slot_size_kernel, slot_size_kernel), Grid::line(1, 64), args);
    y.to_vec() == ramp(64)
}

#[kernel(block = 64)]
fn dimensions_faulty(#[shared] stage: &Stage, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barrier(stage);
    if thread_idx_x() == 0 {
        stage.full.arrive_expect_tx(0, BYTES);
        load_3d(stage.tile.slot::<TILE>(0), x, [0, 0, 0], stage.full.at(0)); // FAULT
    }
    stage.full.wait(0, 0);
    write_out(stage, y);
}

fn dimensions(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(TILE)), Buffer::unwritten(TILE));
    let map = x.matrix(SIDE, SIDE).tma(SIDE, SIDE, Swizzle::None);
    bench.launch((dimensions_faulty, copy_fixed), Grid::line(1, 64), (map, &mut y));
    y.to_vec() == ramp(TILE)
}

/// The slot starts at element `first` of its array.
#[kernel(block = 64)]
fn misaligned_slot_kernel(#[shared] stage: &Stage, x: &TensorMap<f32>, first: u32, y: VecMut<f32>) {
    init_barrier(stage);
    if thread_idx_x() == 0 {
        stage.full.arrive_expect_tx(0, BYTES);
        load_2d(stage.tile.slot::<TILE>(first), x, [0, 0], stage.full.at(0)); // FAULT
    }
    stage.full.wait(0, 0);
    y.set(thread_idx_x() as usize, stage.tile.get(first + thread_idx_x() / 32 * 256 + thread_idx_x() % 32));
}

fn load_at(bench: &mut Bench, first: [u32; 2], swizzle: Swizzle) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(TILE)), Buffer::unwritten(64));
    let map = x.matrix(SIDE, SIDE).tma(SIDE, SIDE, swizzle);
    let first = bench.choose(first[0], first[1]);
    bench.launch((misaligned_slot_kernel, misaligned_slot_kernel), Grid::line(1, 64), (map, first, &mut y));
    // Rows 0 and 8, which no swizzle changes if the pattern starts at the slot.
    y.to_vec() == [&ramp(32)[..], &ramp(TILE)[256..288]].concat()
}

fn misaligned_slot(bench: &mut Bench) -> bool {
    load_at(bench, [16, 32], Swizzle::None)
}

fn pattern(bench: &mut Bench) -> bool {
    load_at(bench, [128, 0], Swizzle::B128)
}

#[kernel(block = 64)]
fn misaligned_column_kernel(#[shared] stage: &Stage, x: &TensorMap<f32>, left: i32, y: VecMut<f32>) {
    init_barrier(stage);
    if thread_idx_x() == 0 {
        stage.full.arrive_expect_tx(0, BYTES);
        load_2d(stage.tile.slot::<TILE>(0), x, [left, 0], stage.full.at(0)); // FAULT
    }
    stage.full.wait(0, 0);
    y.set(thread_idx_x() as usize, stage.tile.get(thread_idx_x()));
}

fn misaligned_column(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(TILE)), Buffer::unwritten(64));
    let map = x.matrix(SIDE, SIDE).tma(SIDE, SIDE, Swizzle::None);
    let left = bench.choose(2, 4);
    bench.launch((misaligned_column_kernel, misaligned_column_kernel), Grid::line(1, 64), (map, left, &mut y));
    // Two rows of the box, with zeros outside the tensor.
    let row = |row: usize| {
        (0..32).map(move |col| if col + left < 32 { (32 * row as i32 + col + left) as f32 + 0.5 } else { 0.0 })
    };
    y.to_vec() == row(0).chain(row(1)).collect::<Vec<f32>>()
}

/// The defect is in the launch: the second half of the tensor was never written.
#[kernel(block = 64)]
fn unwritten_kernel(#[shared] stage: &Stage, x: &TensorMap<f32>, y: VecMut<f32>) {
    init_barrier(stage);
    load(stage, x, 0); // FAULT
    stage.full.wait(0, 0);
    write_out(stage, y);
}

fn unwritten(bench: &mut Bench) -> bool {
    let (mut x, mut y) = (Buffer::unwritten(TILE), Buffer::unwritten(TILE));
    let written = bench.choose(TILE / 2, TILE);
    x.write(0, &ramp(written));
    let map = x.matrix(SIDE, SIDE).tma(SIDE, SIDE, Swizzle::None);
    bench.launch((unwritten_kernel, unwritten_kernel), Grid::line(1, 64), (map, &mut y));
    y.to_vec() == ramp(TILE)
}
