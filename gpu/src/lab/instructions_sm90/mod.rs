//! Instruction tests for `sm_90a`: one small kernel for each intrinsic of Hopper, run on the simulator and on a GPU alike.
//!
//! What a kernel leaves in its outputs is said where it is defined, as a rule that a test can compute.

pub mod boxes;
pub mod clusters;
pub mod matrix_stores;
pub mod multicast;
pub mod operand;
pub mod pdl;
pub mod product_ring;
pub mod products;
pub mod ring;

/// The kernels of this module.
#[cfg(not(target_arch = "nvptx64"))]
pub const KERNELS: &[&simt::KernelInfo] = &[
    boxes::box_copy.info(),
    boxes::box_copy_3d.info(),
    boxes::box_places.info(),
    clusters::cluster_exchange.info(),
    matrix_stores::matrix_stores.info(),
    multicast::multicast_planes.info(),
    multicast::multicast_ring_sums.info(),
    pdl::pdl_relay.info(),
    product_ring::product_ring.info(),
    products::product_bf16_16.info(),
    products::product_bf16_192.info(),
    products::product_bf16_96.info(),
    products::product_f16_128.info(),
    products::product_f16_64.info(),
    products::product_f16_8.info(),
    products::product_registers_f16.info(),
    products::product_registers_tf32.info(),
    products::product_tf32_256.info(),
    products::product_tf32_32.info(),
    ring::box_ring_sums.info(),
];
