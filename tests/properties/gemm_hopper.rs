//! The kernels for Hopper's tensor cores: small integers, whose sums are exact in every order, so that C must be equal.
//! On the simulator they run as they are, copy engine, mbarriers and asynchronous products with all checks.

use gpu::gemm::call::{BIAS_PER_COLUMN, RELU, WIDE_C};
use gpu::hopper::gemm::finish::{TMA_STORE, box_rows};
use gpu::hopper::gemm::tiles::fetched;
use gpu::hopper::gemm::{self as kernels, product::ROWS};
use gpu::hopper::wide::tiles::Mix;
use gpu::hopper::{Boxed, Shared, wide};
use rand::Rng;
use simt::element::Element;
use simt::tma::Swizzle;
use warpwright::gemm::Algorithm;
use warpwright::half::{bf16, f16};
use warpwright::{Buffer, Device, Launch};

use crate::support::device::under_test;
use crate::support::values;

/// How C is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Engine,
    Threads,
    /// To the old C, which is the canary.
    AddedToC,
    /// The same in `f32`.
    WideWithBias,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    /// m, n, k and matrices.
    extents: [usize; 4],
    transposed: [bool; 2],
    /// Rows and columns of a tile.
    tile: [usize; 2],
    ending: Ending,
    /// Or clusters of them.
    blocks: u32,
    /// Tiles that the blocks share.
    shared: u32,
    seed: u64,
}

/// What no flag is before a launch.
const TOKEN: u64 = 0x0123_4567_89ab_cdef;

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

