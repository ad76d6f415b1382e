//! The rank of a block in its cluster, and the cluster barrier.

use simt::{
    cluster::{cluster_rank, cluster_size, cluster_sync},
    prelude::*,
};

/// Threads of a block.
pub const BLOCK: u32 = 64;

/// Blocks of a cluster.
pub const CLUSTER: u32 = 4;

/// Rounds of [`cluster_exchange`].
pub const ROUNDS: u32 = 3;

/// Element i of `x` becomes i. Then, [`ROUNDS`] times, thread t reads the element of thread [`BLOCK`] − 1 − t in the
/// next block of its cluster (the first block after the last), doubles it, adds its rank, and writes it to its own
/// element. Thread 0 of block b writes 10 · [`cluster_size`] + [`cluster_rank`] to `ranks[b]`. `x` has one element per
/// thread.
#[kernel(block = (BLOCK), cluster = CLUSTER, barriers = 6)]
pub fn cluster_exchange(x: VecMut<u32>, ranks: VecMut<u32>) {
    let (block, rank, size) = (block_idx_x(), cluster_rank(), cluster_size());
    let t = thread_idx_x();
    if t == 0 {
        ranks.set_within(block as usize, 10 * size + rank);
    }
    let own = index_1d();
    x.set_within(own, own as u32);
    let next = block - rank + (rank + 1) % CLUSTER;
    let theirs = (next * BLOCK + BLOCK - 1 - t) as usize;
    for _ in 0..ROUNDS {
        cluster_sync();
        let value = x.get_or(theirs, 0);
        // All threads have read before any thread writes.
        cluster_sync();
        x.set_within(own, 2 * value + rank);
    }
}
