//! The kernels on Hopper's tensor cores: small integers, whose sums are exact in every order, so that C must be equal.
//! On the simulator they run as they are: TMA, mbarriers and `wgmma` with all checks.

use gpu::gemm::args::{TMA_STORE, TmaGemmKernel};
use gpu::gemm::configs::WgmmaKernel;
use gpu::gemm::sm90 as kernels;
use gpu::gemm::sm90::schedule::stream_k::split_tiles;
use gpu::gemm::sm90::schedule::two_width::TwoWidth;
use rand::Rng;
use simt::element::Element;
use simt::tma::Swizzle;
use warpwright::gemm::{Algorithm, Multiply, Output};
use warpwright::half::{bf16, f16};
use warpwright::simulator::{Config, Level};
use warpwright::{Buffer, Device, Fields, Launch};

use crate::support::device::under_test;
use crate::support::values;

/// The epilogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Epilogue {
    TmaStore,
    /// The same to a C whose rows are not aligned: threads copy.
    Copied,
    /// With max(x, 0).
    Generic,
    /// With the old C, which is the canary.
    Accumulates,
    /// The same in `f32`.
    WideWithBias,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    /// m, n, k and matrices.
    extents: [usize; 4],
    epilogue: Epilogue,
    /// Clusters of blocks, each of which may compute several tiles.
    clusters: u32,
    /// Whether they share tiles: stream-K.
    shares: bool,
    seed: u64,
}

/// Elements from row to row: a multiple of 16 bytes, and of nothing more.
fn ld(cols: usize) -> usize {
    cols.next_multiple_of(8) + 8
}

fn operand<T: Element + From16>(rows: usize, cols: usize, count: usize, rng: &mut impl Rng) -> Vec<T> {
    (0..count * rows * ld(cols)).map(|_| T::of(rng.random_range(-4..=4) as f32)).collect()
}

trait From16: Copy {
    fn of(x: f32) -> Self;
    fn to(self) -> f32;
}
impl From16 for f16 {
    fn of(x: f32) -> Self {
        Self::from_f32(x)
    }
    fn to(self) -> f32 {
        self.to_f32()
    }
}
impl From16 for bf16 {
    fn of(x: f32) -> Self {
        Self::from_f32(x)
    }
    fn to(self) -> f32 {
        self.to_f32()
    }
}

