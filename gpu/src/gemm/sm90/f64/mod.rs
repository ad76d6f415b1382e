//! C = act(alpha · op(A)·op(B) + beta · C + bias) in `f64` on Hopper: operands by TMA, products by `mma.sync` on tensor
//! cores.
//!
//! ```text
//!              ┌───── B ─────┐       A step along k: 16 columns of op(A) and 16 rows of op(B) come to one of the
//!              │   ▓▓▓▓▓▓    │ 16    stages by TMA, 128 bytes of each row in memory, swizzled.
//!              └─────────────┘
//!  ┌─ A ─┐     ┌───── C ─────┐       8 warps of 64 × 32:      A warp's step: four blocks of A and two of B, each
//!  │     │     │   ┌────┐    │         ┌──┬──┬──┬──┐          16 × 16, from shared memory, and 16 `mma.sync` of
//!  │ ▓▓  │     │   │    │128 │         │0 │1 │2 │3 │          16 × 8 × 16.
//!  │ ▓▓  │     │   └128─┘    │         ├──┼──┼──┼──┤
//!  └─────┘     └─────────────┘         │4 │5 │6 │7 │
//!    16                                └──┴──┴──┴──┘
//! ```
//!
//! As in [`sm90`](super), a producer warpgroup loads and two consumer warpgroups multiply, and blocks are persistent.
//! Warps are not synchronised with each other but through the stages: of the two that share a tensor core one may be
//! up to [`stages`](crate::gemm::configs::MmaF64Config::stages) steps ahead, so that it multiplies while the other one
//! writes its part of C.
//!
//! What bounds it: a tensor core takes 64 clocks for an `mma.sync`, 2048 for the 16 of each of two warps. In that time
//! the SM loads 32 KiB, and warps read 96 KiB of fragments, 768 clocks of shared memory. A warp issues 90 to 115
//! instructions, of which 32 to 48 are these reads: addresses are four registers for an operand, from which everything
//! else is a constant away. All of them stand between products, 64 clocks apart, but for a gap at the end of a step.
//!
//! Each element of C is one chain of fused multiply-adds in order of k, from +0, as in
//! [`reference`](crate::gemm::reference). What lies beyond k multiplies +0 by −0, and adding −0 changes nothing.
//!
//! Tiles that fill no wave of blocks are split along k ([`stream_k`](super::schedule::stream_k)): the chain of an
//! element then goes on in another block.
//!
//! - `mainloop`: what a block does, in order.
//! - `fixup`: from accumulators to those of the next block.
//! - `operand`: from shared memory to fragments.
//! - `store`: from accumulators to C.

mod config;
mod fixup;
mod kernels;
mod mainloop;
mod operand;
mod store;

// The PTX has the kernels alone, which nobody calls by name.
#[cfg(not(target_arch = "nvptx64"))]
pub use kernels::*;

/// Elements along k in a stage: 128 bytes.
const DEPTH: u32 = 16;
/// Elements of a block of an operand: 16 rows of op(A) or columns of op(B), [`DEPTH`] of k.
const BLOCK: u32 = 16 * DEPTH;
