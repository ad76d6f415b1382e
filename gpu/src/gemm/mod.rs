//! Matrix multiplication.
//!
//! What all products have in common is also there for the families of PTX that need it; the kernels are in one.

pub(crate) mod bands;
pub mod call;
pub mod gelu;
pub mod number;

#[cfg(any(not(target_arch = "nvptx64"), not(feature = "tensor")))]
pub mod ffma;
#[cfg(any(not(target_arch = "nvptx64"), not(feature = "tensor")))]
pub mod naive;
#[cfg(any(not(target_arch = "nvptx64"), not(feature = "tensor")))]
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
