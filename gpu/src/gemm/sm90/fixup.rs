//! Stream-K fix-up: the partial accumulators of a tile, passed from the block that has its first steps to the one that
//! finishes it.
//!
//! ```text
//!  partials │ block 0: its first consumer warpgroup │ its second │ block 1: …   64 × N of f32 each, by registers:
//!             │ 4 of thread 0 │ 4 of thread 1 │ … │ 4 of thread 127 │ 4 more of thread 0 │ …
//!  flags    │ block 0: epoch once the first warpgroup’s are there │ the second’s │ block 1: …
//! ```
//!
//! Each thread stores what the same thread of another block loads, 16 bytes at a time, a warp 512 contiguous bytes. One
//! thread of a warpgroup sets the flag by a release store after a barrier; one thread waits for it by acquire loads
//! before a barrier.
//!
//! A flag is set when it equals the launch's epoch, and the thread that has seen it resets it to 0. So the memory need
//! not be initialised: two launches have different epochs, and a launch that a CUDA graph repeats as it is finds zeros.

use simt::element::{Vec4, Vector};
use simt::opaque;
use simt::prelude::*;
use simt::sync::named_barrier;
use simt::warpgroup::WARPGROUP_SIZE;
use simt::wgmma::{Accumulators, Columns, Width};

use super::schedule::stream_k::Blocks;
use crate::gemm::args::StreamKArgs;
use crate::unroll::each;

/// The partials of a launch.
#[derive(Clone, Copy)]
pub(super) struct Fixup<'a> {
    args: StreamKArgs<'a>,
    blocks: Blocks,
    /// Consumer warpgroups of a block, and blocks of a cluster.
    consumers: u32,
    cluster: u32,
}

impl<'a> Fixup<'a> {
    /// Of tiles that these blocks, or clusters, share.
    #[cfg_attr(optimised, inline(always))]
    pub(super) const fn new(args: StreamKArgs<'a>, blocks: Blocks, consumers: u32, cluster: u32) -> Self {
        Self { args, blocks, consumers, cluster }
    }

    /// The partials of a warpgroup of a block, by fours, and their flag.
    #[cfg_attr(optimised, inline(always))]
    fn slot<const N: usize>(
        &self,
        block: u32,
        warpgroup: u32,
    ) -> Option<(VecMut<'a, Vector<f32, 4>>, VecMut<'a, u64>)> {
        let (vectors, number) = (const { 64 * N / 4 }, (self.consumers * block + warpgroup) as usize);
        let partials = self.args.partials.vectors_mut::<4>().part_mut(number * vectors, vectors)?;
        Some((partials, self.args.flags.part_mut(number, 1)?))
    }

    /// Stores the accumulators of this warpgroup for the block that finishes their tile.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn store_partials<const N: usize>(&self, accumulators: &Accumulators<N>, warpgroup: u32)
    where
        Columns<N>: Width,
    {
        let t = opaque(thread_idx_x()) % WARPGROUP_SIZE;
        let Some((slot, flag)) = self.slot::<N>(block_idx_x(), warpgroup) else { return };
        accumulators.for_each_8_columns(|first, values| {
            slot.set((first / 8 * WARPGROUP_SIZE + t) as usize, Vec4::new(values));
        });
        named_barrier(warpgroup + 1, WARPGROUP_SIZE);
        if t == 0 {
            self.args.set_flag(flag);
        }
    }

    /// Adds the partials of the tile whose first step is step `first` of all, from block to block downwards: of each
    /// cluster those of the block with this block's rank, which computes the same part of the tile.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn load_partials<const N: usize>(&self, accumulators: &mut Accumulators<N>, warpgroup: u32, first: u32)
    where
        Columns<N>: Width,
    {
        let t = opaque(thread_idx_x()) % WARPGROUP_SIZE;
        let (cluster, mut block) = (self.cluster, block_idx_x());
        let back = cluster * self.blocks.distance();
        // Counted first: a loop that ends in two places makes ptxas copy all accumulators.
        for _ in 0..self.blocks.before(block / cluster, first) {
            block -= back;
            let Some((slot, flag)) = self.slot::<N>(block, warpgroup) else { return };
            if t == 0 {
                self.args.wait_for_flag(flag);
            }
            named_barrier(warpgroup + 1, WARPGROUP_SIZE);
            accumulators.map_8_columns(|first, values| {
                let partial = slot.get((first / 8 * WARPGROUP_SIZE + t) as usize).lanes;
                each!([0, 1, 2, 3], |i: usize| values[i] + partial[i])
            });
        }
    }
}

impl StreamKArgs<'_> {
    /// Sets a flag: what this thread has stored, and others before a barrier, is visible to the thread that sees it.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn set_flag(&self, flag: VecMut<'_, u64>) {
        flag.atomic(0).store(self.epoch, Order::Release, Scope::Device);
    }

    /// Waits until the flag is set, and resets it.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn wait_for_flag(&self, flag: VecMut<'_, u64>) {
        let flag = flag.atomic(0);
        while flag.load(Order::Acquire, Scope::Device) != self.epoch {}
        flag.store(0, Order::Relaxed, Scope::Device);
    }
}
