//! Reductions.

pub mod dynamic;
pub mod sum;
pub mod whole;

/// The family's kernels.
#[cfg(not(target_arch = "nvptx64"))]
pub const KERNELS: &[&simt::KernelInfo] = &all();

#[cfg(not(target_arch = "nvptx64"))]
const SINGLE: [&simt::KernelInfo; 2] = [dynamic::reduce_sum_dynamic.info(), sum::sum_f32.info()];

#[cfg(not(target_arch = "nvptx64"))]
const COUNT: usize = {
    let (mut count, mut module) = (SINGLE.len(), 0);
    while module < whole::KERNELS.len() {
        count += whole::KERNELS[module].len();
        module += 1;
    }
    count
};

/// The single kernels, and those of every module of [`whole`].
#[cfg(not(target_arch = "nvptx64"))]
const fn all() -> [&'static simt::KernelInfo; COUNT] {
    let mut list = [SINGLE[0]; COUNT];
    list[1] = SINGLE[1];
    let (mut at, mut module) = (SINGLE.len(), 0);
    while module < whole::KERNELS.len() {
        let kernels = whole::KERNELS[module];
        let mut kernel = 0;
        while kernel < kernels.len() {
            list[at] = kernels[kernel];
            at += 1;
            kernel += 1;
        }
        module += 1;
    }
    list
}
