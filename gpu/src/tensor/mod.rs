//! Products on tensor cores by `mma.sync`, for every GPU from compute capability 8.0.

mod number;
mod panel;
mod product;
mod write;

use half::{bf16, f16};
use simt::prelude::*;

use product::{Block, Call};

/// Steps along k in shared memory: three that are on their way while one is multiplied.
pub const STAGES: u32 = 4;

/// Shared memory of a block: the stages of A and of B.
#[repr(C)]
#[derive(Shared)]
pub struct Stages<T: simt::element::Element, const A: usize, const B: usize> {
    a: SharedArray<T, A>,
    b: SharedArray<T, B>,
}

/// Blocks along x for an m × n matrix C in tiles of `rows` × `cols`.
pub const fn tiles(m: u32, n: u32, [rows, cols]: [u32; 2]) -> u32 {
    m.div_ceil(rows).saturating_mul(n.div_ceil(cols))
}

macro_rules! products {
    ($($name:ident: $t:ty, $chunk:literal, $m:literal, $n:literal, $mt:literal, $nt:literal, $threads:literal, $a_along:literal, $b_along:literal, $blocks:literal, $registers:literal;)+) => {$(
        /// x
        #[kernel(
            block = ($threads), min_blocks = $blocks, registers = $registers, global_load_bytes = 2,
            global_store_bytes = 2
        )]
        pub fn $name(
            #[shared] stages: &Stages<$t, { 16 * $m * $chunk }, { 16 * $n * $chunk }>,
            a: VecRef<$t>,
            b: VecRef<$t>,
            c: VecMut<$t>,
            wide: VecMut<f32>,
            bias: VecRef<f32>,
            extents: [u32; 4],
            ld: [u64; 3],
            batch: [u64; 3],
            scale: [f32; 2],
            flags: u32,
        ) {
            let call = Call { a, b, c, wide, bias, extents, ld, batch, scale, flags };
            Block::<$t, $chunk, { 16 * $m * $chunk }, { 16 * $n * $chunk }, $m, $n, $mt, $nt, $threads, $a_along, $b_along>::run(
                stages, &call,
            );
        }
    )+};
}

products! {
    gemm_f16_128x256_nn: f16, 8, 128, 256, 4, 8, 256, true, false, 1, 255;
    gemm_f16_128x256_nt: f16, 8, 128, 256, 4, 8, 256, true, true, 1, 255;
    gemm_f16_128x256_tn: f16, 8, 128, 256, 4, 8, 256, false, false, 1, 255;
    gemm_f16_128x256_tt: f16, 8, 128, 256, 4, 8, 256, false, true, 1, 255;
    gemm_f16_64x64_nn: f16, 8, 64, 64, 2, 4, 128, true, false, 4, 128;
    gemm_f16_64x64_nt: f16, 8, 64, 64, 2, 4, 128, true, true, 4, 128;
    gemm_f16_64x64_tn: f16, 8, 64, 64, 2, 4, 128, false, false, 4, 128;
    gemm_f16_64x64_tt: f16, 8, 64, 64, 2, 4, 128, false, true, 4, 128;
    gemm_bf16_128x256_nn: bf16, 8, 128, 256, 4, 8, 256, true, false, 1, 255;
    gemm_bf16_128x256_nt: bf16, 8, 128, 256, 4, 8, 256, true, true, 1, 255;
    gemm_bf16_128x256_tn: bf16, 8, 128, 256, 4, 8, 256, false, false, 1, 255;
    gemm_bf16_128x256_tt: bf16, 8, 128, 256, 4, 8, 256, false, true, 1, 255;
    gemm_bf16_64x64_nn: bf16, 8, 64, 64, 2, 4, 128, true, false, 4, 128;
    gemm_bf16_64x64_nt: bf16, 8, 64, 64, 2, 4, 128, true, true, 4, 128;
    gemm_bf16_64x64_tn: bf16, 8, 64, 64, 2, 4, 128, false, false, 4, 128;
    gemm_bf16_64x64_tt: bf16, 8, 64, 64, 2, 4, 128, false, true, 4, 128;
    gemm_tf32_128x256_nn: f32, 4, 128, 256, 4, 8, 256, true, false, 1, 255;
    gemm_tf32_128x256_nt: f32, 4, 128, 256, 4, 8, 256, true, true, 1, 255;
    gemm_tf32_128x256_tn: f32, 4, 128, 256, 4, 8, 256, false, false, 1, 255;
    gemm_tf32_128x256_tt: f32, 4, 128, 256, 4, 8, 256, false, true, 1, 255;
    gemm_tf32_64x64_nn: f32, 4, 64, 64, 2, 4, 128, true, false, 4, 128;
    gemm_tf32_64x64_nt: f32, 4, 64, 64, 2, 4, 128, true, true, 4, 128;
    gemm_tf32_64x64_tn: f32, 4, 64, 64, 2, 4, 128, false, false, 4, 128;
    gemm_tf32_64x64_tt: f32, 4, 64, 64, 2, 4, 128, false, true, 4, 128;
}

/// The family's kernels.
#[cfg(not(target_arch = "nvptx64"))]
pub const KERNELS: &[&simt::KernelInfo] = &[
    gemm_f16_128x256_nn.info(),
    gemm_f16_128x256_nt.info(),
    gemm_f16_128x256_tn.info(),
    gemm_f16_128x256_tt.info(),
    gemm_f16_64x64_nn.info(),
    gemm_f16_64x64_nt.info(),
    gemm_f16_64x64_tn.info(),
    gemm_f16_64x64_tt.info(),
    gemm_bf16_128x256_nn.info(),
    gemm_bf16_128x256_nt.info(),
    gemm_bf16_128x256_tn.info(),
    gemm_bf16_128x256_tt.info(),
    gemm_bf16_64x64_nn.info(),
    gemm_bf16_64x64_nt.info(),
    gemm_bf16_64x64_tn.info(),
    gemm_bf16_64x64_tt.info(),
    gemm_tf32_128x256_nn.info(),
    gemm_tf32_128x256_nt.info(),
    gemm_tf32_128x256_tn.info(),
    gemm_tf32_128x256_tt.info(),
    gemm_tf32_64x64_nn.info(),
    gemm_tf32_64x64_nt.info(),
    gemm_tf32_64x64_tn.info(),
    gemm_tf32_64x64_tt.info(),
];
