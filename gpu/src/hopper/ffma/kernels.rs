//! The kernels: a product for each tile.

#![allow(clippy::too_many_arguments, reason = "the arguments of a product: `gemm::call`")]

use simt::prelude::*;
use simt::tma::{TensorMap, TensorMapMut};

use super::product::{Stages, product};
use crate::hopper::gemm::finish::Finish;
use crate::hopper::gemm::parts::Parts;

/// `name: rows x columns x depth, quads of 4 x 4 per thread, threads, stages, blocks per multiprocessor, lines written out;`
macro_rules! kernels {
    ($($(#[$doc:meta])+ $name:ident: $m:literal x $n:literal x $depth:literal,
        $mq:literal x $nq:literal, $threads:literal, $stages:literal, $blocks:literal, $part:literal;)+) => {
        $(
            $(#[$doc])+
            #[kernel(pdl, block = ($threads), min_blocks = $blocks, registers = 255, barriers = 6, traps = 2)]
            pub fn $name(
                #[shared] stages: &Stages<{ ($m + $n) * $depth * $stages }, $stages>,
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
                shared: u32,
                sums: VecMut<f32>,
                up: VecMut<u64>,
                token: u64,
            ) {
                let _ = stored;
                let how = Finish { c, wide, bias, strides, scale, flags };
                let parts = Parts { sums, flags: up, token, steps: 0 };
                product::<$m, $n, $depth, $mq, $nq, $threads, _, $stages, { $stages as u32 }, { $m * $depth }, { $n * $depth }, $part>(
                    stages, a, b, extents, batches, shared, parts, how,
                );
            }
        )+

        /// The kernels of this module.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const KERNELS: &[&simt::KernelInfo] = &[$($name.info()),+];
    };
}

kernels! {
    /// C = act(alpha·Aᵀ·B + beta·C + bias) of `f32`, tiles of 128 × 128. A lies as k × m, B as k × n.
    ///
    /// The maps are of boxes of 128 × 32 (m × k, n × k, contiguous first), without swizzle, third the batch. Threads write C:
    /// `stored` has no use. A block computes the tiles whose index is its own modulo the grid's size.
    gemm_hopper_f32_tn_128x128: 128 x 128 x 32, 4 x 2, 128, 3, 2, 2;
    /// [`gemm_hopper_f32_tn_128x128`] in tiles of 64 × 64, with 8 × 4 elements per thread and boxes of 64 × 32: for small C.
    gemm_hopper_f32_tn_64x64: 64 x 64 x 32, 2 x 1, 128, 4, 3, 4;
    /// [`gemm_hopper_f32_tn_128x128`] in tiles of 64 × 32, with 4 × 4 elements per thread, boxes of A of 64 × 64 and of B of
    /// 32 × 64: for the smallest C.
    gemm_hopper_f32_tn_64x32: 64 x 32 x 64, 1 x 1, 128, 4, 2, 16;
}
