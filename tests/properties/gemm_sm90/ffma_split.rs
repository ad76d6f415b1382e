//! The kernels for `f32` by multiply-adds in which groups of warps share k: small integers, whose sums are exact in
//! every order, so that C must be equal. On the simulator they run as they are, TMA, boxes transposed in place and
//! mbarriers with all checks.

use gpu::gemm::configs::FfmaKernel;
use gpu::gemm::sm90::ffma;
use rand::Rng;
use warpwright::gemm::Algorithm;
use warpwright::simulator::{Access, Config, Counters, Level};
use warpwright::{Buffer, Device, TensorView};

use crate::support::device::under_test;
use crate::support::values;

/// Kernels, whether A and B are transposed, and tiles.
fn kernels() -> impl Iterator<Item = (&'static FfmaKernel, [bool; 2], [usize; 2])> {
    let split = ffma::F32.iter().filter(|kernel| kernel.config.groups > 1);
    split.map(|kernel| (kernel, kernel.layout.transposed(), kernel.config.tile.map(|edge| edge as usize)))
}

/// Steps along k of all of these kernels.
const STEP: usize = 32;

#[test]
fn all_steps_are_as_deep() {
    assert!(kernels().all(|(kernel, ..)| kernel.config.depth as usize == STEP));
}

/// A matrix as an operand: by rows or by columns, lines at multiples of 16 bytes and NaN between them.
struct Operand {
    rows: usize,
    cols: usize,
    transposed: bool,
    memory: Buffer<f32>,
    values: Vec<f32>,
}

impl Operand {
    fn new(device: &Device, [rows, cols]: [usize; 2], transposed: bool, mut draw: impl FnMut() -> f32) -> Self {
        let values: Vec<f32> = (0..rows * cols).map(|_| draw()).collect();
        let [lines, line] = if transposed { [cols, rows] } else { [rows, cols] };
        let ld = Self::ld(line);
        let mut memory = vec![f32::NAN; lines * ld];
        for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
            memory[if transposed { col * ld + row } else { row * ld + col }] = values[row * cols + col];
        }
        Self { rows, cols, transposed, memory: device.upload(&memory).unwrap(), values }
    }

    fn ld(line: usize) -> usize {
        line.next_multiple_of(4) + 4
    }

    fn view(&self) -> TensorView<'_, f32> {
        let strides = if self.transposed { [1, Self::ld(self.rows)] } else { [Self::ld(self.cols), 1] };
        self.memory.view().as_tensor_strided(&[self.rows, self.cols], &strides).unwrap()
    }
}

fn integers(seed: u64) -> impl FnMut() -> f32 {
    let mut rng = values::rng(seed);
    move || rng.random_range(-8..=8) as f32
}

/// Elements of A·B.
fn product(a: &Operand, b: &Operand) -> Vec<f32> {
    let (m, n, k) = (a.rows, b.cols, a.cols);
    let sum = |row: usize, col: usize| (0..k).map(|step| a.values[row * k + step] * b.values[step * n + col]).sum();
    (0..m).flat_map(|row| (0..n).map(move |col| (row, col))).map(|(row, col)| sum(row, col)).collect()
}

/// Depths at the edges of a step, of a round of all groups and of the ring; tiles cut off on every side, also within
/// four elements; C whose rows are four elements at once, or not; with and without all that can be done to the sums.
#[test]
fn products_are_exact_in_every_layout() {
    for (number, (kernel, transposed, [rows, cols])) in kernels().enumerate() {
        let extents = [
            ([rows, cols, STEP], 0),
            ([rows - 1, cols + 4, STEP - 1], 4),
            ([rows + 1, cols - 3, 2 * STEP + 1], 0),
            ([5, 3, 2], 0),
            ([rows + 3, 8, 9 * STEP + 5], 1),
            ([33, cols, 17 * STEP], 0),
        ];
        for (case, ([m, n, k], gap)) in extents.into_iter().enumerate() {
            let device = under_test((10 * number + case) as u64);
            if !device.has_kernel(kernel.kernel.info()) {
                return;
            }
            let a = Operand::new(&device, [m, k], transposed[0], integers(1 + case as u64));
            let b = Operand::new(&device, [k, n], transposed[1], integers(100 + case as u64));
            let bias: Vec<f32> = (0..n).map(|col| col as f32 - 7.0).collect();
            let on_bias = device.upload(&bias).unwrap();
            for ends in [false, true] {
                let mut c = device.upload(&vec![-77.0_f32; m * (n + gap)]).unwrap();
                let to = c.view_mut().as_tensor_strided(&[m, n], &[n + gap, 1]).unwrap();
                let gemm = device.gemm(a.view(), b.view()).algorithm(Algorithm::of(kernel.kernel.info()));
                if ends { gemm.alpha(2.0).beta(-1.0).bias(&on_bias).relu().into(to) } else { gemm.into(to) }.unwrap();
                let (c, sums) = (c.download().unwrap(), product(&a, &b));
                for (row, col) in (0..m).flat_map(|row| (0..n + gap).map(move |col| (row, col))) {
                    let expected = match (col < n, ends) {
                        (false, _) => -77.0,
                        (true, false) => sums[row * n + col],
                        (true, true) => (2.0 * sums[row * n + col] + 77.0 + bias[col]).max(0.0),
                    };
                    let found = c[row * (n + gap) + col];
                    assert_eq!(found, expected, "{}, {m} x {n} x {k}: {row}, {col}", kernel.kernel.info().name);
                }
            }
        }
    }
}

