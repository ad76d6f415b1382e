//! The steps for Hopper: C = A·B of `bf16` on tensor cores.

use gpu::lab::tutorial_sm90::{self as kernels, BOX_A, BOX_B, grid};
use ndarray::Array2;
use proptest::prelude::*;
use rand::Rng;
use simt::Kernel;
use simt::global::MatMut;
use simt::tma::{Swizzle, TensorMap};
use warpwright::half::bf16;
use warpwright::simulator::{Access, Config, Level};
use warpwright::{Device, Launch, Layout, MatrixView, MatrixViewMut, Result};

use crate::support::device::{counterpart, under_test};
use crate::support::runner::{check, check_within};
use crate::support::{suite, values};

suite! {
    [
        integers_are_exact,
        tile_edges_are_exact,
        reals_stay_within_the_bound,
        a_non_finite_element_reaches_its_row_or_column,
    ];
    mma => MMA;
    tma => TMA;
    wgmma => WGMMA;
    pipelined => PIPELINED;
    consumers => CONSUMERS;
    persistent => PERSISTENT;
    overlapped => OVERLAPPED;
}

/// A kernel, how to launch it in `blocks` blocks where their number is free, and the width of its tiles.
#[derive(Clone, Copy)]
struct Variant {
    name: &'static str,
    launch: fn(&Device, Operands<'_>, u32) -> Result<()>,
    cols: usize,
}

/// A, B and C.
type Operands<'a> = (MatrixView<'a, bf16>, MatrixView<'a, bf16>, MatrixViewMut<'a, bf16>);

