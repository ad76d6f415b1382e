//! Sums of a tile's first steps, handed from the block that has them to the one that finishes the tile.
//!
//! ```text
//!  parts   │ block 0: its first warpgroup │ its second │ block 1: …      64 × COLS of f32 each, in the order of the registers:
//!            │ 4 sums of thread 0 │ 4 of thread 1 │ … │ 4 of thread 127 │ 4 more of thread 0 │ …
//!  flags   │ block 0: token, the first warpgroup’s are there │ the second’s │ block 1: …
//! ```
//!
//! Each thread stores what the same thread of another block loads, 16 bytes at a time, a warp 512 bytes side by side. One thread of
//! a warpgroup raises the flag, after a barrier, by a store that releases; one thread waits for it by loads that acquire,
//! before a barrier.
//!
//! A flag is up when it is equal to the launch's token, and whoever has seen it puts it to 0 again. So nothing need be in the
//! memory beforehand: two launches have different tokens, and a launch that is repeated as it is, by a CUDA graph, finds zeros.

use simt::element::{Vec4, Vector};
use simt::opaque;
use simt::prelude::*;
use simt::sync::named_barrier;
use simt::warpgroup::WARPGROUP_SIZE;
use simt::wgmma::{Accumulators, Columns, Width};

use super::share::start;

/// Where sums are handed on, and what is known of the cut.
#[derive(Clone, Copy)]
pub(in crate::hopper) struct Parts<'a> {
    pub(in crate::hopper) sums: VecMut<'a, f32>,
    pub(in crate::hopper) flags: VecMut<'a, u64>,
    /// What no flag is before the launch.
    pub(in crate::hopper) token: u64,
    /// Steps of all shared tiles.
    pub(in crate::hopper) steps: u32,
}

impl<'a> Parts<'a> {
    /// The place of block `block`, warpgroup `half`, by 4 sums, and its flag.
    #[inline(always)]
    fn place<const GROUPS: u32, const COLS: usize>(
        &self,
        block: u32,
        half: u32,
    ) -> Option<(VecMut<'a, Vector<f32, 4>>, VecMut<'a, u64>)> {
        let (vectors, number) = (const { 64 * COLS / 4 }, (GROUPS * block + half) as usize);
        let sums = self.sums.vectors_mut::<4>().part_mut(number * vectors, vectors)?;
        Some((sums, self.flags.part_mut(number, 1)?))
    }

    /// What this thread has stored, or others before a barrier, can be read by who sees the flag.
    #[inline(always)]
    #[track_caller]
    pub(in crate::hopper) fn raise(&self, flag: VecMut<'_, u64>) {
        flag.atomic(0).store(self.token, Order::Release, Scope::Device);
    }

    /// Waits for the flag, and puts it to 0.
    #[inline(always)]
    #[track_caller]
    pub(in crate::hopper) fn wait_until_up(&self, flag: VecMut<'_, u64>) {
        let flag = flag.atomic(0);
        while flag.load(Order::Acquire, Scope::Device) != self.token {}
        flag.store(0, Order::Relaxed, Scope::Device);
    }

    /// Hands the sums of this warpgroup to the block that finishes their tile.
    #[inline(always)]
    #[track_caller]
    pub(super) fn hand_on<const GROUPS: u32, const COLS: usize>(&self, sums: &Accumulators<COLS>, half: u32)
    where
        Columns<COLS>: Width,
    {
        let t = opaque(thread_idx_x()) % WARPGROUP_SIZE;
        let block = block_idx_x();
        let Some((place, flag)) = self.place::<GROUPS, COLS>(block, half) else { return };
        sums.for_each_8_columns(|first, sums| {
            place.set((first / 8 * WARPGROUP_SIZE + t) as usize, Vec4::new(sums));
        });
        named_barrier(half + 1, WARPGROUP_SIZE);
        if t == 0 {
            self.raise(flag);
        }
    }

    /// Adds the sums of the tile whose first step is step `first` of all, from block to block downwards: of each cluster that with
    /// this block's rank, which has the same part of the tile.
    #[inline(always)]
    #[track_caller]
    pub(super) fn take<const GROUPS: u32, const CLUSTER: u32, const COLS: usize>(
        &self,
        sums: &mut Accumulators<COLS>,
        half: u32,
        first: u32,
    ) where
        Columns<COLS>: Width,
    {
        let t = opaque(thread_idx_x()) % WARPGROUP_SIZE;
        let mut block = block_idx_x();
        while block >= CLUSTER && start(block / CLUSTER, grid_dim_x() / CLUSTER, self.steps) > first {
            block -= CLUSTER;
            let Some((place, flag)) = self.place::<GROUPS, COLS>(block, half) else { return };
            if t == 0 {
                self.wait_until_up(flag);
            }
            named_barrier(half + 1, WARPGROUP_SIZE);
            sums.map_8_columns(|first, sums| {
                let part = place.get((first / 8 * WARPGROUP_SIZE + t) as usize).lanes;
                [0, 1, 2, 3].map(|i: usize| sums[i] + part[i])
            });
        }
    }
}
