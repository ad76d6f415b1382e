//! Tensor-core products compared with a simple loop: every swizzle, major order, kind and width, operands anywhere in
//! shared memory, several products under way, NaN and infinity. Integers are small enough that every sum is exact.

use crate::{schedules, silent};
use gpu::lab::instructions_sm90::wgmma_layout::Layout;
use simt::element::Element;
use simt::matrix::{Kind, Tf32, ldmatrix};
use simt::prelude::*;
use simt::sync::fence_proxy_async;
use simt::warp::lane_id;
use simt::wgmma::{Accumulators, Columns, KMajor, Major, MnMajor, Swizzle, Width};
use simulator::{Access, Config, Level};
use warpwright::half::{bf16, f16};
use warpwright_tests::sim::{Buffer, Grid, launch};

const BLOCK: u32 = 128;

/// Room for every operand here, wherever it starts.
#[repr(C, align(1024))]
#[derive(Shared)]
struct Operands<T: Element, const N: usize> {
    a: SharedArray<T, N>,
    b: SharedArray<T, N>,
}

/// Where an operand starts: without a swizzle anywhere, with one where its pattern starts.
const fn start(layout: Layout) -> u32 {
    match layout.swizzle {
        Swizzle::None => 48,
        Swizzle::B32 => 256,
        Swizzle::B64 => 512 * 3,
        Swizzle::B128 => 1024,
    }
}

fn write<const COLS: usize>(d: &Accumulators<COLS>, c: MatMut<f32>)
where
    Columns<COLS>: Width,
{
    d.for_each(|i, value| {
        let (row, col) = Accumulators::<COLS>::position(i);
        c.set(row, col, value);
    });
}

macro_rules! products {
    ($($name:ident: $kind:ty, $t:ty, $cols:literal, $steps:literal, $a:ident $major_a:ident, $b:ident $major_b:ident;)+) => {
        $(
            #[kernel(block = BLOCK)]
            fn $name(#[shared] operands: &Operands<$t, 20480>, a: MatRef<$t>, b: MatRef<$t>, c: MatMut<f32>) {
                const DEPTH: u32 = $steps * <$kind as Kind>::DEPTH;
                const BYTES: u32 = <$kind as Kind>::BYTES;
                const A: Layout =
                    Layout { swizzle: Swizzle::$a, mn_major: <$major_a as Major>::IS_MN, bytes: BYTES, extent: 64, depth: DEPTH };
                const B: Layout =
                    Layout { swizzle: Swizzle::$b, mn_major: <$major_b as Major>::IS_MN, bytes: BYTES, extent: $cols, depth: DEPTH };
                let threads = (thread_idx_x(), BLOCK);
                A.write(&operands.a, start(A), threads, |m, k| a.get(m, k));
                B.write(&operands.b, start(B), threads, |n, k| b.get(k, n));
                fence_proxy_async();
                sync_threads();
                let (at_a, at_b) = (A.operand(&operands.a, start(A)), B.operand(&operands.b, start(B)));
                let mut d = Accumulators::<$cols>::zeroed();
                d.multiply::<$kind, $steps, $major_a<{ A.step() }>, $major_b<{ B.step() }>, 0>(at_a, at_b, true);
                write(&d, c);
            }
        )+

        #[test]
        fn products_equal_those_of_a_simple_loop() {
            $(check::<$t>(stringify!($name), $name, $cols, $steps * <$kind as Kind>::DEPTH as usize);)+
        }
    };
}

