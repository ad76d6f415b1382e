//! Reductions.
//!
//! | module | kernels | family |
//! |---|---|---|
//! | [`whole`] | a whole vector to one element | `reduce` |
//! | `rows` | lines of contiguous elements, each to one element | `reduce_rows` |
//! | `columns` | lines of strided elements, each to one element | `reduce_columns` |
//! | `segments` | segments of a vector, given by offsets, each to one element | `reduce_segments` |
//! | [`dynamic`] | one sum per block, in shared memory of a size chosen at launch | `reduce` |
//! | [`read`] | reads a vector: the upper bound for the speed of all others | `reduce` |
//!
//! [`reducer`] passes a reduction to the body of a kernel; `along` is what the kernels of rows, columns and segments
//! share.

#[cfg(feature = "algebra")]
#[cfg_attr(
    not(all(feature = "reduce_rows", feature = "reduce_columns", feature = "reduce_segments")),
    allow(dead_code, reason = "a family without the others does not need all of it")
)]
pub mod along;
#[cfg(feature = "reduce_columns")]
pub mod columns;
#[cfg(not(all(target_arch = "nvptx64", feature = "algebra")))]
pub mod dynamic;
#[cfg(not(all(target_arch = "nvptx64", feature = "algebra")))]
pub mod read;
pub mod reducer;
#[cfg(feature = "reduce_rows")]
pub mod rows;
#[cfg(feature = "reduce_segments")]
pub mod segments;
pub mod whole;

/// The family's kernels.
#[cfg(not(target_arch = "nvptx64"))]
pub const KERNELS: &[&simt::KernelInfo] = &all();

#[cfg(not(target_arch = "nvptx64"))]
const COUNT: usize = {
    let (mut count, mut module) = (2, 0);
    while module < whole::KERNELS.len() {
        count += whole::KERNELS[module].len();
        module += 1;
    }
    count
};

/// The kernels of [`dynamic`], [`read`] and every module of [`whole`].
#[cfg(not(target_arch = "nvptx64"))]
const fn all() -> [&'static simt::KernelInfo; COUNT] {
    let mut list = [dynamic::reduce_sum_dynamic.info(); COUNT];
    list[1] = read::read_f32.info();
    let (mut at, mut module) = (2, 0);
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
