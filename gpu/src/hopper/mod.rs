//! Kernels for Hopper (`sm_90a`): those whose words no other architecture has.

#[cfg(not(target_arch = "nvptx64"))]
mod arguments;
pub mod ffma;
pub mod gemm;
pub mod tf32;
pub mod vocabulary;

#[cfg(not(target_arch = "nvptx64"))]
pub use arguments::{Boxed, Shared};

/// The family's kernels.
#[cfg(not(target_arch = "nvptx64"))]
pub const KERNELS: &[&simt::KernelInfo] = &[
    ffma::gemm_hopper_f32_tn_128x128.info(),
    ffma::gemm_hopper_f32_tn_64x32.info(),
    ffma::gemm_hopper_f32_tn_64x64.info(),
    gemm::gemm_hopper_bf16_nn_128.info(),
    gemm::gemm_hopper_bf16_nn_256.info(),
    gemm::gemm_hopper_bf16_nn_64x128.info(),
    gemm::gemm_hopper_bf16_nn_64x64.info(),
    gemm::gemm_hopper_bf16_nt_128.info(),
    gemm::gemm_hopper_bf16_nt_256.info(),
    gemm::gemm_hopper_bf16_nt_64x128.info(),
    gemm::gemm_hopper_bf16_nt_64x64.info(),
    gemm::gemm_hopper_bf16_tn_128.info(),
    gemm::gemm_hopper_bf16_tn_256.info(),
    gemm::gemm_hopper_bf16_tn_64x128.info(),
    gemm::gemm_hopper_bf16_tn_64x64.info(),
    gemm::gemm_hopper_bf16_tt_128.info(),
    gemm::gemm_hopper_bf16_tt_256.info(),
    gemm::gemm_hopper_bf16_tt_64x128.info(),
    gemm::gemm_hopper_bf16_tt_64x64.info(),
    gemm::gemm_hopper_f16_nn_128.info(),
    gemm::gemm_hopper_f16_nn_256.info(),
    gemm::gemm_hopper_f16_nn_64x128.info(),
    gemm::gemm_hopper_f16_nn_64x64.info(),
    gemm::gemm_hopper_f16_nt_128.info(),
    gemm::gemm_hopper_f16_nt_256.info(),
    gemm::gemm_hopper_f16_nt_64x128.info(),
    gemm::gemm_hopper_f16_nt_64x64.info(),
    gemm::gemm_hopper_f16_tn_128.info(),
    gemm::gemm_hopper_f16_tn_256.info(),
    gemm::gemm_hopper_f16_tn_64x128.info(),
    gemm::gemm_hopper_f16_tn_64x64.info(),
    gemm::gemm_hopper_f16_tt_128.info(),
    gemm::gemm_hopper_f16_tt_256.info(),
    gemm::gemm_hopper_f16_tt_64x128.info(),
    gemm::gemm_hopper_f16_tt_64x64.info(),
    tf32::gemm_hopper_tf32_nn_128.info(),
    tf32::gemm_hopper_tf32_nn_256.info(),
    tf32::gemm_hopper_tf32_nt_128.info(),
    tf32::gemm_hopper_tf32_nt_256.info(),
    tf32::gemm_hopper_tf32_tt_128.info(),
    tf32::gemm_hopper_tf32_tt_256.info(),
    vocabulary::boxes::box_copy.info(),
    vocabulary::boxes::box_copy_3d.info(),
    vocabulary::boxes::box_places.info(),
    vocabulary::matrix_stores::matrix_stores.info(),
    vocabulary::overlap::overlap_relay.info(),
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
