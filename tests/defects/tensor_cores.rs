//! `wgmma`, `mma.sync` and matrix loads and stores: results used too early; operands that do not match their
//! descriptor, are overwritten too early or lack a proxy fence; missing threads.

use crate::case::{Bench, Case, Group};
use gpu::lab::instructions_sm90::wgmma_layout::Layout;
use simt::float8::E4m3;
use simt::matrix::{ldmatrix, mma_sync, stmatrix};
use simt::mbarrier::{Mbarriers, fence_mbarrier_init};
use simt::prelude::*;
use simt::sync::fence_proxy_async;
use simt::tma::{TensorMap, load_2d};
use simt::warp::{lane_id, warp_id};
use simt::wgmma::{Accumulators, KMajor, Operand, Swizzle};
use simulator::Kind;
use warpwright::half::f16;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("tensor_cores.rs"),
    cases: &[
        Case::new("accumulators read before the wait", Kind::ProductNotWaited, |b| product(b, early_faulty)),
        Case::new("accumulators read after a wait for one group too few", Kind::ProductNotWaited, |b| {
            product(b, count_faulty)
        }),
        Case::new("8-bit sums promoted before the wait", Kind::ProductNotWaited, promoted),
        Case::new("wgmma in flight at the end of the kernel", Kind::ProductNotWaited, |b| product(b, in_flight_faulty)),
        Case::new("warp that exits before the wgmma", Kind::Warpgroup, |b| product(b, exited_faulty)),
        Case::new("warp that waits at a barrier instead of the wgmma", Kind::Warpgroup, |b| {
            product(b, elsewhere_faulty)
        }),
        Case::new("operand descriptor that differs by warp", Kind::Warpgroup, |b| product(b, differs_faulty)),
        Case::new("operands without a proxy fence", Kind::ProxyFence, |b| product(b, unfenced_faulty)),
        Case::new("proxy fence by one thread only", Kind::ProxyFence, |b| product(b, one_fences_faulty)),
        Case::new("operand overwritten before the wait", Kind::AsyncRace, |b| product(b, overwritten_faulty)),
        Case::new("operand written without a barrier", Kind::AsyncRace, |b| product(b, no_barrier_faulty)),
        Case::new("operand that is half written", Kind::Uninitialised, |b| product(b, half_faulty)),
        Case::new("operand that reaches past the end of its array", Kind::OutOfBounds, |b| product(b, past_end_faulty)),
        Case::new("operand not aligned to its swizzle pattern", Kind::WrongOperand, |b| product(b, misaligned_faulty)),
        Case::new("descriptor with a stride that is not a multiple of 16", Kind::WrongOperand, |b| {
            product(b, odd_stride_faulty)
        }),
        Case::new("descriptor with another swizzle than the box", Kind::WrongOperand, |b| {
            tma_product(b, swizzle_faulty)
        }),
        Case::new("descriptor with too small a stride", Kind::WrongOperand, |b| tma_product(b, stride_faulty)),
        Case::new("descriptor without the swizzle", Kind::WrongOperand, |b| tma_product(b, no_swizzle_faulty)),
        Case::new("stage released before its wgmma is complete", Kind::AsyncRace, |b| pipelined(b, released_faulty)),
        Case::new("mma_sync by part of a warp", Kind::WarpMask, part),
        Case::new("mma_sync after half of the warp has exited", Kind::WarpExited, half_warp),
        Case::new("matrices stored and loaded without a barrier", Kind::Race, stores),
        Case::new("ldmatrix rows not aligned to 16 bytes", Kind::Misaligned, rows),
    ],
};

pub(crate) const BLOCK: u32 = 128;
/// A is 64 × 16 and B is 16 × 8, with rows of 32 bytes along k.
pub(crate) const A: Layout = Layout { swizzle: Swizzle::B32, mn_major: false, bytes: 2, extent: 64, depth: 16 };
pub(crate) const B: Layout = Layout { extent: 8, ..A };

