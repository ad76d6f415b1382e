//! The kernels for each type of A and B, with their performance models.

use gpu::gemm::number::Number;
use gpu::gemm::{ffma, plain};
use gpu::hopper::ffma as boxed;
use gpu::hopper::gemm as hopper;
use gpu::hopper::gemm::product::ROWS;
use gpu::hopper::{Boxed, Shared};
use gpu::hopper::{tf32, wide};
use gpu::skinny;
use gpu::tensor;
use half::{bf16, f16};

use super::configuration::{Configuration, Entry, Generic, LoadMode, PerfModel, Product};
use super::options::Arithmetic;

/// The fields in their order.
const fn perf_model(
    tile: [u32; 2],
    k_granularity: usize,
    efficiency: [f64; 2],
    misaligned_efficiency: f64,
    tile_overhead: [f64; 2],
) -> PerfModel {
    PerfModel { tile, k_granularity, efficiency, misaligned_efficiency, tile_overhead }
}

// Measured on an H200 (docs/gemm.md), except `PLAIN`, which is predicted.

const PLAIN: PerfModel = perf_model(plain::TILE, 16, [0.01, 0.03], 1.0, [32.0, 32.0]);
const FFMA_128X256: PerfModel = perf_model(ffma::TILE_128X256, 16, [0.72, 0.72], 0.93, [16.0, 16.0]);
const FFMA_256X128: PerfModel = perf_model(ffma::TILE_256X128, 16, [0.72, 0.72], 0.93, [16.0, 16.0]);
const FFMA_128X128: PerfModel = perf_model(ffma::TILE_128X128, 16, [0.40, 0.67], 0.93, [4.0, 4.0]);
const FFMA_64X64: PerfModel = perf_model(ffma::TILE_64X64, 16, [0.36, 0.54], 0.93, [32.0, 32.0]);
const BOXED_128X128: PerfModel = perf_model([128, 128], 32, [0.40, 0.79], 1.0, [15.0, 15.0]);
const BOXED_64X64: PerfModel = perf_model([64, 64], 32, [0.33, 0.70], 1.0, [15.0, 15.0]);
const BOXED_64X32: PerfModel = perf_model([64, 32], 64, [0.43, 0.63], 1.0, [40.0, 40.0]);
const GROUPED_128X64: PerfModel = perf_model([128, 64], 32, [0.69, 0.67], 1.0, [40.0, 40.0]);
const GROUPED_32X64: PerfModel = perf_model([32, 64], 32, [0.62, 0.58], 1.0, [120.0, 120.0]);
const MMA_128X256: PerfModel = perf_model([128, 256], 32, [6.4, 6.4], 0.15, [60.0, 250.0]);
const MMA_64X64: PerfModel = perf_model([64, 64], 32, [2.6, 4.4], 0.2, [200.0, 350.0]);
const TF32_128X128: PerfModel = perf_model([128, 128], 16, [1.2, 1.2], 0.4, [100.0, 100.0]);
const TF32_64X64: PerfModel = perf_model([64, 64], 16, [0.6, 1.0], 0.4, [130.0, 130.0]);
const HOPPER_256: PerfModel = perf_model([2 * ROWS, 256], 64, [11.0, 11.0], 0.8, [80.0, 700.0]);
const HOPPER_256X192: PerfModel =
    perf_model([wide::tiles::ROWS, wide::tiles::WIDE], 64, [10.8, 11.4], 0.86, [85.0, 700.0]);
