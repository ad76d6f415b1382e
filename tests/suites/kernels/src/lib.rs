//! Kernels after published suites of faulty kernels, and how each is launched.
//!
//! The same kernels run on the simulator (the test program `suites` of `warpwright-tests`) and, compiled to PTX, on a
//! GPU under NVIDIA's compute-sanitizer (the program of this package). docs/detection.md has sources and results.

pub mod indigo;
pub mod reported;
pub mod scor;
#[cfg(not(target_arch = "nvptx64"))]
mod subject;

#[cfg(not(target_arch = "nvptx64"))]
pub use subject::{Seen, Subject};
