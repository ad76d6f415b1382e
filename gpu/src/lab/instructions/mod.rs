//! Instruction tests: one small kernel for each intrinsic of `simt`, run on the simulator and on GPUs.
//!
//! The documentation of a kernel defines its outputs, so that a test can compute them.

pub mod arithmetic;
pub mod async_copy;
pub mod atomics;
pub mod barriers;
pub mod functions;
pub mod geometry;
pub mod matrices;
pub mod order;
pub mod vectors;
pub mod warps;

/// The kernels of this module.
#[cfg(not(target_arch = "nvptx64"))]
pub const KERNELS: &[&simt::KernelInfo] = &[
    arithmetic::choose_f32.info(),
    arithmetic::fma_and_sqrt_f32.info(),
    arithmetic::fma_and_sqrt_f64.info(),
    arithmetic::pick_bytes.info(),
    arithmetic::round_to_bf16.info(),
    arithmetic::round_to_f16.info(),
    async_copy::async_pipeline.info(),
    async_copy::async_widths.info(),
    atomics::atomic_bounds_i64.info(),
    atomics::atomic_max_by_cas.info(),
    atomics::atomic_sum_f32.info(),
    atomics::atomic_sum_f64.info(),
    atomics::atomic_swap_chain.info(),
    atomics::atomic_tally_i32.info(),
    atomics::atomic_tally_u32.info(),
    atomics::atomic_tally_u64.info(),
    atomics::shared_histogram.info(),
    barriers::barrier_votes.info(),
    barriers::named_barrier_pipeline.info(),
    barriers::warp_rotate.info(),
    functions::algebraic_f32.info(),
    functions::algebraic_f64.info(),
    functions::approximations.info(),
    functions::circular_f32.info(),
    functions::circular_f64.info(),
    functions::exponentials_f32.info(),
    functions::exponentials_f64.info(),
    functions::pairs_f32.info(),
    functions::pairs_f64.info(),
    geometry::clocks.info(),
    geometry::thread_geometry.info(),
    matrices::matrix_loads.info(),
    matrices::mma_sync_bf16.info(),
    matrices::mma_sync_doubles.info(),
    matrices::mma_sync_f16.info(),
    matrices::mma_sync_tf32.info(),
    order::last_block_by_fence.info(),
    order::last_block_by_order.info(),
    order::orders_and_scopes.info(),
    order::shared_flag.info(),
    vectors::copy_f16.info(),
    vectors::copy_f16x8.info(),
    vectors::copy_f32x2.info(),
    vectors::copy_f32x4.info(),
    vectors::copy_f32x4_cs.info(),
    vectors::copy_f64.info(),
    vectors::copy_f64x2.info(),
    vectors::copy_u8.info(),
    vectors::copy_u8x16.info(),
    vectors::copy_u8x4.info(),
    vectors::reverse_in_shared.info(),
    warps::warp_matches.info(),
    warps::warp_reductions.info(),
    warps::warp_shuffles.info(),
    warps::warp_shuffle_several.info(),
    warps::warp_sum_f64.info(),
    warps::warp_trees.info(),
    warps::warp_votes.info(),
];
