//! C = act(alpha · op(A)·op(B) + beta · C + bias) on Hopper: operands by TMA, products by `wgmma` on tensor cores or,
//! for `f32`, by FFMA ([`ffma`]), for `f64` by `mma.sync` (module `f64`).
//!
//! ```text
//!            TMA (async proxy)                    tensor cores
//!   A, B ───────────────▶ pipeline stages ─────────────────────────▶ registers ──▶ C
//!                         128 × 64 of A     2 consumer warpgroups,   64 × COLS
//!    producer warp        64 × COLS of B    64 rows of the tile each of each warpgroup
//! ```
//!
//! The grid is persistent: a block of three warpgroups stays on its SM and computes one tile of C, 128 × COLS, after
//! the other. One thread of the first warpgroup, the producer, has TMA load the next 64 columns of A and rows of B into
//! a stage of the pipeline as soon as the stage is empty. The two consumer warpgroups wait until a stage is full,
//! multiply 64 rows of it each, and release it; one group of `wgmma` is always in flight while the next is started. The
//! producer goes on with the next tile during the epilogue.
//!
//! What differs is in the table, [`configs`](super::configs): blocks with one consumer for small C (tiles 64 high);
//! clusters of two or four blocks, whose tiles lie one below the other and which multicast B; tiles of Cᵀ, 16 or 136
//! wide, for a C of few rows (`swap_ab`: A and B change places and the epilogue transposes); clusters of four such
//! tiles, of 144 or 192 rows of C, that multicast A; tiles of two widths.
//!
//! Launches overlap (programmatic dependent launch): until the launch before is done, barriers are initialised, tensor
//! maps prefetched and the first tile's coordinates computed. An operand that each launch loads once from memory, such
//! as the weights of a product with few rows ([`STREAMS_B`](super::args::STREAMS_B)), is what the L2 cache gives up
//! first, and its first steps are prefetched to there.
//!
//! - [`pipeline`]: the stages and their barriers.
//! - `gemm`, `gemm_two_width`: what a block does, in order.
//! - `mainloop_wgmma`, `mainloop_wgmma_rs`, `mainloop_wgmma_promoted`, `mainloop_wgmma_blocks`: the consumers' main
//!   loop, A from shared memory, from registers, or sums that are added to others, as they are or times factors.
//! - `scales`: sums of 8-bit operands.
//! - [`grouped`]: groups of rows, each with a B of its own.
//! - [`bf16x6`]: `f32` as sums of three `bf16`.
//! - [`schedule`]: which tiles and which steps along k a block has: raster order, stream-K, two widths,
//!   groups.
//! - `fixup`: the partial sums of a tile that several blocks compute.
//! - `epilogue`: from accumulators to C.
//! - [`pack`]: copies of operands that TMA cannot read as they are.
//!
//! Per tile and 64 of k: 16 KiB of A and COLS · 128 bytes of B loaded, 8 · 64·COLS·16 products, for COLS = 256 in 1024
//! clocks at the tensor cores' full rate; a warp takes about 90 instructions for it.

#[cfg(feature = "gemm_sm90")]
pub mod bf16x6;
mod config;
mod epilogue;
#[cfg(feature = "gemm_sm90")]
pub mod f64;
#[cfg(feature = "gemm_sm90")]
pub mod ffma;
mod fixup;
mod fragments;
#[cfg(feature = "gemm_sm90")]
mod gemm;
#[cfg(feature = "gemm_sm90")]
mod gemm_two_width;
#[cfg(feature = "gemm_grouped")]
pub mod grouped;
#[cfg(feature = "gemm_sm90")]
mod kernels;
mod layout;
mod mainloop_wgmma;
#[cfg(feature = "gemm_sm90")]
mod mainloop_wgmma_blocks;
#[cfg(any(feature = "gemm_grouped", feature = "gemm_sm90"))]
mod mainloop_wgmma_promoted;
#[cfg(feature = "gemm_sm90")]
mod mainloop_wgmma_rs;
#[cfg(feature = "gemm_sm90")]
pub mod pack;
pub mod pipeline;
mod scales;
pub mod schedule;

// The PTX has the kernels alone, which nobody calls by name.
#[cfg(all(not(target_arch = "nvptx64"), feature = "gemm_sm90"))]
pub use kernels::*;

use simt::tma::{TensorMap, TensorMapMut};

/// The tensor maps of A and of B, with elements `X`, and of C, which counts only with
/// [`TMA_STORE`](super::args::TMA_STORE).
type TensorMaps<'a, X, T> = (&'a TensorMap<'a, X>, &'a TensorMap<'a, X>, &'a TensorMapMut<'a, T>);

/// Registers of a thread that multiplies: 128 accumulators, addresses, and room for the epilogue.
const CONSUMER_REGISTERS: u32 = 232;
/// Registers of the others: what is left of 65 536.
const PRODUCER_REGISTERS: u32 = 40;
/// The two where a consumer has 192 accumulators: [`WgmmaConfig::has_many_accumulators`].
///
/// [`WgmmaConfig::has_many_accumulators`]: super::configs::WgmmaConfig::has_many_accumulators
const MANY_REGISTERS: [u32; 2] = [24, 240];
