//! Types of the indices of vectors.

/// An index of an element of a vector in global memory: `u32`, `usize` or, for literals, `i32`.
///
/// Rows, columns and elements of shared memory are counted in `u32` alone. With indices of any type there, the compiler
/// no longer removed the bounds checks of 117 of this project's kernels, also where the index was `u32`.
///
/// ```
/// use simt::prelude::*;
///
/// #[kernel(block = 256)]
/// pub fn first_of_blocks(x: VecRef<f32>, firsts: VecMut<f32>) {
///     if thread_idx_x() == 0 {
///         firsts.set(block_idx_x(), x.get(index_1d()));
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the type of an index",
    label = "an index is `u32`, `usize` or a literal"
)]
pub trait Index: Copy {
    /// This index as the length of a vector is counted. A negative one is outside of every vector.
    #[doc(hidden)]
    fn index(self) -> usize;
}

impl Index for usize {
    #[cfg_attr(optimised, inline(always))]
    fn index(self) -> usize {
        self
    }
}

impl Index for u32 {
    #[cfg_attr(optimised, inline(always))]
    fn index(self) -> usize {
        self as usize
    }
}

impl Index for i32 {
    #[cfg_attr(optimised, inline(always))]
    fn index(self) -> usize {
        self as usize
    }
}
