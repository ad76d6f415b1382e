//! Products on tensor cores: results used too early, operands that are not what their descriptor says, overwritten or not
//! shown to the tensor cores, threads that do not come.

use crate::case::{Bench, Case, Group};
use gpu::lab::instructions_sm90::wgmma_layout::Layout;
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
    text: include_str!("products.rs"),
    cases: &[
        Case::new("product read before its wait", Kind::ProductNotWaited, |b| product(b, early_faulty)),
        Case::new("product read after a wait for one too few", Kind::ProductNotWaited, |b| product(b, count_faulty)),
        Case::new("product under way at the end", Kind::ProductNotWaited, |b| product(b, left_faulty)),
        Case::new("warp that leaves before the product", Kind::Warpgroup, |b| product(b, gone_faulty)),
        Case::new("warp that waits elsewhere", Kind::Warpgroup, |b| product(b, elsewhere_faulty)),
        Case::new("operand that differs by warp", Kind::Warpgroup, |b| product(b, differs_faulty)),
        Case::new("operands hidden from the tensor cores", Kind::ProxyFence, |b| product(b, unfenced_faulty)),
        Case::new("fence by one thread for all", Kind::ProxyFence, |b| product(b, one_fences_faulty)),
        Case::new("operand overwritten before the wait", Kind::AsyncRace, |b| product(b, overwritten_faulty)),
        Case::new("operand written without a barrier", Kind::AsyncRace, |b| product(b, no_barrier_faulty)),
        Case::new("operand half written", Kind::Uninitialised, |b| product(b, half_faulty)),
        Case::new("operand that reaches past the end", Kind::OutOfBounds, |b| product(b, beyond_faulty)),
        Case::new("operand in the middle of its pattern", Kind::WrongOperand, |b| product(b, misplaced_faulty)),
        Case::new("descriptor of a stride in between", Kind::WrongOperand, |b| product(b, odd_faulty)),
        Case::new("descriptor with another swizzle than the box", Kind::WrongOperand, |b| boxed(b, swizzle_faulty)),
        Case::new("descriptor with too small a stride", Kind::WrongOperand, |b| boxed(b, stride_faulty)),
        Case::new("descriptor without the swizzle", Kind::WrongOperand, |b| boxed(b, plain_faulty)),
        Case::new("stage freed before its product is done", Kind::AsyncRace, |b| ring(b, freed_faulty)),
        Case::new("product of part of a warp", Kind::WarpMask, part),
        Case::new("product after half of the warp has left", Kind::WarpExited, half_warp),
        Case::new("matrices stored and loaded without a barrier", Kind::Race, stores),
        Case::new("rows of a matrix in the middle of 16 bytes", Kind::Misaligned, rows),
    ],
};

const BLOCK: u32 = 128;
/// A is 64 × 16 and B is 16 × 8, with rows of 32 bytes along k.
const A: Layout = Layout { swizzle: Swizzle::B32, mn_major: false, bytes: 2, extent: 64, depth: 16 };
const B: Layout = Layout { extent: 8, ..A };

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

/// Starts the product; waits until at most `PENDING` are under way.
#[track_caller]
fn start<const PENDING: u32>(operands: &Operands, d: &mut Accumulators<8>, fresh: bool) {
    let (a, b) = (A.operand(&operands.a, 0), B.operand(&operands.b, 0));
    d.multiply::<f16, 1, KMajor, KMajor, PENDING>(a, b, fresh);
}

/// Writes D.
#[track_caller]
fn write(d: &Accumulators<8>, c: MatMut<f32>) {
    for i in 0..4 {
        let (row, col) = Accumulators::<8>::position(i);
        c.set(row, col, d.get(i));
    }
}

#[kernel(block = BLOCK)]
fn product_mended(#[shared] operands: &Operands, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
    fill(operands, a, b);
    fence_proxy_async();
    sync_threads();
    let mut d = Accumulators::zeroed();
    start::<1>(operands, &mut d, true);
    d.wait::<0>();
    write(&d, c);
    sync_threads();
    fill(operands, a, b); // nobody reads any more
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
    write(&d, c); // FAULT: the first is done, and not this one
    other.wait::<0>();
}

