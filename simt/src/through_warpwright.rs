//! This crate as `warpwright` re-exports it: with the macros for crates that depend on `warpwright` alone.

pub use simt_macros::{
    KernelArgThroughWarpwright as KernelArg, SharedThroughWarpwright as Shared, kernel_through_warpwright as kernel,
};

pub use crate::*;

pub mod prelude {
    pub use super::{Shared, kernel};
    pub use crate::prelude::*;
}

pub mod shared {
    pub use super::Shared;
    pub use crate::shared::*;
}