const HOPPER_128: PerfModel = perf_model([2 * ROWS, 128], 64, [12.0, 10.4], 0.6, [160.0, 500.0]);
const HOPPER_64X128: PerfModel = perf_model([ROWS, 128], 64, [9.9, 7.8], 0.5, [60.0, 300.0]);
const HOPPER_64X64: PerfModel = perf_model([ROWS, 64], 64, [8.2, 4.65], 0.5, [40.0, 200.0]);
/// Clusters of two blocks, as the next.
const HOPPER_2X128X256: PerfModel = perf_model([4 * ROWS, 256], 64, [21.6, 21.6], 0.94, [100.0, 700.0]);
const HOPPER_2X64X128: PerfModel = perf_model([2 * ROWS, 128], 64, [17.5, 13.5], 0.75, [70.0, 270.0]);
/// Clusters of four blocks, for misaligned rows: each block loads a quarter of the rows of A that all four read.
const HOPPER_4X144X64: PerfModel = perf_model([144, 4 * ROWS], 64, [36.0, 36.0], 1.0, [100.0, 770.0]);
const HOPPER_16X64: PerfModel = perf_model([16, ROWS], 64, [2.55, 1.45], 0.6, [300.0, 300.0]);
const HOPPER_64X16: PerfModel = perf_model([ROWS, 16], 64, [2.6, 1.45], 0.6, [500.0, 500.0]);
const HOPPER_136X128: PerfModel = perf_model([136, 2 * ROWS], 64, [9.8, 9.8], 0.6, [400.0, 400.0]);
const HOPPER_128X136: PerfModel = perf_model([2 * ROWS, 136], 64, [9.7, 9.7], 0.6, [400.0, 400.0]);
const HOPPER_TF32_256: PerfModel = perf_model([tf32::product::ROWS, 256], 32, [5.95, 5.95], 1.0, [70.0, 230.0]);
/// C is computed as Cᵀ.
const HOPPER_TF32_256_T: PerfModel = PerfModel { tile: [256, tf32::product::ROWS], ..HOPPER_TF32_256 };
const HOPPER_TF32_128: PerfModel = perf_model([tf32::product::ROWS, 128], 32, [5.35, 5.35], 1.0, [70.0, 180.0]);
const HOPPER_TF32_64: PerfModel = perf_model([tf32::product::ROWS, 64], 32, [3.8, 3.8], 1.0, [40.0, 120.0]);
const HOPPER_TF32_64_T: PerfModel = PerfModel { tile: [64, tf32::product::ROWS], ..HOPPER_TF32_64 };
const SKINNY_F32_4X64: PerfModel = perf_model([4, 64], 16, [0.12, 0.11], 0.7, [160.0, 160.0]);
const SKINNY_F32_64X4: PerfModel = perf_model([64, 4], 16, [0.12, 0.11], 0.7, [160.0, 160.0]);
const SKINNY_F32_16X64: PerfModel = perf_model([16, 64], 16, [0.22, 0.25], 0.65, [64.0, 64.0]);
const SKINNY_F32_64X16: PerfModel = perf_model([64, 16], 16, [0.21, 0.21], 0.65, [64.0, 64.0]);
const SKINNY_HALF_16X64: PerfModel = perf_model([16, 64], 16, [0.67, 0.70], 0.6, [64.0, 64.0]);
const SKINNY_HALF_64X16: PerfModel = perf_model([64, 16], 16, [0.41, 0.41], 0.5, [64.0, 64.0]);

/// The reference kernel, for every layout: `gpu::gemm::plain`.
const fn plain<T: Number>(kernel: &'static Generic<T, T::Wide>, arithmetic: Arithmetic) -> Configuration<T> {
    Configuration { entry: Entry::Generic(kernel), arithmetic, layout: None, model: &PLAIN, is_sequential: true }
}

/// A SIMT kernel for A·B of `f32`: `gpu::gemm::ffma`.
const fn simt(kernel: &'static Product<f32>, model: &'static PerfModel) -> Configuration<f32> {
    let entry = Entry::Product(kernel);
    Configuration { entry, arithmetic: Arithmetic::Full, layout: Some([false, false]), model, is_sequential: true }
}

const NN: [bool; 2] = [false, false];
const NT: [bool; 2] = [false, true];
const TN: [bool; 2] = [true, false];
const TT: [bool; 2] = [true, true];

/// A kernel by `mma.sync`: `gpu::tensor`.
const fn mma<T: Number>(
    kernel: &'static Generic<T, T::Wide>,
    layout: [bool; 2],
    arithmetic: Arithmetic,
    model: &'static PerfModel,
) -> Configuration<T> {
    Configuration { entry: Entry::Generic(kernel), arithmetic, layout: Some(layout), model, is_sequential: false }
}

/// A kernel by `wgmma` for tf32: `gpu::hopper::tf32`.
const fn wgmma<T: Number>(
    kernel: &'static Boxed<T, T::Wide>,
    layout: [bool; 2],
    arithmetic: Arithmetic,
    model: &'static PerfModel,
) -> Configuration<T> {
    let entry = Entry::Tma(kernel, LoadMode::Swizzled);
    Configuration { entry, arithmetic, layout: Some(layout), model, is_sequential: false }
}

/// A SIMT kernel with TMA loads, A as k × m and B as k × n: `gpu::hopper::ffma`.
const fn tma_ffma(kernel: &'static Shared<f32, f32>, depth: u32, model: &'static PerfModel) -> Configuration<f32> {
    let entry = Entry::StreamK(kernel, LoadMode::Rows(depth));
    Configuration { entry, arithmetic: Arithmetic::Full, layout: Some(TN), model, is_sequential: true }
}

