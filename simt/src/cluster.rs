//! Thread block clusters (compute capability 9.0): blocks that are neighbours along x, run at the same time and access
//! each other's shared memory.
//!
//! With `#[kernel(cluster = 2)]` blocks 0 and 1 along x are a cluster, 2 and 3 the next, and so on; a launch whose grid
//! is not a multiple of the cluster along x is refused. Within its cluster a block has a *rank*, 0 to [`cluster_size`]
//! − 1.
//!
//! - [`cluster_sync`] is the barrier of all threads of the cluster.
//! - [`Mbarriers::arrive_at`](crate::mbarrier::Mbarriers::arrive_at) arrives at an mbarrier of another block.
//! - [`tma::load_2d_multicast`](crate::tma::load_2d_multicast) copies a box of a tensor to several blocks and reads it
//!   from L2 once.
//!
//! Two rules apply:
//!
//! - Before a block accesses another block's mbarriers or copies to its shared memory, a [`cluster_sync`] must follow
//!   their initialisation and [`fence_mbarrier_init`](crate::mbarrier::fence_mbarrier_init).
//! - A block must not exit while another may still access its shared memory. Unless other synchronisation ensures that,
//!   the kernel ends with a [`cluster_sync`].
//!
//! ```
//! use simt::{cluster::*, mbarrier::*, prelude::*, tma::*};
//!
//! #[repr(C, align(128))]
//! #[derive(Shared)]
//! pub struct Stage {
//!     tile: SharedArray<f32, 1024>,
//!     full: Mbarriers<1>,
//! }
//!
//! /// Adds up the 32 × 32 tile y of `x` in each block (x, y). Each block of a cluster loads half of the tile for both.
//! #[kernel(block = (32), cluster = 2)]
//! pub fn tile_sums(#[shared] stage: &Stage, x: &TensorMap<f32>, sums: VecMut<f32>) {
//!     let (lane, rank) = (thread_idx_x(), cluster_rank());
//!     if lane == 0 {
//!         stage.full.init(0, 1);
//!         fence_mbarrier_init();
//!     }
//!     cluster_sync();
//!     if lane == 0 {
//!         // Both halves complete on this mbarrier: the one loaded by this block and the one loaded by the other.
//!         stage.full.arrive_expect_tx(0, 4096);
//!         let at = [0, (block_idx_y() * 32 + rank * 16) as i32];
//!         load_2d_multicast(stage.tile.slot::<512>(rank * 512), x, at, stage.full.at(0), 0b11);
//!     }
//!     stage.full.wait(0, 0);
//!     let sum = (0..32).fold(0.0, |sum, row| sum + stage.tile.get(row * 32 + lane));
//!     let block = block_idx_y() * grid_dim_x() + block_idx_x();
//!     sums.atomic(block as usize).fetch_add(sum, Order::Relaxed, Scope::Device);
//! }
//! ```
//!
//! No barrier is needed at the end of this kernel: each block waits for all data that the other block copies to it.

use crate::arch;

/// This block's rank in its cluster (`%cluster_ctarank`); 0 in a kernel without clusters.
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn cluster_rank() -> u32 {
    arch::cluster::rank()
}

/// Number of blocks of the cluster (`%cluster_nctarank`); 1 in a kernel without clusters.
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn cluster_size() -> u32 {
    arch::cluster::size()
}

/// Waits until every thread of every block of the cluster has arrived; what each wrote to global and shared memory
/// before is visible to all of them afterwards (`barrier.cluster.arrive`, `.wait`). All threads must reach the same
/// call.
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn cluster_sync() {
    arch::cluster::sync();
}
