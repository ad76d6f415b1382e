//! The upper bound for the speed of every reduction: a kernel that reads a vector and does almost nothing with it.
//!
//! One exclusive or per 4 bytes, one atomic operation per warp at the end, no fixed order of merges. It measures the
//! memory bandwidth of a kernel that only reads; the benchmark compares the reductions with it.

use simt::element::Vec4;
use simt::prelude::*;
use simt::warp::{FULL_MASK, lane_id, warp_reduce_xor};

use super::whole::partition::{IN_FLIGHT, THREADS, TILE};
use crate::unroll::each;

/// `parity[0]` ^= the exclusive or of the bits of all elements of `x`, whose address and length are multiples of 16
/// bytes (remaining elements are not read). Any number of blocks.
#[kernel(
        block = (THREADS), min_blocks = 4, registers = 32, barriers = 0, traps = 1,
    global_load_bytes = 16, global_store_bytes = 0
)]
pub fn read_f32(x: VecRef<f32>, parity: VecMut<u64>) {
    let x = x.vectors::<4>();
    let t = thread_idx_x() as usize;
    let mut bits = 0;
    let mut tile = block_idx_x() as usize * TILE;
    while let Some(whole) = x.part(tile, TILE) {
        let [a, b, c, d] = each!([0, 1, 2, 3], |i| whole.get(i * THREADS as usize + t));
        bits ^= (of(a) ^ of(b)) ^ (of(c) ^ of(d));
        tile += grid_dim_x() as usize * TILE;
    }
    for i in 0..IN_FLIGHT {
        bits ^= of(x.get_or(tile + i * THREADS as usize + t, Vec4::new([0.0; 4])));
    }
    let bits = warp_reduce_xor(FULL_MASK, bits);
    if lane_id() == 0 {
        parity.atomic(0).fetch_xor(u64::from(bits), Order::Relaxed, Scope::Device);
    }
}

/// The exclusive or of a vector's elements.
#[cfg_attr(optimised, inline(always))]
fn of(vector: Vec4<f32>) -> u32 {
    let [a, b, c, d] = each!(vector.lanes, f32::to_bits);
    a ^ b ^ c ^ d
}
