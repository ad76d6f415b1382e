//! z = x + y, one element per thread.
//!
//! ```text
//!  block   0        1        …  ⌈n/64⌉ − 1
//!  x    ├─ 64 ──┼─ 64 ──┼ … ┼─ n mod 64 ┤     the last block's last warp with data diverges at
//!  y    ├─ 64 ──┼─ 64 ──┼ … ┼─ n mod 64 ┤     `i < n`, unless n is a multiple of 32
//! ```
//!
//! Per thread: two loads and one store of 4 bytes, one addition. 12 bytes per operation: bound by memory.

use simt::prelude::*;

/// Threads of a block: two warps.
pub const BLOCK: u32 = 64;

/// Blocks for n elements.
pub const fn grid(n: usize) -> [u32; 3] {
    [n.div_ceil(BLOCK as usize) as u32, 1, 1]
}

/// z = x + y in `f32`, for the length of the shortest vector.
#[kernel(block = (BLOCK), registers = 16, barriers = 0, global_load_bytes = 4, global_store_bytes = 4)]
pub fn vector_add(x: VecRef<f32>, y: VecRef<f32>, z: VecMut<f32>) {
    let n = x.len().min(y.len()).min(z.len());
    let i = index_1d();
    if branch(i < n) {
        z.set(i, x.get(i) + y.get(i));
    }
}
