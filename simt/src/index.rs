//! Types of the indices of elements.

/// An index of an element: `u32`, `usize` or, for literals, `i32`. A view counts its elements in `To`.
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
    label = "an index is `u32`, `usize` or a literal",
    note = "convert the index to one of these; one that is too large for the view is out of bounds, never another element"
)]
pub trait Index<To>: Copy {
    /// This index in the type of the view. A `usize` that 32 bits cannot hold becomes the greatest number, which is
    /// outside of every view; a negative literal becomes one of at least 2³¹.
    #[doc(hidden)]
    fn index(self) -> To;
}

macro_rules! indices {
    ($($from:ty => $to:ty: |$i:ident| $index:expr;)+) => {$(
        impl Index<$to> for $from {
            #[inline(always)]
            fn index(self) -> $to {
                let $i = self;
                $index
            }
        }
    )+};
}
indices! {
    usize => usize: |i| i;
    u32 => usize: |i| i as usize;
    i32 => usize: |i| i as usize;
    u32 => u32: |i| i;
    usize => u32: |i| u32::try_from(i).unwrap_or(u32::MAX);
    i32 => u32: |i| i as u32;
}