fn check<T>(device: &Device, kernel: &WgmmaKernel<TmaGemmKernel<T>>, case: Case)
where
    T: Element + From16 + Multiply<Wide = f32> + Output<T>,
    f32: Output<T>,
{
    let &WgmmaKernel { config, layout, kernel } = kernel;
    let Case { extents: [m, n, k, count], epilogue, clusters, .. } = case;
    let [ta, tb] = layout.transposed();
    let mut rng = values::rng(case.seed);
    let (a_shape, b_shape) = (if ta { [k, m] } else { [m, k] }, if tb { [n, k] } else { [k, n] });
    // A is the same for all matrices of the batch.
    let a: Vec<T> = operand(a_shape[0], a_shape[1], 1, &mut rng);
    let b: Vec<T> = operand(b_shape[0], b_shape[1], count, &mut rng);
    let bias: Vec<f32> = (0..n).map(|_| rng.random_range(-9..=9) as f32).collect();
    let (on_a, on_b, on_bias) = (device.upload(&a).unwrap(), device.upload(&b).unwrap(), device.upload(&bias).unwrap());
    let step_b = b_shape[0] * ld(b_shape[1]);
    let view_a = on_a.view().as_tensor_strided(&a_shape, &[ld(a_shape[1]), 1]).unwrap();
    let view_b = on_b.view().as_tensor_strided(&[count, b_shape[0], b_shape[1]], &[step_b, ld(b_shape[1]), 1]).unwrap();
    // A copied C begins one element after an aligned address, which TMA cannot store to, whatever its rows.
    let (start, ldc) = if epilogue == Epilogue::Copied { (1, n + 3) } else { (0, ld(n)) };
    let (shape_c, strides_c) = ([count, m, n], [m * ldc, ldc, 1]);
    let mut c = device.upload(&vec![T::of(-77.0); start + count * strides_c[0]]).unwrap();
    let mut wide = device.upload(&vec![-77.0_f32; count * strides_c[0]]).unwrap();

    let algorithm = Algorithm::of(kernel.info());
    let algorithm = if case.shares { algorithm.stream_k(clusters * config.cluster) } else { algorithm };
    // Clusters of four do not find a place on every SM: see `Configuration::cluster_slots`.
    let sms = if config.cluster > 2 { (clusters * 11).div_ceil(10) } else { clusters } * config.cluster;
    let gemm = device.gemm(view_a, view_b).algorithm(algorithm).sm_count_target(sms);
    let gemm = if ta { gemm.transpose_a() } else { gemm };
    let gemm = if tb { gemm.transpose_b() } else { gemm };
    // Anything may be in the workspace.
    let whole = c.view().slice(start..c.len()).unwrap();
    let plan = gemm.plan(algorithm, whole.as_tensor_strided(&shape_c, &strides_c).unwrap()).unwrap();
    let before: Vec<f32> = (0..plan.workspace_len()).map(|_| f32::from_bits(rng.random())).collect();
    assert_eq!(before.is_empty(), !case.shares, "{case:?}");
    let mut workspace = device.upload(&before).unwrap();
    let gemm = gemm.workspace(&mut workspace);
    let len = c.len();
    let to_c = c.slice_mut(start..len).unwrap().as_tensor_strided(&shape_c, &strides_c).unwrap();
    match epilogue {
        Epilogue::TmaStore | Epilogue::Copied => gemm.into(to_c),
        Epilogue::Generic => gemm.relu().into(to_c),
        Epilogue::Accumulates => gemm.beta(-1.0).into(to_c),
        Epilogue::WideWithBias => gemm
            .alpha(2.0)
            .beta(-1.0)
            .bias(&on_bias)
            .relu()
            .into(wide.view_mut().as_tensor_strided(&shape_c, &strides_c).unwrap()),
    }
    .unwrap();

    // Before a tile of partial sums for each cluster lie its flags.
    let flags = 16 * (before.len() / (16 + config.tile().iter().product::<u32>() as usize));
    let after = workspace.download().unwrap();
    for (flag, before) in after[..flags].chunks_exact(2).zip(before.chunks_exact(2)) {
        let bits = |flag: &[f32]| [flag[0].to_bits(), flag[1].to_bits()];
        assert!(bits(flag) == bits(before) || bits(flag) == [0, 0], "{case:?}: a flag is left set");
    }
    let (c, wide) = (c.download().unwrap(), wide.download().unwrap());
    let [a, b] = [a, b].map(|numbers| numbers.into_iter().map(T::to).collect::<Vec<f32>>());
    let at_a = |row: usize, step: usize| if ta { a[step * ld(m) + row] } else { a[row * ld(k) + step] };
    let at_b = |matrix: usize, step: usize, col: usize| {
        b[matrix * step_b + if tb { col * ld(k) + step } else { step * ld(n) + col }]
    };
    #[allow(clippy::needless_range_loop, reason = "indices of a matrix, some of them beyond the bias")]
    for matrix in 0..count {
        for row in 0..m {
            for col in 0..ldc {
                let at = matrix * strides_c[0] + row * strides_c[1] + col;
                let inside = col < n;
                let sum = || (0..k).map(|step| at_a(row, step) * at_b(matrix, step, col)).sum::<f32>();
                let (in_c, in_wide) = match epilogue {
                    _ if !inside => (-77.0, -77.0),
                    Epilogue::WideWithBias => (-77.0, (2.0 * sum() + 77.0 + bias[col]).max(0.0)),
                    Epilogue::Accumulates => (T::of(sum() + 77.0).to(), -77.0),
                    Epilogue::Generic => (T::of(sum().max(0.0)).to(), -77.0),
                    Epilogue::TmaStore | Epilogue::Copied => (T::of(sum()).to(), -77.0),
                };
                assert_eq!((c[start + at].to(), wide[at]), (in_c, in_wide), "{case:?}: matrix {matrix}, {row}, {col}");
            }
        }
    }
}

/// Every kernel whose tiles have one width: a tile cut off on every side, and more steps than stages. TMA stores whole
/// vectors of 16 bytes.
fn every_kernel<T>(kernels: &[WgmmaKernel<TmaGemmKernel<T>>], epilogue: Epilogue)
where
    T: Element + From16 + Multiply<Wide = f32> + Output<T>,
    f32: Output<T>,
{
    let stored = |kernel: &&WgmmaKernel<TmaGemmKernel<T>>| {
        epilogue != Epilogue::TmaStore || kernel.config.store_rows().is_some()
    };
    let chosen = kernels.iter().filter(|kernel| !kernel.config.two_width).filter(stored);
    for (number, kernel) in chosen.enumerate() {
        let tile = kernel.config.tile().map(|edge| edge as usize);
        // Rows of C are cut off within 4 elements, or not.
        let cut = usize::from(number % 4 < 2);
        let mut extents = [[70, 76 - cut, 8 * 64 + 9, 1], [tile[0] + 1, tile[1] + 12 - cut, 33, 2]][number % 2];
        if epilogue == Epilogue::TmaStore {
            extents[1] = extents[1].next_multiple_of(8);
        }
        let case = Case { extents, epilogue, clusters: 2, shares: false, seed: 40 + number as u64 };
        check(&under_test(case.seed), kernel, case);
    }
}

