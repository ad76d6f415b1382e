//! Plans: choices of algorithm that are right for a known reason, and properties of all.

use std::fmt::Write;

use half::f16;

use super::algorithm::{Algorithm, Plan};
use super::applicability::Unsupported;
use super::element::Multiply;
use super::operands::OperandLayout;
use super::options::{Arithmetic, Op};
use super::planner::{plan_for, plans};
use super::problem::{Epilogue, Problem, Request};
use crate::device::Device;
use crate::memory::Axes;

const NN: [Op; 2] = [Op::N, Op::N];
const NT: [Op; 2] = [Op::N, Op::T];
const TN: [Op; 2] = [Op::T, Op::N];
const TT: [Op; 2] = [Op::T, Op::T];

/// Dense operands; `ops` says which are column-major.
fn problem([m, n, k]: [usize; 3], [a, b]: [Op; 2]) -> Problem {
    let layout = |rows, cols, op| {
        let strides = if op == Op::N { [cols, 1] } else { [1, rows] };
        OperandLayout::of("x", &Axes::strided("test", &[rows, cols], &strides).unwrap(), Op::N).unwrap()
    };
    Problem::new(layout(m, k, a), layout(k, n, b), layout(m, n, Op::N), None, true).unwrap()
}

/// C = A·B on 132 SMs, C in the type of A and B.
fn request<'r, T: Multiply>(problem: &'r Problem, device: &'r Device) -> Request<'r> {
    let epilogue = Epilogue { output_bytes: size_of::<T>(), ..Epilogue::default() };
    Request { problem, epilogue, arithmetic: Arithmetic::Full, device, sm_count: 132 }
}

fn all<T: Multiply>(extents: [usize; 3], ops: [Op; 2]) -> Vec<Plan> {
    plans::<T>(&request::<T>(&problem(extents, ops), &Device::simulator()))
}

fn all_tf32(extents: [usize; 3], ops: [Op; 2]) -> Vec<Plan> {
    let (problem, device) = (problem(extents, ops), Device::simulator());
    plans::<f32>(&Request { arithmetic: Arithmetic::Tf32, ..request::<f32>(&problem, &device) })
}

