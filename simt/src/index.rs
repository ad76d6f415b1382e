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
    note = "convert the index to one of these; a negative or too large one is out of bounds, never another element"
)]
pub trait Index<To>: Copy {
    /// This index in the type of the view; one that the type cannot hold becomes its greatest value, which is outside
    /// of every view.
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
    i32 => usize: |i| usize::try_from(i).unwrap_or(usize::MAX);
    u32 => u32: |i| i;
    usize => u32: |i| u32::try_from(i).unwrap_or(u32::MAX);
    i32 => u32: |i| u32::try_from(i).unwrap_or(u32::MAX);
}
