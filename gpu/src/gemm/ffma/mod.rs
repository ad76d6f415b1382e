//! C = A·B in `f32` by multiply-adds alone, as many per clock as the multiprocessor can issue. No tensor cores: every product
//! is rounded once, as IEEE 754 says.
//!
//! ```text
//!              ┌───── B ─────┐       A step along k: a block fetches 128 × 16 of A and 16 × 256 of B into one of two
//!              │   ▓▓▓▓▓▓    │ 16    stages of shared memory, while it multiplies what lies in the other.
//!              └─────────────┘
//!  ┌─ A ─┐     ┌───── C ─────┐       8 warps of 64 × 64:           a warp's 32 lanes, 4 × 8, in quads of 4 × 4:
//!  │     │     │   ┌────┐    │         ┌──┬──┬──┬──┐
//!  │ ▓▓  │     │   │    │128 │         │0 │1 │2 │3 │                   0 1 … 7  0 1 … 7      four times down: lane 0 has
//!  │ ▓▓  │     │   └256─┘    │         ├──┼──┼──┼──┤               0   ▓ ░ … ░  ▓ ░ … ░      16 × 8 elements of C, in
//!  │     │     │             │         │4 │5 │6 │7 │               …                         eight quads, 16 rows and
//!  └─────┘     └─────────────┘         └──┴──┴──┴──┘               3   ░ ░ … ░  ░ ░ … ░      32 columns apart
//!    16
//! ```
//!
//! On Hopper a warp scheduler issues one instruction per clock, and a multiply-add takes one clock: every other instruction
//! takes the place of one. What is needed is therefore counted in instructions, per thread and column of A:
//!
//! | outputs per thread | fma | loads of 16 bytes from shared memory | fma of all |
//! |---|---|---|---|
//! | 8 × 4 | 32 | 3 | 91 % |
//! | 8 × 8 | 64 | 4 | 94 % |
//! | **16 × 8** | 128 | 6 | 96 % |
//! | 16 × 16 | 256 | 8 | 97 %, but 256 sums do not fit into 255 registers |
//!
//! Fetching a step, storing A, waiting and counting take about 110 instructions more: 5 % of 16 columns. What it costs
//! besides is registers: 128 sums, so that one block of 256 threads, or two of 128, fill a multiprocessor.
//!
//! The kernels are one program with different tiles: large ones need fewer loads from memory, small ones keep more
//! multiprocessors busy where C is small. Each element of C is one chain of fused multiply-adds in order of k, from +0,
//! whatever the tile: all of them, and [`matmul_naive`](super::naive::matmul_naive), give the same bits.
//!
//! - `product`: what a block does, in order.
//! - `fetch`: how a step comes to shared memory, aligned or not, inside the matrices or at their edge.

mod fetch;
mod product;

use simt::prelude::*;

use product::multiply;

/// Rows and columns of C per block of [`gemm_f32_128x256`].
pub const TILE_128X256: [u32; 2] = [128, 256];
/// Rows and columns of C per block of [`gemm_f32_256x128`].
pub const TILE_256X128: [u32; 2] = [256, 128];
/// Rows and columns of C per block of [`gemm_f32_128x128`].
pub const TILE_128X128: [u32; 2] = [128, 128];
/// Rows and columns of C per block of [`gemm_f32_64x64`].
pub const TILE_64X64: [u32; 2] = [64, 64];

/// Blocks for an m × n matrix C in tiles of `rows` × `cols`. A grid has at most 2³¹ − 1 blocks along x.
pub const fn grid(m: u32, n: u32, [rows, cols]: [u32; 2]) -> [u32; 3] {
    [m.div_ceil(rows).saturating_mul(n.div_ceil(cols)), 1, 1]
}

/// Shared memory of a block: two stages of `ROWS / 2` columns of A, turned, and as many rows of B.
#[repr(C)]
#[derive(Shared)]
pub struct Stages<const ROWS: usize, const M: usize, const N: usize> {
    a: SharedTile<f32, ROWS, M>,
    b: SharedTile<f32, ROWS, N>,
}

/// C = A·B in `f32`, each element summed in order of k by fused multiply-adds, in tiles of 128 × 256: for large matrices.
///
/// `a` is m × k, `b` is k × n, `c` is m × n; where they disagree the common part is multiplied. Any offset and leading
/// dimension; loads and stores are 16 bytes wide where rows start at multiples of 16 bytes.
#[kernel(block = (256), min_blocks = 1, registers = 255, barriers = 2, global_load_bytes = 4, global_store_bytes = 4)]
pub fn gemm_f32_128x256(#[shared] stages: &Stages<32, 128, 256>, a: MatRef<f32>, b: MatRef<f32>, c: MatMut<f32>) {
    multiply::<_, 16, _, _, 4, 2, 256>(stages, a, b, c);
}

/// [`gemm_f32_128x256`] in tiles of 256 × 128.
#[kernel(block = (256), min_blocks = 1, registers = 255, barriers = 2, global_load_bytes = 4, global_store_bytes = 4)]
pub fn gemm_f32_256x128(#[shared] stages: &Stages<32, 256, 128>, a: MatRef<f32>, b: MatRef<f32>, c: MatMut<f32>) {
    multiply::<_, 16, _, _, 4, 2, 256>(stages, a, b, c);
}

/// [`gemm_f32_128x256`] in tiles of 128 × 128, two blocks of 128 threads to a multiprocessor: when one waits at its barrier,
/// the other computes.
#[kernel(block = (128), min_blocks = 2, registers = 255, barriers = 2, global_load_bytes = 4, global_store_bytes = 4)]
pub fn gemm_f32_128x128(#[shared] stages: &Stages<16, 128, 128>, a: MatRef<f32>, b: MatRef<f32>, c: MatMut<f32>) {
    multiply::<_, 8, _, _, 4, 2, 128>(stages, a, b, c);
}

/// [`gemm_f32_128x256`] in tiles of 64 × 64, with 8 × 4 elements per thread: for small C.
#[kernel(block = (128), min_blocks = 4, registers = 128, barriers = 2, global_load_bytes = 4, global_store_bytes = 4)]
pub fn gemm_f32_64x64(#[shared] stages: &Stages<64, 64, 64>, a: MatRef<f32>, b: MatRef<f32>, c: MatMut<f32>) {
    multiply::<_, 32, _, _, 2, 1, 128>(stages, a, b, c);
}
