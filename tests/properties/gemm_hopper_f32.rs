//! The kernels for `f32` by multiply-adds that the copy engine feeds: every sum has the bits of a chain in order of k, whatever
//! the tile, the depth and the number of blocks. On the simulator they run as they are, copy engine and mbarriers with all checks.

use gpu::gemm::naive::{self, matmul_naive};
use gpu::hopper::Boxed;
use gpu::hopper::ffma::{KERNELS, gemm_hopper_f32_tn_64x32, gemm_hopper_f32_tn_64x64, gemm_hopper_f32_tn_128x128};
use ndarray::Array2;
use rand::Rng;
use simt::tma::Swizzle;
use warpwright::gemm::Way;
use warpwright::oracle::same_bits;
use warpwright::simulator::{Access, Config, Counters, Level};
use warpwright::{Boxes, Buffer, Device, Launch};

use crate::support::device::under_test;
use crate::support::values;

/// Kernels with their tiles and steps along k.
const PRODUCTS: [(&Boxed<f32>, [usize; 2], usize); 3] = [
    (&gemm_hopper_f32_tn_128x128, [128, 128], 32),
    (&gemm_hopper_f32_tn_64x64, [64, 64], 32),
    (&gemm_hopper_f32_tn_64x32, [64, 32], 64),
];

fn reals(rows: usize, cols: usize, factor: f32, rng: &mut impl Rng) -> Array2<f32> {
    Array2::from_shape_fn((rows, cols), |_| rng.random_range(-1.0..=1.0_f32) * factor)
}

#[test]
fn all_of_them_are_tested() {
    assert_eq!(KERNELS.len(), PRODUCTS.len());
}

/// Depths at the edges of a step and of the ring, tiles cut off on every side. Products so small that a sum can be −0 would show
/// zeros added beyond k.
#[test]
fn sums_have_the_bits_of_matmul_naive() {
    let device = under_test(3);
    for (kernel, [rows, cols], depth) in PRODUCTS {
        let extents = [
            (rows, cols, depth),
            (rows - 1, cols + 4, depth - 1),
            (rows + 1, cols, depth + 1),
            (5, 8, 2),
            (68, 12, 4 * depth + 3),
            (rows, 4, 9 * depth),
        ];
        for (m, n, k) in extents {
            for power in [0, -76] {
                let mut rng = values::rng(m as u64 * 31 + k as u64);
                // Rows of A's transpose are aligned whatever m is.
                let wide = reals(k, m.next_multiple_of(4), 2_f32.powi(power), &mut rng);
                let a = Array2::from_shape_fn((m, k), |(row, step)| wide[[step, row]]);
                let b = reals(k, n, 2_f32.powi(power), &mut rng);
                let (on_a, on_b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
                let mut naive = device.alloc_matrix::<f32>(m, n).unwrap();
                let grid = naive::grid(m as u32, n as u32);
                device.launch(&matmul_naive, Launch::grid(grid), (&on_a, &on_b, &mut naive)).unwrap();
                let turned = device.upload(&wide).unwrap();
                let turned = turned.view().block(0..k, 0..m).unwrap();
                let mut c = device.alloc_matrix::<f32>(m, n).unwrap();
                let gemm = device.gemm(turned, &on_b).transpose_a().way(Way::of(kernel.info()));
                gemm.into(&mut c).unwrap();
                let (naive, c) = (naive.download().unwrap(), c.download().unwrap());
                let (naive, c) = (naive.as_slice().unwrap(), c.as_slice().unwrap());
                let what = format!("{}, m {m}, n {n}, k {k}, times 2^{power}", kernel.info().name);
                same_bits(naive, c).unwrap_or_else(|error| panic!("{what}: {error}"));
            }
        }
    }
}

/// Boxes of a matrix, its rows one after the other.
fn boxes(of: &Buffer<f32>, [lines, line]: [usize; 2], [depth, edge]: [usize; 2]) -> Boxes<'_, f32> {
    let tensor = of.view().as_tensor(&[1, lines, line]).unwrap();
    tensor.boxes(&[1, depth as u32, edge as u32], Swizzle::None).unwrap()
}

