//! The kernels: a product for each layout and size of the tiles.

#![allow(clippy::too_many_arguments, reason = "the arguments of a product: `gemm::call`")]

use simt::prelude::*;
use simt::tma::{TensorMap, TensorMapMut};

use super::product::{Stages, THREADS, product};
use crate::hopper::gemm::finish::Finish;

/// Stages of the ring where a tile has 256 columns of D.
pub const STAGES_256: usize = 4;
/// Stages of the ring where it has 128.
pub const STAGES_128: usize = 6;
/// Stages of the ring where it has 64.
pub const STAGES_64: usize = 8;

/// `name: columns of D, stages, [X is across k] [D is Cᵀ] box of Y, barriers;`
macro_rules! kernels {
    ($($(#[$doc:meta])+ $name:ident: $cols:literal, $stages:ident, [$across:literal] [$transposed:literal] $y:literal,
        $barriers:literal;)+) => {
        $(
            $(#[$doc])+
            #[kernel(pdl, block = (THREADS), min_blocks = 1, registers = 168, barriers = $barriers, traps = 4)]
            pub fn $name(
                #[shared] stages: &Stages<{ 128 * 32 * $stages }, { $cols * 32 * $stages }, $stages>,
                a: &TensorMap<f32>,
                b: &TensorMap<f32>,
                stored: &TensorMapMut<f32>,
                c: VecMut<f32>,
                wide: VecMut<f32>,
                bias: VecRef<f32>,
                extents: [u32; 4],
                batches: [u32; 2],
                strides: [u64; 2],
                scale: [f32; 2],
                flags: u32,
            ) {
                let how = Finish { c, wide, bias, strides, scale, flags };
                let ([m, n, k, count], [of_a, of_b]) = (extents, batches);
                let (x, y, extents, batches) = if $transposed {
                    (b, a, [n, m, k, count], [of_b, of_a])
                } else {
                    (a, b, extents, batches)
                };
                product::<$cols, _, _, _, { $stages as u32 }, $across, $transposed, $y>(
                    stages, x, y, stored, extents, batches, how,
                );
            }
        )+

        /// The kernels of this module.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const KERNELS: &[&simt::KernelInfo] = &[$($name.info()),+];
    };
}

kernels! {
    /// C = act(alpha·A·Bᵀ + beta·C + bias) of `f32` rounded to tf32, tiles of 128 × 256. A lies as m × k, B as n × k.
    ///
    /// The maps round, and are of boxes: of A 32 × 128 (k × m, contiguous first), of B 32 × 256 (k × n), of C 32 × 64, third
    /// the batch.
    gemm_hopper_tf32_nt_256: 256, STAGES_256, [false] [false] 8192, 19;
    /// [`gemm_hopper_tf32_nt_256`] in tiles of 128 × 128.
    gemm_hopper_tf32_nt_128: 128, STAGES_128, [false] [false] 4096, 11;
    /// [`gemm_hopper_tf32_nt_256`] in tiles of 128 × 64: for small C.
    gemm_hopper_tf32_nt_64: 64, STAGES_64, [false] [false] 2048, 7;
    /// [`gemm_hopper_tf32_nt_256`] where A lies as k × m, in boxes of 32 × 32 (m × k).
    gemm_hopper_tf32_tt_256: 256, STAGES_256, [true] [false] 8192, 19;
    /// [`gemm_hopper_tf32_tt_256`] in tiles of 128 × 128.
    gemm_hopper_tf32_tt_128: 128, STAGES_128, [true] [false] 4096, 11;
    /// [`gemm_hopper_tf32_tt_256`] in tiles of 128 × 64.
    gemm_hopper_tf32_tt_64: 64, STAGES_64, [true] [false] 2048, 7;
    /// C = act(alpha·A·B + beta·C + bias), tiles of 256 × 128: boxes of A 32 × 256 (k × m), of B 32 × 32 (n × k).
    gemm_hopper_tf32_nn_256: 256, STAGES_256, [true] [true] 8192, 13;
    /// [`gemm_hopper_tf32_nn_256`] in tiles of 128 × 128.
    gemm_hopper_tf32_nn_128: 128, STAGES_128, [true] [true] 4096, 7;
    /// [`gemm_hopper_tf32_nn_256`] in tiles of 64 × 128.
    gemm_hopper_tf32_nn_64: 64, STAGES_64, [true] [true] 2048, 4;
}