products! {
    none_kk: f16, f16, 8, 4, None KMajor, None KMajor;
    none_km: f16, f16, 16, 2, None KMajor, None MnMajor;
    none_mk: f16, f16, 32, 1, None MnMajor, None KMajor;
    none_mm: f16, f16, 64, 4, None MnMajor, None MnMajor;
    b32_kk: f16, f16, 96, 1, B32 KMajor, B32 KMajor;
    b32_km: f16, f16, 128, 1, B32 KMajor, B32 MnMajor;
    b32_mk: f16, f16, 192, 1, B32 MnMajor, B32 KMajor;
    b32_mm: f16, f16, 256, 4, B32 MnMajor, B32 MnMajor;
    b64_kk: bf16, bf16, 256, 2, B64 KMajor, B64 KMajor;
    b64_km: bf16, bf16, 192, 2, B64 KMajor, B64 MnMajor;
    b64_mk: bf16, bf16, 128, 2, B64 MnMajor, B64 KMajor;
    b64_mm: bf16, bf16, 96, 4, B64 MnMajor, B64 MnMajor;
    b128_kk: bf16, bf16, 64, 4, B128 KMajor, B128 KMajor;
    b128_km: bf16, bf16, 64, 4, B128 KMajor, B128 MnMajor;
    b128_mk: bf16, bf16, 16, 4, B128 MnMajor, B128 KMajor;
    b128_mm: bf16, bf16, 128, 4, B128 MnMajor, B128 MnMajor;
    mixed_1: f16, f16, 8, 1, B128 KMajor, B32 KMajor;
    mixed_2: f16, f16, 32, 2, None KMajor, B64 MnMajor;
    mixed_3: f16, f16, 64, 2, B128 MnMajor, None KMajor;
    tf32_none: Tf32, f32, 8, 4, None KMajor, None KMajor;
    tf32_b32: Tf32, f32, 96, 1, B32 KMajor, B32 KMajor;
    tf32_b64: Tf32, f32, 192, 2, B64 KMajor, B64 KMajor;
    tf32_b128: Tf32, f32, 256, 4, B128 KMajor, B128 KMajor;
}

