//! z = x + y.
//!
//! ```text
//!  x    ├─ 4 of thread 0 ─┼─ 4 of thread 1 ─┼ … ┤ n mod 4 │     16 bytes at a time if x, y and z start at
//!  y    ├─────────────────┼─────────────────┼ … ┤         │     multiples of 16 bytes, otherwise one element
//! ```
//!
//! Per thread: two loads and one store of 16 bytes, four additions. 12 bytes per addition: bound by memory.

use simt::element::{Vec4, zeroed};
use simt::prelude::*;

/// Threads of a block.
pub const BLOCK: u32 = 256;
/// Elements of a thread.
const PER_THREAD: usize = 4;

/// Blocks for n elements.
pub const fn grid(n: usize) -> [u32; 3] {
    [n.div_ceil(PER_THREAD * BLOCK as usize) as u32, 1, 1]
}

/// z = x + y in `f32`, for the length of the shortest vector.
#[kernel(block = (BLOCK), registers = 32, barriers = 0, global_load_bytes = 4, global_store_bytes = 4)]
pub fn add_f32(x: VecRef<f32>, y: VecRef<f32>, z: VecMut<f32>) {
    let n = x.len().min(y.len()).min(z.len());
    let thread = index_1d();
    let address = x.as_ptr().addr() | y.as_ptr().addr() | z.as_ptr().addr();
    if address.is_multiple_of(size_of::<Vec4<f32>>()) {
        let quads = n / PER_THREAD;
        if thread < quads {
            let quad = |v: VecRef<f32>| v.vectors::<PER_THREAD>().get_or(thread, zeroed()).lanes;
            let (a, b) = (quad(x), quad(y));
            let sum = [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]];
            z.vectors_mut::<PER_THREAD>().set_within(thread, Vec4::new(sum));
        }
        let rest = PER_THREAD * quads + thread;
        if thread < PER_THREAD && rest < n {
            z.set_within(rest, x.get_or(rest, 0.0) + y.get_or(rest, 0.0));
        }
    } else {
        // Neighbouring threads access neighbouring elements.
        let first = block_idx_x() as usize * PER_THREAD * BLOCK as usize + thread_idx_x() as usize;
        let mut i = first;
        while i < n && i < first + PER_THREAD * BLOCK as usize {
            z.set_within(i, x.get_or(i, 0.0) + y.get_or(i, 0.0));
            i += BLOCK as usize;
        }
    }
}
