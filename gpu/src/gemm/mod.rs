//! Matrix multiplication.
//!
//! C = act(alpha · op(A)·op(B) + beta · C + bias). [`configs`] is the table of the kernels; what all have in common
//! ([`args`], `epilogue`, [`number`]) is also there for the PTX of each family.

pub mod args;
#[allow(unused_macros, unused_imports, reason = "a family without the others uses its own rows alone")]
pub mod configs;
mod epilogue;
#[cfg(feature = "gemm")]
pub mod ffma;
pub mod gelu;
#[cfg(feature = "gemm")]
pub mod grouped_reference;
#[cfg(not(target_arch = "nvptx64"))]
mod lists;
#[cfg(any(feature = "gemm", feature = "gemm_sm90"))]
pub(crate) mod microtile;
#[cfg(feature = "gemm_mma")]
pub mod mma;
#[cfg(feature = "gemm_mma_f64")]
pub mod mma_f64;
#[cfg(feature = "gemm")]
pub mod naive;
pub mod number;
#[cfg(feature = "gemm_mma")]
pub(crate) mod order;
#[cfg(any(feature = "gemm", feature = "gemm_mma", feature = "gemm_mma_f64"))]
pub(crate) mod raster;
#[cfg(feature = "gemm")]
pub mod reduce_k;
#[cfg(feature = "gemm")]
pub mod reference;
#[cfg(any(feature = "gemm_grouped", feature = "gemm_sm90", feature = "tutorial_sm90"))]
#[cfg_attr(not(feature = "gemm_sm90"), allow(dead_code, unused_macros, unused_imports))]
pub mod sm90;
#[cfg(feature = "gemm_small")]
pub mod small;
#[cfg(feature = "gemm")]
pub mod tiled;

#[cfg(not(target_arch = "nvptx64"))]
use self::lists::kernel_infos;

/// The kernels of the family `gemm`.
#[cfg(all(not(target_arch = "nvptx64"), feature = "gemm"))]
pub const KERNELS: &[&simt::KernelInfo] = kernel_infos!(
    ffma::KERNELS, [reference::F32, reference::TF32], [reference::F16], [reference::BF16], [reference::F64],
    [reference::I8], [reference::E4M3], [reference::E5M2];
    [
        grouped_reference::gemm_grouped_reference_bf16.info(),
        grouped_reference::gemm_grouped_reference_e4m3.info(),
        grouped_reference::gemm_grouped_reference_f16.info(),
        naive::matmul_naive.info(),
        reduce_k::gemm_reduce_k_bf16.info(),
        reduce_k::gemm_reduce_k_f16.info(),
        reduce_k::gemm_reduce_k_f32.info(),
        tiled::matmul_tiled.info(),
    ]
);

/// The kernels of the family `gemm_mma`.
#[cfg(all(not(target_arch = "nvptx64"), feature = "gemm_mma"))]
pub const MMA: &[&simt::KernelInfo] = kernel_infos!(mma::F16, mma::BF16, mma::TF32);

/// The kernels of the family `gemm_mma_f64`.
#[cfg(all(not(target_arch = "nvptx64"), feature = "gemm_mma_f64"))]
pub const MMA_F64: &[&simt::KernelInfo] = kernel_infos!(mma_f64::F64);

/// The kernels of the family `gemm_small`.
#[cfg(all(not(target_arch = "nvptx64"), feature = "gemm_small"))]
pub const SMALL: &[&simt::KernelInfo] = kernel_infos!(small::F16, small::BF16, small::F32);

/// The kernels of the family `gemm_grouped`.
#[cfg(all(not(target_arch = "nvptx64"), feature = "gemm_grouped"))]
pub const GROUPED: &[&simt::KernelInfo] = kernel_infos!(sm90::grouped::BF16, sm90::grouped::F16, sm90::grouped::E4M3);

/// The kernels of the family `gemm_sm90`.
#[cfg(all(not(target_arch = "nvptx64"), feature = "gemm_sm90"))]
pub const SM90: &[&simt::KernelInfo] = kernel_infos!(
    sm90::BF16, sm90::F16, sm90::TF32, sm90::BF16X6, sm90::I8, sm90::E4M3, sm90::E5M2, sm90::E4M3_FAST, sm90::E5M2_FAST,
    sm90::E4M3_BLOCKS,
    sm90::f64::F64, sm90::ffma::F32;
    [
        sm90::pack::gemm_sm90_pack_b8.info(),
        sm90::pack::gemm_sm90_pack_b16.info(),
        sm90::pack::gemm_sm90_pack_b32.info(),
        sm90::bf16x6::split::gemm_sm90_bf16x6_split.info(),
    ]
);
