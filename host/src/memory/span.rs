//! A range of elements in an allocation.

use std::fmt;

/// `len` elements from element `offset` of the allocation on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(super) offset: usize,
    pub(super) len: usize,
}

impl Span {
    /// `len` elements `U` from the `start`th on in this range of elements of `size` bytes, which starts at a multiple
    /// of their size. They lie within it.
    pub(super) fn cast<U>(self, size: usize, start: usize, len: usize) -> Self {
        debug_assert!(
            (start + len) * size_of::<U>() <= self.len * size && (self.offset * size).is_multiple_of(size_of::<U>())
        );
        Self { offset: self.offset * size / size_of::<U>() + start, len }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements from {} on", self.len, self.offset)
    }
}