/// A SIMT kernel with TMA loads and intra-block split-K, for every layout: `gpu::hopper::ffma::grouped`.
const fn grouped_ffma(
    kernel: &'static Boxed<f32, f32>,
    layout: [bool; 2],
    model: &'static PerfModel,
) -> Configuration<f32> {
    let entry = Entry::Tma(kernel, LoadMode::Rows(boxed::grouped::product::DEPTH));
    Configuration { entry, arithmetic: Arithmetic::Full, layout: Some(layout), model, is_sequential: false }
}

/// A kernel by `wgmma` with stream-K: `gpu::hopper::gemm`.
const fn stream_k<T: Number>(
    kernel: &'static Shared<T, T::Wide>,
    layout: [bool; 2],
    model: &'static PerfModel,
) -> Configuration<T> {
    let entry = Entry::StreamK(kernel, LoadMode::Swizzled);
    Configuration { entry, arithmetic: Arithmetic::Full, layout: Some(layout), model, is_sequential: false }
}

/// A kernel by `wgmma` with the two-width tile schedule: `gpu::hopper::wide`.
const fn two_width<T: Number>(
    kernel: &'static Boxed<T, T::Wide>,
    layout: [bool; 2],
    model: &'static PerfModel,
) -> Configuration<T> {
    let entry = Entry::Tma(kernel, LoadMode::TwoWidth);
    Configuration { entry, arithmetic: Arithmetic::Full, layout: Some(layout), model, is_sequential: false }
}

/// A memory-bound kernel for small m or small n: `gpu::skinny`.
const fn small_extent<T: Number>(kernel: &'static Generic<T, T::Wide>, model: &'static PerfModel) -> Configuration<T> {
    Configuration {
        entry: Entry::Generic(kernel),
        arithmetic: Arithmetic::Full,
        layout: None,
        model,
        is_sequential: false,
    }
}

/// Of equally fast kernels the first is chosen.
pub(super) const F32: &[Configuration<f32>] = &[
    plain(&plain::gemm_plain_f32, Arithmetic::Full),
    plain(&plain::gemm_plain_tf32, Arithmetic::Tf32),
    simt(&ffma::gemm_f32_128x256, &FFMA_128X256),
    simt(&ffma::gemm_f32_256x128, &FFMA_256X128),
    simt(&ffma::gemm_f32_128x128, &FFMA_128X128),
    simt(&ffma::gemm_f32_64x64, &FFMA_64X64),
    tma_ffma(&boxed::gemm_hopper_f32_tn_128x128, 32, &BOXED_128X128),
    tma_ffma(&boxed::gemm_hopper_f32_tn_64x64, 32, &BOXED_64X64),
    tma_ffma(&boxed::gemm_hopper_f32_tn_64x32, 64, &BOXED_64X32),
    grouped_ffma(&boxed::grouped::gemm_hopper_f32_nn_128x64_k4, NN, &GROUPED_128X64),
    grouped_ffma(&boxed::grouped::gemm_hopper_f32_nt_128x64_k4, NT, &GROUPED_128X64),
    grouped_ffma(&boxed::grouped::gemm_hopper_f32_tn_128x64_k4, TN, &GROUPED_128X64),
    grouped_ffma(&boxed::grouped::gemm_hopper_f32_tt_128x64_k4, TT, &GROUPED_128X64),
    grouped_ffma(&boxed::grouped::gemm_hopper_f32_nn_32x64_k8, NN, &GROUPED_32X64),
    grouped_ffma(&boxed::grouped::gemm_hopper_f32_nt_32x64_k8, NT, &GROUPED_32X64),
    grouped_ffma(&boxed::grouped::gemm_hopper_f32_tn_32x64_k8, TN, &GROUPED_32X64),
    grouped_ffma(&boxed::grouped::gemm_hopper_f32_tt_32x64_k8, TT, &GROUPED_32X64),
    mma(&tensor::gemm_tf32_128x128_nn, NN, Arithmetic::Tf32, &TF32_128X128),
    mma(&tensor::gemm_tf32_128x128_nt, NT, Arithmetic::Tf32, &TF32_128X128),
    mma(&tensor::gemm_tf32_128x128_tn, TN, Arithmetic::Tf32, &TF32_128X128),
    mma(&tensor::gemm_tf32_128x128_tt, TT, Arithmetic::Tf32, &TF32_128X128),
    mma(&tensor::gemm_tf32_64x64_nn, NN, Arithmetic::Tf32, &TF32_64X64),
    mma(&tensor::gemm_tf32_64x64_nt, NT, Arithmetic::Tf32, &TF32_64X64),
    mma(&tensor::gemm_tf32_64x64_tn, TN, Arithmetic::Tf32, &TF32_64X64),
    mma(&tensor::gemm_tf32_64x64_tt, TT, Arithmetic::Tf32, &TF32_64X64),
    wgmma(&tf32::gemm_hopper_tf32_nn_256, NN, Arithmetic::Tf32, &HOPPER_TF32_256_T),
    wgmma(&tf32::gemm_hopper_tf32_nt_256, NT, Arithmetic::Tf32, &HOPPER_TF32_256),
    wgmma(&tf32::gemm_hopper_tf32_tt_256, TT, Arithmetic::Tf32, &HOPPER_TF32_256),
    wgmma(&tf32::gemm_hopper_tf32_nn_128, NN, Arithmetic::Tf32, &HOPPER_TF32_128),
    wgmma(&tf32::gemm_hopper_tf32_nt_128, NT, Arithmetic::Tf32, &HOPPER_TF32_128),
    wgmma(&tf32::gemm_hopper_tf32_tt_128, TT, Arithmetic::Tf32, &HOPPER_TF32_128),
    wgmma(&tf32::gemm_hopper_tf32_nn_64, NN, Arithmetic::Tf32, &HOPPER_TF32_64_T),
    wgmma(&tf32::gemm_hopper_tf32_nt_64, NT, Arithmetic::Tf32, &HOPPER_TF32_64),
    wgmma(&tf32::gemm_hopper_tf32_tt_64, TT, Arithmetic::Tf32, &HOPPER_TF32_64),
    small_extent(&skinny::gemm_skinny_f32_4x64, &SKINNY_F32_4X64),
    small_extent(&skinny::gemm_skinny_f32_64x4, &SKINNY_F32_64X4),
    small_extent(&skinny::gemm_skinny_f32_16x64, &SKINNY_F32_16X64),
    small_extent(&skinny::gemm_skinny_f32_64x16, &SKINNY_F32_64X16),
];

