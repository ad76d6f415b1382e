//! Transposition.

pub mod padded;
pub mod swizzled;

/// The family's kernels.
#[cfg(not(target_arch = "nvptx64"))]
pub const KERNELS: &[&simt::KernelInfo] =
    &[padded::transpose_smem_pad1.info(), padded::transpose_smem_pad2.info(), swizzled::transpose_f32.info()];
