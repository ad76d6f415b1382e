//! The kernels: a product for each type and layout.

#![allow(clippy::too_many_arguments, reason = "the arguments of a product: `gemm::call`")]

use half::{bf16, f16};
use simt::prelude::*;
use simt::tma::{TensorMap, TensorMapMut};

use super::product::{Stages, THREADS, product};
use crate::hopper::gemm::finish::Finish;

/// `name: type, [op(A) is Aᵀ, step of A], [op(B) is B, step of B];`
macro_rules! kernels {
    ($($(#[$doc:meta])+ $name:ident: $t:ident, [$ta:literal $sa:literal], [$tb:literal $sb:literal];)+) => {
        $(
            $(#[$doc])+
            #[kernel(pdl, block = (THREADS), min_blocks = 1, registers = 168, barriers = 29, traps = 4)]
            pub fn $name(
                #[shared] stages: &Stages<$t>,
                a: &TensorMap<$t>,
                b: &TensorMap<$t>,
                stored: &TensorMapMut<$t>,
                c: VecMut<$t>,
                wide: VecMut<f32>,
                bias: VecRef<f32>,
                extents: [u32; 4],
                batches: [u32; 2],
                strides: [u64; 2],
                scale: [f32; 2],
                flags: u32,
            ) {
                let how = Finish { c, wide, bias, strides, scale, flags };
                product::<$t, $ta, $tb, $sa, $sb>(stages, a, b, stored, extents, batches, how);
            }
        )+

        /// The kernels of this module.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const KERNELS: &[&simt::KernelInfo] = &[$($name.info()),+];
    };
}

kernels! {
    /// C = act(alpha·A·B + beta·C + bias) of `bf16`, tiles of 256 × 192 and 256 × 128. A is m × k, B is k × n, as they lie in memory.
    ///
    /// The maps are of boxes: of A 64 × 256 (k × m, contiguous first), of B 64 × 64 (n × k), of C 64 × 64, third the batch.
    gemm_hopper_bf16_nn_256x192: bf16, [false 32], [true 2048];
    /// [`gemm_hopper_bf16_nn_256x192`] where B lies as n × k.
    gemm_hopper_bf16_nt_256x192: bf16, [false 32], [false 32];
    /// [`gemm_hopper_bf16_nn_256x192`] where A lies as k × m, in boxes of 64 × 64 (m × k).
    gemm_hopper_bf16_tn_256x192: bf16, [true 2048], [true 2048];
    /// Both.
    gemm_hopper_bf16_tt_256x192: bf16, [true 2048], [false 32];
    /// [`gemm_hopper_bf16_nn_256x192`] of `f16`.
    gemm_hopper_f16_nn_256x192: f16, [false 32], [true 2048];
    /// [`gemm_hopper_bf16_nt_256x192`] of `f16`.
    gemm_hopper_f16_nt_256x192: f16, [false 32], [false 32];
    /// [`gemm_hopper_bf16_tn_256x192`] of `f16`.
    gemm_hopper_f16_tn_256x192: f16, [true 2048], [true 2048];
    /// [`gemm_hopper_bf16_tt_256x192`] of `f16`.
    gemm_hopper_f16_tt_256x192: f16, [true 2048], [false 32];
}