/// The kernels that store C from registers.
type Product = Kernel<(TensorMap<'static, bf16>, TensorMap<'static, bf16>, u32, MatMut<'static, bf16>)>;

fn by_tma(kernel: &Product, launch: Launch<'_>, device: &Device, (a, b, c): Operands<'_>) -> Result<()> {
    let depth = a.cols() as u32;
    let maps = (a.tma(BOX_A[0], BOX_A[1], Swizzle::B128)?, b.tma(BOX_B[0], BOX_B[1], Swizzle::B128)?);
    device.launch(kernel, launch, (maps.0, maps.1, depth, c))?;
    Ok(())
}

macro_rules! one_block_a_tile {
    ($($variant:ident $module:ident $kernel:ident;)+) => {$(
        const $variant: Variant = Variant {
            name: stringify!($kernel),
            launch: |device, (a, b, c), _| {
                let launch = Launch::grid(grid(c.rows() as u32, c.cols() as u32, kernels::$module::COLS));
                by_tma(&kernels::$module::$kernel, launch, device, (a, b, c))
            },
            cols: kernels::$module::COLS as usize,
        };
    )+};
}
one_block_a_tile! {
    TMA tma matmul_tma;
    WGMMA wgmma matmul_wgmma;
    PIPELINED pipelined matmul_pipelined;
    CONSUMERS consumers matmul_consumers;
}
const MMA: Variant = Variant {
    name: "matmul_mma",
    launch: |device, (a, b, c), _| {
        let launch = Launch::grid(grid(c.rows() as u32, c.cols() as u32, kernels::mma::COLS));
        device.launch(&kernels::mma::matmul_mma, launch, (a, b, c)).map(drop)
    },
    cols: kernels::mma::COLS as usize,
};
const PERSISTENT: Variant = Variant {
    name: "matmul_persistent",
    launch: |device, (a, b, c), blocks| {
        by_tma(&kernels::persistent::matmul_persistent, Launch::grid(blocks), device, (a, b, c))
    },
    cols: kernels::consumers::COLS as usize,
};
const OVERLAPPED: Variant = Variant {
    name: "matmul_overlapped",
    launch: |device, (a, b, c), blocks| {
        let extents = [c.rows(), c.cols(), a.cols()].map(|extent| extent as u32);
        let maps = (a.tma(BOX_A[0], BOX_A[1], Swizzle::B128)?, b.tma(BOX_B[0], BOX_B[1], Swizzle::B128)?);
        let box_c = kernels::overlapped::BOX_C;
        let c = c.tma(box_c[0], box_c[1], Swizzle::B128)?;
        device
            .launch(&kernels::overlapped::matmul_overlapped, Launch::grid(blocks), (maps.0, maps.1, c, extents))
            .map(drop)
    },
    cols: kernels::consumers::COLS as usize,
};

/// Extents, elements between the rows of every matrix, blocks where their number is free, and what chooses the data and
/// the simulator's schedule.
#[derive(Clone, Debug)]
struct Case {
    extents: [usize; 3],
    gap: usize,
    blocks: u32,
    seed: u64,
}

/// A NaN around the matrices and in C before the launch.
const CANARY: bf16 = bf16::from_bits(0x7fd5);

/// Rows at multiples of 16 bytes; `gap` canaries lie between them.
fn framed(x: &Array2<f32>, gap: usize) -> Vec<bf16> {
    let rows = x.rows().into_iter();
    rows.flat_map(|row| row.to_vec().into_iter().map(bf16::from_f32).chain(vec![CANARY; gap])).collect()
}

impl Case {
    fn operands(&self, mut element: impl FnMut(&mut rand::rngs::StdRng) -> f32) -> [Array2<f32>; 2] {
        let ([m, n, k], mut rng) = (self.extents, values::rng(self.seed));
        [(m, k), (k, n)].map(|extents| Array2::from_shape_simple_fn(extents, || element(&mut rng)))
    }

    fn integers(&self) -> [Array2<f32>; 2] {
        self.operands(|rng| rng.random_range(-8..=8) as f32)
    }

    /// C with the canaries between its rows.
    fn run(&self, variant: Variant, device: &Device, [a, b]: &[Array2<f32>; 2]) -> Result<Vec<bf16>> {
        let ([m, n, k], gap) = (self.extents, self.gap);
        let [a, b] = [framed(a, gap), framed(b, gap)];
        let (a, b) = (device.upload(&a)?, device.upload(&b)?);
        let mut c = device.upload(&vec![CANARY; m * (n + gap)])?;
        let view = |rows, cols| Layout::contiguous(rows, cols).ld(cols + gap);
        let of_c = c.view_mut().as_matrix(view(m, n))?;
        let (a, b) = (a.view().as_matrix(view(m, k))?, b.view().as_matrix(view(k, n))?);
        (variant.launch)(device, (a, b, of_c), self.blocks)?;
        c.download()
    }

    /// Runs the kernel, on the device under test and on another one, and compares all of C by `judge`: of row, column
    /// and result it gives the error over its bound.
    fn verify(
        &self,
        variant: Variant,
        operands: &[Array2<f32>; 2],
        judge: impl Fn(usize, usize, bf16) -> f64,
    ) -> std::result::Result<f64, String> {
        let device = under_test(self.seed);
        if device.compute_capability().is_some_and(|capability| capability < (9, 0)) {
            return Ok(0.5);
        }
        let run = |device: &Device| self.run(variant, device, operands).map_err(|error| error.to_string());
        let (c, width) = (run(&device)?, self.extents[1] + self.gap);
        let mut worst = 0.0_f64;
        for (at, &got) in c.iter().enumerate() {
            let (row, col) = (at / width, at % width);
            if col >= self.extents[1] {
                if got.to_bits() != CANARY.to_bits() {
                    return Err(format!("row {row} is written {} elements behind its end", col - self.extents[1]));
                }
                continue;
            }
            let error = judge(row, col, got);
            if error.is_nan() || error > 1.0 {
                return Err(format!("({row}, {col}) is {got}, {error} of its bound off"));
            }
            worst = worst.max(error);
        }
        if device.is_simulator() {
            let bits = |c: &[bf16]| c.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            if bits(&c) != bits(&run(&counterpart(self.seed))?) {
                return Err("another schedule gives other bits".into());
            }
        }
        Ok(worst)
    }
}

/// 0 for the same bits or two NaNs, else infinity.
fn is(expected: f32, got: bf16) -> f64 {
    let expected = bf16::from_f32(expected);
    let is_equal = expected.to_bits() == got.to_bits() || expected.is_nan() && got.is_nan();
    if is_equal { 0.0 } else { f64::INFINITY }
}

/// Few enough that the simulator's tensor cores take seconds; C and B are up to two tiles wide, k five stages deep.
fn any_case(variant: Variant) -> impl Strategy<Value = Case> {
    let extents = (1..=160_usize, 1..=variant.cols / 5, prop_oneof![3 => 1..=20_usize, 1 => 36..=42_usize]);
    let extents = extents.prop_map(|(m, n, k)| [m, 8 * n, 8 * k]);
    (extents, 0..=2_usize, 1..=3_u32, any::<u64>()).prop_map(|(extents, gap, blocks, seed)| Case {
        extents,
        gap: 8 * gap,
        blocks,
        seed,
    })
}

fn integers_are_exact(variant: Variant) {
    check(any_case(variant), |case| {
        let operands = case.integers();
        let product = operands[0].dot(&operands[1]);
        case.verify(variant, &operands, |row, col, got| is(product[(row, col)], got))
    });
}

/// One below, at and above the edges of tiles and stages.
fn tile_edges_are_exact(variant: Variant) {
    let mut depths = [8, 64, 72, 192, 200, 256, 264, 328].into_iter().cycle();
    for m in [1, 63, 64, 65, 127, 128, 129] {
        for n in [8, variant.cols - 8, variant.cols, variant.cols + 8] {
            let k = depths.next().unwrap_or(8);
            let case = Case { extents: [m, n, k], gap: (m % 2) * 8, blocks: 1 + (m % 3) as u32, seed: n as u64 };
            let operands = case.integers();
            let product = operands[0].dot(&operands[1]);
            let verdict = case.verify(variant, &operands, |row, col, got| is(product[(row, col)], got));
            verdict.unwrap_or_else(|error| panic!("{}: {error}\n{case:?}", variant.name));
        }
    }
}

/// Products are exact; each of k additions in `f32` may cut one unit in the last place off, of at most Σ|a·b|, and the
/// sum is rounded to `bf16` once, by at most 2⁻⁸ of it.
fn reals_stay_within_the_bound(variant: Variant) {
    check_within(variant.name, any_case(variant), |case| {
        let operands = case.operands(|rng| bf16::from_f32(rng.random_range(-1.0..=1.0)).to_f32());
        let [a, b] = [&operands[0], &operands[1]].map(|x| x.mapv(f64::from));
        let (exact, sums) = (a.dot(&b), a.mapv(f64::abs).dot(&b.mapv(f64::abs)));
        let gamma = case.extents[2] as f64 * f64::from(f32::EPSILON);
        case.verify(variant, &operands, |row, col, got| {
            let (exact, sum) = (exact[(row, col)], sums[(row, col)] * gamma);
            let bound = sum + (exact.abs() + sum) * 2.0_f64.powi(-8) + f64::from(bf16::MIN_POSITIVE_SUBNORMAL);
            (got.to_f64() - exact).abs() / bound
        })
    });
}

/// A NaN or infinity in A reaches its row of C, in B its column, and nothing else.
fn a_non_finite_element_reaches_its_row_or_column(variant: Variant) {
    for (i, value) in values::NON_FINITE.into_iter().enumerate() {
        let case = Case { extents: [130, variant.cols + 16, 72], gap: 8, blocks: 2, seed: i as u64 };
        // No zeros: products with infinity are infinite.
        let numbers = |rng: &mut rand::rngs::StdRng| (rng.random_range(1..=8) * [-1, 1][rng.random_range(0..2)]) as f32;
        for in_a in [true, false] {
            let mut operands = case.operands(numbers);
            let place = if in_a { (129 - i, 70) } else { (70, variant.cols + 15 - i) };
            operands[usize::from(!in_a)][place] = value;
            let product = operands[0].dot(&operands[1]);
            let verdict = case.verify(variant, &operands, |row, col, got| is(product[(row, col)], got));
            verdict.unwrap_or_else(|error| {
                panic!("{}: {value} in {}: {error}", variant.name, ["B", "A"][usize::from(in_a)])
            });
        }
    }
}

/// TMA's requests, vectors of 16 bytes and sectors: those of the boxes' parts inside the matrices. A profiler counts
/// the same stores (of loads it counts whole boxes).
#[test]
fn boxes_are_counted() {
    let ([m, n, k], gap, tile) = ([130, 272, 72], 8, [128, 256]);
    let device = Device::simulator_with(Config::new(Level::Counters));
    let case = Case { extents: [m, n, k], gap, blocks: 2, seed: 1 };
    case.run(OVERLAPPED, &device, &case.integers()).unwrap();
    let counters = device.take_counters().unwrap();
    // Of a matrix of `extents`, of which boxes of so many rows and columns cover `covered`, `times` times.
    let count = |extents: [usize; 2], covered: [usize; 2], edges: [usize; 2], times: u64| {
        let mut counts = [0_u64; 3];
        for row in (0..covered[0]).step_by(edges[0]) {
            for col in (0..covered[1]).step_by(edges[1]) {
                counts[0] += 1;
                for row in row..(row + edges[0]).min(extents[0]) {
                    let byte = |col: usize| 2 * (row * (extents[1] + gap) + col.min(extents[1]));
                    let (start, end) = (byte(col), byte(col + edges[1]));
                    counts[1] += ((end - start) / 16) as u64;
                    counts[2] += if end > start { ((end - 1) / 32 - start / 32 + 1) as u64 } else { 0 };
                }
            }
        }
        counts.map(|count| count * times)
    };
    let [rows, cols] = [m.next_multiple_of(tile[0]), n.next_multiple_of(tile[1])];
    let deep = k.next_multiple_of(64);
    let loads = [
        count([m, k], [rows, deep], [128, 64], (cols / tile[1]) as u64),
        count([k, n], [deep, cols], [64, 64], (rows / tile[0]) as u64),
    ];
    let loads: [u64; 3] = std::array::from_fn(|i| loads[0][i] + loads[1][i]);
    let of = |access| {
        let total = counters.total(access);
        ([total.requests, total.lanes, total.sectors], counters.bytes(access))
    };
    assert_eq!(of(Access::TensorLoad), (loads, 16 * loads[1]));
    let stores = count([m, n], [rows, cols], [64, 64], 1);
    assert_eq!(of(Access::TensorStore), (stores, (m * n * 2) as u64));
    // Counted by Nsight Compute on an H200.
    assert_eq!((loads[0], stores[0], stores[2]), (40, 32, 2535));
}
