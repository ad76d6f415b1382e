//! Warp-wide operations: sync, shuffles, votes, matches, reductions, and those of the tensor cores.

mod group;
mod mma;
mod ops;
mod values;

pub use group::WarpOp;
pub(crate) use group::{Op, TensorOp};
pub(crate) use ops::WarpOps;