/// A kernel, and what it takes.
#[derive(Clone, Copy)]
enum Program<'k, T: Element> {
    Shared(&'k Shared<T>),
    /// Its tiles have two widths, and B comes in boxes of 64 × 64.
    Mixed(&'k Boxed<T>),
}

fn check<T: Element + From16>(device: &Device, program: Program<'_, T>, case: Case) {
    let Case { extents: [m, n, k, count], transposed: [ta, tb], tile: [rows, cols], ending, .. } = case;
    // A block of a cluster has its rows of a tile, and has an equal part of the columns fetched.
    let (cluster, boxed) = match program {
        Program::Shared(kernel) => {
            let cluster = kernel.info().cluster;
            (cluster, [rows, cols].map(|edge| fetched(edge as u32, cluster)))
        }
        Program::Mixed(_) => (1, [rows as u32, 64]),
    };
    let mut rng = values::rng(case.seed);
    let (a_shape, b_shape) = (if ta { [k, m] } else { [m, k] }, if tb { [n, k] } else { [k, n] });
    // A is the same for all matrices of the batch.
    let a: Vec<T> = operand(a_shape[0], a_shape[1], 1, &mut rng);
    let b: Vec<T> = operand(b_shape[0], b_shape[1], count, &mut rng);
    let bias: Vec<f32> = (0..n).map(|_| rng.random_range(-9..=9) as f32).collect();
    let (on_a, on_b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
    let canary = T::of(-77.0);
    let strides = [ld(n), m * ld(n)];
    let mut c = device.upload(&vec![canary; count * strides[1]]).unwrap();
    let mut wide = device.upload(&vec![-77.0_f32; count * strides[1]]).unwrap();
    let mut spare = device.upload(&vec![canary; 64 * 64]).unwrap();
    let bias_on = device.upload(&bias).unwrap();

    let map_a = on_a.view().as_tensor_strided(&[1, a_shape[0], a_shape[1]], &[a.len(), ld(a_shape[1]), 1]).unwrap();
    let step_b = b_shape[0] * ld(b_shape[1]);
    let map_b = on_b.view().as_tensor_strided(&[count, b_shape[0], b_shape[1]], &[step_b, ld(b_shape[1]), 1]).unwrap();
    let map_a = map_a.tma(&if ta { [1, 64, 64] } else { [1, boxed[0], 64] }, Swizzle::B128).unwrap();
    let map_b = map_b.tma(&if tb { [1, boxed[1], 64] } else { [1, 64, 64] }, Swizzle::B128).unwrap();
    let mut nothing: Buffer<T> = device.alloc(0).unwrap();
    let mut nothing_wide: Buffer<f32> = device.alloc(0).unwrap();
    // Anything may be in the memory for what is handed on.
    let places = case.blocks as usize * usize::from(case.shared > 0);
    let mut sums = device.upload(&vec![f32::NAN; places * rows * cols]).unwrap();
    let before: Vec<u64> = (0..2 * places).map(|_| rng.random_range(0..TOKEN)).collect();
    let mut up = device.upload(&before).unwrap();
    let (flags, scale) = match ending {
        Ending::Engine => (TMA_STORE, [1.0, 0.0]),
        Ending::Threads => (0, [1.0, 0.0]),
        Ending::AddedToC => (0, [1.0, -1.0]),
        Ending::WideWithBias => (WIDE_C | BIAS_PER_COLUMN | RELU, [2.0, -1.0]),
    };
    let extents = [m as u32, n as u32, k as u32, count as u32];
    let strides64 = strides.map(|stride| stride as u64);
    let launch = Launch::grid(case.blocks * cluster);
    macro_rules! launch_on {
        ($stored:expr, $c:expr, $wide:expr) => {
            match program {
                Program::Shared(kernel) => {
                    let arguments = (
                        map_a,
                        map_b,
                        $stored,
                        $c,
                        $wide,
                        &bias_on,
                        extents,
                        [0, 1],
                        strides64,
                        scale,
                        flags,
                        case.shared,
                        &mut sums,
                        &mut up,
                        TOKEN,
                    );
                    device.launch(kernel, launch, arguments)
                }
                Program::Mixed(kernel) => {
                    let arguments =
                        (map_a, map_b, $stored, $c, $wide, &bias_on, extents, [0, 1], strides64, scale, flags);
                    device.launch(kernel, launch, arguments)
                }
            }
            .unwrap()
        };
    }
    // C is borrowed once: by its map or as a vector.
    if ending == Ending::Engine {
        let stored = c.view_mut().as_tensor_strided(&[count, m, n], &[strides[1], strides[0], 1]).unwrap();
        let stored = stored.tma(&[1, box_rows(rows as u32).unwrap(), 64], Swizzle::B128).unwrap();
        launch_on!(stored, nothing.view_mut(), nothing_wide.view_mut());
    } else {
        let stored = spare.view_mut().as_tensor(&[1, 64, 64]).unwrap().tma(&[1, 64, 64], Swizzle::B128).unwrap();
        launch_on!(stored, &mut c, &mut wide);
    }
    for (flag, before) in up.download().unwrap().into_iter().zip(before) {
        assert!(flag == before || flag == 0, "{case:?}: a flag is left up");
    }
    let (c, wide) = (c.download().unwrap(), wide.download().unwrap());
    let at_a = |row: usize, step: usize| if ta { a[step * ld(m) + row] } else { a[row * ld(k) + step] }.to();
    let at_b = |matrix: usize, step: usize, col: usize| {
        b[matrix * step_b + if tb { col * ld(k) + step } else { step * ld(n) + col }].to()
    };
    #[allow(clippy::needless_range_loop, reason = "indices of a matrix, some of them beyond the bias")]
    for matrix in 0..count {
        for row in 0..m {
            for col in 0..ld(n) {
                let at = matrix * strides[1] + row * strides[0] + col;
                let inside = col < n;
                let sum = || (0..k).map(|step| at_a(row, step) * at_b(matrix, step, col)).sum::<f32>();
                let (in_c, in_wide) = match ending {
                    _ if !inside => (-77.0, -77.0),
                    Ending::WideWithBias => (-77.0, (2.0 * sum() + 77.0 + bias[col]).max(0.0)),
                    Ending::AddedToC => (T::of(sum() + 77.0).to(), -77.0),
                    _ => (T::of(sum()).to(), -77.0),
                };
                assert_eq!((c[at].to(), wide[at]), (in_c, in_wide), "{case:?}: matrix {matrix}, {row}, {col}");
            }
        }
    }
}

/// Kernels of a type: layout, width.
type Kernels<T> = [([bool; 2], [usize; 2], Shared<T>); 34];

const BF16: Kernels<bf16> = [
    ([false, false], [128, 256], kernels::gemm_sm90_bf16_nn_128x256),
    ([false, true], [128, 256], kernels::gemm_sm90_bf16_nt_128x256),
    ([true, false], [128, 256], kernels::gemm_sm90_bf16_tn_128x256),
    ([true, true], [128, 256], kernels::gemm_sm90_bf16_tt_128x256),
    ([false, false], [128, 128], kernels::gemm_sm90_bf16_nn_128x128),
    ([false, true], [128, 128], kernels::gemm_sm90_bf16_nt_128x128),
    ([true, false], [128, 128], kernels::gemm_sm90_bf16_tn_128x128),
    ([true, true], [128, 128], kernels::gemm_sm90_bf16_tt_128x128),
    ([false, false], [64, 128], kernels::gemm_sm90_bf16_nn_64x128),
    ([false, true], [64, 128], kernels::gemm_sm90_bf16_nt_64x128),
    ([true, false], [64, 128], kernels::gemm_sm90_bf16_tn_64x128),
    ([true, true], [64, 128], kernels::gemm_sm90_bf16_tt_64x128),
    ([false, false], [64, 64], kernels::gemm_sm90_bf16_nn_64x64),
    ([false, true], [64, 64], kernels::gemm_sm90_bf16_nt_64x64),
    ([true, false], [64, 64], kernels::gemm_sm90_bf16_tn_64x64),
    ([true, true], [64, 64], kernels::gemm_sm90_bf16_tt_64x64),
    ([false, false], [256, 256], kernels::gemm_sm90_bf16_nn_2x128x256),
    ([false, true], [256, 256], kernels::gemm_sm90_bf16_nt_2x128x256),
    ([true, false], [256, 256], kernels::gemm_sm90_bf16_tn_2x128x256),
    ([true, true], [256, 256], kernels::gemm_sm90_bf16_tt_2x128x256),
    ([false, false], [128, 128], kernels::gemm_sm90_bf16_nn_2x64x128),
    ([false, true], [128, 128], kernels::gemm_sm90_bf16_nt_2x64x128),
    ([true, false], [128, 128], kernels::gemm_sm90_bf16_tn_2x64x128),
    ([true, true], [128, 128], kernels::gemm_sm90_bf16_tt_2x64x128),
    ([false, false], [16, 64], kernels::gemm_sm90_bf16_nn_16x64),
    ([false, false], [136, 128], kernels::gemm_sm90_bf16_nn_136x128),
    ([false, true], [16, 64], kernels::gemm_sm90_bf16_nt_16x64),
    ([false, true], [136, 128], kernels::gemm_sm90_bf16_nt_136x128),
    ([false, false], [144, 256], kernels::gemm_sm90_bf16_nn_4x144x64),
    ([false, true], [144, 256], kernels::gemm_sm90_bf16_nt_4x144x64),
    ([false, true], [64, 16], kernels::gemm_sm90_bf16_nt_64x16),
    ([false, true], [128, 136], kernels::gemm_sm90_bf16_nt_128x136),
    ([true, true], [64, 16], kernels::gemm_sm90_bf16_tt_64x16),
    ([true, true], [128, 136], kernels::gemm_sm90_bf16_tt_128x136),
];
const F16: Kernels<f16> = [
    ([false, false], [128, 256], kernels::gemm_sm90_f16_nn_128x256),
    ([false, true], [128, 256], kernels::gemm_sm90_f16_nt_128x256),
    ([true, false], [128, 256], kernels::gemm_sm90_f16_tn_128x256),
    ([true, true], [128, 256], kernels::gemm_sm90_f16_tt_128x256),
    ([false, false], [128, 128], kernels::gemm_sm90_f16_nn_128x128),
    ([false, true], [128, 128], kernels::gemm_sm90_f16_nt_128x128),
    ([true, false], [128, 128], kernels::gemm_sm90_f16_tn_128x128),
    ([true, true], [128, 128], kernels::gemm_sm90_f16_tt_128x128),
    ([false, false], [64, 128], kernels::gemm_sm90_f16_nn_64x128),
    ([false, true], [64, 128], kernels::gemm_sm90_f16_nt_64x128),
    ([true, false], [64, 128], kernels::gemm_sm90_f16_tn_64x128),
    ([true, true], [64, 128], kernels::gemm_sm90_f16_tt_64x128),
    ([false, false], [64, 64], kernels::gemm_sm90_f16_nn_64x64),
    ([false, true], [64, 64], kernels::gemm_sm90_f16_nt_64x64),
    ([true, false], [64, 64], kernels::gemm_sm90_f16_tn_64x64),
    ([true, true], [64, 64], kernels::gemm_sm90_f16_tt_64x64),
    ([false, false], [256, 256], kernels::gemm_sm90_f16_nn_2x128x256),
    ([false, true], [256, 256], kernels::gemm_sm90_f16_nt_2x128x256),
    ([true, false], [256, 256], kernels::gemm_sm90_f16_tn_2x128x256),
    ([true, true], [256, 256], kernels::gemm_sm90_f16_tt_2x128x256),
    ([false, false], [128, 128], kernels::gemm_sm90_f16_nn_2x64x128),
    ([false, true], [128, 128], kernels::gemm_sm90_f16_nt_2x64x128),
    ([true, false], [128, 128], kernels::gemm_sm90_f16_tn_2x64x128),
    ([true, true], [128, 128], kernels::gemm_sm90_f16_tt_2x64x128),
    ([false, false], [16, 64], kernels::gemm_sm90_f16_nn_16x64),
    ([false, false], [136, 128], kernels::gemm_sm90_f16_nn_136x128),
    ([false, true], [16, 64], kernels::gemm_sm90_f16_nt_16x64),
    ([false, true], [136, 128], kernels::gemm_sm90_f16_nt_136x128),
    ([false, false], [144, 256], kernels::gemm_sm90_f16_nn_4x144x64),
    ([false, true], [144, 256], kernels::gemm_sm90_f16_nt_4x144x64),
    ([false, true], [64, 16], kernels::gemm_sm90_f16_nt_64x16),
    ([false, true], [128, 136], kernels::gemm_sm90_f16_nt_128x136),
    ([true, true], [64, 16], kernels::gemm_sm90_f16_tt_64x16),
    ([true, true], [128, 136], kernels::gemm_sm90_f16_tt_128x136),
];

/// Every kernel with this tile: one cut off on every side, and more stages than the ring has. The engine writes whole pieces of 16 bytes.
fn every_kernel<T: Element + From16>(kernels: &Kernels<T>, name: &str, ending: Ending) {
    let chosen = || kernels.iter().enumerate().filter(|(_, (.., kernel))| has_tile(kernel, name));
    assert!(chosen().count() >= 2, "kernels with tiles of {name}");
    for (number, (transposed, tile, kernel)) in chosen() {
        // Rows of C are cut off within 4 elements, or not.
        let cut = usize::from(number % 4 < 2);
        let mut extents = [[70, 76 - cut, 8 * 64 + 9, 1], [tile[0] + 1, tile[1] + 12 - cut, 33, 2]][number % 2];
        if ending == Ending::Engine {
            extents[1] = extents[1].next_multiple_of(8);
        }
        let case = Case {
            extents,
            transposed: *transposed,
            tile: *tile,
            ending,
            blocks: 2,
            shared: 0,
            seed: 40 + number as u64,
        };
        check(&under_test(case.seed), Program::Shared(kernel), case);
    }
}

fn has_tile<T: Element>(kernel: &Shared<T>, name: &str) -> bool {
    kernel.info().name.ends_with(&format!("_{name}"))
}

/// Tests of the kernels with each tile, of C by the engine where that can write it.
macro_rules! tests_by_tile {
    ($($module:ident $tile:literal $([$by:ident])?;)+) => {
        /// Tiles, and those of which the engine writes C.
        const TILES: &[(&str, &[Ending])] = &[$(($tile, &[$(Ending::$by)?])),+];

        $(mod $module {
            use super::*;

            $(
                #[test]
                fn bf16_is_exact_by_the_engine() {
                    every_kernel(&BF16, $tile, Ending::$by);
                }

                #[test]
                fn f16_is_exact_by_the_engine() {
                    every_kernel(&F16, $tile, Ending::$by);
                }
            )?

            #[test]
            fn bf16_is_exact_by_threads() {
                every_kernel(&BF16, $tile, Ending::Threads);
            }

            #[test]
            fn f16_is_exact_added_to_c() {
                every_kernel(&F16, $tile, Ending::AddedToC);
            }

            #[test]
            fn f16_is_exact_in_f32_with_bias_and_relu() {
                every_kernel(&F16, $tile, Ending::WideWithBias);
            }
        })+
    };
}

tests_by_tile! {
    tiles_of_128x256 "256" [Engine];
    tiles_of_128x128 "128" [Engine];
    tiles_of_64x128 "64x128" [Engine];
    tiles_of_64x64 "64x64" [Engine];
    pairs_of_128x256 "2x128x256" [Engine];
    pairs_of_64x128 "2x64x128" [Engine];
    fours_of_144x64 "4x144x64" [Engine];
    tiles_of_16x64 "16x64";
    tiles_of_136x128 "136x128";
    tiles_of_64x16 "64x16";
    tiles_of_128x136 "128x136";
}

#[test]
fn every_kernel_has_its_tests() {
    fn check<T: Element>(kernels: &Kernels<T>) {
        for (_, [rows, cols], kernel) in kernels {
            let [(_, by)] = TILES.iter().filter(|(name, _)| has_tile(kernel, name)).collect::<Vec<_>>()[..] else {
                panic!("{}: one kind of tile expected", kernel.info().name)
            };
            // Its boxes are 64 wide.
            let can = cols % 64 == 0 && box_rows(*rows as u32).is_some();
            assert_eq!(!by.is_empty(), can, "{}", kernel.info().name);
        }
    }
    check(&BF16);
    check(&F16);
}

/// Kernels with tiles of two widths, of a type: layout.
type Mixed<T> = [([bool; 2], Boxed<T>); 4];

const MIXED_BF16: Mixed<bf16> = [
    ([false, false], wide::gemm_sm90_bf16_nn_256x192),
    ([false, true], wide::gemm_sm90_bf16_nt_256x192),
    ([true, false], wide::gemm_sm90_bf16_tn_256x192),
    ([true, true], wide::gemm_sm90_bf16_tt_256x192),
];
const MIXED_F16: Mixed<f16> = [
    ([false, false], wide::gemm_sm90_f16_nn_256x192),
    ([false, true], wide::gemm_sm90_f16_nt_256x192),
    ([true, false], wide::gemm_sm90_f16_tn_256x192),
    ([true, true], wide::gemm_sm90_f16_tt_256x192),
];

/// Every such kernel in every way to C: narrow tiles alone, a wide one alone, both, over matrices, and some bands with a wide tile more.
fn every_mixture<T: Element + From16>(kernels: &Mixed<T>) {
    // Extents, blocks; wide tiles, and all.
    let cases: [([usize; 4], u32, [u32; 2]); 4] = [
        ([70, 80, 8 * 64 + 9, 1], 2, [0, 1]),
        ([120, 184, 90, 1], 1, [1, 1]),
        ([260, 264, 4 * 64 + 1, 2], 2, [4, 8]),
        ([600, 400, 64, 1], 4, [4, 9]),
    ];
    let endings = [Ending::Engine, Ending::Threads, Ending::AddedToC, Ending::WideWithBias];
    for (number, (transposed, kernel)) in kernels.iter().enumerate() {
        for (which, (mut extents, blocks, tiles)) in cases.into_iter().enumerate() {
            let (ending, seed) = (endings[(number + which) % 4], 80 + 4 * number as u64 + which as u64);
            // The engine writes whole pieces of 16 bytes; threads need not.
            extents[1] -= if ending == Ending::Engine { 0 } else { which };
            let [m, n, _, count] = extents.map(|extent| extent as u32);
            let mix = Mix::new(m.div_ceil(256) * count, n, blocks);
            assert_eq!([mix.count_wide(), mix.count()], tiles, "{extents:?} for {blocks} blocks");
            let case = Case { extents, transposed: *transposed, tile: [256, 192], ending, blocks, shared: 0, seed };
            check(&under_test(seed), Program::Mixed(kernel), case);
        }
    }
}

#[test]
fn bf16_in_tiles_of_two_widths_is_exact() {
    every_mixture(&MIXED_BF16);
}

#[test]
fn f16_in_tiles_of_two_widths_is_exact() {
    every_mixture(&MIXED_F16);
}

/// More tiles than blocks, in more than one group of rows: every tile comes once.
#[test]
fn blocks_walk_through_all_tiles() {
    for (blocks, seed) in [(1, 1), (3, 2), (7, 3)] {
        let extents = [9 * 128 + 5, 304, 8, 1];
        let case =
            Case { extents, transposed: [false; 2], tile: [128; 2], ending: Ending::Engine, blocks, shared: 0, seed };
        check(&under_test(seed), Program::Shared(&kernels::gemm_sm90_bf16_nn_128x128), case);
    }
}

/// Blocks that share tiles: two a tile and many, whole tiles between the ends, tiles that are not shared after them, and more
/// blocks than there are steps. Interleaved on the simulator as it likes.
#[test]
fn blocks_share_tiles() {
    let cases: [([usize; 4], [usize; 2], u32); 11] = [
        // One tile of 9 steps: 2, 4 and 9 blocks, and 11, of which two have nothing to do.
        ([100, 72, 9 * 64 - 7, 1], [128, 128], 2),
        ([100, 72, 9 * 64 - 7, 1], [128, 128], 4),
        ([70, 200, 9 * 64 - 7, 1], [128, 256], 9),
        ([70, 200, 9 * 64, 1], [128, 256], 11),
        // 6 tiles of 3 steps for 4 blocks: 2 shared by all; for 5: 6, of which blocks have parts of up to three.
        ([129, 304, 3 * 64, 1], [128, 128], 4),
        ([129, 304, 3 * 64 - 1, 1], [128, 128], 5),
        // 7 tiles of 2 steps for 3 blocks, over matrices.
        ([33, 80, 100, 7], [128, 128], 3),
        // 6 tiles of one warpgroup each.
        ([130, 144, 5 * 64, 1], [64, 128], 4),
        // Few rows, and few more than 128: one tile of Cᵀ for 3 blocks, two for 4.
        ([13, 60, 5 * 64 - 9, 1], [16, 64], 3),
        ([133, 150, 3 * 64, 1], [136, 128], 4),
        // Two columns of tiles for 3 clusters of two blocks.
        ([100, 136, 4 * 64 - 1, 1], [128, 128], 3),
    ];
    for (number, (extents, tile, blocks)) in cases.into_iter().enumerate() {
        let [m, n, _, count] = extents;
        let tiles = (m.div_ceil(tile[0]) * n.div_ceil(tile[1]) * count) as u32;
        let shared = kernels::share::shared(tiles, blocks);
        assert_ne!(shared, 0, "{extents:?}");
        let kernel = match tile {
            [128, 256] => kernels::gemm_sm90_bf16_nt_128x256,
            [128, _] if number == 10 => kernels::gemm_sm90_bf16_nt_2x64x128,
            [128, _] => kernels::gemm_sm90_bf16_nt_128x128,
            [16, _] => kernels::gemm_sm90_bf16_nt_16x64,
            [136, _] => kernels::gemm_sm90_bf16_nt_136x128,
            _ => kernels::gemm_sm90_bf16_nt_64x128,
        };
        let transposed = [false, true];
        for (ending, seed) in
            [(Ending::Engine, 0), (Ending::Threads, 1), (Ending::AddedToC, 2), (Ending::WideWithBias, 3)]
        {
            let seed = 60 + 10 * number as u64 + seed;
            // The engine writes whole pieces of 16 bytes.
            if ending == Ending::Engine && (box_rows(tile[0] as u32).is_none() || n % 8 != 0) {
                continue;
            }
            let program = Program::Shared(&kernel);
            check(&under_test(seed), program, Case { extents, transposed, tile, ending, blocks, shared, seed });
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
    // Written by the copy engine, of which compute-sanitizer's initcheck does not know.
    let mut c = device.upload(&vec![bf16::ZERO; m * n]).unwrap();
    let len = 4 * (8 + 128 * 128) + 3;
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
    let maps = (boxes(&[1, 2 * ROWS, 64]), boxes(&[1, 64, 64]), stored);
    let rest = (&mut none, &mut wide, &bias);
    let arguments = (
        maps.0,
        maps.1,
        maps.2,
        rest.0,
        rest.1,
        rest.2,
        [64, 64, 0, 1],
        [0, 0],
        [64, 0],
        [1.0, 0.0],
        TMA_STORE,
        0,
        &mut sums,
        &mut up,
        TOKEN,
    );
    device.launch(&kernels::gemm_sm90_bf16_nn_128x256, Launch::grid(2), arguments).unwrap();
    assert_eq!(y.download().unwrap(), vec![bf16::ONE; 64 * 64]);
}