/// Narrow tiles first: of several memory-bound kernels the first is chosen.
pub(super) const F16: &[Configuration<f16>] = &[
    plain(&plain::gemm_plain_f16, Arithmetic::Full),
    mma(&tensor::gemm_f16_128x256_nn, NN, Arithmetic::Full, &MMA_128X256),
    mma(&tensor::gemm_f16_128x256_nt, NT, Arithmetic::Full, &MMA_128X256),
    mma(&tensor::gemm_f16_128x256_tn, TN, Arithmetic::Full, &MMA_128X256),
    mma(&tensor::gemm_f16_128x256_tt, TT, Arithmetic::Full, &MMA_128X256),
    mma(&tensor::gemm_f16_64x64_nn, NN, Arithmetic::Full, &MMA_64X64),
    mma(&tensor::gemm_f16_64x64_nt, NT, Arithmetic::Full, &MMA_64X64),
    mma(&tensor::gemm_f16_64x64_tn, TN, Arithmetic::Full, &MMA_64X64),
    mma(&tensor::gemm_f16_64x64_tt, TT, Arithmetic::Full, &MMA_64X64),
    stream_k(&hopper::gemm_hopper_f16_nn_16x64, NN, &HOPPER_16X64),
    stream_k(&hopper::gemm_hopper_f16_nt_16x64, NT, &HOPPER_16X64),
    stream_k(&hopper::gemm_hopper_f16_nt_64x16, NT, &HOPPER_64X16),
    stream_k(&hopper::gemm_hopper_f16_tt_64x16, TT, &HOPPER_64X16),
    stream_k(&hopper::gemm_hopper_f16_nn_256, NN, &HOPPER_256),
    stream_k(&hopper::gemm_hopper_f16_nt_256, NT, &HOPPER_256),
    stream_k(&hopper::gemm_hopper_f16_tn_256, TN, &HOPPER_256),
    stream_k(&hopper::gemm_hopper_f16_tt_256, TT, &HOPPER_256),
    two_width(&wide::gemm_hopper_f16_nn_256x192, NN, &HOPPER_256X192),
    two_width(&wide::gemm_hopper_f16_nt_256x192, NT, &HOPPER_256X192),
    two_width(&wide::gemm_hopper_f16_tn_256x192, TN, &HOPPER_256X192),
    two_width(&wide::gemm_hopper_f16_tt_256x192, TT, &HOPPER_256X192),
    stream_k(&hopper::gemm_hopper_f16_nn_128, NN, &HOPPER_128),
    stream_k(&hopper::gemm_hopper_f16_nt_128, NT, &HOPPER_128),
    stream_k(&hopper::gemm_hopper_f16_tn_128, TN, &HOPPER_128),
    stream_k(&hopper::gemm_hopper_f16_tt_128, TT, &HOPPER_128),
    stream_k(&hopper::gemm_hopper_f16_nn_136x128, NN, &HOPPER_136X128),
    stream_k(&hopper::gemm_hopper_f16_nt_136x128, NT, &HOPPER_136X128),
    stream_k(&hopper::gemm_hopper_f16_nt_128x136, NT, &HOPPER_128X136),
    stream_k(&hopper::gemm_hopper_f16_tt_128x136, TT, &HOPPER_128X136),
    stream_k(&hopper::gemm_hopper_f16_nn_2x128x256, NN, &HOPPER_2X128X256),
    stream_k(&hopper::gemm_hopper_f16_nt_2x128x256, NT, &HOPPER_2X128X256),
    stream_k(&hopper::gemm_hopper_f16_tn_2x128x256, TN, &HOPPER_2X128X256),
    stream_k(&hopper::gemm_hopper_f16_tt_2x128x256, TT, &HOPPER_2X128X256),
    stream_k(&hopper::gemm_hopper_f16_nn_4x144x64, NN, &HOPPER_4X144X64),
    stream_k(&hopper::gemm_hopper_f16_nt_4x144x64, NT, &HOPPER_4X144X64),
    stream_k(&hopper::gemm_hopper_f16_nn_2x64x128, NN, &HOPPER_2X64X128),
    stream_k(&hopper::gemm_hopper_f16_nt_2x64x128, NT, &HOPPER_2X64X128),
    stream_k(&hopper::gemm_hopper_f16_tn_2x64x128, TN, &HOPPER_2X64X128),
    stream_k(&hopper::gemm_hopper_f16_tt_2x64x128, TT, &HOPPER_2X64X128),
    stream_k(&hopper::gemm_hopper_f16_nn_64x128, NN, &HOPPER_64X128),
    stream_k(&hopper::gemm_hopper_f16_nt_64x128, NT, &HOPPER_64X128),
    stream_k(&hopper::gemm_hopper_f16_tn_64x128, TN, &HOPPER_64X128),
    stream_k(&hopper::gemm_hopper_f16_tt_64x128, TT, &HOPPER_64X128),
    stream_k(&hopper::gemm_hopper_f16_nn_64x64, NN, &HOPPER_64X64),
    stream_k(&hopper::gemm_hopper_f16_nt_64x64, NT, &HOPPER_64X64),
    stream_k(&hopper::gemm_hopper_f16_tn_64x64, TN, &HOPPER_64X64),
    stream_k(&hopper::gemm_hopper_f16_tt_64x64, TT, &HOPPER_64X64),
    small_extent(&skinny::gemm_skinny_f16_16x64, &SKINNY_HALF_16X64),
    small_extent(&skinny::gemm_skinny_f16_64x16, &SKINNY_HALF_64X16),
];

