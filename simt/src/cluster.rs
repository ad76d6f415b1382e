//! Clusters of blocks (compute capability 9.0): neighbours along x that run at the same time and reach each other's shared
//! memory.
//!
//! `#[kernel(cluster = 2)]` says that blocks 0 and 1 along x are a cluster, 2 and 3 the next, and so on; a launch whose grid
//! has another number of blocks along x is refused. A block knows the others by their *rank*, 0 to [`cluster_size`] − 1.
//! What they do with each other:
//!
//! - [`cluster_sync`] is the barrier of all threads of all of them.
//! - [`Mbarriers::arrive_at`](crate::mbarrier::Mbarriers::arrive_at) arrives at an mbarrier of another block.
//! - [`tma::load_2d_multicast`](crate::tma::load_2d_multicast) brings one box to several of them, read once from L2.
//!
//! Two duties come with it. Before one block touches another's mbarriers or brings boxes to it, a [`cluster_sync`] must
//! follow their initialisation and its fence. And a block must not exit while another may still touch its shared memory:
//! unless something else says so, a [`cluster_sync`] is the last thing in the kernel.
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
//! /// Block (x, y) becomes the sum of the 32 × 32 tile y of `x`: each block of a cluster has half of the tile loaded for
//! /// both.
//! #[kernel(block = (32), cluster = 2)]
//! pub fn tile_sums(#[shared] stage: &Stage, x: &TensorMap<f32>, sums: VecMut<f32>) {
//!     let (lane, rank) = (thread_idx_x(), cluster_rank());
//!     if lane == 0 {
//!         stage.full.init(0, 1);
//!         fence_mbarrier_init();
//!     }
//!     cluster_sync();
//!     if lane == 0 {
//!         // Both halves complete here: what this block has loaded and what the other has.
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
//! Here no block exits too early without a barrier at the end: each waits for all that the other sends it.

use crate::arch;

/// This block's number in its cluster (`%cluster_ctarank`); 0 in a kernel without clusters.
#[inline(always)]
#[must_use]
pub fn cluster_rank() -> u32 {
    arch::cluster::rank()
}

/// Blocks of the cluster (`%cluster_nctarank`); 1 in a kernel without clusters.
#[inline(always)]
#[must_use]
pub fn cluster_size() -> u32 {
    arch::cluster::size()
}

/// Waits until every thread of every block of the cluster is here, and makes what each wrote to global and shared memory
/// before visible to all of them afterwards (`barrier.cluster.arrive`, `.wait`). Every thread must reach the same call.
#[inline(always)]
#[track_caller]
pub fn cluster_sync() {
    arch::cluster::sync();
}