/// On so many SMs, with one block each; C row by row without gaps.
fn launch(device: &Device, kernel: &FfmaKernel, a: &Operand, b: &Operand, sms: u32) -> (Vec<f32>, Option<Counters>) {
    let (m, n) = (a.rows, b.cols);
    let mut c = device.upload(&vec![f32::NAN; m * n]).unwrap();
    let gemm = device.gemm(a.view(), b.view()).algorithm(Algorithm::of(kernel.kernel.info())).sm_count_target(sms);
    device.take_counters();
    gemm.into(c.view_mut().as_tensor(&[m, n]).unwrap()).unwrap();
    (c.download().unwrap(), device.take_counters())
}

/// Fewer blocks than tiles: each goes from tile to tile, through the shared memory where C was put together. The steps
/// of a tile are no multiple of the groups, so that the next one begins with another group; the bits are those of one
/// block for each tile.
#[test]
fn blocks_walk_through_all_tiles() {
    for (number, (kernel, [ta, tb], [rows, cols])) in kernels().enumerate() {
        let device = under_test(number as u64);
        if !device.has_kernel(kernel.kernel.info()) {
            return;
        }
        let mut rng = values::rng(7);
        let mut reals = || rng.random_range(-1.0..=1.0_f32);
        let k = 9 * STEP + 3;
        let a = Operand::new(&device, [2 * rows + 4, k], ta, &mut reals);
        let b = Operand::new(&device, [k, cols + 4], tb, &mut reals);
        let [each, two] = [6, 2].map(|blocks| launch(&device, kernel, &a, &b, blocks).0);
        assert!(each.iter().zip(&two).all(|(x, y)| x.to_bits() == y.to_bits()), "{}", kernel.kernel.info().name);
        for (found, expected) in each.iter().zip(product(&a, &b)) {
            // Two orders of k additions of products below 1.
            let bound = 2.0 * k as f32 * k as f32 * f32::EPSILON / 2.0;
            assert!((found - expected).abs() <= bound, "{}: {found} for {expected}", kernel.kernel.info().name);
        }
    }
}

/// A round of all groups more: each load of 16 bytes takes two wavefronts where lanes share what they read, and four
/// where a box is transposed; each of the stores that transpose it takes one.
#[test]
fn steps_are_free_of_conflicts() {
    for (kernel, [ta, tb], [rows, cols]) in kernels() {
        let groups = kernel.config.groups as usize;
        let counters = [1, 2].map(|rounds| {
            let device = Device::simulator_with(Config::new(Level::Counters));
            let k = rounds * groups * STEP;
            let a = Operand::new(&device, [rows, k], ta, integers(1));
            let b = Operand::new(&device, [k, cols], tb, integers(2));
            launch(&device, kernel, &a, &b, 1).1.expect("counted")
        });
        let more = |count: &dyn Fn(&Counters) -> u64| count(&counters[1]) - count(&counters[0]);
        let loads = more(&|counters| counters.total(Access::SharedLoad).requests);
        let wavefronts = more(&|counters| counters.total(Access::SharedLoad).wavefronts);
        // Elements that are transposed, of all groups; 128 to a load of a warp.
        let turned = groups * STEP * (if ta { 0 } else { rows } + if tb { cols } else { 0 });
        assert_eq!(wavefronts, 2 * loads + 2 * (turned / 128) as u64, "{}", kernel.kernel.info().name);
        let stores = more(&|counters| counters.total(Access::SharedStore).wavefronts);
        assert_eq!(stores, (turned / 32) as u64, "{}", kernel.kernel.info().name);
    }
}
