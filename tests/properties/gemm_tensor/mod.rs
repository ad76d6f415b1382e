//! `gemm_…_nn` to `gemm_…_tt`, the products by `mma.sync`, by launch: integers, for which every order of additions gives the
//! same bits, at the edges of tiles and steps, at every alignment.

mod run;

use warpwright::gpu::gemm::call::{BIAS_PER_COLUMN, BIAS_PER_ROW, GELU, RELU, WIDE_C};
use warpwright::gpu::tensor;
use warpwright::half::{bf16, f16};

use run::{Algorithm, Case, Number};

/// One module for each kernel, with a test for each property.
macro_rules! kernels {
    ($($module:ident => $t:ty, $kernel:ident, $tile:expr, $a:literal $b:literal;)+) => {$(
        mod $module {
            use super::*;
            const WAY: Algorithm<$t> = Algorithm { kernel: tensor::$kernel, tile: $tile, transposed: [$a, $b] };

            #[test]
            fn tile_edges_are_exact() {
                super::tile_edges_are_exact(&WAY);
            }
            #[test]
            fn alignments_are_exact() {
                super::alignments_are_exact(&WAY);
            }
            #[test]
            fn endings_are_exact() {
                super::endings_are_exact(&WAY);
            }
            #[test]
            fn a_non_finite_number_reaches_its_row_or_column() {
                super::a_non_finite_number_reaches_its_row_or_column(&WAY);
            }
            #[test]
            fn batches_are_exact() {
                super::batches_are_exact(&WAY);
            }
        }
    )+};
}
kernels! {
    f16_128x256_nn => f16, gemm_mma_f16_nn_128x256, [128, 256], false false;
    f16_128x256_nt => f16, gemm_mma_f16_nt_128x256, [128, 256], false true;
    f16_128x256_tn => f16, gemm_mma_f16_tn_128x256, [128, 256], true false;
    f16_128x256_tt => f16, gemm_mma_f16_tt_128x256, [128, 256], true true;
    f16_64x64_nn => f16, gemm_mma_f16_nn_64x64, [64, 64], false false;
    f16_64x64_nt => f16, gemm_mma_f16_nt_64x64, [64, 64], false true;
    f16_64x64_tn => f16, gemm_mma_f16_tn_64x64, [64, 64], true false;
    f16_64x64_tt => f16, gemm_mma_f16_tt_64x64, [64, 64], true true;
    bf16_128x256_nn => bf16, gemm_mma_bf16_nn_128x256, [128, 256], false false;
    bf16_128x256_nt => bf16, gemm_mma_bf16_nt_128x256, [128, 256], false true;
    bf16_128x256_tn => bf16, gemm_mma_bf16_tn_128x256, [128, 256], true false;
    bf16_128x256_tt => bf16, gemm_mma_bf16_tt_128x256, [128, 256], true true;
    bf16_64x64_nn => bf16, gemm_mma_bf16_nn_64x64, [64, 64], false false;
    bf16_64x64_nt => bf16, gemm_mma_bf16_nt_64x64, [64, 64], false true;
    bf16_64x64_tn => bf16, gemm_mma_bf16_tn_64x64, [64, 64], true false;
    bf16_64x64_tt => bf16, gemm_mma_bf16_tt_64x64, [64, 64], true true;
    tf32_128x128_nn => f32, gemm_mma_tf32_nn_128x128, [128, 128], false false;
    tf32_128x128_nt => f32, gemm_mma_tf32_nt_128x128, [128, 128], false true;
    tf32_128x128_tn => f32, gemm_mma_tf32_tn_128x128, [128, 128], true false;
    tf32_128x128_tt => f32, gemm_mma_tf32_tt_128x128, [128, 128], true true;
    tf32_64x64_nn => f32, gemm_mma_tf32_nn_64x64, [64, 64], false false;
    tf32_64x64_nt => f32, gemm_mma_tf32_nt_64x64, [64, 64], false true;
    tf32_64x64_tn => f32, gemm_mma_tf32_tn_64x64, [64, 64], true false;
    tf32_64x64_tt => f32, gemm_mma_tf32_tt_64x64, [64, 64], true true;
}

