//! Reductions of a whole vector in one launch, at the speed of memory.
//!
//! ```text
//!  thread   16 bytes at a time, four of them under way            thread.rs
//!  warp     5 shuffles               ┐ in a fixed order, so that   block.rs
//!  block    16 states of warps       ├ the result has the same bits
//!  grid     B states of blocks, by   ┘ whatever the GPU            grid.rs
//!           the last block
//! ```
//!
//! What is merged on the way is a [`reduction::Reduction`]: a state, and how two of them merge. The kernels are these bodies,
//! one for each reduction and type of element ([`sums`] …). Per kernel: one read of the vector, B ≤ 528 states written and
//! read again, 1 barrier in each block and 2 more in the last, no fence.
//!
//! Four blocks of 512 threads fill a multiprocessor with threads, which 32 registers a thread allow. Sixteen hold the four
//! accesses under way; what converts 8 elements of 16 bits, compensates, or keeps an index or three numbers takes more, and has
//! 3 or 2 blocks: still at least the 48 KiB under way that an H200 wants of each multiprocessor.
//!
//! Every kernel takes `x`, `workspace` and `out`. The workspace has [`partition::workspace_words`] of the grid; they are 0
//! before the launch and again after it. The number of blocks is [`partition::blocks`] of the vector, or any other: it decides
//! the order of merges.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array held by value keeps it in local memory")]

pub mod block;
pub mod counts;
pub mod dots;
mod entries;
pub mod extremes;
mod grid;
pub mod moments;
pub mod number;
pub mod order;
pub mod partition;
pub mod positions;
pub mod products;
pub mod reduction;
pub mod squares;
pub mod sums;
mod thread;

/// The kernels, by module.
#[cfg(not(target_arch = "nvptx64"))]
pub const KERNELS: [&[&simt::KernelInfo]; 8] = [
    sums::KERNELS,
    squares::KERNELS,
    products::KERNELS,
    extremes::KERNELS,
    positions::KERNELS,
    counts::KERNELS,
    moments::KERNELS,
    dots::KERNELS,
];
