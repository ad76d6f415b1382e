//! C = act(alpha · op(A)·op(B) + beta · C + bias) on Hopper's tensor cores, of `f32` rounded to tf32.
//!
//! ```text
//!            copy engine, which rounds                tensor cores
//!   A, B ─────────────────────────────▶ ring of stages ────────────▶ registers ──▶ C
//!                                       128 × 32 of D's rows         64 × COLS
//!                                       COLS × 32 of its columns     of each of two warpgroups
//! ```
//!
//! As [`gemm`](super::gemm) of 16-bit numbers, with the same blocks, ring, order of tiles and endings. What differs comes from one
//! thing: the tensor cores read tf32 from shared memory along k alone.
//!
//! | layout | D is | its rows come from | its columns from |
//! |---|---|---|---|
//! | NT | C | A, in shared memory, along k | B, in shared memory, along k |
//! | TT | C | A, which lies across k: through registers | B, along k |
//! | NN | Cᵀ | B, which lies across k: through registers | A, along k |
//! | TN | | one of them is turned first: `Algorithm::pack` | |
//!
//! - [`product`]: what a block does, in order. [`fragments`]: an operand on its way through registers.
//! - [`finish`](mod@finish): how the sums in registers become C.
//!
//! Per tile and 32 of k: 16 KiB and COLS · 128 bytes loaded, 128 · COLS · 32 products, for COLS = 256 in 1024 clocks at the tensor
//! cores' full speed, which for tf32 is half of that for 16 bits.

pub mod finish;
pub mod fragments;
mod kernels;
pub mod product;

pub use kernels::*;
