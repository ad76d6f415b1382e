//! C = A·B, one element of C per thread, everything read from global memory.
//!
//! ```text
//!            ┌─ B ─┐        A is m × k, B is k × n, C is m × n, all row-major.
//!            │  ║  │ k      A thread walks a row of A and a column of B.
//!            └──╫──┘        A warp covers 32 columns of one row: its reads of B are
//!  ┌─ A ─┐   ┌──╫──┐        one coalesced row, its reads of A one broadcast element.
//!  │═════│   │══╬  │ m
//!  └─────┘   └─────┘ n
//! ```
//!
//! Per thread: 2·k loads of 4 bytes, k fma, 1 store. In all 2·m·n·k element loads for 2·m·n·k operations: a quarter of
//! an operation per byte. No shared memory, no barrier.

use simt::prelude::*;

/// Columns of C per block: a warp.
pub const COLS: u32 = 32;
/// Rows of C per block: 8 warps of 256 threads fill a multiprocessor evenly.
pub const ROWS: u32 = 8;

/// Blocks for an m × n matrix C. A grid is at most 65 535 blocks high: beyond 65 535 · [`ROWS`] rows, launch again
/// on the rows below.
pub const fn grid(m: u32, n: u32) -> [u32; 3] {
    [n.div_ceil(COLS), m.div_ceil(ROWS), 1]
}

/// C = A·B in `f32`, each element summed in order of k by fused multiply-adds.
///
/// `a` is m × k, `b` is k × n, `c` is m × n; where they disagree the common part is multiplied.
#[kernel(block = (COLS, ROWS), registers = 40, barriers = 0, global_load_bytes = 4, global_store_bytes = 4)]
pub fn matmul_naive(a: MatRef<f32>, b: MatRef<f32>, c: MatMut<f32>) {
    let row = block_idx_y() * ROWS + thread_idx_y();
    let col = block_idx_x() * COLS + thread_idx_x();
    if row < a.rows() && col < b.cols() {
        let mut sum = 0.0;
        for k in 0..a.cols().min(b.rows()) {
            sum = fma(a.get(row, k), b.get(k, col), sum);
        }
        c.set_within(row, col, sum);
    }
}
