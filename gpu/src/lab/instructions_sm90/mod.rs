//! Instruction tests for `sm_90a`: one small kernel for each Hopper intrinsic, run on the simulator and on GPUs.
//!
//! The documentation of a kernel defines its outputs, so that a test can compute them.

pub mod clusters;
pub mod matrix_stores;
pub mod multicast;
pub mod pdl;
pub mod tma_copy;
pub mod tma_pipeline;
pub mod wgmma;
pub mod wgmma_layout;
pub mod wgmma_pipeline;

/// The kernels of this module.
#[cfg(not(target_arch = "nvptx64"))]
pub const KERNELS: &[&simt::KernelInfo] = &[
    tma_copy::tma_copy.info(),
    tma_copy::tma_copy_3d.info(),
    tma_copy::tma_layout.info(),
    clusters::cluster_exchange.info(),
    matrix_stores::matrix_stores.info(),
    multicast::multicast_planes.info(),
    multicast::multicast_pipeline_sums.info(),
    pdl::pdl_relay.info(),
    wgmma_pipeline::wgmma_pipeline.info(),
    wgmma::wgmma_bf16_n16.info(),
    wgmma::wgmma_bf16_n192.info(),
    wgmma::wgmma_bf16_n96.info(),
    wgmma::wgmma_e4m3_n128.info(),
    wgmma::wgmma_e4m3_n136.info(),
    wgmma::wgmma_e5m2_n256.info(),
    wgmma::wgmma_f16_n128.info(),
    wgmma::wgmma_f16_n64.info(),
    wgmma::wgmma_f16_n8.info(),
    wgmma::wgmma_i8_n16.info(),
    wgmma::wgmma_i8_n192.info(),
    wgmma::wgmma_i8_n256.info(),
    wgmma::wgmma_rs_f16.info(),
    wgmma::wgmma_rs_tf32.info(),
    wgmma::wgmma_tf32_n256.info(),
    wgmma::wgmma_tf32_n32.info(),
    tma_pipeline::tma_pipeline_sums.info(),
];
