//! Products on tensor cores by `mma.sync`, for every GPU from compute capability 8.0 on.
//!
//! ```text
//!              ┌───── B ─────┐       A step along k: 64 bytes of each row of A and column of B in the block's
//!              │   ▓▓▓▓▓▓    │ 32    tile come to one of four stages of shared memory by 16-byte asynchronous
//!              └─────────────┘       copies, three steps ahead.
//!  ┌─ A ─┐     ┌───── C ─────┐       8 warps of 64 × 64:         Half a step of a warp: four fragments of A,
//!  │     │     │   ┌────┐    │         ┌──┬──┬──┬──┐            16 × 16, and eight of B, 16 × 8, by `ldmatrix`;
//!  │ ▓▓  │     │   │    │128 │         │0 │1 │2 │3 │            then 32 `mma.sync`.
//!  │ ▓▓  │     │   └256─┘    │         ├──┼──┼──┼──┤            While one half is multiplied, the other is loaded.
//!  │     │     │             │         │4 │5 │6 │7 │
//!  └─────┘     └─────────────┘         └──┴──┴──┴──┘
//!    32
//! ```
//!
//! What bounds it on Hopper. Its tensor cores take an `mma.sync` of 2048 multiply-adds every 6.0 clocks on each quarter
//! of an SM, 66 % of the rate of `wgmma`. What half a step of a warp multiplies, 65 536, takes 48 clocks of
//! all four; it needs 4 KiB of fragments, and its share of the block's step is 1.5 KiB to be written: 44 clocks of the
//! shared memory's 128 bytes. A warp of 64 × 64 is therefore the least that keeps the tensor cores busy, and 128 sums
//! and 64 registers of fragments are the most that 255 registers hold. A warp's instructions are issued in order, and
//! there are only two warps on a quarter: so the loop along k has no branch, one barrier, and between each load and its
//! use half a step of products. 64 of its 150 to 161 instructions multiply, 16 load fragments, 6 start copies. The
//! products of tf32 are rounded when they are loaded, three instructions for a register, and have half as many sums.
//!
//! Where rows do not start at multiples of 16 bytes, at edges, and in a last step that is not whole, copies are of 4
//! bytes or go through registers: right, and slow. Blocks that need not do so do not pay for it but with code.
//!
//! Sums are added in the order of k by the hardware's own rule ([`simt::matrix`]), the same on every run.
//!
//! - `element`: what `f16`, `bf16` and `f32` are to the instruction.
//! - `operand`: an operand in shared memory, from copy to fragment.
//! - `mainloop`: what a block does, in order.
//! - `store`: from accumulators to C.
//!
//! `f64`, whose instruction has fragments of its own, is a family apart: [`mma_f64`](super::mma_f64).

mod element;
mod kernels;
mod mainloop;
mod operand;
mod store;

use simt::element::Element;
use simt::prelude::*;

// The PTX has the kernels alone, which nobody calls by name.
#[cfg(not(target_arch = "nvptx64"))]
pub use kernels::*;

/// Steps along k in shared memory: three that are on their way while one is multiplied.
pub const STAGES: u32 = 4;

/// Shared memory of a block: the stages of A and of B. Where B's were, C goes through when the sums are finished.
#[repr(C)]
#[derive(Shared)]
pub struct Stages<T: Element, const A: usize, const B: usize> {
    a: SharedArray<T, A>,
    b: SharedArray<T, B>,
}

/// Elements of an operand in all stages: 64 bytes of every row or column in a step.
const fn elements(extent: usize, chunk: usize) -> usize {
    STAGES as usize * extent * 4 * chunk
}