#[test]
fn bf16_is_exact_by_tma_store() {
    every_kernel(kernels::BF16, Epilogue::TmaStore);
}

#[test]
fn f16_is_exact_by_tma_store() {
    every_kernel(kernels::F16, Epilogue::TmaStore);
}

#[test]
fn bf16_is_exact_where_threads_copy() {
    every_kernel(kernels::BF16, Epilogue::Copied);
}

#[test]
fn f16_is_exact_where_threads_copy() {
    every_kernel(kernels::F16, Epilogue::Copied);
}

#[test]
fn bf16_is_exact_by_generic_epilogue() {
    every_kernel(kernels::BF16, Epilogue::Generic);
}

#[test]
fn f16_is_exact_with_beta() {
    every_kernel(kernels::F16, Epilogue::Accumulates);
}

#[test]
fn f16_is_exact_in_f32_with_bias_and_relu() {
    every_kernel(kernels::F16, Epilogue::WideWithBias);
}

/// Every two-width kernel with every epilogue: narrow tiles alone, a wide one alone, both, over matrices, and some row
/// panels with one more wide tile.
fn every_two_width_kernel<T>(kernels: &[WgmmaKernel<TmaGemmKernel<T>>])
where
    T: Element + From16 + Multiply<Wide = f32> + Output<T>,
    f32: Output<T>,
{
    // Extents, blocks; wide tiles, and all.
    let cases: [([usize; 4], u32, [u32; 2]); 4] = [
        ([70, 80, 8 * 64 + 9, 1], 2, [0, 1]),
        ([120, 184, 90, 1], 1, [1, 1]),
        ([260, 264, 4 * 64 + 1, 2], 2, [4, 8]),
        ([600, 400, 64, 1], 4, [4, 9]),
    ];
    let epilogues =
        [Epilogue::TmaStore, Epilogue::Copied, Epilogue::Generic, Epilogue::Accumulates, Epilogue::WideWithBias];
    for (number, kernel) in kernels.iter().filter(|kernel| kernel.config.two_width).enumerate() {
        for (which, (mut extents, blocks, tiles)) in cases.into_iter().enumerate() {
            let (epilogue, seed) = (epilogues[(number + which) % 5], 80 + 4 * number as u64 + which as u64);
            // TMA stores whole vectors of 16 bytes; threads need not.
            extents[1] -= if epilogue == Epilogue::TmaStore { 0 } else { which };
            let [m, n, _, count] = extents.map(|extent| extent as u32);
            let schedule = TwoWidth::new(m.div_ceil(256) * count, n, blocks);
            assert_eq!([schedule.count_wide(), schedule.count()], tiles, "{extents:?} for {blocks} blocks");
            check(&under_test(seed), kernel, Case { extents, epilogue, clusters: blocks, shares: false, seed });
        }
    }
}

#[test]
fn bf16_in_tiles_of_two_widths_is_exact() {
    every_two_width_kernel(kernels::BF16);
}

#[test]
fn f16_in_tiles_of_two_widths_is_exact() {
    every_two_width_kernel(kernels::F16);
}

fn bf16_kernel(name: &str) -> &'static WgmmaKernel<TmaGemmKernel<bf16>> {
    kernels::BF16.iter().find(|kernel| kernel.kernel.info().name == name).unwrap_or_else(|| panic!("no kernel {name}"))
}

/// More tiles than blocks, in more than one group of rows: every tile comes once.
#[test]
fn blocks_walk_through_all_tiles() {
    for (blocks, seed) in [(1, 1), (3, 2), (7, 3)] {
        let extents = [9 * 128 + 5, 304, 8, 1];
        let case = Case { extents, epilogue: Epilogue::TmaStore, clusters: blocks, shares: false, seed };
        check(&under_test(seed), bf16_kernel("gemm_sm90_bf16_nn_128x128"), case);
    }
}

