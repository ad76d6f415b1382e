//! Kernels for Hopper (`sm_90a`): those whose words no other architecture has.

pub mod gemm;
pub mod vocabulary;

/// The family's kernels.
#[cfg(not(target_arch = "nvptx64"))]
pub const KERNELS: &[&simt::KernelInfo] = &[
    gemm::wgmma::wgemm_bf16_nt.info(),
    gemm::wgmma::wgemm_bf16_nn4.info(),
    gemm::wgmma::wgemm_bf16_nn8.info(),
    gemm::wgmma::wgemm_bf16_nn16.info(),
    gemm::wgmma::wgemm_bf16_nn32.info(),
    vocabulary::boxes::box_copy.info(),
    vocabulary::boxes::box_copy_3d.info(),
    vocabulary::boxes::box_places.info(),
    vocabulary::ring::box_ring_sums.info(),
];
