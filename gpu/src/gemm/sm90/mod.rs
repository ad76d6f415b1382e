//! C = act(alpha · op(A)·op(B) + beta · C + bias) on Hopper's tensor cores, of 16-bit numbers.
//!
//! ```text
//!            copy engine                          tensor cores
//!   A, B ───────────────▶ ring of stages ──────────────────────────▶ registers ──▶ C
//!                         128 × 64 of A     2 warpgroups, each       64 × COLS
//!    warp 0, one thread   64 × COLS of B    64 rows of the tile      of each warpgroup
//! ```
//!
//! A block of three warpgroups stays on its multiprocessor and computes one tile of C, 128 × COLS, after the other. Of the
//! first warpgroup one thread works: it has the copy engine load the next 64 columns of A and rows of B into a stage of the
//! ring as soon as that is empty. The other two wait until a stage is full, multiply 64 rows of it each, and say that it is
//! empty; one group of products is always under way while the next is started. The loader goes on with the next tile while
//! the others finish theirs. For small C there are blocks of two warpgroups, one of which multiplies: tiles 64 high. Two blocks, of these
//! or of tiles of 128 × 256, may be a cluster, whose tiles lie one below the other; each loads half of B's part for both. For a C of few
//! rows there are tiles of Cᵀ, 16 or 136 wide: A and B change places, and the sums are transposed on their way to C. So they are in
//! clusters of four with tiles of 144 × 64 side by side, which load A once for all, for rows that are no multiples of 128 bytes.
//!
//! A launch overlaps the end of the one before it in its stream: until that is done, mbarriers are made, the tensor maps fetched and the
//! first tile's place computed.
//!
//! - [`product`]: what a block does, in order.
//! - [`finish`](mod@finish): how the sums in registers become C.
//! - [`share`]: which tiles and which of their steps a block has. `parts`: how the sums of a tile that several blocks share come
//!   together.
//! - [`tiles`]: where on C a tile lies. [`ring`]: how the ring begins, and where one is in it.
//!
//! Per tile and 64 of k: 16 KiB of A and COLS · 128 bytes of B loaded, 8 · 64·COLS·16 products, for COLS = 256 in 1024 clocks
//! at the tensor cores' full speed; a warp takes about 90 instructions for it.

mod config;
mod epilogue;
pub mod ffma;
mod fixup;
mod fragments;
mod gemm;
mod gemm_two_width;
mod kernels;
mod mainloop_wgmma;
mod mainloop_wgmma_rs;
pub mod pipeline;
pub mod schedule;

// The PTX has the kernels alone, which nobody calls by name.
#[cfg(not(target_arch = "nvptx64"))]
pub use kernels::*;

/// Registers of a thread that multiplies: 128 accumulators, addresses, and room for the epilogue.
const CONSUMER_REGISTERS: u32 = 232;
/// Registers of the others: what is left of 65 536.
const PRODUCER_REGISTERS: u32 = 40;