#[kernel(block = BLOCK)]
fn left_faulty(#[shared] operands: &Operands, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
    fill(operands, a, b);
    fence_proxy_async();
    sync_threads();
    let (mut d, mut other) = (Accumulators::zeroed(), Accumulators::zeroed());
    start::<0>(operands, &mut d, true);
    write(&d, c);
    start::<1>(operands, &mut other, true); // FAULT
}

#[kernel(block = BLOCK)]
fn gone_faulty(#[shared] operands: &Operands, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
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
    // A of the warp's own rows, as `mma_sync` would have it.
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
        fence_proxy_async(); // of what the others wrote it says nothing
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
    start::<0>(operands, &mut d, true); // FAULT: not even of the fences is there an order
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
fn beyond_faulty(#[shared] operands: &Operands, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
    fill(operands, a, b);
    fence_proxy_async();
    sync_threads();
    let mut d = Accumulators::zeroed();
    let at_b = B.operand(&operands.b, 0).advance(1024);
    d.multiply::<f16, 1, KMajor, KMajor, 0>(A.operand(&operands.a, 0), at_b, true); // FAULT
    write(&d, c);
}

#[kernel(block = BLOCK)]
fn misplaced_faulty(#[shared] operands: &Operands, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
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
fn odd_faulty(#[shared] operands: &Operands, a: MatRef<f16>, b: MatRef<f16>, c: MatMut<f32>) {
    fill(operands, a, b);
    fence_proxy_async();
    sync_threads();
    let at_a = Operand::new(operands.a.slot::<8>(0), 0, 264, Swizzle::B32); // FAULT: 16 more would be seen
    let mut d = Accumulators::zeroed();
    d.multiply::<f16, 1, KMajor, KMajor, 0>(at_a, B.operand(&operands.b, 0), true);
    write(&d, c);
}

fn number(i: usize) -> f32 {
    (i * 7 % 11) as f32 - 5.0
}

fn numbers(count: usize) -> Vec<f16> {
    (0..count).map(|i| f16::from_f32(number(i))).collect()
}

/// Row-major a (64 × depth) times b, whose number (k, col) is number `place(k, col)` of its own.
fn expected(depth: usize, place: impl Fn(usize, usize) -> usize) -> Vec<f32> {
    let dot = |row: usize, col: usize| (0..depth).map(|k| number(row * depth + k) * number(place(k, col))).sum();
    (0..64).flat_map(|row| (0..8).map(move |col| (row, col))).map(|(row, col)| dot(row, col)).collect()
}

fn product(bench: &mut Bench, faulty: Product) -> bool {
    let (a, b, mut c) = (Buffer::new(&numbers(1024)), Buffer::new(&numbers(128)), Buffer::unwritten(512));
    let args = (a.matrix(64, 16), b.matrix(16, 8), c.matrix_mut(64, 8));
    bench.launch((faulty, product_mended), Grid::line(1, BLOCK), args);
    c.to_vec() == expected(16, |k, col| k * 8 + col)
}

/// TmaTensor of 128 bytes along k, two stages of them.
#[repr(C, align(1024))]
#[derive(Shared)]
struct Ring {
    a: [SharedArray<f16, 4096>; 2],
    b: [SharedArray<f16, 512>; 2],
    full: Mbarriers<2>,
    empty: Mbarriers<2>,
}

type Boxed = simt::Kernel<(TensorMap<f16>, TensorMap<f16>, MatMut<'static, f32>)>;

/// Makes the mbarriers ready.
#[track_caller]
fn begin(ring: &Ring) {
    if thread_idx_x() == 0 {
        for stage in 0..2 {
            ring.full.init(stage, 1);
            ring.empty.init(stage, 1);
        }
        fence_mbarrier_init();
    }
    sync_threads();
}

/// Starts the loads of one step.
#[track_caller]
fn fetch(ring: &Ring, stage: u32, a: &TensorMap<f16>, b: &TensorMap<f16>, step: u32) {
    ring.full.arrive_expect_tx(stage, 72 * 128);
    load_2d(ring.a[stage as usize].slot::<4096>(0), a, [64 * step as i32, 0], ring.full.at(stage));
    load_2d(ring.b[stage as usize].slot::<512>(0), b, [64 * step as i32, 0], ring.full.at(stage));
}

/// Fetches the operands, and multiplies with this descriptor of A.
#[track_caller]
fn boxed_product(
    ring: &Ring,
    (a, b): (&TensorMap<f16>, &TensorMap<f16>),
    (stride, swizzle): (u32, Swizzle),
    c: MatMut<f32>,
) {
    begin(ring);
    if thread_idx_x() == 0 {
        fetch(ring, 0, a, b, 0);
    }
    ring.full.wait(0, 0);
    let mut d = Accumulators::zeroed();
    let at_a = Operand::new(ring.a[0].slot::<8>(0), 16, stride, swizzle);
    let at_b = Operand::new(ring.b[0].slot::<8>(0), 0, 1024, Swizzle::B128);
    d.multiply::<f16, 4, KMajor, KMajor, 0>(at_a, at_b, true);
    write(&d, c);
}

#[kernel(block = BLOCK)]
fn boxed_mended(#[shared] ring: &Ring, a: &TensorMap<f16>, b: &TensorMap<f16>, c: MatMut<f32>) {
    boxed_product(ring, (a, b), (1024, Swizzle::B128), c);
}

#[kernel(block = BLOCK)]
fn swizzle_faulty(#[shared] ring: &Ring, a: &TensorMap<f16>, b: &TensorMap<f16>, c: MatMut<f32>) {
    boxed_product(ring, (a, b), (512, Swizzle::B64), c); // FAULT
}

#[kernel(block = BLOCK)]
fn stride_faulty(#[shared] ring: &Ring, a: &TensorMap<f16>, b: &TensorMap<f16>, c: MatMut<f32>) {
    boxed_product(ring, (a, b), (512, Swizzle::B128), c); // FAULT
}

#[kernel(block = BLOCK)]
fn plain_faulty(#[shared] ring: &Ring, a: &TensorMap<f16>, b: &TensorMap<f16>, c: MatMut<f32>) {
    boxed_product(ring, (a, b), (1024, Swizzle::None), c); // FAULT
}

fn boxed(bench: &mut Bench, faulty: Boxed) -> bool {
    let (a, b, mut c) = (Buffer::new(&numbers(4096)), Buffer::new(&numbers(512)), Buffer::unwritten(512));
    let boxes = (a.matrix(64, 64).tma(64, 64, Swizzle::B128), b.matrix(8, 64).tma(8, 64, Swizzle::B128));
    bench.launch((faulty, boxed_mended), Grid::line(1, BLOCK), (boxes.0, boxes.1, c.matrix_mut(64, 8)));
    c.to_vec() == expected(64, |k, col| col * 64 + k)
}

/// Steps along k of the ring.
const STEPS: u32 = 6;

/// Loads every step, each into a stage that is empty. By one thread.
#[track_caller]
fn produce(ring: &Ring, a: &TensorMap<f16>, b: &TensorMap<f16>) {
    for step in 0..STEPS {
        ring.empty.wait(step % 2, (step / 2 + 1) % 2);
        fetch(ring, step % 2, a, b, step);
    }
}

/// Multiplies one step, the product of the step before under way.
#[track_caller]
fn consume(ring: &Ring, d: &mut Accumulators<8>, step: u32) {
    ring.full.wait(step % 2, step / 2 % 2);
    let at_a = Operand::new(ring.a[step as usize % 2].slot::<8>(0), 0, 1024, Swizzle::B128);
    let at_b = Operand::new(ring.b[step as usize % 2].slot::<8>(0), 0, 1024, Swizzle::B128);
    d.multiply::<f16, 4, KMajor, KMajor, 1>(at_a, at_b, step == 0);
}

#[kernel(block = 160)]
fn freed_mended(#[shared] ring: &Ring, a: &TensorMap<f16>, b: &TensorMap<f16>, c: MatMut<f32>) {
    begin(ring);
    if thread_idx_x() >= 128 {
        if lane_id() == 0 {
            produce(ring, a, b);
        }
        return;
    }
    let mut d = Accumulators::zeroed();
    for step in 0..STEPS {
        consume(ring, &mut d, step);
        // Any thread of the warpgroup may say that the product before is done.
        if thread_idx_x() == 77 && step > 0 {
            ring.empty.arrive((step - 1) % 2);
        }
    }
    d.wait::<0>();
    write(&d, c);
}

#[kernel(block = 160)]
fn freed_faulty(#[shared] ring: &Ring, a: &TensorMap<f16>, b: &TensorMap<f16>, c: MatMut<f32>) {
    begin(ring);
    if thread_idx_x() >= 128 {
        if lane_id() == 0 {
            produce(ring, a, b); // FAULT
        }
        return;
    }
    let mut d = Accumulators::zeroed();
    for step in 0..STEPS {
        consume(ring, &mut d, step); // FAULT
        if thread_idx_x() == 77 {
            ring.empty.arrive(step % 2); // this product is under way still
        }
    }
    d.wait::<0>();
    write(&d, c);
}

fn ring(bench: &mut Bench, faulty: Boxed) -> bool {
    let depth = 64 * STEPS as usize;
    let (a, b) = (Buffer::new(&numbers(64 * depth)), Buffer::new(&numbers(8 * depth)));
    let mut c = Buffer::unwritten(512);
    let of_a = a.matrix(64, depth as u32).tma(64, 64, Swizzle::B128);
    let of_b = b.matrix(8, depth as u32).tma(8, 64, Swizzle::B128);
    bench.launch((faulty, freed_mended), Grid::line(1, 160), (of_a, of_b, c.matrix_mut(64, 8)));
    c.to_vec() == expected(depth, |k, col| col * depth + k)
}

/// A product of ones, of which each lane keeps one number.
#[kernel(block = 32)]
fn part_mended(y: VecMut<f32>) {
    let sums = mma_sync::<f16>([0x3c00_3c00; 4], [0x3c00_3c00; 2], [1.0; 4]);
    y.set(lane_id() as usize, sums[0]);
}

#[kernel(block = 32)]
fn part_faulty(y: VecMut<f32>) {
    if lane_id() < 20 {
        let sums = mma_sync::<f16>([0x3c00_3c00; 4], [0x3c00_3c00; 2], [1.0; 4]); // FAULT
        y.set(lane_id() as usize, sums[0]);
    }
    sync_threads(); // FAULT: here are the others
}

fn part(bench: &mut Bench) -> bool {
    let mut y = Buffer::zeroed(32);
    bench.launch((part_faulty, part_mended), Grid::line(1, 32), (&mut y,));
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
fn half_warp_mended(y: VecMut<f32>) {
    let sums = mma_sync::<f16>([0x3c00_3c00; 4], [0x3c00_3c00; 2], [1.0; 4]);
    if lane_id() < 16 {
        y.set(lane_id() as usize, sums[0]);
    }
}

fn half_warp(bench: &mut Bench) -> bool {
    let mut y = Buffer::zeroed(16);
    bench.launch((half_warp_faulty, half_warp_mended), Grid::line(1, 32), (&mut y,));
    y.to_vec() == [17.0; 16]
}

/// A warp stores the matrices that the other one loads.
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
fn stores_mended(#[shared] rows: &SharedTile<u16, 32, 8>, y: VecMut<u32>) {
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
    bench.launch((stores_faulty, stores_mended), Grid::line(1, 64), (&mut y,));
    y.to_vec() == (0..32).collect::<Vec<u32>>()
}

#[kernel(block = 32)]
fn rows_faulty(#[shared] words: &SharedArray<u16, 320>, y: VecMut<u32>) {
    (0..10).for_each(|i| words.set(32 * i + lane_id(), 1));
    sync_threads();
    y.set(lane_id() as usize, ldmatrix::<2, true, _, 8>(words.slot::<8>(9 * (lane_id() % 16)))[1]); // FAULT
}

#[kernel(block = 32)]
fn rows_mended(#[shared] words: &SharedArray<u16, 320>, y: VecMut<u32>) {
    (0..10).for_each(|i| words.set(32 * i + lane_id(), 1));
    sync_threads();
    y.set(lane_id() as usize, ldmatrix::<2, true, _, 8>(words.slot::<8>(16 * (lane_id() % 16)))[1]);
}

fn rows(bench: &mut Bench) -> bool {
    let mut y = Buffer::zeroed(32);
    bench.launch((rows_faulty, rows_mended), Grid::line(1, 32), (&mut y,));
    y.to_vec() == [0x0001_0001; 32]
}
