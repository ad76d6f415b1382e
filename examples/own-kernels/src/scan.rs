//! Inclusive prefix sums modulo 2³² in one pass, by decoupled look-back (Merrill and Garland, 2016).
//!
//! A block sums its tile and publishes the sum; then its first warp adds what the blocks before it have published,
//! going back 32 tiles at a time until one has published the sum of everything up to its own end. Tiles are taken in
//! the order in which blocks start, so that no block waits for one that has not started.

use warpwright::prelude::*;
use warpwright::simt::warp::*;

/// Threads of a block.
pub const THREADS: u32 = 512;
/// Elements of a thread.
const ITEMS: usize = 16;
/// Elements of a tile, which a block scans.
pub const TILE: usize = THREADS as usize * ITEMS;

const WARPS: u32 = THREADS / 32;
const ALL: u32 = u32::MAX;

/// What the threads of a block tell each other.
#[repr(C)]
#[derive(Shared)]
pub struct Block {
    /// The number of the block's tile.
    number: SharedArray<u32, 1>,
    /// The sum of each warp's elements; then that of all elements before them.
    sums: SharedArray<u32, { WARPS as usize }>,
}

/// In the upper half of a tile's status: the lower half is the sum of the tile alone.
const TILE_SUM: u64 = 1 << 32;
/// The same: it is the sum of all elements up to the end of the tile.
const PREFIX: u64 = 2 << 32;

/// `status` has an element for each tile, and one more that counts the tiles taken; all are 0 before the launch, which
/// has a block for each tile. `y` is as long as `x`.
#[kernel(block = THREADS)]
pub fn scan(#[shared] block: &Block, x: VecRef<u32>, y: VecMut<u32>, status: VecMut<u64>) {
    let (warp, lane) = (warp_id(), lane_id());
    if branch(thread_idx_x() == 0) {
        let taken = status.atomic(grid_dim_x()).fetch_add(1, Order::Relaxed, Scope::Device);
        block.number.set(0, taken as u32);
    }
    sync_threads();
    let number = block.number.get(0);

    // A warp's elements are neighbours; at each step its lanes take the next 32, and add the sum of those before.
    let first = number as usize * TILE + (warp * 32) as usize * ITEMS + lane as usize;
    let mut items = [0; ITEMS];
    for (step, item) in items.iter_mut().enumerate() {
        *item = x.get_or(first + 32 * step, 0);
    }
    let mut sum = 0_u32;
    for item in &mut items {
        *item = sum.wrapping_add(warp_scan(*item));
        (sum, _) = warp_shuffle_idx(ALL, *item, 31, 32);
    }
    if branch(lane == 0) {
        block.sums.set(warp, sum);
    }
    sync_threads();

    if branch(warp == 0) {
        let sum = if lane < WARPS { block.sums.get(lane) } else { 0 };
        let up_to_here = warp_scan(sum);
        let (tile, _) = warp_shuffle_idx(ALL, up_to_here, 31, 32);
        let before = look_back(&status, number, tile);
        if branch(lane < WARPS) {
            block.sums.set(lane, before.wrapping_add(up_to_here.wrapping_sub(sum)));
        }
    }
    sync_threads();

    let before = block.sums.get(warp);
    for (step, item) in items.into_iter().enumerate() {
        y.set_within(first + 32 * step, before.wrapping_add(item));
    }
}

/// The sum of the values of this lane and of those below it.
#[inline(always)]
fn warp_scan(value: u32) -> u32 {
    let mut sum = value;
    for step in 0..5 {
        let (below, exists) = warp_shuffle_up(ALL, sum, 1 << step, 32);
        sum = sum.wrapping_add(if exists { below } else { 0 });
    }
    sum
}

/// Publishes `sum`, that of tile `number`, and returns the sum of all tiles before it. All lanes of one warp call.
///
/// A status is its own message: nothing else is read that another block wrote, so relaxed loads and stores are enough.
#[inline(always)]
fn look_back(status: &VecMut<u64>, number: u32, sum: u32) -> u32 {
    let lane = lane_id();
    let publish = |value: u64| {
        if branch(lane == 0) {
            status.atomic(number).store(value, Order::Relaxed, Scope::Device);
        }
    };
    if number > 0 {
        publish(TILE_SUM | u64::from(sum));
    }
    let (mut before, mut end) = (0_u32, number);
    while end > 0 {
        // Lane l looks at the tile l + 1 before `end`; in front of the first tile there is nothing to add.
        let mut found = PREFIX;
        loop {
            if branch(lane < end) {
                found = status.atomic(end - 1 - lane).load(Order::Relaxed, Scope::Device);
            }
            if warp_vote_all(ALL, found >= TILE_SUM) {
                break;
            }
        }
        let prefixes = warp_vote_ballot(ALL, found >= PREFIX);
        let nearest = prefixes.trailing_zeros();
        before = before.wrapping_add(warp_reduce_add(ALL, if lane <= nearest { found as u32 } else { 0 }));
        end = if prefixes == 0 { end - 32 } else { 0 };
    }
    publish(PREFIX | u64::from(before.wrapping_add(sum)));
    before
}
