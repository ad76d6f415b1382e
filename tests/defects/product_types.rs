//! Products of `i8`, of `f64`, and of `f32` as planes of `bf16`: sums read too early, operands that are overwritten
//! while a product still needs them.

use crate::case::{Bench, Case, Group};
use crate::tensor_cores::{A, B, BLOCK, number, write};
use gpu::lab::instructions_sm90::wgmma_layout::Layout;
use simt::matrix::mma_sync_f64;
use simt::mbarrier::{Mbarriers, fence_mbarrier_init};
use simt::prelude::*;
use simt::sync::fence_proxy_async;
use simt::tma::{TensorMap, load_2d};
use simt::warp::{lane_id, sync_warp, warp_id};
use simt::wgmma::{Accumulators, KMajor, Swizzle};
use simulator::Kind;
use warpwright::half::bf16;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("product_types.rs"),
    cases: &[
        Case::new("sums of 8-bit integers read before the wait", Kind::ProductNotWaited, integers),
        Case::new("stage of f64 released before its fragments are loaded", Kind::AsyncRace, doubles),
        Case::new("planes overwritten while the last of their products are in flight", Kind::AsyncRace, planes),
    ],
};

/// A of 64 × 32 and B of 32 × 32 integers, with rows of 32 bytes along k.
const BYTES_A: Layout = Layout { swizzle: Swizzle::B32, mn_major: false, bytes: 1, extent: 64, depth: 32 };
const BYTES_B: Layout = Layout { extent: 32, ..BYTES_A };

#[repr(C, align(1024))]
#[derive(Shared)]
struct Bytes {
    a: SharedArray<i8, 2048>,
    b: SharedArray<i8, 1024>,
}

