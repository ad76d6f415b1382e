//! The kernels for `f32` by multiply-adds fed by TMA: every sum has the bits of a chain in order of k, whatever
//! the tile, the depth and the number of blocks. On the simulator they run as they are, TMA and mbarriers with all
//! checks.

use std::ops::Range;

use gpu::gemm::configs::FfmaKernel;
use gpu::gemm::naive::{self, matmul_naive};
use gpu::gemm::sm90::ffma;
use ndarray::Array2;
use rand::Rng;
use warpwright::gemm::Algorithm;
use warpwright::reference::same_bits;
use warpwright::simulator::{Access, Config, Counters, Level};
use warpwright::{Buffer, Device, Launch, Matrix};

use crate::support::device::under_test;
use crate::support::values;

/// Kernels with their tiles and steps along k.
fn kernels() -> impl Iterator<Item = (&'static FfmaKernel, [usize; 2], usize)> {
    let one_group = ffma::F32.iter().filter(|kernel| kernel.config.groups == 1);
    one_group.map(|kernel| (kernel, kernel.config.tile.map(|edge| edge as usize), kernel.config.depth as usize))
}

fn reals(rows: usize, cols: usize, factor: f32, rng: &mut impl Rng) -> Array2<f32> {
    Array2::from_shape_fn((rows, cols), |_| rng.random_range(-1.0..=1.0_f32) * factor)
}

/// Depths at the edges of a step and of the ring, tiles cut off on every side. Products so small that a sum can be −0
/// would show zeros added beyond k.
#[test]
fn sums_have_the_bits_of_matmul_naive() {
    let device = under_test(3);
    for (kernel, [rows, cols], depth) in kernels() {
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
                let factors = Factors::new(&device, [m, n, k], 2_f32.powi(power));
                let what = format!("{}, m {m}, n {n}, k {k}, times 2^{power}", kernel.kernel.info().name);
                factors.check(Algorithm::of(kernel.kernel.info()), 0..1, &what);
            }
        }
    }
}

/// Six tiles for four and five blocks, each of which goes on with the sums of another: the same chains. With depths
/// that are no whole steps, and so few steps that some have no beginning of a tile.
#[test]
fn sums_of_shared_tiles_have_the_bits_of_matmul_naive() {
    let device = under_test(5);
    for (kernel, [rows, cols], depth) in kernels() {
        for (blocks, k) in [(4, 5 * depth + 3), (5, 7 * depth), (4, 2 * depth), (5, depth + 1), (4, depth - 1)] {
            let (m, n) = (2 * rows + 3, cols + 4);
            let what = format!("{}, {blocks} blocks, m {m}, n {n}, k {k}", kernel.kernel.info().name);
            let factors = Factors::new(&device, [m, n, k], 1.0);
            let tile = rows * cols;
            factors.check(
                Algorithm::of(kernel.kernel.info()).stream_k(blocks),
                blocks as usize * tile..usize::MAX,
                &what,
            );
        }
    }
}

/// Where each tile is one block's whatever is asked for: fewer tiles than blocks, or as many for each.
#[test]
fn nothing_is_shared_where_nobody_is_done_sooner() {
    let device = under_test(6);
    for (kernel, [rows, cols], depth) in kernels() {
        for blocks in [2, 3, 7] {
            let factors = Factors::new(&device, [2 * rows + 3, cols + 4, 2 * depth], 1.0);
            let what = format!("{}, {blocks} blocks", kernel.kernel.info().name);
            factors.check(Algorithm::of(kernel.kernel.info()).stream_k(blocks), 0..1, &what);
        }
    }
}

/// A, as k × m with rows that are aligned whatever m is, B, and what [`matmul_naive`] makes of them.
struct Factors<'d> {
    device: &'d Device,
    a: Matrix<f32>,
    b: Matrix<f32>,
    naive: Array2<f32>,
}

