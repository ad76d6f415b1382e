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
    vocabulary::matrix_stores::matrix_stores.info(),
    vocabulary::product_ring::product_ring.info(),
    vocabulary::products::product_bf16_16.info(),
    vocabulary::products::product_bf16_192.info(),
    vocabulary::products::product_bf16_96.info(),
    vocabulary::products::product_f16_128.info(),
    vocabulary::products::product_f16_64.info(),
    vocabulary::products::product_f16_8.info(),
    vocabulary::products::product_registers_f16.info(),
    vocabulary::products::product_registers_tf32.info(),
    vocabulary::products::product_tf32_256.info(),
    vocabulary::products::product_tf32_32.info(),
    vocabulary::ring::box_ring_sums.info(),
];
