//! C = act(alpha · Aᵀ·B + beta · C + bias) in `f32` by FFMA, operands by TMA. Every product is rounded once, as IEEE
//! 754 says; no tensor cores.
//!
//! ```text
//!              ┌────── B ─────┐    A lies in memory as k × m, B as k × n: boxes of 32 rows of either come to stages
//!              │     ▓▓▓▓     │32  in shared memory as they lie, and a thread reads what it needs of a column of
//!              └──────────────┘    op(A), as of a row of B, 16 bytes at a time.
//!  ┌── Aᵀ ─┐   ┌────── C ─────┐
//!  │       │   │     ┌──┐     │    4 warps of 64 × 64, a warp's lanes 4 × 8 and in each 16 × 8 elements of C, as in
//!  │  ▓▓   │   │     │  │128  │    `gemm::ffma`.
//!  │       │   │     └──┘     │
//!  └───────┘   └──────128─────┘    Two such blocks share an SM: when one waits, the other computes.
//!     32
//! ```
//!
//! A warp scheduler starts one instruction a clock. Per thread and k that are 128 multiply-adds and 6 loads; waiting
//! for a stage, releasing it and the branch take about 150 instructions for 32 of k: 92 % of what starts are
//! multiply-adds. But one starts in every clock only if it finds its operands: each of two register banks, the even and
//! the odd numbers, delivers one in a clock, and what the instruction before left in the operand cache costs nothing.
//! So
//!
//! - the products of a column and a row are done row by row, from left to right and back: an element of A stays for 8
//!   multiply-adds, and where the row changes, the element of B stays;
//! - the sum and the element of B are in different banks, because of the order in which the epilogue stages the sums:
//!   see `store`;
//! - the operands of each k are read from shared memory while those of the k before are multiplied;
//! - the loop is unrolled by no more than 2: a long body does not stay in the instruction cache.
//!
//! Each element of C is one chain of fused multiply-adds in order of k, from +0. What lies beyond k is not multiplied,
//! so that also a sum of −0 is what [`matmul_naive`](crate::gemm::naive::matmul_naive) gives.
//!
//! - `mainloop`: what a block does; `fixup`: how it continues the accumulation of another; `store`: from accumulators
//!   to C.
//! - `mainloop_split`, `store_split`, `transpose`: the same with intra-block split-K, for a C of few tiles.

mod config;
mod fixup;
mod kernels;
mod mainloop;
mod mainloop_split;
mod store;
mod store_split;
mod transpose;

// The PTX has the kernels alone, which nobody calls by name.
#[cfg(not(target_arch = "nvptx64"))]
pub use kernels::*;
