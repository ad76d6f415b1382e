//! A resident block. [`BlockState`] is what all its parts work on; each part is a struct that takes the state as an
//! argument (barriers, warp operations, warpgroups, async proxy, cluster barrier); [`Block`] holds the parts and
//! schedules the lanes.

mod async_proxy;
mod barrier;
mod cluster_barrier;
mod deadlock;
mod dependency;
mod peers;
mod plain_polls;
mod resident;
mod run;
mod state;
mod turns;
mod warp;
mod warp_ops;
mod warpgroup;

pub(crate) use async_proxy::{AsyncProxy, TmaRequest};
pub(crate) use resident::{Block, Progress};
pub(crate) use run::Run;
pub use warp_ops::WarpOp;
pub(crate) use warp_ops::{Gathered, Op, TensorOp};
pub(crate) use warpgroup::{Operand, Product, Shape};