#[repr(C, align(1024))]
#[derive(Shared)]
struct Operands {
    a: SharedArray<f16, 1024>,
    b: SharedArray<f16, 256>,
}

type Product = simt::Kernel<(MatRef<'static, f16>, MatRef<'static, f16>, MatMut<'static, f32>)>;

/// Writes the operands.
#[track_caller]
fn fill(operands: &Operands, a: MatRef<f16>, b: MatRef<f16>) {
    let threads = (thread_idx_x(), BLOCK);
    A.write(&operands.a, 0, threads, |m, k| a.get(m, k));
    B.write(&operands.b, 0, threads, |n, k| b.get(k, n));
}

/// Starts a `wgmma` group; waits until at most `PENDING` groups are in flight.
#[track_caller]
fn start<const PENDING: u32>(operands: &Operands, d: &mut Accumulators<8>, overwrite: bool) {
    let (a, b) = (A.operand(&operands.a, 0), B.operand(&operands.b, 0));
    d.multiply::<f16, 1, KMajor, KMajor, PENDING>(a, b, overwrite);
}

/// Writes D.
#[track_caller]
pub(crate) fn write(d: &Accumulators<8>, c: MatMut<f32>) {
    for i in 0..4 {
        let (row, col) = Accumulators::<8>::position(i);
        c.set(row, col, d.get(i));
    }
}

#[kernel(block = BLOCK)]
fn product_fixed(#[shared] operands: &Operands, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
    fill(operands, a, b);
    fence_proxy_async();
    sync_threads();
    let mut d = Accumulators::zeroed();
    start::<1>(operands, &mut d, true);
    d.wait::<0>();
    write(&d, c);
    sync_threads();
    fill(operands, a, b); // all reads are complete
}

#[kernel(block = BLOCK)]
fn early_faulty(#[shared] operands: &Operands, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
    fill(operands, a, b);
    fence_proxy_async();
    sync_threads();
    let mut d = Accumulators::zeroed();
    start::<1>(operands, &mut d, true); // FAULT
    write(&d, c); // FAULT
    d.wait::<0>();
}

#[kernel(block = BLOCK)]
fn count_faulty(#[shared] operands: &Operands, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
    fill(operands, a, b);
    fence_proxy_async();
    sync_threads();
    let (mut d, mut other) = (Accumulators::zeroed(), Accumulators::zeroed());
    start::<2>(operands, &mut other, true);
    start::<2>(operands, &mut d, true); // FAULT
    d.wait::<1>();
    write(&d, c); // FAULT: only the first group is complete
    other.wait::<0>();
}

#[kernel(block = BLOCK)]
fn in_flight_faulty(#[shared] operands: &Operands, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
    fill(operands, a, b);
    fence_proxy_async();
    sync_threads();
    let (mut d, mut other) = (Accumulators::zeroed(), Accumulators::zeroed());
    start::<0>(operands, &mut d, true);
    write(&d, c);
    start::<1>(operands, &mut other, true); // FAULT
}

#[kernel(block = BLOCK)]
fn exited_faulty(#[shared] operands: &Operands, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
    fill(operands, a, b);
    fence_proxy_async();
    sync_threads();
    if warp_id() < 3 {
        let mut d = Accumulators::zeroed();
        start::<0>(operands, &mut d, true); // FAULT
        write(&d, c);
    }
}

#[kernel(block = BLOCK)]
fn elsewhere_faulty(#[shared] operands: &Operands, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
    fill(operands, a, b);
    fence_proxy_async();
    sync_threads();
    let mut d = Accumulators::zeroed();
    if warp_id() != 1 {
        start::<0>(operands, &mut d, true); // FAULT
        write(&d, c);
    }
    sync_threads();
}

#[kernel(block = BLOCK)]
fn differs_faulty(#[shared] operands: &Operands, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
    fill(operands, a, b);
    fence_proxy_async();
    sync_threads();
    let mut d = Accumulators::zeroed();
    // A of the warp's own rows, as for `mma_sync`.
    let at_a = A.operand(&operands.a, 0).advance(512 * warp_id());
    let at_b = B.operand(&operands.b, 0);
    d.multiply::<f16, 1, KMajor, KMajor, 0>(at_a, at_b, true); // FAULT
    write(&d, c);
}

#[kernel(block = BLOCK)]
fn unfenced_faulty(#[shared] operands: &Operands, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
    fill(operands, a, b); // FAULT
    sync_threads();
    let mut d = Accumulators::zeroed();
    start::<0>(operands, &mut d, true); // FAULT
    write(&d, c);
}

#[kernel(block = BLOCK)]
fn one_fences_faulty(#[shared] operands: &Operands, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
    fill(operands, a, b); // FAULT
    sync_threads();
    if thread_idx_x() == 0 {
        fence_proxy_async(); // not for the writes of the others
    }
    sync_threads();
    let mut d = Accumulators::zeroed();
    start::<0>(operands, &mut d, true); // FAULT
    write(&d, c);
}

#[kernel(block = BLOCK)]
fn overwritten_faulty(#[shared] operands: &Operands, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
    fill(operands, a, b);
    fence_proxy_async();
    sync_threads();
    let mut d = Accumulators::zeroed();
    start::<1>(operands, &mut d, true); // FAULT
    sync_threads();
    fill(operands, a, b); // FAULT
    d.wait::<0>();
    write(&d, c);
}

#[kernel(block = BLOCK)]
fn no_barrier_faulty(#[shared] operands: &Operands, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
    fill(operands, a, b); // FAULT
    fence_proxy_async();
    let mut d = Accumulators::zeroed();
    start::<0>(operands, &mut d, true); // FAULT: the fences are not ordered either
    write(&d, c);
}

#[kernel(block = BLOCK)]
fn half_faulty(#[shared] operands: &Operands, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
    let threads = (thread_idx_x(), BLOCK);
    A.write(&operands.a, 0, threads, |m, k| a.get(m, k));
    Layout { depth: 8, ..B }.write(&operands.b, 0, threads, |n, k| b.get(k, n));
    fence_proxy_async();
    sync_threads();
    let mut d = Accumulators::zeroed();
    start::<0>(operands, &mut d, true); // FAULT
    write(&d, c);
}

#[kernel(block = BLOCK)]
fn past_end_faulty(#[shared] operands: &Operands, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
    fill(operands, a, b);
    fence_proxy_async();
    sync_threads();
    let mut d = Accumulators::zeroed();
    let at_b = B.operand(&operands.b, 0).advance(1024);
    d.multiply::<f16, 1, KMajor, KMajor, 0>(A.operand(&operands.a, 0), at_b, true); // FAULT
    write(&d, c);
}

#[kernel(block = BLOCK)]
fn misaligned_faulty(#[shared] operands: &Operands, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
    fill(operands, a, b);
    let threads = (thread_idx_x(), BLOCK);
    B.write(&operands.b, 256, threads, |n, k| b.get(k, n));
    fence_proxy_async();
    sync_threads();
    let mut d = Accumulators::zeroed();
    let at_b = B.operand(&operands.b, 0).advance(64);
    d.multiply::<f16, 1, KMajor, KMajor, 0>(A.operand(&operands.a, 0), at_b, true); // FAULT
    write(&d, c);
}

#[kernel(block = BLOCK)]
fn odd_stride_faulty(#[shared] operands: &Operands, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
    fill(operands, a, b);
    fence_proxy_async();
    sync_threads();
    let at_a = Operand::new(operands.a.slot::<8>(0), 0, 264, Swizzle::B32); // FAULT: a descriptor holds multiples of 16
    let mut d = Accumulators::zeroed();
    d.multiply::<f16, 1, KMajor, KMajor, 0>(at_a, B.operand(&operands.b, 0), true);
    write(&d, c);
}

pub(crate) fn number(i: usize) -> f32 {
    (i * 7 % 11) as f32 - 5.0
}

fn numbers(count: usize) -> Vec<f16> {
    (0..count).map(|i| f16::from_f32(number(i))).collect()
}

/// Row-major a (64 × depth) times b, whose element (k, col) is `number(index(k, col))`.
fn expected(depth: usize, index: impl Fn(usize, usize) -> usize) -> Vec<f32> {
    let dot = |row: usize, col: usize| (0..depth).map(|k| number(row * depth + k) * number(index(k, col))).sum();
    (0..64).flat_map(|row| (0..8).map(move |col| (row, col))).map(|(row, col)| dot(row, col)).collect()
}

fn product(bench: &mut Bench, faulty: Product) -> bool {
    let (a, b, mut c) = (Buffer::new(&numbers(1024)), Buffer::new(&numbers(128)), Buffer::unwritten(512));
    let args = (a.matrix(64, 16), b.matrix(16, 8), c.matrix_mut(64, 8));
    bench.launch((faulty, product_fixed), Grid::line(1, BLOCK), args);
    c.to_vec() == expected(16, |k, col| k * 8 + col)
}

/// A of 64 × 32 and B of 32 × 8 8-bit numbers, with rows of 32 bytes along k.
const BYTES_A: Layout = Layout { swizzle: Swizzle::B32, mn_major: false, bytes: 1, extent: 64, depth: 32 };
const BYTES_B: Layout = Layout { extent: 8, ..BYTES_A };

#[repr(C, align(1024))]
#[derive(Shared)]
struct Bytes {
    a: SharedArray<E4m3, 2048>,
    b: SharedArray<E4m3, 256>,
}

/// Writes the operands, and gives their descriptors.
#[track_caller]
fn fill_bytes(operands: &Bytes, a: MatRef<E4m3>, b: MatRef<E4m3>) -> (Operand, Operand) {
    let threads = (thread_idx_x(), BLOCK);
    BYTES_A.write(&operands.a, 0, threads, |m, k| a.get(m, k));
    BYTES_B.write(&operands.b, 0, threads, |n, k| b.get(k, n));
    fence_proxy_async();
    sync_threads();
    (BYTES_A.operand(&operands.a, 0), BYTES_B.operand(&operands.b, 0))
}

/// Twice the product: two groups, each of which is added to the sum while the next is in flight.
#[kernel(block = BLOCK)]
fn promoted_fixed(#[shared] operands: &Bytes, a: MatRef<E4m3>, b: MatRef<E4m3>, c: MatMut<f32>) {
    let (a, b) = fill_bytes(operands, a, b);
    let (mut sum, mut even, mut odd) = (Accumulators::zeroed(), Accumulators::zeroed(), Accumulators::zeroed());
    even.multiply::<E4m3, 1, KMajor, KMajor, 1>(a, b, true);
    odd.multiply::<E4m3, 1, KMajor, KMajor, 1>(a, b, true);
    even.wait::<1>();
    sum.add(&even);
    odd.wait::<0>();
    sum.add(&odd);
    write(&sum, c);
}

#[kernel(block = BLOCK)]
fn promoted_faulty(#[shared] operands: &Bytes, a: MatRef<E4m3>, b: MatRef<E4m3>, c: MatMut<f32>) {
    let (a, b) = fill_bytes(operands, a, b);
    let (mut sum, mut even, mut odd) = (Accumulators::zeroed(), Accumulators::zeroed(), Accumulators::zeroed());
    even.multiply::<E4m3, 1, KMajor, KMajor, 2>(a, b, true); // FAULT
    odd.multiply::<E4m3, 1, KMajor, KMajor, 2>(a, b, true);
    sum.add(&even); // FAULT
    even.wait::<1>();
    odd.wait::<0>();
    sum.add(&odd);
    write(&sum, c);
}

fn promoted(bench: &mut Bench) -> bool {
    let bytes = |len: usize| (0..len).map(|i| E4m3::from_f32((i * i % 7) as f32 - 3.0)).collect::<Vec<_>>();
    let (x, y) = (bytes(2048), bytes(256));
    let (a, b, mut c) = (Buffer::new(&x), Buffer::new(&y), Buffer::unwritten(512));
    let args = (a.matrix(64, 32), b.matrix(32, 8), c.matrix_mut(64, 8));
    bench.launch((promoted_faulty, promoted_fixed), Grid::line(1, BLOCK), args);
    let dot =
        |row: usize, col: usize| -> f32 { (0..32).map(|k| x[row * 32 + k].to_f32() * y[k * 8 + col].to_f32()).sum() };
    c.to_vec() == (0..512).map(|i| 2.0 * dot(i / 8, i % 8)).collect::<Vec<_>>()
}

/// Two stages of boxes with 128 bytes along k.
#[repr(C, align(1024))]
#[derive(Shared)]
struct Pipeline {
    a: [SharedArray<f16, 4096>; 2],
    b: [SharedArray<f16, 512>; 2],
    full: Mbarriers<2>,
    empty: Mbarriers<2>,
}

type TmaProduct = simt::Kernel<(TensorMap<'static, f16>, TensorMap<'static, f16>, MatMut<'static, f32>)>;

/// Initialises the mbarriers.
#[track_caller]
fn init_barriers(pipeline: &Pipeline) {
    if thread_idx_x() == 0 {
        for stage in 0..2 {
            pipeline.full.init(stage, 1);
            pipeline.empty.init(stage, 1);
        }
        fence_mbarrier_init();
    }
    sync_threads();
}

/// Starts the loads of one step.
#[track_caller]
fn load(pipeline: &Pipeline, stage: u32, a: &TensorMap<f16>, b: &TensorMap<f16>, step: u32) {
    pipeline.full.arrive_expect_tx(stage, 72 * 128);
    load_2d(pipeline.a[stage as usize].slot::<4096>(0), a, [64 * step as i32, 0], pipeline.full.at(stage));
    load_2d(pipeline.b[stage as usize].slot::<512>(0), b, [64 * step as i32, 0], pipeline.full.at(stage));
}

/// Loads the operands, and multiplies with this descriptor of A.
#[track_caller]
fn tma_product_with(
    pipeline: &Pipeline,
    (a, b): (&TensorMap<f16>, &TensorMap<f16>),
    (stride, swizzle): (u32, Swizzle),
    c: MatMut<f32>,
) {
    init_barriers(pipeline);
    if thread_idx_x() == 0 {
        load(pipeline, 0, a, b, 0);
    }
    pipeline.full.wait(0, 0);
    let mut d = Accumulators::zeroed();
    let at_a = Operand::new(pipeline.a[0].slot::<8>(0), 16, stride, swizzle);
    let at_b = Operand::new(pipeline.b[0].slot::<8>(0), 0, 1024, Swizzle::B128);
    d.multiply::<f16, 4, KMajor, KMajor, 0>(at_a, at_b, true);
    write(&d, c);
}

#[kernel(block = BLOCK)]
fn tma_product_fixed(#[shared] pipeline: &Pipeline, a: &TensorMap<f16>, b: &TensorMap<f16>, c: MatMut<f32>) {
    tma_product_with(pipeline, (a, b), (1024, Swizzle::B128), c);
}

#[kernel(block = BLOCK)]
fn swizzle_faulty(#[shared] pipeline: &Pipeline, a: &TensorMap<f16>, b: &TensorMap<f16>, c: MatMut<f32>) {
    tma_product_with(pipeline, (a, b), (512, Swizzle::B64), c); // FAULT
}

#[kernel(block = BLOCK)]
fn stride_faulty(#[shared] pipeline: &Pipeline, a: &TensorMap<f16>, b: &TensorMap<f16>, c: MatMut<f32>) {
    tma_product_with(pipeline, (a, b), (512, Swizzle::B128), c); // FAULT
}

#[kernel(block = BLOCK)]
fn no_swizzle_faulty(#[shared] pipeline: &Pipeline, a: &TensorMap<f16>, b: &TensorMap<f16>, c: MatMut<f32>) {
    tma_product_with(pipeline, (a, b), (1024, Swizzle::None), c); // FAULT
}

fn tma_product(bench: &mut Bench, faulty: TmaProduct) -> bool {
    let (a, b, mut c) = (Buffer::new(&numbers(4096)), Buffer::new(&numbers(512)), Buffer::unwritten(512));
    let maps = (a.matrix(64, 64).tma(64, 64, Swizzle::B128), b.matrix(8, 64).tma(8, 64, Swizzle::B128));
    bench.launch((faulty, tma_product_fixed), Grid::line(1, BLOCK), (maps.0, maps.1, c.matrix_mut(64, 8)));
    c.to_vec() == expected(64, |k, col| col * 64 + k)
}

/// Steps along k.
const STEPS: u32 = 6;

/// One thread loads every step, each into an empty stage.
#[track_caller]
fn produce(pipeline: &Pipeline, a: &TensorMap<f16>, b: &TensorMap<f16>) {
    for step in 0..STEPS {
        pipeline.empty.wait(step % 2, (step / 2 + 1) % 2);
        load(pipeline, step % 2, a, b, step);
    }
}

/// Multiplies one step, with the group of the previous step in flight.
#[track_caller]
fn consume(pipeline: &Pipeline, d: &mut Accumulators<8>, step: u32) {
    pipeline.full.wait(step % 2, step / 2 % 2);
    let at_a = Operand::new(pipeline.a[step as usize % 2].slot::<8>(0), 0, 1024, Swizzle::B128);
    let at_b = Operand::new(pipeline.b[step as usize % 2].slot::<8>(0), 0, 1024, Swizzle::B128);
    d.multiply::<f16, 4, KMajor, KMajor, 1>(at_a, at_b, step == 0);
}

#[kernel(block = 160)]
fn released_fixed(#[shared] pipeline: &Pipeline, a: &TensorMap<f16>, b: &TensorMap<f16>, c: MatMut<f32>) {
    init_barriers(pipeline);
    if thread_idx_x() >= 128 {
        if lane_id() == 0 {
            produce(pipeline, a, b);
        }
        return;
    }
    let mut d = Accumulators::zeroed();
    for step in 0..STEPS {
        consume(pipeline, &mut d, step);
        // Any thread of the warpgroup may release the stage of the previous group.
        if thread_idx_x() == 77 && step > 0 {
            pipeline.empty.arrive((step - 1) % 2);
        }
    }
    d.wait::<0>();
    write(&d, c);
}

#[kernel(block = 160)]
fn released_faulty(#[shared] pipeline: &Pipeline, a: &TensorMap<f16>, b: &TensorMap<f16>, c: MatMut<f32>) {
    init_barriers(pipeline);
    if thread_idx_x() >= 128 {
        if lane_id() == 0 {
            produce(pipeline, a, b); // FAULT
        }
        return;
    }
    let mut d = Accumulators::zeroed();
    for step in 0..STEPS {
        consume(pipeline, &mut d, step); // FAULT
        if thread_idx_x() == 77 {
            pipeline.empty.arrive(step % 2); // this group is still in flight
        }
    }
    d.wait::<0>();
    write(&d, c);
}

fn pipelined(bench: &mut Bench, faulty: TmaProduct) -> bool {
    let depth = 64 * STEPS as usize;
    let (a, b) = (Buffer::new(&numbers(64 * depth)), Buffer::new(&numbers(8 * depth)));
    let mut c = Buffer::unwritten(512);
    let of_a = a.matrix(64, depth as u32).tma(64, 64, Swizzle::B128);
    let of_b = b.matrix(8, depth as u32).tma(8, 64, Swizzle::B128);
    bench.launch((faulty, released_fixed), Grid::line(1, 160), (of_a, of_b, c.matrix_mut(64, 8)));
    c.to_vec() == expected(depth, |k, col| col * depth + k)
}

/// A product of ones; each lane writes one element.
#[kernel(block = 32)]
fn part_fixed(y: VecMut<f32>) {
    let sums = mma_sync::<f16>([0x3c00_3c00; 4], [0x3c00_3c00; 2], [1.0; 4]);
    y.set(lane_id() as usize, sums[0]);
}

#[kernel(block = 32)]
fn part_faulty(y: VecMut<f32>) {
    if lane_id() < 20 {
        let sums = mma_sync::<f16>([0x3c00_3c00; 4], [0x3c00_3c00; 2], [1.0; 4]); // FAULT
        y.set(lane_id() as usize, sums[0]);
    }
    sync_threads(); // FAULT: the other lanes wait here
}

fn part(bench: &mut Bench) -> bool {
    let mut y = Buffer::zeroed(32);
    bench.launch((part_faulty, part_fixed), Grid::line(1, 32), (&mut y,));
    y.to_vec() == [17.0; 32]
}

#[kernel(max_threads = 32)]
fn half_warp_faulty(y: VecMut<f32>) {
    if lane_id() < 16 {
        let sums = mma_sync::<f16>([0x3c00_3c00; 4], [0x3c00_3c00; 2], [1.0; 4]); // FAULT
        y.set(lane_id() as usize, sums[0]);
    }
}

#[kernel(max_threads = 32)]
fn half_warp_fixed(y: VecMut<f32>) {
    let sums = mma_sync::<f16>([0x3c00_3c00; 4], [0x3c00_3c00; 2], [1.0; 4]);
    if lane_id() < 16 {
        y.set(lane_id() as usize, sums[0]);
    }
}

fn half_warp(bench: &mut Bench) -> bool {
    let mut y = Buffer::zeroed(16);
    bench.launch((half_warp_faulty, half_warp_fixed), Grid::line(1, 32), (&mut y,));
    y.to_vec() == [17.0; 16]
}

/// A warp stores the matrices that the other warp loads.
#[kernel(block = 64)]
fn stores_faulty(#[shared] rows: &SharedTile<u16, 32, 8>, y: VecMut<u32>) {
    let row = rows.slot::<8>(lane_id(), 0);
    if warp_id() == 0 {
        stmatrix::<4, false, _, 8>(row, [lane_id(); 4]); // FAULT
    } else {
        y.set(lane_id() as usize, ldmatrix::<4, false, _, 8>(row)[3]); // FAULT
    }
}

#[kernel(block = 64)]
fn stores_fixed(#[shared] rows: &SharedTile<u16, 32, 8>, y: VecMut<u32>) {
    let row = rows.slot::<8>(lane_id(), 0);
    if warp_id() == 0 {
        stmatrix::<4, false, _, 8>(row, [lane_id(); 4]);
    }
    sync_threads();
    if warp_id() == 1 {
        y.set(lane_id() as usize, ldmatrix::<4, false, _, 8>(row)[3]);
    }
}

fn stores(bench: &mut Bench) -> bool {
    let mut y = Buffer::zeroed(32);
    bench.launch((stores_faulty, stores_fixed), Grid::line(1, 64), (&mut y,));
    y.to_vec() == (0..32).collect::<Vec<u32>>()
}

#[kernel(block = 32)]
fn rows_faulty(#[shared] words: &SharedArray<u16, 320>, y: VecMut<u32>) {
    (0..10).for_each(|i| words.set(32 * i + lane_id(), 1));
    sync_threads();
    y.set(lane_id() as usize, ldmatrix::<2, true, _, 8>(words.slot::<8>(9 * (lane_id() % 16)))[1]); // FAULT
}

#[kernel(block = 32)]
fn rows_fixed(#[shared] words: &SharedArray<u16, 320>, y: VecMut<u32>) {
    (0..10).for_each(|i| words.set(32 * i + lane_id(), 1));
    sync_threads();
    y.set(lane_id() as usize, ldmatrix::<2, true, _, 8>(words.slot::<8>(16 * (lane_id() % 16)))[1]);
}

fn rows(bench: &mut Bench) -> bool {
    let mut y = Buffer::zeroed(32);
    bench.launch((rows_faulty, rows_fixed), Grid::line(1, 32), (&mut y,));
    y.to_vec() == [0x0001_0001; 32]
}
