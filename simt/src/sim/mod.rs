//! Bodies of the intrinsics for the simulator: each passes its arguments to `simulator::device`, with the caller's
//! location.

pub(crate) mod async_copy;
pub(crate) mod atomic;
pub(crate) mod cluster;
pub(crate) mod convert;
pub(crate) mod grid;
pub(crate) mod math;
pub(crate) mod matrix;
pub(crate) mod mbarrier;
pub(crate) mod memory;
pub(crate) mod print;
pub(crate) mod sync;
pub(crate) mod thread;
pub(crate) mod tma;
pub(crate) mod warp;
pub(crate) mod wgmma;

pub(crate) use simulator::device::{Plain, branch};

#[cfg_attr(optimised, inline(always))]
pub(crate) fn opaque(x: u32) -> u32 {
    x
}
