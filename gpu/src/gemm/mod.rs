//! Matrix multiplication.
//!
//! What all products have in common is also there for the families of PTX that need it; the kernels are in one.

#[cfg(any(not(target_arch = "nvptx64"), feature = "gemm", feature = "tensor"))]
pub(crate) mod bands;
pub mod call;
#[cfg(any(not(target_arch = "nvptx64"), feature = "gemm"))]
pub mod ffma;
pub mod gelu;
#[cfg(any(not(target_arch = "nvptx64"), feature = "gemm"))]
pub mod merge;
#[cfg(any(not(target_arch = "nvptx64"), feature = "gemm"))]
pub mod naive;
pub mod number;
#[cfg(any(not(target_arch = "nvptx64"), feature = "gemm", feature = "hopper"))]
pub(crate) mod place;
#[cfg(any(not(target_arch = "nvptx64"), feature = "gemm"))]
pub mod plain;
#[cfg(any(not(target_arch = "nvptx64"), feature = "gemm"))]
pub mod tiled;

/// The family's kernels.
#[cfg(not(target_arch = "nvptx64"))]
pub const KERNELS: &[&simt::KernelInfo] = &[
    ffma::gemm_f32_128x128.info(),
    ffma::gemm_f32_128x256.info(),
    ffma::gemm_f32_256x128.info(),
    ffma::gemm_f32_64x64.info(),
    merge::gemm_merge_bf16.info(),
    merge::gemm_merge_f16.info(),
    merge::gemm_merge_f32.info(),
    naive::matmul_naive.info(),
    plain::gemm_plain_bf16.info(),
    plain::gemm_plain_f16.info(),
    plain::gemm_plain_f32.info(),
    plain::gemm_plain_f64.info(),
    plain::gemm_plain_tf32.info(),
    tiled::matmul_tiled.info(),
];
