//! Matrix multiplication.

pub mod ffma;
pub mod naive;
pub mod tiled;

/// The family's kernels.
#[cfg(not(target_arch = "nvptx64"))]
pub const KERNELS: &[&simt::KernelInfo] = &[
    ffma::gemm_f32_128x128.info(),
    ffma::gemm_f32_128x256.info(),
    ffma::gemm_f32_256x128.info(),
    ffma::gemm_f32_64x64.info(),
    naive::matmul_naive.info(),
    tiled::matmul_tiled.info(),
];
