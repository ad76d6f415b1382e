//! A range of elements in an allocation.

use std::fmt;

/// `len` elements from element `offset` of the allocation on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(super) offset: usize,
    pub(super) len: usize,
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements from {} on", self.len, self.offset)
    }
}