impl<'d> Factors<'d> {
    fn new(device: &'d Device, [m, n, k]: [usize; 3], factor: f32) -> Self {
        let mut rng = values::rng(m as u64 * 31 + k as u64);
        let wide = reals(k, m.next_multiple_of(4), factor, &mut rng);
        let a = Array2::from_shape_fn((m, k), |(row, step)| wide[[step, row]]);
        let b = reals(k, n, factor, &mut rng);
        let (on_a, b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        let mut naive = device.alloc_matrix::<f32>(m, n).unwrap();
        let grid = naive::grid(m as u32, n as u32);
        device.launch(&matmul_naive, Launch::grid(grid), (&on_a, &b, &mut naive)).unwrap();
        Self { device, a: device.upload(&wide).unwrap(), b, naive: naive.download().unwrap() }
    }

    /// Multiplies, with a workspace whose length is in `room`.
    fn check(&self, algorithm: Algorithm, room: Range<usize>, what: &str) {
        let (m, n) = self.naive.dim();
        let k = self.b.rows();
        let a = self.a.view().block(0..k, 0..m).unwrap();
        let mut c = self.device.alloc_matrix::<f32>(m, n).unwrap();
        let gemm = self.device.gemm(a, &self.b).transpose_a().algorithm(algorithm);
        let len = gemm.plan(algorithm, &c).unwrap().workspace_len();
        assert!(room.contains(&len), "{what}: {len} elements of workspace, {room:?} expected");
        let mut workspace = self.device.upload(&vec![f32::NAN; len]).unwrap();
        gemm.workspace(&mut workspace).into(&mut c).unwrap();
        let c = c.download().unwrap();
        let (naive, c) = (self.naive.as_slice().unwrap(), c.as_slice().unwrap());
        same_bits(naive, c).unwrap_or_else(|error| panic!("{what}: {error}"));
    }
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

    /// On so many SMs.
    fn launch(&mut self, kernel: &FfmaKernel, [m, n, k]: [usize; 3], sms: u32) -> Option<Counters> {
        let a = self.a.view().as_tensor(&[k, m]).unwrap();
        let b = self.b.view().as_tensor(&[k, n]).unwrap();
        let gemm = self.device.gemm(a, b).transpose_a().algorithm(Algorithm::of(kernel.kernel.info()));
        self.device.take_counters();
        gemm.sm_count_target(sms).into(self.c.view_mut().as_tensor(&[m, n]).unwrap()).unwrap();
        self.device.take_counters()
    }
}

/// Fewer blocks than tiles: each goes from tile to tile, through the shared memory where C was put together.
#[test]
fn blocks_walk_through_all_tiles() {
    for (kernel, [rows, cols], depth) in kernels() {
        let extents @ [m, n, k] = [5 * rows + 4, cols + 4, 2 * depth + 1];
        for sms in [1, 4] {
            let mut run = Run::new(under_test(u64::from(sms)), extents);
            run.launch(kernel, extents, sms);
            let [a, b, c] = [&run.a, &run.b, &run.c].map(|buffer| buffer.download().unwrap());
            for (row, col) in (0..m).flat_map(|row| (0..n).map(move |col| (row, col))) {
                let sum: f32 = (0..k).map(|step| a[step * m + row] * b[step * n + col]).sum();
                assert_eq!(c[row * n + col], sum, "{sms} SMs, row {row}, column {col}");
            }
        }
    }
}

/// Four steps more: no bank conflicts. What is done once per block is the same for both depths.
#[test]
fn steps_are_free_of_conflicts() {
    for (kernel, [rows, cols], depth) in kernels() {
        let counters = [4, 8].map(|steps| {
            let extents = [rows, cols, steps * depth];
            let device = Device::simulator_with(Config::new(Level::Counters));
            Run::new(device, extents).launch(kernel, extents, 1).expect("counted")
        });
        let more = |count: fn(&Counters) -> u64| count(&counters[1]) - count(&counters[0]);
        let requests = more(|counters| counters.total(Access::SharedLoad).requests);
        assert!(requests > 0, "{}", kernel.kernel.info().name);
        assert_eq!(
            more(|counters| counters.total(Access::SharedLoad).wavefronts),
            2 * requests,
            "{}",
            kernel.kernel.info().name
        );
    }
}