/// Extents one below, at and one above the edges of the tile, with depths at the edges of steps and of the stages.
fn tile_edges_are_exact<T: Number>(algorithm: &Algorithm<T>) {
    let [rows, cols] = algorithm.tile.map(|extent| extent as usize);
    let mut depths = [1, 32, 15, 16, 17, 33, 64, 100, 128, 161].into_iter().cycle();
    for (m, n) in
        [(rows, cols), (rows - 1, cols + 1), (rows + 1, cols - 1), (rows + 8, cols + 8), (1, 1), (3, cols), (rows, 5)]
    {
        for aligned in [true, false] {
            let k = depths.next().unwrap_or_default();
            let case = Case { m, n, k, ..Case::default() };
            algorithm.is_exact(&if aligned { case.aligned() } else { case.astray(3) });
        }
    }
    for (m, n, k) in [(0, 5, 3), (5, 0, 3), (5, 3, 0), (rows + 1, cols + 1, 0)] {
        algorithm.is_exact(&Case { m, n, k, ..Case::default() });
    }
}

/// Rows at multiples of 16, 8, 4, 2 bytes, in one matrix or all.
fn alignments_are_exact<T: Number>(algorithm: &Algorithm<T>) {
    let [rows, cols] = algorithm.tile.map(|extent| extent as usize);
    for by in [1, 2, 4] {
        for of in 0..3 {
            let case = Case { m: rows + 2, n: cols, k: 70, ..Case::default() }.aligned();
            let mut offset = case;
            offset.offset[of] += by;
            algorithm.is_exact(&offset);
            let mut gap = case;
            gap.gap[of] += by;
            algorithm.is_exact(&gap);
        }
    }
}

/// Every part of what is done to a sum, C in either type.
fn endings_are_exact<T: Number>(algorithm: &Algorithm<T>) {
    let small = Case { m: 37, n: 70, k: 20, ..Case::default() };
    let biases = [0, BIAS_PER_COLUMN, BIAS_PER_ROW];
    for (i, flags) in biases.into_iter().flat_map(|bias| [0, RELU, GELU].map(|act| bias | act)).enumerate() {
        for wide in [0, WIDE_C] {
            let scale = [[1.0, 0.0], [-2.0, 3.0], [0.0, 1.0], [3.0, -1.0]][(i + wide as usize / 2) % 4];
            let case = Case { flags: flags | wide, scale, data: i as u64, ..small };
            algorithm.is_exact(&if i % 2 == 0 { case } else { case.aligned() });
        }
    }
}

/// A NaN or infinity in A spoils its row of C, in B its column, and nothing else.
fn a_non_finite_number_reaches_its_row_or_column<T: Number>(algorithm: &Algorithm<T>) {
    let [rows, cols] = algorithm.tile.map(|extent| extent as usize);
    for (i, value) in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY].into_iter().enumerate() {
        for (m, n, k) in [(rows + 3, cols, 17), (9, cols + 1, 70)] {
            for in_a in [true, false] {
                let extent = if in_a { m } else { n };
                let spoilt = Some((in_a, extent - 1 - i, (k - 1) / (i + 1), value));
                let case = Case { m, n, k, spoilt, ..Case::default() };
                algorithm.is_exact(&case);
                algorithm.is_exact(&case.aligned());
            }
        }
    }
}

/// More matrices than the grid is deep, and operands that are the same for all.
fn batches_are_exact<T: Number>(algorithm: &Algorithm<T>) {
    let [rows, _] = algorithm.tile.map(|extent| extent as usize);
    for shared in [[false, false], [true, false], [false, true]] {
        let case = Case { m: rows + 1, n: 33, k: 40, batches: 5, depth: 2, shared, ..Case::default() };
        algorithm.is_exact(&case);
        algorithm.is_exact(&case.aligned());
    }
}

/// Numbers that lie halfway between two of tf32 are rounded to even, not cut off.
#[test]
fn tf32_is_rounded() {
    run::tf32_is_rounded();
}
