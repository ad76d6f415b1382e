//! Matrix multiplication.

pub mod naive;
pub mod tiled;

/// The family's kernels.
#[cfg(not(target_arch = "nvptx64"))]
pub const KERNELS: &[&simt::KernelInfo] = &[naive::matmul_naive.info(), tiled::matmul_tiled.info()];
