//! Inclusive prefix sums modulo 2³² in one pass, by decoupled look-back (Merrill and Garland, 2016).
//!
//! A block sums its tile and publishes the sum; then it adds what the blocks before it have published, going back until
//! one has published the sum of everything up to its own end. Tiles are taken in the order in which blocks start, so
//! that no block waits for one that has not started.

use warpwright::prelude::*;

/// Threads of a block, and elements of a tile.
pub const THREADS: u32 = 256;

/// A tile, and what thread 0 finds out for the others.
#[repr(C)]
#[derive(Shared)]
pub struct Tile {
    sums: SharedArray<u32, { THREADS as usize }>,
    /// The tile's number; then the sum of all tiles before it.
    common: SharedArray<u32, 2>,
}

/// In the upper half of a tile's status: the lower half is the sum of the tile alone.
const TILE_SUM: u64 = 1 << 32;
/// The same: it is the sum of all elements up to the end of the tile.
const PREFIX: u64 = 2 << 32;

/// `status` has an element for each tile, and one more that counts the tiles taken; all are 0 before the launch. `y` is
/// as long as `x`.
#[kernel(block = THREADS)]
pub fn scan(#[shared] tile: &Tile, x: VecRef<u32>, y: VecMut<u32>, status: VecMut<u64>) {
    let t = thread_idx_x();
    if branch(t == 0) {
        let taken = status.atomic(grid_dim_x() as usize).fetch_add(1, Order::Relaxed, Scope::Device);
        tile.common.set(0, taken as u32);
    }
    sync_threads();
    let number = tile.common.get(0) as usize;
    let i = number * THREADS as usize + t as usize;

    // The sums within the tile (Hillis and Steele).
    let mut sum = x.get_or(i, 0);
    let mut distance = 1;
    while distance < THREADS {
        tile.sums.set(t, sum);
        sync_threads();
        if branch(t >= distance) {
            sum = sum.wrapping_add(tile.sums.get(t - distance));
        }
        sync_threads();
        distance *= 2;
    }

    // The last thread has the tile's sum.
    if branch(t == THREADS - 1) {
        let mut before = 0_u32;
        if number > 0 {
            status.atomic(number).store(TILE_SUM | u64::from(sum), Order::Release, Scope::Device);
            let mut back = number - 1;
            loop {
                let found = status.atomic(back).load(Order::Acquire, Scope::Device);
                if found >= TILE_SUM {
                    before = before.wrapping_add(found as u32);
                    if found >= PREFIX {
                        break;
                    }
                    back -= 1;
                }
            }
        }
        status.atomic(number).store(PREFIX | u64::from(before.wrapping_add(sum)), Order::Release, Scope::Device);
        tile.common.set(1, before);
    }
    sync_threads();
    y.set_within(i, sum.wrapping_add(tile.common.get(1)));
}