/// Element type, layouts, m, n and k, and the first plan. Fastest on an H200, or within a twentieth of it.
#[rustfmt::skip]
const CHOICES: &[(&str, [Op; 2], [usize; 3], &str)] = &[
    // Small problems: intra-block split-K, in the layout of the operands.
    ("f32", NN, [512, 512, 512], "gemm_sm90_f32_nn_32x64_k8"),
    ("f32", NT, [512, 512, 512], "gemm_sm90_f32_nt_32x64_k8"),
    ("f32", TN, [512, 512, 512], "gemm_sm90_f32_tn_32x64_k8"),
    ("f32", TT, [512, 512, 512], "gemm_sm90_f32_tt_32x64_k8"),
    ("f32", NN, [1024, 1024, 1024], "gemm_sm90_f32_nn_128x64_k4"),
    ("f32", NT, [1024, 1024, 1024], "gemm_sm90_f32_nt_128x64_k4"),
    ("f32", TN, [1024, 1024, 1024], "gemm_sm90_f32_tn_128x64_k4"),
    ("f32", TT, [1024, 1024, 1024], "gemm_sm90_f32_tt_128x64_k4"),
    ("f32", NN, [1000, 1000, 1000], "gemm_sm90_f32_nn_128x64_k4"),
    ("f32", NT, [1000, 1000, 1000], "gemm_sm90_f32_nt_128x64_k4"),
    ("f32", TN, [1000, 1000, 1000], "gemm_sm90_f32_tn_128x64_k4"),
    ("f32", TT, [1000, 1000, 1000], "gemm_sm90_f32_tt_128x64_k4"),
    // Stream-K where tiles do not fill waves: two blocks per SM, three with tiles of 64 × 64.
    ("f32", TN, [3072, 3072, 3072], "gemm_sm90_f32_tn_128x128, stream-K on 264 blocks"),
    ("f32", TN, [4096, 4096, 4096], "gemm_sm90_f32_tn_128x128, stream-K on 264 blocks"),
    ("f32", TN, [8192, 8192, 8192], "gemm_sm90_f32_tn_128x128, stream-K on 264 blocks"),
    // 256 tiles for 264 resident blocks.
    ("f32", TN, [2048, 2048, 2048], "gemm_sm90_f32_tn_128x128"),
    ("f32", NN, [768, 768, 768], "gemm_sm90_f32_tn_64x32, A packed, stream-K on 264 blocks"),
    ("f32", NN, [1536, 1536, 1536], "gemm_sm90_f32_tn_64x64, A packed, stream-K on 396 blocks"),
    // 169 tiles of 128 × 128 for 264 blocks; with split-K 2, 74 would remain for a second wave.
    ("f32", NN, [1664, 1664, 1664], "gemm_sm90_f32_tn_64x64, A packed, stream-K on 396 blocks"),
    ("f32", NN, [2304, 2304, 2304], "gemm_sm90_f32_tn_128x128, A packed, stream-K on 264 blocks"),

    ("f16", NN, [256, 256, 256], "gemm_sm90_f16_nn_64x64"),
    ("f16", NN, [512, 512, 512], "gemm_sm90_f16_nn_64x64"),
    ("f16", NN, [64, 4096, 4096], "gemm_sm90_f16_nn_64x64, stream-K on 128 blocks"),
    ("f16", NN, [1024, 1024, 1024], "gemm_sm90_f16_nn_64x128"),
    // Misaligned rows of 2000 bytes: each box row spans two cache lines.
    ("f16", NN, [1000, 1000, 1000], "gemm_sm90_f16_nn_4x144x64"),
    // 240 clusters' tiles for 66 clusters; loads limit the tensor cores, not power.
    ("f16", NN, [3000, 5000, 4104], "gemm_sm90_f16_nn_2x128x256, stream-K on 132 blocks"),
    // 128 tiles, one wave.
    ("f16", NN, [2048, 2048, 2048], "gemm_sm90_f16_nn_128x256"),
    // Tiles of two widths fill the last wave,
    ("f16", NN, [4096, 4096, 4096], "gemm_sm90_f16_nn_256x192"),
    ("f16", NN, [16_384, 16_384, 16_384], "gemm_sm90_f16_nn_256x192"),
    // or stream-K in clusters.
    ("f16", NN, [2048, 11008, 4096], "gemm_sm90_f16_nn_2x128x256, stream-K on 132 blocks"),
    ("f16", NN, [8192, 8192, 8192], "gemm_sm90_f16_nn_2x128x256, stream-K on 132 blocks"),
    ("f16", NN, [128, 8192, 8192], "gemm_sm90_f16_nn_2x64x128"),
    ("f16", NN, [8192, 128, 8192], "gemm_sm90_f16_nn_64x128"),
    ("f16", NN, [8192, 8192, 128], "gemm_sm90_f16_nn_128x256"),
    ("f16", NN, [4096, 4096, 64], "gemm_sm90_f16_nn_128x256"),
    ("f16", NN, [1, 8192, 8192], "gemm_sm90_f16_nn_16x64"),
    ("f16", NN, [16, 8192, 8192], "gemm_sm90_f16_nn_16x64"),
    // Wider tiles, rather than a transposition of the small operand.
    ("f16", NN, [8192, 16, 8192], "gemm_sm90_f16_nn_64x64"),
    ("f16", NT, [8192, 16, 8192], "gemm_sm90_f16_nt_64x16"),
    // 64 tiles, two blocks for each.
    ("f16", NN, [257, 4096, 65_536], "gemm_sm90_f16_nn_136x128, stream-K on 128 blocks"),
    // Low tiles for few rows, and enough SMs that load.
    ("f16", NT, [8, 14_336, 4096], "gemm_sm90_f16_nt_16x64"),
    ("f16", NT, [8, 4096, 4096], "gemm_sm90_f16_nt_16x64"),
    // 80 tiles, of which 14 TPCs would have two.
    ("f16", NN, [17, 5120, 5120], "gemm_sm90_f16_nn_32x64_s8"),
    ("f16", NN, [32, 8192, 8192], "gemm_sm90_f16_nn_32x64"),
    // One row of tiles: no other loads B again.
    ("f16", NN, [32, 4096, 4096], "gemm_sm90_f16_nn_32x64"),
    ("f16", NN, [64, 4096, 4096], "gemm_sm90_f16_nn_64x64, stream-K on 128 blocks"),
    ("f16", NT, [64, 4096, 14_336], "gemm_sm90_f16_nt_64x64, stream-K on 128 blocks"),
    // A copy rather than loads of single elements.
    ("f16", NN, [24, 3773, 5744], "gemm_sm90_f16_nn_32x64, B packed, stream-K on 118 blocks"),

    ("tf32", NN, [8, 14_336, 4096], "gemm_sm90_tf32_nn_64x128"),
    ("tf32", NN, [512, 512, 512], "gemm_sm90_tf32_nn_64x128"),
    ("tf32", NT, [512, 512, 512], "gemm_sm90_tf32_nt_128x64"),
    ("tf32", TT, [512, 512, 512], "gemm_sm90_tf32_tt_128x64"),
    ("tf32", NN, [768, 768, 768], "gemm_sm90_tf32_nn_64x128"),
    ("tf32", NT, [768, 768, 768], "gemm_sm90_tf32_nt_128x64"),
    ("tf32", TT, [768, 768, 768], "gemm_sm90_tf32_tt_128x64"),
    ("tf32", NN, [1024, 1024, 1024], "gemm_sm90_tf32_nn_64x128"),
    ("tf32", NT, [1024, 1024, 1024], "gemm_sm90_tf32_nt_128x64"),
    ("tf32", TT, [1024, 1024, 1024], "gemm_sm90_tf32_tt_128x64"),
    ("tf32", NN, [1024, 2048, 1024], "gemm_sm90_tf32_nn_128x128"),
    ("tf32", NT, [1024, 2048, 1024], "gemm_sm90_tf32_nt_128x128"),
    ("tf32", TT, [1024, 2048, 1024], "gemm_sm90_tf32_tt_128x128"),
    ("tf32", NN, [2048, 2048, 2048], "gemm_sm90_tf32_nn_256x128"),
    ("tf32", NT, [2048, 2048, 2048], "gemm_sm90_tf32_nt_128x256"),
    ("tf32", TT, [2048, 2048, 2048], "gemm_sm90_tf32_tt_128x256"),
    ("tf32", NN, [4096, 4096, 4096], "gemm_sm90_tf32_nn_256x128"),
    ("tf32", NT, [4096, 4096, 4096], "gemm_sm90_tf32_nt_128x256"),
    ("tf32", TT, [4096, 4096, 4096], "gemm_sm90_tf32_tt_128x256"),
    // TN has no kernel: one operand is transposed.
    ("tf32", TN, [16_384, 16_384, 16_384], "gemm_sm90_tf32_nn_256x128, A packed"),
];

