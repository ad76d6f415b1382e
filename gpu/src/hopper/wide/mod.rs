//! C = act(alpha · op(A)·op(B) + beta · C + bias) of 16-bit numbers for large C: as [`gemm`](super::gemm), in tiles of 256 × 192.
//!
//! ```text
//!            copy engine                          tensor cores
//!   A, B ───────────────▶ ring of 3 stages ──────────────────────────▶ registers ──▶ C
//!                         256 × 64 of A     2 warpgroups, each twice   2 · 64 × 192
//!    warp 0, one thread   64 × 192 of B     64 rows of the tile        of each warpgroup
//! ```
//!
//! A multiprocessor has registers for 49 152 sums, three quarters of all, and 256 × 192 is the tile nearest to a square that is so large. What
//! it saves are bytes: for each product a quarter less is loaded than for tiles of 128 × 256. Large products are bound by power, and
//! loading takes about a fifth of it (`docs/gemm.md`).
//!
//! - [`product`]: what a block does, in order.
//! - [`tiles`]: which tile comes when, and which of them are narrow.
//!
//! What becomes of the sums is [`gemm::finish`](super::gemm::finish)'s, 64 rows at a time.
//!
//! Per tile and 64 of k: 56 KiB loaded, 16 · 64·192·16 products by each warpgroup, 1536 clocks at the tensor cores' full speed.

mod kernels;
pub mod product;
pub mod tiles;

// The PTX has the kernels alone, which nobody calls by name.
#[cfg(not(target_arch = "nvptx64"))]
pub use kernels::*;
