//! C = act(alpha · op(A)·op(B) + beta · C + bias) in `f32` by multiply-adds alone, for a C of few tiles: one tile is the work of several
//! groups of warps, which share its steps of k. A and B may both lie either way.
//!
//! ```text
//!  step of k    0   1   2   3   4   5 …      Groups g of 4 or 8: group g multiplies the steps g, g + groups, …, each a box of
//!  ring        [0] [1] [2] [3] [0] [1]        32 of k of A and one of B in its own stages of the ring, and needs no other group.
//!               │   │   │   │
//!  sums        S₀  S₁  S₂  S₃                 Every group has sums of the whole tile: 16 × 8 or 8 × 8 elements per thread.
//!               └───┴─┬─┴───┘
//!  shared memory   S₀ + S₁ + S₂ + S₃          In this order, whatever came first.
//!                     ▼
//!                     C
//! ```
//!
//! Where C has about as many tiles of 128 × 64 (or 32 × 64) as there are multiprocessors, each has one tile, 2048 elements of it for each warp
//! scheduler or 512. Shared out along C they would be 8 × 4 or 4 × 4 for each of two warps, and shared memory would bound them: 12 wavefronts
//! for 16 clocks of multiply-adds, 8 for 8. Shared out along k, every thread has as many as registers hold: 12 for 32, or 8 for 16.
//!
//! What lies along k in memory (A as m × k, B as n × k) comes by swizzled boxes of 128 bytes of k, and its group turns it over in place before
//! it multiplies (`turn`): a fortieth of the instructions. From there on all four layouts are the one that [`super`] is for.
//!
//! The sums are no chain in order of k: these are ways of a general product, not of [`matmul_naive`](crate::gemm::naive::matmul_naive)'s bits.
//! They do not depend on the number of blocks. What lies beyond k are zeros of both operands, which add +0.
//!
//! - `product`: what a block does, in order.
//! - `turn`: a box turned over in shared memory.
//! - `finish`: how the groups' sums become C.

mod finish;
mod kernels;
pub mod product;
mod turn;

// The PTX has the kernels alone, which nobody calls by name.
#[cfg(not(target_arch = "nvptx64"))]
pub use kernels::*;