/// As many blocks as the target says, and no more than there are tiles.
#[test]
fn an_sm_count_target_bounds_the_blocks() {
    let device = Device::simulator_with(Config::new(Level::Counters));
    let kernel = bf16_kernel("gemm_sm90_bf16_nn_128x128");
    let (m, n, k) = (5 * 128, 128, 64);
    let a = device.upload(&vec![bf16::ONE; m * k]).unwrap();
    let b = device.upload(&vec![bf16::from_f32(0.5); k * n]).unwrap();
    let (a, b) = (a.view().as_tensor(&[m, k]).unwrap(), b.view().as_tensor(&[k, n]).unwrap());
    let mut c = device.alloc::<bf16>(m * n).unwrap();
    for (target, blocks) in [(Some(0), 1), (Some(1), 1), (Some(3), 3), (Some(132), 5), (Some(u32::MAX), 5), (None, 5)] {
        let gemm = device.gemm(a, b).algorithm(Algorithm::of(kernel.kernel.info()));
        let gemm = if let Some(target) = target { gemm.sm_count_target(target) } else { gemm };
        gemm.into(c.view_mut().as_tensor(&[m, n]).unwrap()).unwrap();
        let warps = device.take_counters().expect("the level counts").warps;
        assert_eq!(warps, u64::from(blocks * kernel.config.threads() / 32), "{target:?}");
        assert_eq!(c.download().unwrap(), vec![bf16::from_f32(k as f32 / 2.0); m * n], "{target:?}");
    }
}

/// Stream-K: two blocks a tile and many, whole tiles between the ends, tiles that are not split after them, and more
/// blocks than there are steps. The simulator interleaves them at random.
#[test]
fn blocks_share_tiles() {
    let cases: [([usize; 4], &str, u32); 11] = [
        // One tile of 9 steps: 2, 4 and 9 blocks, and 11, of which two have nothing to do.
        ([100, 72, 9 * 64 - 7, 1], "128x128", 2),
        ([100, 72, 9 * 64 - 7, 1], "128x128", 4),
        ([70, 200, 9 * 64 - 7, 1], "128x256", 9),
        ([70, 200, 9 * 64, 1], "128x256", 11),
        // 6 tiles of 3 steps for 4 blocks: 2 split among all; for 5: 6, of which blocks have parts of up to three.
        ([129, 304, 3 * 64, 1], "128x128", 4),
        ([129, 304, 3 * 64 - 1, 1], "128x128", 5),
        // 7 tiles of 2 steps for 3 blocks, over matrices.
        ([33, 80, 100, 7], "128x128", 3),
        // 6 tiles of one warpgroup each.
        ([130, 144, 5 * 64, 1], "64x128", 4),
        // Few rows, and few more than 128: one tile of Cᵀ for 3 blocks, two for 4.
        ([13, 60, 5 * 64 - 9, 1], "16x64", 3),
        ([133, 150, 3 * 64, 1], "136x128", 4),
        // Two columns of tiles for 3 clusters of two blocks.
        ([100, 136, 4 * 64 - 1, 1], "2x64x128", 3),
    ];
    for (number, (extents, tile, blocks)) in cases.into_iter().enumerate() {
        let kernel = bf16_kernel(&format!("gemm_sm90_bf16_nt_{tile}"));
        let [m, n, _, count] = extents;
        let [rows, cols] = kernel.config.tile().map(|edge| edge as usize);
        let tiles = (m.div_ceil(rows) * n.div_ceil(cols) * count) as u32;
        assert_ne!(split_tiles(tiles, blocks), 0, "{extents:?}");
        let epilogues =
            [Epilogue::TmaStore, Epilogue::Generic, Epilogue::Accumulates, Epilogue::WideWithBias, Epilogue::Copied];
        for (which, epilogue) in epilogues.into_iter().enumerate() {
            let seed = 60 + 10 * number as u64 + which as u64;
            // TMA stores whole vectors of 16 bytes.
            if epilogue == Epilogue::TmaStore && (kernel.config.store_rows().is_none() || n % 8 != 0) {
                continue;
            }
            check(&under_test(seed), kernel, Case { extents, epilogue, clusters: blocks, shares: true, seed });
        }
    }
}

