//! C = A·B by one block: the first step from a loop on the CPU to threads.
//!
//! ```text
//!            ┌─ B ─┐        One block of W × W threads, thread (tx, ty) for element (ty, tx) of C: it
//!            │  ║  │ k      reads row ty of A and column tx of B. If C is larger than the block, each
//!            └──╫──┘        thread continues W rows below and W columns to the right.
//!  ┌─ A ─┐   ┌──╫──┐
//!  │═════│   │══╬  │ m
//!  └─────┘   └─────┘ n
//! ```
//!
//! Per element of C: 2·k loads of 4 bytes, k fma, 1 store; for W × W matrices, 2·W loads per thread. No shared memory,
//! no barrier. One block uses only one SM; [`matmul_naive`](crate::gemm::naive::matmul_naive) uses all of them.

use simt::prelude::*;

/// Edge of the largest block: 32 · 32 = 1024 threads, the maximum.
pub const MAX_EDGE: u32 = 32;

/// C = A·B in `f32`, each element summed in order of k by fused multiply-adds. The grid is one block, of any shape.
///
/// `a` is m × k, `b` is k × n, `c` is m × n; if the extents differ, the common part is multiplied.
#[kernel(max_threads = 1024, registers = 32, barriers = 0, global_load_bytes = 4, global_store_bytes = 4)]
pub fn matmul_single_block(a: MatRef<f32>, b: MatRef<f32>, c: MatMut<f32>) {
    let mut row = thread_idx_y();
    while row < a.rows() {
        let mut col = thread_idx_x();
        while col < b.cols() {
            let mut sum = 0.0;
            for k in 0..a.cols().min(b.rows()) {
                sum = fma(a.get(row, k), b.get(k, col), sum);
            }
            c.set_within(row, col, sum);
            // Saturating: extents may be up to the largest `u32`, and an index that wraps would start again.
            col = col.saturating_add(block_dim_x());
        }
        row = row.saturating_add(block_dim_y());
    }
}
