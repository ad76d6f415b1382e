//! The kernels: a product for each layout and size of the tiles.

#![allow(clippy::too_many_arguments, reason = "the arguments of a product: `gemm::call`")]

use simt::prelude::*;
use simt::tma::{TensorMap, TensorMapMut};

use super::product::{Stages, product};
use crate::hopper::gemm::finish::Finish;

/// `name: rows x columns, quads of rows per thread, warps x groups, stages of each, threads, A, B turned over, registers, barriers;`
macro_rules! kernels {
    ($($(#[$doc:meta])+ $name:ident: $m:literal x $n:literal, $mq:literal, $warps:literal x $groups:literal, $stages:literal,
        $threads:literal, $turn_a:literal, $turn_b:literal, $registers:literal, $barriers:literal;)+) => {
        $(
            $(#[$doc])+
            #[kernel(pdl, block = ($threads), min_blocks = 1, registers = $registers, barriers = $barriers, traps = 2)]
            pub fn $name(
                #[shared] stages: &Stages<{ ($m + $n) * 32 * $stages * $groups }, { $stages * $groups }>,
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
                let _ = stored;
                let how = Finish { c, wide, bias, strides, scale, flags };
                product::<
                    $m, $n, $mq, $warps, $groups, { $stages as u32 }, _, { $stages * $groups }, { $m * 32 }, { $n * 32 }, $turn_a, $turn_b,
                >(
                    stages, a, b, extents, batches, how,
                );
            }
        )+

        /// The kernels of this module.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const KERNELS: &[&simt::KernelInfo] = &[$($name.info()),+];
    };
}

kernels! {
    /// C = act(alpha·op(A)·op(B) + beta·C + bias) of `f32`, A as m × k, B as k × n, tiles of 128 × 64 by four groups of two warps with 16 × 8
    /// elements per thread.
    ///
    /// The maps are, third the batch: of an operand that lies along k boxes of 32 (k) × 128 (m) or 64 (n), contiguous first, with the
    /// swizzle of 128 bytes; of one that lies across k boxes of 128 or 64 × 32, without. Threads write C: `stored` has no use. A block
    /// computes the tiles whose index is its own modulo the grid's size.
    gemm_hopper_f32_nn_128x64_k4: 128 x 64, 4, 2 x 4, 2, 256, true, false, 255, 5;
    /// [`gemm_hopper_f32_nn_128x64_k4`], B as n × k.
    gemm_hopper_f32_nt_128x64_k4: 128 x 64, 4, 2 x 4, 2, 256, true, true, 255, 5;
    /// [`gemm_hopper_f32_nn_128x64_k4`], A as k × m.
    gemm_hopper_f32_tn_128x64_k4: 128 x 64, 4, 2 x 4, 2, 256, false, false, 255, 4;
    /// [`gemm_hopper_f32_nn_128x64_k4`], A as k × m, B as n × k.
    gemm_hopper_f32_tt_128x64_k4: 128 x 64, 4, 2 x 4, 2, 256, false, true, 255, 5;
    /// [`gemm_hopper_f32_nn_128x64_k4`] in tiles of 32 × 64 by eight groups of one warp: for small C.
    gemm_hopper_f32_nn_32x64_k8: 32 x 64, 2, 1 x 8, 2, 256, true, false, 255, 4;
    /// [`gemm_hopper_f32_nn_32x64_k8`], B as n × k.
    gemm_hopper_f32_nt_32x64_k8: 32 x 64, 2, 1 x 8, 2, 256, true, true, 255, 4;
    /// [`gemm_hopper_f32_nn_32x64_k8`], A as k × m.
    gemm_hopper_f32_tn_32x64_k8: 32 x 64, 2, 1 x 8, 2, 256, false, false, 255, 4;
    /// [`gemm_hopper_f32_nn_32x64_k8`], A as k × m, B as n × k.
    gemm_hopper_f32_tt_32x64_k8: 32 x 64, 2, 1 x 8, 2, 256, false, true, 255, 4;
}