/// Sums that several blocks add up have the same bits in every run.
#[test]
fn shared_sums_are_the_same_in_every_run() {
    let (m, n, k) = (64, 64, 20 * 64);
    let algorithm = Algorithm::of(kernels::gemm_sm90_f16_nn_128x128.info()).stream_k(7);
    let mut rng = values::rng(9);
    let mut draw = |len: usize| (0..len).map(|_| f16::from_f32(rng.random_range(-1.0..=1.0))).collect::<Vec<_>>();
    let (a, b) = (draw(m * k), draw(k * n));
    let run = |device: &Device| {
        if !device.has_kernel(algorithm.kernel()) {
            return None;
        }
        let (a, b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        let (a, b) = (a.view().as_tensor(&[m, k]).unwrap(), b.view().as_tensor(&[k, n]).unwrap());
        let c = device.gemm(a, b).algorithm(algorithm).run_wide().unwrap().download().unwrap();
        Some(c.mapv(f32::to_bits))
    };
    let first = run(&under_test(0));
    for seed in 1..8 {
        assert_eq!(first, run(&under_test(seed)), "run {seed}");
    }
}

/// The workspace begins anywhere, is as long as it must be, and what is beside it stays.
#[test]
fn a_workspace_for_shared_tiles_begins_anywhere() {
    let device = under_test(11);
    let (m, n, k) = (40, 72, 6 * 64);
    let algorithm = Algorithm::of(kernels::gemm_sm90_bf16_nn_128x128.info()).stream_k(4);
    if !device.has_kernel(algorithm.kernel()) {
        return;
    }
    let a = device.upload(&vec![bf16::ONE; m * k]).unwrap();
    let b = device.upload(&vec![bf16::from_f32(0.5); k * n]).unwrap();
    let (a, b) = (a.view().as_tensor(&[m, k]).unwrap(), b.view().as_tensor(&[k, n]).unwrap());
    // Written by a copy from the host, of which compute-sanitizer's initcheck does not know.
    let mut c = device.upload(&vec![bf16::ZERO; m * n]).unwrap();
    let len = 4 * (16 + 128 * 128) + 3;
    for offset in 0..5 {
        let mut memory = device.upload(&vec![-77.0_f32; len + 16]).unwrap();
        let to = c.view_mut().as_tensor(&[m, n]).unwrap();
        let short = memory.slice_mut(offset..offset + len - 1).unwrap();
        let refused = device.gemm(a, b).algorithm(algorithm).workspace(short).into(to).unwrap_err().to_string();
        assert!(refused.contains("workspace") && refused.contains(&len.to_string()), "{refused}");
        let to = c.view_mut().as_tensor(&[m, n]).unwrap();
        let room = memory.slice_mut(offset..offset + len).unwrap();
        device.gemm(a, b).algorithm(algorithm).workspace(room).into(to).unwrap();
        assert_eq!(c.download().unwrap(), vec![bf16::from_f32(k as f32 / 2.0); m * n], "offset {offset}");
        let after = memory.download().unwrap();
        assert!(after[..offset].iter().chain(&after[offset + len..]).all(|&x| x == -77.0), "offset {offset}");
    }
}

/// Without a product there is nothing to do, and nobody waits.
#[test]
fn nothing_along_k_writes_nothing() {
    let device = under_test(5);
    let x = device.alloc_zeros::<bf16>(64 * 64).unwrap();
    let mut y = device.upload(&vec![bf16::ONE; 64 * 64]).unwrap();
    let boxes = |shape: &[u32]| x.view().as_tensor(&[1, 64, 64]).unwrap().tma(shape, Swizzle::B128).unwrap();
    let (mut none, mut wide): (Buffer<bf16>, Buffer<f32>) = (device.alloc(0).unwrap(), device.alloc(0).unwrap());
    let bias = device.alloc::<f32>(0).unwrap();
    let (mut sums, mut up) = (device.alloc::<f32>(0).unwrap(), device.alloc::<u64>(0).unwrap());
    let stored = y.view_mut().as_tensor(&[1, 64, 64]).unwrap().tma(&[1, 64, 64], Swizzle::B128).unwrap();
    let gemm =
        Fields((&mut none, &mut wide, &bias, 64_u64, 0_u64, 64_u32, 64_u32, 0_u32, 1_u32, 1.0_f32, 0.0_f32, TMA_STORE));
    let stream_k = Fields((&mut sums, &mut up, 1_u64, 0_u32, 0_u32));
    let arguments = (boxes(&[1, 128, 64]), boxes(&[1, 64, 64]), stored, Fields((gemm, [0_u32, 0], stream_k)));
    device.launch(&kernels::gemm_sm90_bf16_nn_128x256, Launch::grid(2), arguments).unwrap();
    assert_eq!(y.download().unwrap(), vec![bf16::ONE; 64 * 64]);
}
