//! Operations on corresponding elements.

pub mod add;

/// The family's kernels.
#[cfg(not(target_arch = "nvptx64"))]
pub const KERNELS: &[&simt::KernelInfo] = &[add::add_f32.info()];