/// One launch of small integers, C row by row without gaps.
struct Run {
    device: Device,
    a: Buffer<f32>,
    b: Buffer<f32>,
    c: Buffer<f32>,
}

impl Run {
    fn new(device: Device, [m, n, k]: [usize; 3]) -> Self {
        let mut rng = values::rng(11);
        let mut integers = |count| (0..count).map(|_| rng.random_range(-9..=9) as f32).collect::<Vec<_>>();
        let (a, b) = (device.upload(&integers(k * m)).unwrap(), device.upload(&integers(k * n)).unwrap());
        let c = device.upload(&vec![f32::NAN; m * n]).unwrap();
        Self { device, a, b, c }
    }

    /// By so many blocks.
    fn launch(&mut self, number: usize, [m, n, k]: [usize; 3], blocks: u32) -> Option<Counters> {
        let (kernel, [rows, cols], depth) = PRODUCTS[number];
        let (mut spare, mut wide) = (self.device.alloc::<f32>(64).unwrap(), self.device.alloc::<f32>(0).unwrap());
        let stored = spare.view_mut().as_tensor(&[1, 1, 64]).unwrap().boxes(&[1, 1, 64], Swizzle::None).unwrap();
        let bias = self.device.alloc::<f32>(0).unwrap();
        let extents = [m as u32, n as u32, k as u32, 1];
        let operands = (boxes(&self.a, [k, m], [depth, rows]), boxes(&self.b, [k, n], [depth, cols]));
        let arguments = (
            operands.0,
            operands.1,
            stored,
            &mut self.c,
            &mut wide,
            &bias,
            extents,
            [0, 0],
            [n as u64, 0],
            [1.0, 0.0],
            0,
        );
        self.device.launch(kernel, Launch::grid(blocks), arguments).unwrap().counters
    }
}

/// Fewer blocks than tiles: each goes from tile to tile, through the ring's memory, where C was put together.
#[test]
fn blocks_walk_through_all_tiles() {
    for (number, (_, [rows, cols], depth)) in PRODUCTS.into_iter().enumerate() {
        let extents @ [m, n, k] = [2 * rows + 4, cols + 4, 2 * depth + 1];
        for blocks in [1, 4] {
            let mut run = Run::new(under_test(u64::from(blocks)), extents);
            run.launch(number, extents, blocks);
            let [a, b, c] = [&run.a, &run.b, &run.c].map(|buffer| buffer.download().unwrap());
            for (row, col) in (0..m).flat_map(|row| (0..n).map(move |col| (row, col))) {
                let sum: f32 = (0..k).map(|step| a[step * m + row] * b[step * n + col]).sum();
                assert_eq!(c[row * n + col], sum, "{blocks} blocks, row {row}, column {col}");
            }
        }
    }
}

/// Four steps more: no bank conflicts. What is done once per block is the same for both depths.
#[test]
fn steps_are_free_of_conflicts() {
    for (number, (kernel, [rows, cols], depth)) in PRODUCTS.into_iter().enumerate() {
        let counters = [4, 8].map(|steps| {
            let extents = [rows, cols, steps * depth];
            let device = Device::simulator_with(Config::new(Level::Counters));
            Run::new(device, extents).launch(number, extents, 1).expect("counted")
        });
        let more = |count: fn(&Counters) -> u64| count(&counters[1]) - count(&counters[0]);
        let requests = more(|counters| counters.total(Access::SharedLoad).requests);
        assert!(requests > 0, "{}", kernel.info().name);
        assert_eq!(
            more(|counters| counters.total(Access::SharedLoad).wavefronts),
            2 * requests,
            "{}",
            kernel.info().name
        );
    }
}
