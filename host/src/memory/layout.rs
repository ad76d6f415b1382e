//! The layout of a matrix in a buffer.

use std::ops::Range;

use crate::error::{ArgumentRule, BadArgument, Result};

/// Shape and position of a row-major matrix in a buffer: element (r, c) is element `offset + r · ld + c` of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Leading dimension: elements from the start of one row to the start of the next, at least `cols`.
    pub ld: usize,
    /// Element of the buffer at which the matrix starts.
    pub offset: usize,
}

/// Largest `rows`, `cols` and `ld`: kernels have 32 bits for each.
const MOST: usize = u32::MAX as usize;

impl Layout {
    /// A contiguous matrix at the start of its buffer: `ld = cols`.
    pub fn contiguous(rows: usize, cols: usize) -> Self {
        Self { rows, cols, ld: cols, offset: 0 }
    }

    /// This layout with another leading dimension.
    #[must_use]
    pub fn ld(self, ld: usize) -> Self {
        Self { ld, ..self }
    }

    /// This layout with another offset.
    #[must_use]
    pub fn offset(self, offset: usize) -> Self {
        Self { offset, ..self }
    }

    /// Whether it has no element.
    pub fn is_empty(&self) -> bool {
        self.rows == 0 || self.cols == 0
    }

    /// Whether the rows follow each other without a gap.
    pub fn is_contiguous(&self) -> bool {
        self.ld == self.cols || self.rows <= 1
    }

    /// Elements of the buffer up to the end of the matrix; `None` on overflow.
    pub(crate) fn end(&self) -> Option<usize> {
        if self.is_empty() {
            return Some(self.offset);
        }
        (self.rows - 1).checked_mul(self.ld)?.checked_add(self.cols)?.checked_add(self.offset)
    }

    /// Checks the layout against a buffer of `len` elements.
    pub(crate) fn check(&self, call: &str, len: usize) -> Result<()> {
        let Self { rows, cols, ld, .. } = *self;
        for (name, extent) in [("rows", rows), ("cols", cols), ("ld", ld)] {
            if extent > MOST {
                return Err(BadArgument::new(ArgumentRule::Extent, call, name)
                    .expected(format_args!("at most {MOST}"))
                    .found(extent)
                    .remedy("kernels have 32 bits for rows, columns and ld: work on parts of the matrix")
                    .into());
            }
        }
        if ld < cols {
            return Err(BadArgument::new(ArgumentRule::LeadingDimension, call, "ld")
                .expected(format_args!("at least {cols}, the number of columns"))
                .found(ld)
                .remedy("the leading dimension is the distance between the starts of two rows, in elements")
                .into());
        }
        match self.end() {
            Some(end) if end <= len => Ok(()),
            end => Err(BadArgument::new(ArgumentRule::Length, call, "buffer")
                .expected(match end {
                    Some(end) => format!("at least {end} elements ({self})"),
                    None => format!("more elements than the address space has ({self})"),
                })
                .found(len)
                .remedy("use a longer buffer, fewer rows or columns, or a smaller ld or offset")
                .into()),
        }
    }

    /// The block of the given rows and columns.
    pub(crate) fn block(&self, rows: Range<usize>, cols: Range<usize>) -> Result<Self> {
        check_range("block", "rows", &rows, self.rows)?;
        check_range("block", "cols", &cols, self.cols)?;
        Ok(Self {
            rows: rows.len(),
            cols: cols.len(),
            ld: self.ld,
            // Else an empty block could start past the end of the buffer.
            offset: if rows.is_empty() || cols.is_empty() {
                self.offset
            } else {
                self.offset + rows.start * self.ld + cols.start
            },
        })
    }
}

impl std::fmt::Display for Layout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { rows, cols, ld, offset } = self;
        write!(f, "{rows} x {cols}, ld {ld}, offset {offset}")
    }
}

/// The methods of a matrix, owned or borrowed, that read its field `layout`.
macro_rules! layout_methods {
    () => {
        /// Shape, and position in the buffer.
        pub fn layout(&self) -> Layout {
            self.layout
        }

        /// Number of rows.
        pub fn rows(&self) -> usize {
            self.layout.rows
        }

        /// Number of columns.
        pub fn cols(&self) -> usize {
            self.layout.cols
        }

        /// Elements from the start of one row to the start of the next.
        pub fn ld(&self) -> usize {
            self.layout.ld
        }

        /// Whether there is no element.
        pub fn is_empty(&self) -> bool {
            self.layout.is_empty()
        }
    };
}
pub(super) use layout_methods;

/// Checks that `range` lies within `0..len`.
pub(crate) fn check_range(call: &str, argument: &str, range: &Range<usize>, len: usize) -> Result<()> {
    if range.start <= range.end && range.end <= len {
        return Ok(());
    }
    Err(BadArgument::new(ArgumentRule::Range, call, argument)
        .expected(format_args!("a range within 0..{len}"))
        .found(format_args!("{}..{}", range.start, range.end))
        .remedy("ranges count from the start of the view")
        .into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    fn rule(layout: Layout, len: usize) -> Option<ArgumentRule> {
        match layout.check("test", len) {
            Ok(()) => None,
            Err(Error::Argument(bad)) => Some(bad.rule),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn a_layout_must_fit_its_buffer() {
        let layout = Layout::contiguous(3, 4).ld(5).offset(2);
        assert_eq!(layout.end(), Some(16));
        assert_eq!(rule(layout, 16), None);
        assert_eq!(rule(layout, 15), Some(ArgumentRule::Length));
        assert_eq!(rule(layout.ld(3), 100), Some(ArgumentRule::LeadingDimension));
        assert_eq!(rule(layout.offset(usize::MAX), 100), Some(ArgumentRule::Length));
        let huge = Layout::contiguous(1 << 32, 1);
        assert_eq!(rule(huge, usize::MAX), Some(ArgumentRule::Extent));
    }

    #[test]
    fn empty_matrices_need_no_elements() {
        for layout in [Layout::contiguous(0, 4), Layout::contiguous(4, 0)] {
            assert_eq!(rule(layout, 0), None);
            assert!(layout.is_empty() && layout.is_contiguous());
        }
        assert_eq!(rule(Layout::contiguous(0, 4).offset(1), 0), Some(ArgumentRule::Length));
    }

    #[test]
    fn blocks_lie_inside() {
        let layout = Layout::contiguous(3, 4).ld(5);
        assert_eq!(layout.block(1..3, 2..4).unwrap(), Layout { rows: 2, cols: 2, ld: 5, offset: 7 });
        assert_eq!(layout.block(3..3, 4..4).unwrap(), Layout { rows: 0, cols: 0, ld: 5, offset: 0 });
        assert!(layout.block(0..4, 0..1).is_err());
        assert!(layout.block(0..1, 3..5).is_err());
        #[allow(clippy::reversed_empty_ranges, reason = "the caller's mistake")]
        let reversed = layout.block(2..1, 0..1);
        assert_eq!(
            reversed.unwrap_err().to_string(),
            "block: argument `rows`: expected a range within 0..3, found 2..1; ranges count from the start of the view"
        );
    }
}