type Integers = simt::Kernel<(MatRef<'static, i8>, MatRef<'static, i8>, MatMut<'static, i32>)>;

/// Starts the product of both operands.
#[track_caller]
fn start_integers(operands: &Bytes, a: MatRef<i8>, b: MatRef<i8>) -> Accumulators<32> {
    let threads = (thread_idx_x(), BLOCK);
    BYTES_A.write(&operands.a, 0, threads, |m, k| a.get(m, k));
    BYTES_B.write(&operands.b, 0, threads, |n, k| b.get(k, n));
    fence_proxy_async();
    sync_threads();
    let mut sums = Accumulators::zeroed();
    let (a, b) = (BYTES_A.operand(&operands.a, 0), BYTES_B.operand(&operands.b, 0));
    sums.multiply::<i8, 1, KMajor, KMajor, 1>(a, b, true);
    sums
}

/// Writes the sums, which are bits of `i32`.
#[track_caller]
fn write_integers(sums: &Accumulators<32>, c: MatMut<i32>) {
    for i in 0..16 {
        let (row, col) = Accumulators::<32>::position(i);
        c.set(row, col, sums.get(i).to_bits() as i32);
    }
}

#[kernel(block = BLOCK)]
fn integers_fixed(#[shared] operands: &Bytes, a: MatRef<i8>, b: MatRef<i8>, c: MatMut<i32>) {
    let mut sums = start_integers(operands, a, b);
    sums.wait::<0>();
    write_integers(&sums, c);
}

#[kernel(block = BLOCK)]
fn integers_faulty(#[shared] operands: &Bytes, a: MatRef<i8>, b: MatRef<i8>, c: MatMut<i32>) {
    let mut sums = start_integers(operands, a, b); // FAULT
    write_integers(&sums, c); // FAULT
    sums.wait::<0>();
}

fn integers(bench: &mut Bench) -> bool {
    let numbers = |count: usize| (0..count).map(|i| (i * 37 % 255) as u8 as i8).collect::<Vec<_>>();
    let (x, y) = (numbers(64 * 32), numbers(32 * 32));
    let (a, b, mut c) = (Buffer::new(&x), Buffer::new(&y), Buffer::unwritten(64 * 32));
    let kernels: (Integers, Integers) = (integers_faulty, integers_fixed);
    bench.launch(kernels, Grid::line(1, BLOCK), (a.matrix(64, 32), b.matrix(32, 32), c.matrix_mut(64, 32)));
    let dot = |row: usize, col: usize| -> i32 {
        (0..32).map(|k| i32::from(x[row * 32 + k]) * i32::from(y[k * 32 + col])).sum()
    };
    c.to_vec() == (0..64 * 32).map(|i| dot(i / 32, i % 32)).collect::<Vec<_>>()
}

/// Steps of 16 along k.
const STEPS: u32 = 6;
const DEPTH: usize = 16 * STEPS as usize;

/// Two stages of 16 rows of A and 8 columns of B, each with 16 numbers along k.
#[repr(C, align(1024))]
#[derive(Shared)]
struct Doubles {
    a: [SharedArray<f64, 256>; 2],
    b: [SharedArray<f64, 128>; 2],
    full: Mbarriers<2>,
    empty: Mbarriers<2>,
}

type ByDoubles = simt::Kernel<(TensorMap<'static, f64>, TensorMap<'static, f64>, MatMut<'static, f64>)>;

/// Initialises the mbarriers; the second warp loads every step, each into an empty stage. Whether this is the first.
#[track_caller]
fn load_doubles(stages: &Doubles, a: &TensorMap<f64>, b: &TensorMap<f64>) -> bool {
    if thread_idx_x() == 0 {
        for stage in 0..2 {
            stages.full.init(stage, 1);
            stages.empty.init(stage, 1);
        }
        fence_mbarrier_init();
    }
    sync_threads();
    if warp_id() == 1 && lane_id() == 0 {
        for step in 0..STEPS {
            let stage = step % 2;
            stages.empty.wait(stage, (step / 2 + 1) % 2);
            stages.full.arrive_expect_tx(stage, 24 * 128);
            let at = [16 * step as i32, 0];
            load_2d(stages.a[stage as usize].slot::<256>(0), a, at, stages.full.at(stage));
            load_2d(stages.b[stage as usize].slot::<128>(0), b, at, stages.full.at(stage));
        }
    }
    warp_id() == 0
}

/// A lane's fragments of A and of B.
#[track_caller]
fn fragments(stages: &Doubles, stage: u32) -> ([f64; 8], [f64; 4]) {
    let (a, b) = (&stages.a[stage as usize], &stages.b[stage as usize]);
    let (g, t) = (lane_id() / 4, lane_id() % 4);
    let (mut of_a, mut of_b) = ([0.0; 8], [0.0; 4]);
    for i in 0..4 {
        let k = 4 * i + t;
        of_a[2 * i as usize] = a.get(g * 16 + k);
        of_a[2 * i as usize + 1] = a.get((g + 8) * 16 + k);
        of_b[i as usize] = b.get(g * 16 + k);
    }
    (of_a, of_b)
}

/// TMA may fill the stage again.
#[track_caller]
fn release(stages: &Doubles, stage: u32) {
    fence_proxy_async();
    sync_warp(u32::MAX);
    if lane_id() == 0 {
        stages.empty.arrive(stage);
    }
}

#[track_caller]
fn write_doubles(sums: [f64; 4], c: MatMut<f64>) {
    let (g, t) = (lane_id() / 4, lane_id() % 4);
    for (i, sum) in sums.into_iter().enumerate() {
        c.set(g + 8 * (i as u32 / 2), 2 * t + i as u32 % 2, sum);
    }
}

#[kernel(block = 64)]
fn doubles_fixed(#[shared] stages: &Doubles, a: &TensorMap<f64>, b: &TensorMap<f64>, c: MatMut<f64>) {
    if load_doubles(stages, a, b) {
        let mut sums = [0.0; 4];
        for step in 0..STEPS {
            stages.full.wait(step % 2, step / 2 % 2);
            let (of_a, of_b) = fragments(stages, step % 2);
            release(stages, step % 2);
            sums = mma_sync_f64(of_a, of_b, sums);
        }
        write_doubles(sums, c);
    }
}

#[kernel(block = 64)]
fn doubles_faulty(#[shared] stages: &Doubles, a: &TensorMap<f64>, b: &TensorMap<f64>, c: MatMut<f64>) {
    let is_consumer = load_doubles(stages, a, b); // FAULT
    if is_consumer {
        let mut sums = [0.0; 4];
        for step in 0..STEPS {
            stages.full.wait(step % 2, step / 2 % 2);
            release(stages, step % 2);
            let (of_a, of_b) = fragments(stages, step % 2); // FAULT: TMA may be ahead of these loads
            sums = mma_sync_f64(of_a, of_b, sums);
        }
        write_doubles(sums, c);
    }
}

fn doubles(bench: &mut Bench) -> bool {
    let numbers = |count: usize| (0..count).map(|i| number(i).into()).collect::<Vec<f64>>();
    let (x, y) = (numbers(16 * DEPTH), numbers(8 * DEPTH));
    let (a, b, mut c) = (Buffer::new(&x), Buffer::new(&y), Buffer::unwritten(128));
    let of_a = a.matrix(16, DEPTH as u32).tma(16, 16, Swizzle::None);
    let of_b = b.matrix(8, DEPTH as u32).tma(8, 16, Swizzle::None);
    let kernels: (ByDoubles, ByDoubles) = (doubles_faulty, doubles_fixed);
    bench.launch(kernels, Grid::line(1, 64), (of_a, of_b, c.matrix_mut(16, 8)));
    let dot = |row: usize, col: usize| -> f64 { (0..DEPTH).map(|k| x[row * DEPTH + k] * y[col * DEPTH + k]).sum() };
    c.to_vec() == (0..128).map(|i| dot(i / 8, i % 8)).collect::<Vec<_>>()
}

/// Planes of an A of 64 × 16 and of a B of 16 × 8.
#[repr(C, align(1024))]
#[derive(Shared)]
struct Planes {
    a: [SharedArray<bf16, 1024>; 3],
    b: [SharedArray<bf16, 512>; 3],
}

type ByPlanes = simt::Kernel<(MatRef<'static, f32>, MatRef<'static, f32>, MatMut<'static, f32>)>;

/// Plane `number` of `x`, which is the sum of three: the part of it that the planes before leave, rounded.
fn plane(x: f32, number: u32) -> bf16 {
    let mut rest = x;
    for _ in 0..number {
        rest -= bf16::from_f32(rest).to_f32();
    }
    bf16::from_f32(rest)
}

/// Writes the planes of step `step` of k.
#[track_caller]
fn write_planes(planes: &Planes, a: MatRef<f32>, b: MatRef<f32>, step: u32) {
    let threads = (thread_idx_x(), BLOCK);
    for number in 0..3 {
        let (to_a, to_b) = (&planes.a[number as usize], &planes.b[number as usize]);
        A.write(to_a, 0, threads, |m, k| plane(a.get(m, 16 * step + k), number));
        B.write(to_b, 0, threads, |n, k| plane(b.get(16 * step + k, n), number));
    }
    fence_proxy_async();
    sync_threads();
}

/// Starts the six products of planes whose numbers add up to at most 2, the smallest first.
#[track_caller]
fn multiply_planes(planes: &Planes, sums: &mut Accumulators<8>, step: u32) {
    for (number, (a, b)) in [(0, 2), (1, 1), (2, 0), (0, 1), (1, 0), (0, 0)].into_iter().enumerate() {
        let (a, b) = (A.operand(&planes.a[a], 0), B.operand(&planes.b[b], 0));
        sums.multiply::<bf16, 1, KMajor, KMajor, 6>(a, b, step == 0 && number == 0);
    }
}

#[kernel(block = BLOCK)]
fn planes_fixed(#[shared] planes: &Planes, a: MatRef<f32>, b: MatRef<f32>, c: MatMut<f32>) {
    let mut sums = Accumulators::zeroed();
    for step in 0..2 {
        write_planes(planes, a, b, step);
        multiply_planes(planes, &mut sums, step);
        sums.wait::<0>();
        sync_threads();
    }
    write(&sums, c);
}

#[kernel(block = BLOCK)]
fn planes_faulty(#[shared] planes: &Planes, a: MatRef<f32>, b: MatRef<f32>, c: MatMut<f32>) {
    let mut sums = Accumulators::zeroed();
    for step in 0..2 {
        write_planes(planes, a, b, step); // FAULT
        multiply_planes(planes, &mut sums, step); // FAULT: two of the products still read the first planes
        sums.wait::<2>();
        sync_threads();
    }
    sums.wait::<0>();
    write(&sums, c);
}

fn planes(bench: &mut Bench) -> bool {
    // Numbers of up to 9 bits, so of two planes; products and sums are multiples of 2⁻¹² below 2¹⁰: exact.
    let numbers = |count: usize| (0..count).map(|i| number(i) + number(i + 3) / 64.0).collect::<Vec<f32>>();
    let (x, y) = (numbers(64 * 32), numbers(32 * 8));
    let (a, b, mut c) = (Buffer::new(&x), Buffer::new(&y), Buffer::unwritten(512));
    let kernels: (ByPlanes, ByPlanes) = (planes_faulty, planes_fixed);
    bench.launch(kernels, Grid::line(1, BLOCK), (a.matrix(64, 32), b.matrix(32, 8), c.matrix_mut(64, 8)));
    let dot = |row: usize, col: usize| -> f32 { (0..32).map(|k| x[row * 32 + k] * y[k * 8 + col]).sum() };
    c.to_vec() == (0..512).map(|i| dot(i / 8, i % 8)).collect::<Vec<_>>()
}