/// The same without a workspace.
#[rustfmt::skip]
const CHOICES_WITHOUT_WORKSPACE: &[(&str, [Op; 2], [usize; 3], &str)] = &[
    ("f32", NN, [512, 512, 512], "gemm_sm90_f32_nn_32x64_k8"),
    // 128 tiles for 132 SMs.
    ("f32", NN, [1024, 1024, 1024], "gemm_sm90_f32_nn_128x64_k4"),
    ("f32", NN, [2048, 2048, 2048], "gemm_ffma_f32_128x256"),
    ("f32", NN, [4096, 4096, 4096], "gemm_ffma_f32_128x256"),
    ("f32", NN, [8192, 8192, 8192], "gemm_ffma_f32_128x256"),
    ("f32", NN, [16_384, 16_384, 16_384], "gemm_ffma_f32_128x256"),
    // Memory-bound: small m or small n.
    ("f32", NN, [1, 8192, 8192], "gemm_small_f32_4x64"),
    ("f32", NN, [4, 8192, 8192], "gemm_small_f32_4x64"),
    ("f32", NN, [8192, 1, 8192], "gemm_small_f32_64x4"),
    ("f32", NN, [8192, 16, 8192], "gemm_small_f32_64x16"),
    // 104 µs on an H200, where the memory-bound kernels take 143.
    ("f32", NN, [9, 8192, 8192], "gemm_sm90_f32_nn_32x64_k8"),
    ("f32", NN, [16, 8192, 8192], "gemm_sm90_f32_nn_32x64_k8"),
    ("f32", NN, [u32::MAX as usize, 1, 1000], "gemm_small_f32_64x4"),
    // Tensor cores by TMA where operands are aligned, by mma.sync else.
    ("f16", NT, [4096, 4096, 4096], "gemm_sm90_f16_nt_256x192"),
    ("f16", NT, [8192, 8192, 8192], "gemm_sm90_f16_nt_256x192"),
    ("f16", NT, [4095, 4095, 4095], "gemm_mma_f16_nt_128x256"),
    ("f16", NT, [8191, 8191, 8191], "gemm_mma_f16_nt_128x256"),
];

