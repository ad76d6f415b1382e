//! Warp-wide operations: sync, shuffles, votes, matches, reductions, and those of the tensor cores.

mod gather;
mod group;
mod mma;
mod ops;
mod values;

pub(crate) use gather::Gathered;
pub use group::WarpOp;
pub(crate) use group::{Op, TensorOp};
pub(crate) use ops::WarpOps;
