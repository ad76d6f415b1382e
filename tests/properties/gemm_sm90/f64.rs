//! The kernels for `f64` fed by TMA: every sum has the bits of a chain of fused multiply-adds in order of k, whatever
//! the tile and the number of blocks. On the simulator they run as they are, TMA and mbarriers with all checks.

use gpu::gemm::configs::{MmaF64Config, MmaF64Kernel};
use gpu::gemm::sm90::f64::F64;
use ndarray::Array2;
use rand::Rng;
use warpwright::Device;
use warpwright::gemm::{Algorithm, Op};
use warpwright::simulator::{Access, Config, Counters, Level};

use crate::support::device::under_test;
use crate::support::values;

/// Elements of k in a step.
const DEPTH: usize = MmaF64Config::DEPTH as usize;

/// A product of op(A), m × k, and op(B), k × n, in the layout of a kernel, rows at multiples of 16 bytes.
struct Product {
    extents: [usize; 3],
    a: Array2<f64>,
    b: Array2<f64>,
}

/// Where a product is computed.
#[derive(Clone, Copy)]
enum On {
    AllSms,
    Sms(u32),
    /// Tiles are shared by so many blocks.
    SharedTiles(u32),
}

impl Product {
    fn new(extents @ [m, n, k]: [usize; 3], mut value: impl FnMut() -> f64) -> Self {
        let mut matrix = |shape| Array2::from_shape_simple_fn(shape, &mut value);
        Self { extents, a: matrix((m, k)), b: matrix((k, n)) }
    }

    /// Chains in order of k, from +0.
    fn expected(&self) -> Vec<f64> {
        let [m, n, k] = self.extents;
        let sum = |row, col| (0..k).fold(0.0_f64, |sum, i| self.a[[row, i]].mul_add(self.b[[i, col]], sum));
        (0..m * n).map(|i| sum(i / n, i % n)).collect()
    }

    /// By a kernel; C between NaNs, which nobody may touch.
    fn run(&self, device: &Device, kernel: &MmaF64Kernel, on: On) -> Vec<f64> {
        let [m, n, _] = self.extents;
        let upload = |matrix: &Array2<f64>, transposed: bool| {
            let matrix = if transposed { matrix.t() } else { matrix.view() };
            let (rows, cols) = matrix.dim();
            let ld = cols.next_multiple_of(2) + 2;
            let stored: Vec<f64> =
                (0..rows * ld).map(|i| if i % ld < cols { matrix[[i / ld, i % ld]] } else { f64::NAN }).collect();
            (device.upload(&stored).unwrap(), [rows, cols], [ld, 1])
        };
        let [ta, tb] = kernel.layout.transposed();
        let ((a, shape_a, strides_a), (b, shape_b, strides_b)) = (upload(&self.a, ta), upload(&self.b, tb));
        let extent = |[rows, cols]: [usize; 2], [ld, _]: [usize; 2]| (rows - 1) * ld + cols;
        let a = a.slice(0..extent(shape_a, strides_a)).unwrap();
        let b = b.slice(0..extent(shape_b, strides_b)).unwrap();
        let op = |transposed: bool| if transposed { Op::T } else { Op::N };
        let gemm = device
            .gemm(
                a.as_tensor_strided(&shape_a, &strides_a).unwrap(),
                b.as_tensor_strided(&shape_b, &strides_b).unwrap(),
            )
            .op(op(ta), op(tb));
        let algorithm = Algorithm::of(kernel.kernel.info());
        let mut workspace = device.alloc_zeros(1 << 20).unwrap();
        let gemm = match on {
            On::AllSms => gemm.algorithm(algorithm),
            On::Sms(sms) => gemm.algorithm(algorithm).sm_count_target(sms),
            On::SharedTiles(blocks) => gemm.algorithm(algorithm.stream_k(blocks)).workspace(&mut workspace),
        };
        let ldc = n + 3;
        let mut c = device.upload(&vec![f64::NAN; m * ldc]).unwrap();
        if let On::SharedTiles(blocks) = on {
            let to = c.slice(0..(m - 1) * ldc + n).unwrap();
            let plan = gemm.plan(algorithm.stream_k(blocks), to.as_tensor_strided(&[m, n], &[ldc, 1]).unwrap());
            assert!(plan.unwrap().workspace_len() > 0, "nothing is shared");
        }
        gemm.into(c.slice_mut(0..(m - 1) * ldc + n).unwrap().as_tensor_strided(&[m, n], &[ldc, 1]).unwrap()).unwrap();
        let c = c.download().unwrap();
        assert!((0..m * ldc).all(|i| i % ldc < n || c[i].is_nan()), "{}: written beside C", kernel.kernel.info().name);
        (0..m * n).map(|i| c[i / n * ldc + i % n]).collect()
    }

