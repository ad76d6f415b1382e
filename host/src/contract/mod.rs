//! The types that pass between the back ends and the code above them. This module imports nothing else of the crate.

mod execution;
mod hardware;
mod kernel_launch;
mod limits;
mod region;

pub use execution::Execution;
pub use hardware::Hardware;
pub(crate) use kernel_launch::{Binding, Geometry, KernelLaunch, Role};
pub use limits::Limits;
pub(crate) use region::Region;

/// Extents along x, y and z, as in messages.
pub(crate) fn shape<N: std::fmt::Display>(extents: &[N; 3]) -> String {
    let [x, y, z] = extents;
    format!("{x} x {y} x {z}")
}
