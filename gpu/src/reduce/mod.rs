//! Sums.

pub mod dynamic;
pub mod sum;

/// The family's kernels.
#[cfg(not(target_arch = "nvptx64"))]
pub const KERNELS: &[&simt::KernelInfo] = &[dynamic::reduce_sum_dynamic.info(), sum::sum_f32.info()];