fn candidates((elements, ops, extents): (&str, [Op; 2], [usize; 3])) -> Vec<Plan> {
    match elements {
        "f32" => all::<f32>(extents, ops),
        "tf32" => all_tf32(extents, ops),
        "f16" => all::<f16>(extents, ops),
        other => panic!("{other}"),
    }
}

#[test]
fn first_plans_are_the_expected_ones() {
    let mut wrong = String::new();
    for &(elements, ops, extents, expected) in CHOICES {
        let plan = candidates((elements, ops, extents))[0];
        let algorithm = plan.algorithm();
        if algorithm.to_string() != expected {
            writeln!(wrong, "{elements}, {ops:?}, {extents:?}: {algorithm}, not {expected}").unwrap();
        }
        if algorithm.packed() == [false; 2] {
            let tile = plan.tile().iter().product::<u32>() as usize;
            let clusters = (algorithm.blocks() / algorithm.kernel().cluster) as usize;
            assert_eq!(plan.workspace_len(), if clusters == 0 { 0 } else { clusters * (tile + 16) + 3 }, "{algorithm}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn first_plans_without_a_workspace_are_the_expected_ones() {
    for &(elements, ops, extents, expected) in CHOICES_WITHOUT_WORKSPACE {
        let plans = candidates((elements, ops, extents));
        let plan = plans.iter().find(|plan| plan.workspace_len() == 0).unwrap();
        assert_eq!(plan.algorithm().to_string(), expected, "{elements}, {ops:?}, {extents:?}");
    }
}

#[test]
fn a_small_c_with_long_sums_is_split() {
    let extents = [64, 64, 65_536];
    let plans = all::<f32>(extents, TN);
    let parts = plans[0].algorithm().parts() as usize;
    assert!(parts > 1 && plans[0].workspace_len() == 64 * 64 * parts);
    assert!(plans.is_sorted_by(|left, right| left.cost() <= right.cost()));
    assert!(plans.iter().any(|plan| plan.workspace_len() == 0));
    let (long, device) = (problem(extents, TN), Device::simulator());
    let of_f64 = Algorithm::of(gpu::gemm::reference::gemm_reference_f64.info()).split_k(2);
    assert!(matches!(plan_for::<f64>(&request::<f64>(&long, &device), of_f64), Err(Unsupported::SplitK)));
}

#[test]
fn tma_kernels_need_aligned_operands() {
    let device = Device::simulator();
    for (number, name) in [(0, "`a`"), (1, "`b`")] {
        let mut misaligned = problem([4096; 3], NN);
        [&mut misaligned.a, &mut misaligned.b][number].misalignment = 2;
        let request = request::<f16>(&misaligned, &device);
        let plans = plans::<f16>(&request);
        let first = plans.iter().find(|plan| plan.workspace_len() == 0).unwrap();
        assert_eq!(first.algorithm().kernel().name, "gemm_mma_f16_nn_128x256");
        let hopper = Algorithm::of(gpu::gemm::sm90::gemm_sm90_f16_nn_128x256.info());
        let unsupported = plan_for::<f16>(&request, hopper).unwrap_err().to_string();
        assert!(unsupported.contains(name), "{unsupported}");
    }
}

/// No more blocks than steps; no schedule where all tiles are whole; only kernels that have it, without split-K.
#[test]
fn stream_k_may_be_reduced_or_refused() {
    let (small, device) = (problem([128, 128, 200], NN), Device::simulator());
    let blocks =
        |algorithm| plan_for::<f16>(&request::<f16>(&small, &device), algorithm).map(|plan| plan.algorithm().blocks());
    let hopper = Algorithm::of(gpu::gemm::sm90::gemm_sm90_f16_nn_128x128.info());
    assert_eq!((blocks(hopper.stream_k(9)).unwrap(), blocks(hopper.stream_k(1)).unwrap()), (4, 0));
    assert!(matches!(blocks(hopper.split_k(2).stream_k(9)), Err(Unsupported::StreamK)));
    let plain = Algorithm::of(gpu::gemm::reference::gemm_reference_f16.info());
    assert!(matches!(blocks(plain.stream_k(2)), Err(Unsupported::StreamK)));
}

#[test]
fn parts_of_k_are_multiples_of_the_granularity() {
    let (device, plain) = (Device::simulator(), Algorithm::of(gpu::gemm::reference::gemm_reference_f32.info()));
    for (k, asked, parts, part) in
        [(100, 1, 1, 112), (100, 2, 2, 64), (100, 3, 3, 48), (100, 50, 7, 16), (16, 9, 1, 16), (0, 4, 1, 16)]
    {
        let problem = problem([9, 9, k], NN);
        let plan = plan_for::<f32>(&request::<f32>(&problem, &device), plain.split_k(asked)).unwrap();
        assert_eq!((plan.algorithm().parts(), plan.work.split.part), (parts, part), "k = {k}, {asked} parts");
    }
}

#[test]
fn kernels_for_one_layout_are_not_planned_for_others() {
    let has_ffma =
        |ops| all::<f32>([100; 3], ops).iter().any(|plan| plan.algorithm().kernel().name.starts_with("gemm_ffma_f32_"));
    assert_eq!([NN, NT, TN, TT].map(has_ffma), [true, false, false, false]);
}

#[test]
fn costs_are_finite_for_extreme_extents_and_devices() {
    let beyond_32_bits = all::<f32>([usize::MAX / 8, 3, 2], NN);
    let first = beyond_32_bits.iter().find(|plan| plan.workspace_len() == 0).unwrap().algorithm().kernel().name;
    assert!(!first.starts_with("gemm_ffma_f32_"), "{first} counts with 32 bits");
    let (problem, device) = (problem([100; 3], NN), Device::simulator());
    let no_sms = Request { sm_count: 0, ..request::<f32>(&problem, &device) };
    assert!(plans::<f32>(&no_sms).iter().all(|plan| plan.cost().is_finite()));
}

/// A kernel that no family has runs on the simulator, and on no GPU.
#[test]
fn every_kernel_is_one_of_a_family() {
    fn check<T: Multiply>() {
        for configuration in T::configurations() {
            let info = configuration.info();
            assert!(gpu::family_of(info).is_some(), "{} is in no list of gpu::gemm", info.name);
        }
    }
    check::<f32>();
    check::<f64>();
    check::<f16>();
    check::<half::bf16>();
    check::<i8>();
    check::<simt::float8::E4m3>();
    check::<simt::float8::E5m2>();
}