    fn check(&self, device: &Device, kernel: &MmaF64Kernel, on: On, what: &str) {
        let (expected, got) = (self.expected(), self.run(device, kernel, on));
        let n = self.extents[1];
        for (i, (expected, got)) in expected.iter().zip(&got).enumerate() {
            assert!(
                expected.to_bits() == got.to_bits(),
                "{}, m, n, k {:?}, {what}: element ({}, {}) is {got:e} instead of {expected:e}",
                kernel.kernel.info().name,
                self.extents,
                i / n,
                i % n
            );
        }
    }
}

/// Depths at the edges of a step and of the ring, tiles cut off on every side. Products so small that a sum can be −0
/// would show zeros added beyond k.
#[test]
fn sums_have_the_bits_of_sequential_multiply_adds() {
    let device = under_test(3);
    for kernel in F64 {
        let [rows, cols] = kernel.config.tile.map(|edge| edge as usize);
        let around = kernel.config.stages * DEPTH;
        for (m, n, k) in [
            (rows, cols, DEPTH),
            (rows - 1, cols + 4, DEPTH - 1),
            (rows + 1, cols, DEPTH + 1),
            (5, 8, 2),
            (18, 12, around + 3),
            (rows, 6, 2 * around + 5),
        ] {
            for power in [0, -540] {
                let mut rng = values::rng(m as u64 * 31 + k as u64);
                let product = Product::new([m, n, k], || rng.random_range(-1.0..=1.0_f64) * 2_f64.powi(power));
                product.check(&device, kernel, On::AllSms, &format!("times 2^{power}"));
            }
        }
    }
}

/// Fewer blocks than tiles: each goes from tile to tile, and warps begin the next before others have written theirs.
#[test]
fn blocks_walk_through_all_tiles() {
    for kernel in F64 {
        let [rows, cols] = kernel.config.tile.map(|edge| edge as usize);
        let mut rng = values::rng(11);
        let product = Product::new([2 * rows + 4, cols + 6, 2 * DEPTH + 1], || f64::from(rng.random_range(-9..=9_i32)));
        for sms in [1, 4] {
            product.check(&under_test(u64::from(sms)), kernel, On::Sms(sms), &format!("{sms} SMs"));
        }
    }
}

/// Six tiles that blocks share along k: the same chains, which go on in another block, with depths that are no whole
/// steps, and with so few steps that a block has none of a tile's beginning.
#[test]
fn sums_of_shared_tiles_have_the_bits_of_sequential_multiply_adds() {
    for kernel in F64.iter().filter(|kernel| kernel.config.stream_k) {
        let [rows, cols] = kernel.config.tile.map(|edge| edge as usize);
        for (blocks, k) in [(4, 5 * DEPTH + 3), (5, 7 * DEPTH), (4, 2 * DEPTH), (5, DEPTH + 1)] {
            let mut rng = values::rng(k as u64);
            let product = Product::new([2 * rows + 3, cols + 4, k], || rng.random_range(-1.0..=1.0_f64));
            let device = under_test(u64::from(blocks));
            product.check(&device, kernel, On::SharedTiles(blocks), &format!("shared by {blocks} blocks"));
        }
    }
}

/// Four steps more: shared memory is read 128 bytes at a time, without bank conflicts. What is done once per block is
/// the same for both depths.
#[test]
fn steps_are_free_of_conflicts() {
    for kernel in F64 {
        let [rows, cols] = kernel.config.tile.map(|edge| edge as usize);
        let counters: [Counters; 2] = [4, 8].map(|steps| {
            let device = Device::simulator_with(Config::new(Level::Counters));
            let product = Product::new([rows, cols, steps * DEPTH], || 1.0);
            device.take_counters();
            product.run(&device, kernel, On::Sms(1));
            device.take_counters().expect("counted")
        });
        let wavefronts = counters.map(|counters| counters.total(Access::SharedLoad).wavefronts);
        let [down, across] = kernel.config.warp.map(u64::from);
        let bytes = 4 * 8 * (down + across) * 16 * 16 * size_of::<f64>() as u64;
        assert_eq!(128 * (wavefronts[1] - wavefronts[0]), bytes, "{}", kernel.kernel.info().name);
    }
}
