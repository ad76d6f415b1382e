//! The sum of a whole vector in one launch, at the speed of memory and with a single rounding worth the name.
//!
//! ```text
//!  x      │head│ 16 bytes │ 16 bytes │ …                      │tail│   up to 3 elements on either side
//!              ├─── tile 0 ───┼─── tile 1 ───┼─── … ──┤              of what is aligned to 16 bytes
//!  block         0              1        …   B − 1  0  1 …           tiles are dealt out in turn
//!
//!  thread   4 × 16 bytes under way, added up in f64
//!  warp     5 shuffles               ┐ in a fixed order, so that
//!  block    8 sums of warps          ├ the result has the same bits
//!  grid     B partial sums, by the   ┘ whatever the GPU
//!           block that finishes last
//! ```
//!
//! Per element: 4 bytes of memory, one conversion, one addition in `f64`. An H200 delivers about 5 elements a clock and
//! multiprocessor, which has 64 additions in `f64` to spend on them: accuracy costs nothing. The last block is found by a
//! ticket: each block publishes its partial sum by a release, and whoever draws the last ticket has acquired all of them.

use simt::element::Vec4;
use simt::prelude::*;
use simt::warp::{FULL_MASK, lane_id, warp_shuffle_down};

/// Threads of a block.
pub const THREADS: u32 = 256;
/// Accesses of 16 bytes that a thread has under way before it adds the first.
const IN_FLIGHT: usize = 4;
/// Vectors of 4 elements in a tile.
const TILE: usize = THREADS as usize * IN_FLIGHT;
/// Elements of a tile: what one more block is worth.
pub const TILE_ELEMENTS: usize = 4 * TILE;
/// Most blocks: two times eight for each of an H200's 132 multiprocessors. Fixed, because it decides the bits of the result.
pub const MOST_BLOCKS: u32 = 2112;

const WARPS: u32 = THREADS / 32;
const ZERO: Vec4<f32> = Vec4::new([0.0; 4]);

/// Blocks for n elements, and how many partial sums they need room for.
pub const fn blocks(n: usize) -> u32 {
    let tiles = n.div_ceil(TILE_ELEMENTS);
    if tiles == 0 {
        1
    } else if tiles < MOST_BLOCKS as usize {
        tiles as u32
    } else {
        MOST_BLOCKS
    }
}

/// Shared memory: what the warps of a block hand to the first.
#[repr(C)]
#[derive(Shared)]
pub struct Scratch {
    sums: SharedArray<f64, { WARPS as usize }>,
    last: SharedArray<u32, 1>,
}

/// `out[0]` = Σ x, added in `f64` and rounded to `f32` once; 0 if there is no element.
///
/// `partials` has at least as many elements as the grid has blocks, `ticket` one, which is 0 before the launch and again
/// after it. The number of blocks is [`blocks`] of the length, or any other: it decides the order of additions.
#[kernel(block = (THREADS), registers = 40, barriers = 3, traps = 3, global_load_bytes = 4, global_store_bytes = 4)]
pub fn sum_f32(
    #[shared] scratch: &Scratch,
    x: VecRef<f32>,
    partials: VecMut<f64>,
    ticket: VecMut<u32>,
    out: VecMut<f32>,
) {
    let (t, block, blocks) = (thread_idx_x() as usize, block_idx_x() as usize, grid_dim_x() as usize);
    let (head, body, tail) = x.align_to::<4>();
    let mut sum = 0.0_f64;
    let mut tile = block * TILE;
    while tile < body.len() {
        let [v0, v1, v2, v3] = if let Some(tile) = body.part(tile, TILE) {
            let load = |i| tile.get(i * THREADS as usize + t);
            [load(0), load(1), load(2), load(3)]
        } else {
            let load = |i| body.get_or(tile + i * THREADS as usize + t, ZERO);
            [load(0), load(1), load(2), load(3)]
        };
        sum += (of_vector(v0) + of_vector(v1)) + (of_vector(v2) + of_vector(v3));
        tile += blocks * TILE;
    }
    if block == 0 {
        sum += f64::from(head.get_or(t, 0.0)) + f64::from(tail.get_or(t, 0.0));
    }
    let sum = of_block(scratch, sum);
    if blocks == 1 {
        if t == 0 {
            out.set_within(0, sum as f32);
        }
        return;
    }
    if t == 0 {
        partials.set(block, sum);
        // Releases this block's partial sum, and acquires those of the blocks that came before.
        let drawn = ticket.atomic(0).fetch_add(1, Order::AcqRel, Scope::Device);
        scratch.last.set(0, u32::from(drawn as usize == blocks - 1));
    }
    sync_threads();
    if scratch.last.get(0) == 0 {
        return;
    }
    let mut sum = 0.0_f64;
    let mut at = t;
    while at < blocks {
        sum += partials.get_or(at, 0.0);
        at += THREADS as usize;
    }
    let sum = of_block(scratch, sum);
    if t == 0 {
        out.set_within(0, sum as f32);
        ticket.atomic(0).store(0, Order::Relaxed, Scope::Device);
    }
}

#[inline(always)]
fn of_vector(vector: Vec4<f32>) -> f64 {
    let [a, b, c, d] = vector.lanes.map(f64::from);
    (a + b) + (c + d)
}

/// The sum of the block's values, in thread 0.
#[inline(always)]
fn of_block(scratch: &Scratch, value: f64) -> f64 {
    let t = thread_idx_x();
    let sum = of_warp(value);
    if lane_id() == 0 {
        scratch.sums.set(t / 32, sum);
    }
    sync_threads();
    let mut sum = 0.0;
    if t == 0 {
        for warp in 0..WARPS {
            sum += scratch.sums.get(warp);
        }
    }
    sum
}

/// The sum of the warp's values, in lane 0.
#[inline(always)]
fn of_warp(value: f64) -> f64 {
    let mut sum = value;
    let mut distance = 16;
    while distance > 0 {
        sum += warp_shuffle_down(FULL_MASK, sum, distance, 32).0;
        distance /= 2;
    }
    sum
}
