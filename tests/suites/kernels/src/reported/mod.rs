//! Defects that were reported in public in 2025 and 2026 in well-known kernels, each reduced to a few lines. The
//! parameter `faulty` of each kernel decides whether the defect is there.

mod asynchronous;
mod races;

#[cfg(not(target_arch = "nvptx64"))]
mod launches;

#[cfg(not(target_arch = "nvptx64"))]
pub use launches::{Defect, defects};