type Product<T> = simt::Kernel<(MatRef<'static, T>, MatRef<'static, T>, MatMut<'static, f32>)>;

/// Number i of a matrix: from -7 to 7, all rows and columns different.
fn integer(i: usize) -> i32 {
    (i.wrapping_mul(0x9e37_79b9) >> 7) as i32 % 15 - 7
}

trait Number: Element {
    fn of(value: f32) -> Self;
}
impl Number for f16 {
    fn of(value: f32) -> Self {
        Self::from_f32(value)
    }
}
impl Number for bf16 {
    fn of(value: f32) -> Self {
        Self::from_f32(value)
    }
}
impl Number for f32 {
    fn of(value: f32) -> Self {
        value
    }
}

fn check<T: Number>(name: &str, kernel: Product<T>, cols: usize, depth: usize) {
    let (a, b): (Vec<i32>, Vec<i32>) =
        ((0..64 * depth).map(integer).collect(), (0..depth * cols).map(|i| integer(i + 5000)).collect());
    let numbers = |x: &[i32]| Buffer::new(&x.iter().map(|&x| T::of(x as f32)).collect::<Vec<_>>());
    let (of_a, of_b, mut c) = (numbers(&a), numbers(&b), Buffer::unwritten(64 * cols));
    for config in schedules(3) {
        let (rows, k) = (64, depth as u32);
        let args = (of_a.matrix(rows, k), of_b.matrix(k, cols as u32), c.matrix_mut(rows, cols as u32));
        silent(&launch(&config, kernel, Grid::line(1, BLOCK), args).unwrap(), &config);
        for (i, got) in c.to_vec().into_iter().enumerate() {
            let (row, col) = (i / cols, i % cols);
            let sum: i32 = (0..depth).map(|k| a[row * depth + k] * b[k * cols + col]).sum();
            assert_eq!(got, sum as f32, "{name}: ({row}, {col}), {config:?}");
        }
    }
}

/// A NaN in row 20 of A and an infinity in column 5 of B reach that row and that column and nothing else.
#[test]
fn nan_and_infinity_stay_in_their_row_and_column() {
    let (mut a, mut b) = (vec![bf16::ONE; 64 * 64], vec![bf16::ONE; 64 * 64]);
    a[20 * 64 + 33] = bf16::NAN;
    b[17 * 64 + 5] = bf16::INFINITY;
    let (a, b, mut c) = (Buffer::new(&a), Buffer::new(&b), Buffer::unwritten(64 * 64));
    let config = Config::new(Level::Checks);
    let args = (a.matrix(64, 64), b.matrix(64, 64), c.matrix_mut(64, 64));
    silent(&launch(&config, b128_km, Grid::line(1, BLOCK), args).unwrap(), &config);
    for (i, got) in c.to_vec().into_iter().enumerate() {
        match (i / 64, i % 64) {
            (20, _) => assert!(got.is_nan(), "row 20, column {}: {got}", i % 64),
            (row, 5) => assert_eq!(got, f32::INFINITY, "row {row}"),
            (row, col) => assert_eq!(got, 64.0, "({row}, {col})"),
        }
    }
}

const FEW: Layout = Layout { swizzle: Swizzle::B32, mn_major: false, bytes: 2, extent: 64, depth: 16 };
const FEW_B: Layout = Layout { extent: 8, ..FEW };

/// Two interleaved sums of `turns` products each; each product starts while two others are under way. `c` gets both.
#[kernel(block = BLOCK)]
fn interleaved(#[shared] operands: &Operands<f16, 2048>, a: MatRef<f16>, b: MatRef<f16>, turns: u32, c: MatMut<f32>) {
    let threads = (thread_idx_x(), BLOCK);
    FEW.write(&operands.a, 0, threads, |m, k| a.get(m, k));
    FEW_B.write(&operands.b, 0, threads, |n, k| b.get(k, n));
    FEW_B.write(&operands.b, 256, threads, |n, k| b.get(k, n + 8));
    fence_proxy_async();
    sync_threads();
    let (at_a, left, right) =
        (FEW.operand(&operands.a, 0), FEW_B.operand(&operands.b, 0), FEW_B.operand(&operands.b, 256));
    let (mut first, mut second) = (Accumulators::<8>::zeroed(), Accumulators::<8>::zeroed());
    for turn in 0..turns {
        first.multiply::<f16, 1, KMajor, KMajor, 2>(at_a, left, turn == 0);
        second.multiply::<f16, 1, KMajor, KMajor, 2>(at_a, right, turn == 0);
    }
    first.wait::<1>();
    first.for_each(|i, value| {
        let (row, col) = Accumulators::<8>::position(i);
        c.set(row, col, value);
    });
    second.wait::<0>();
    second.for_each(|i, value| {
        let (row, col) = Accumulators::<8>::position(i);
        c.set(row, 8 + col, value);
    });
}

#[test]
fn products_under_way_keep_their_order() {
    let (a, b): (Vec<i32>, Vec<i32>) = ((0..1024).map(integer).collect(), (7..263).map(integer).collect());
    let numbers = |x: &[i32]| Buffer::new(&x.iter().map(|&x| f16::from_f32(x as f32)).collect::<Vec<_>>());
    let (of_a, of_b, mut c) = (numbers(&a), numbers(&b), Buffer::unwritten(64 * 16));
    for turns in [1, 2, 7] {
        for config in schedules(20) {
            let args = (of_a.matrix(64, 16), of_b.matrix(16, 16), turns, c.matrix_mut(64, 16));
            silent(&launch(&config, interleaved, Grid::line(1, BLOCK), args).unwrap(), &config);
            for (i, got) in c.to_vec().into_iter().enumerate() {
                let (row, col) = (i / 16, i % 16);
                let sum: i32 = (0..16).map(|k| a[row * 16 + k] * b[k * 16 + col]).sum();
                assert_eq!(got, (turns as i32 * sum) as f32, "({row}, {col}) after {turns} turns, {config:?}");
            }
        }
    }
}

/// `ldmatrix` of rows that are packed, and of rows 128 bytes apart.
#[kernel(block = 32)]
fn conflicts(#[shared] rows: &SharedTile<u16, 32, 64>, y: VecMut<u32>) {
    let lane = lane_id();
    for col in 0..64 {
        rows.set(lane, col, 1);
    }
    sync_threads();
    let packed = ldmatrix::<4, false, _, 8>(rows.slot::<8>(lane / 8, lane % 8 * 8));
    let column = ldmatrix::<4, false, _, 8>(rows.slot::<8>(lane, 0));
    let one = ldmatrix::<1, false, _, 8>(rows.slot::<8>(lane, 0));
    y.set(lane as usize, packed[0] + column[0] + one[0]);
}

#[test]
fn rows_of_a_matrix_are_served_eight_at_a_time() {
    let (mut y, config) = (Buffer::unwritten(32), Config::new(Level::Counters));
    let outcome = launch(&config, conflicts, Grid::line(1, 32), (&mut y,)).unwrap();
    silent(&outcome, &config);
    assert_eq!(y.to_vec(), [0x0003_0003; 32]);
    let counters = outcome.counters.expect("counted");
    let loads = counters.sites.iter().filter(|((_, access, bytes), _)| (*access, *bytes) == (Access::SharedLoad, 16));
    let found: Vec<_> = loads.map(|(_, counts)| (counts.requests, counts.lanes, counts.wavefronts)).collect();
    assert_eq!(found, [(1, 32, 4), (1, 32, 32), (1, 8, 8)], "requests, rows and wavefronts of the three loads");
}
