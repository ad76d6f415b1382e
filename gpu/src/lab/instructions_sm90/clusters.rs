//! Where a block stands in its cluster, and the barrier of the cluster.

use simt::{
    cluster::{cluster_rank, cluster_size, cluster_sync},
    prelude::*,
};

/// Threads of a block.
pub const BLOCK: u32 = 64;

/// Blocks of a cluster.
pub const CLUSTER: u32 = 4;

/// Turns of [`cluster_exchange`].
pub const TURNS: u32 = 3;

/// Element i of `x` becomes i; then, [`TURNS`] times, each thread fetches the element of the next block of its cluster (the
/// last being followed by the first) at the place opposite to its own, doubles it, adds its rank, and puts it in its own place.
/// Thread 0 of block b leaves 10 · [`cluster_size`] + [`cluster_rank`] in `places[b]`. `x` has an element per thread.
#[kernel(block = (BLOCK), cluster = CLUSTER, barriers = 6)]
pub fn cluster_exchange(x: VecMut<u32>, places: VecMut<u32>) {
    let (block, rank, size) = (block_idx_x(), cluster_rank(), cluster_size());
    let t = thread_idx_x();
    if t == 0 {
        places.set_within(block as usize, 10 * size + rank);
    }
    let own = index_1d();
    x.set_within(own, own as u32);
    let next = block - rank + (rank + 1) % CLUSTER;
    let theirs = (next * BLOCK + BLOCK - 1 - t) as usize;
    for _ in 0..TURNS {
        cluster_sync();
        let value = x.get_or(theirs, 0);
        // Everyone has fetched before anyone overwrites.
        cluster_sync();
        x.set_within(own, 2 * value + rank);
    }
}