pub(super) const BF16: &[Configuration<bf16>] = &[
    plain(&plain::gemm_plain_bf16, Arithmetic::Full),
    mma(&tensor::gemm_bf16_128x256_nn, NN, Arithmetic::Full, &MMA_128X256),
    mma(&tensor::gemm_bf16_128x256_nt, NT, Arithmetic::Full, &MMA_128X256),
    mma(&tensor::gemm_bf16_128x256_tn, TN, Arithmetic::Full, &MMA_128X256),
    mma(&tensor::gemm_bf16_128x256_tt, TT, Arithmetic::Full, &MMA_128X256),
    mma(&tensor::gemm_bf16_64x64_nn, NN, Arithmetic::Full, &MMA_64X64),
    mma(&tensor::gemm_bf16_64x64_nt, NT, Arithmetic::Full, &MMA_64X64),
    mma(&tensor::gemm_bf16_64x64_tn, TN, Arithmetic::Full, &MMA_64X64),
    mma(&tensor::gemm_bf16_64x64_tt, TT, Arithmetic::Full, &MMA_64X64),
    stream_k(&hopper::gemm_hopper_bf16_nn_16x64, NN, &HOPPER_16X64),
    stream_k(&hopper::gemm_hopper_bf16_nt_16x64, NT, &HOPPER_16X64),
    stream_k(&hopper::gemm_hopper_bf16_nt_64x16, NT, &HOPPER_64X16),
    stream_k(&hopper::gemm_hopper_bf16_tt_64x16, TT, &HOPPER_64X16),
    stream_k(&hopper::gemm_hopper_bf16_nn_256, NN, &HOPPER_256),
    stream_k(&hopper::gemm_hopper_bf16_nt_256, NT, &HOPPER_256),
    stream_k(&hopper::gemm_hopper_bf16_tn_256, TN, &HOPPER_256),
    stream_k(&hopper::gemm_hopper_bf16_tt_256, TT, &HOPPER_256),
    two_width(&wide::gemm_hopper_bf16_nn_256x192, NN, &HOPPER_256X192),
    two_width(&wide::gemm_hopper_bf16_nt_256x192, NT, &HOPPER_256X192),
    two_width(&wide::gemm_hopper_bf16_tn_256x192, TN, &HOPPER_256X192),
    two_width(&wide::gemm_hopper_bf16_tt_256x192, TT, &HOPPER_256X192),
    stream_k(&hopper::gemm_hopper_bf16_nn_128, NN, &HOPPER_128),
    stream_k(&hopper::gemm_hopper_bf16_nt_128, NT, &HOPPER_128),
    stream_k(&hopper::gemm_hopper_bf16_tn_128, TN, &HOPPER_128),
    stream_k(&hopper::gemm_hopper_bf16_tt_128, TT, &HOPPER_128),
    stream_k(&hopper::gemm_hopper_bf16_nn_136x128, NN, &HOPPER_136X128),
    stream_k(&hopper::gemm_hopper_bf16_nt_136x128, NT, &HOPPER_136X128),
    stream_k(&hopper::gemm_hopper_bf16_nt_128x136, NT, &HOPPER_128X136),
    stream_k(&hopper::gemm_hopper_bf16_tt_128x136, TT, &HOPPER_128X136),
    stream_k(&hopper::gemm_hopper_bf16_nn_2x128x256, NN, &HOPPER_2X128X256),
    stream_k(&hopper::gemm_hopper_bf16_nt_2x128x256, NT, &HOPPER_2X128X256),
    stream_k(&hopper::gemm_hopper_bf16_tn_2x128x256, TN, &HOPPER_2X128X256),
    stream_k(&hopper::gemm_hopper_bf16_tt_2x128x256, TT, &HOPPER_2X128X256),
    stream_k(&hopper::gemm_hopper_bf16_nn_4x144x64, NN, &HOPPER_4X144X64),
    stream_k(&hopper::gemm_hopper_bf16_nt_4x144x64, NT, &HOPPER_4X144X64),
    stream_k(&hopper::gemm_hopper_bf16_nn_2x64x128, NN, &HOPPER_2X64X128),
    stream_k(&hopper::gemm_hopper_bf16_nt_2x64x128, NT, &HOPPER_2X64X128),
    stream_k(&hopper::gemm_hopper_bf16_tn_2x64x128, TN, &HOPPER_2X64X128),
    stream_k(&hopper::gemm_hopper_bf16_tt_2x64x128, TT, &HOPPER_2X64X128),
    stream_k(&hopper::gemm_hopper_bf16_nn_64x128, NN, &HOPPER_64X128),
    stream_k(&hopper::gemm_hopper_bf16_nt_64x128, NT, &HOPPER_64X128),
    stream_k(&hopper::gemm_hopper_bf16_tn_64x128, TN, &HOPPER_64X128),
    stream_k(&hopper::gemm_hopper_bf16_tt_64x128, TT, &HOPPER_64X128),
    stream_k(&hopper::gemm_hopper_bf16_nn_64x64, NN, &HOPPER_64X64),
    stream_k(&hopper::gemm_hopper_bf16_nt_64x64, NT, &HOPPER_64X64),
    stream_k(&hopper::gemm_hopper_bf16_tn_64x64, TN, &HOPPER_64X64),
    stream_k(&hopper::gemm_hopper_bf16_tt_64x64, TT, &HOPPER_64X64),
    small_extent(&skinny::gemm_skinny_bf16_16x64, &SKINNY_HALF_16X64),
    small_extent(&skinny::gemm_skinny_bf16_64x16, &SKINNY_HALF_64X16),
];

pub(super) const F64: &[Configuration<f64>] = &[plain(&plain::gemm_plain_f64, Arithmetic::Full)];
