//! Reductions of a whole vector in one launch, at the speed of memory.
//!
//! ```text
//!  thread   16 bytes at a time, four loads in flight              thread.rs
//!  warp     5 shuffles               ┐ in a fixed order, so that   block.rs
//!  block    16 states of warps       ├ the result has the same bits
//!  grid     B states of blocks, by   ┘ on every GPU                grid.rs
//!           the last block
//! ```
//!
//! A [`reduction::Reduction`] defines a state and how two states merge. There is one kernel for each reduction and
//! element type ([`sums`] …). Cost of a kernel: one read of the vector, B ≤ 528 states written and read again, 1
//! barrier in each block and 2 more in the last one, no fence.
//!
//! Four blocks of 512 threads fill an SM with threads, at 32 registers a thread. Sixteen registers hold the four loads
//! in flight. Kernels that convert 8 elements of 16 bits, compensate, or keep an index or three numbers need more
//! registers and have 3 or 2 blocks per SM: still at least the 48 KiB in flight per SM that saturate an H200's memory.
//!
//! Every kernel takes `x`, `workspace` and `out`. The workspace has [`partition::workspace_words`] for the grid, which
//! are 0 before and after the launch. The number of blocks is [`partition::blocks`] for the vector, or any other: it
//! determines the order of merges.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array held by value keeps it in local memory")]

pub mod arg_extremes;
pub mod block;
pub mod compare;
pub mod counts;
#[cfg(not(target_arch = "nvptx64"))]
pub mod depth;
pub mod dots;
mod entries;
pub mod extremes;
mod grid;
pub mod moments;
pub mod number;
pub mod partition;
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
    arg_extremes::KERNELS,
    counts::KERNELS,
    moments::KERNELS,
    dots::KERNELS,
];
