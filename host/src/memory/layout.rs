//! Where the elements of a matrix lie in a buffer.

use std::ops::Range;

use crate::error::{ArgumentRule, BadArgument, Result};

/// Shape and place of a row-major matrix in a buffer: element (r, c) is element `offset + r · ld + c` of the buffer.
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

/// Most rows, columns and elements between rows that a kernel's view can count.
const MOST: usize = u32::MAX as usize;

impl Layout {
    /// A matrix without gaps from the start of its buffer on: `ld = cols`.
    pub fn contiguous(rows: usize, cols: usize) -> Self {
        Self { rows, cols, ld: cols, offset: 0 }
    }

    /// The same with another leading dimension.
    #[must_use]
    pub fn ld(self, ld: usize) -> Self {
        Self { ld, ..self }
    }

    /// The same with another start.
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

    /// Elements of the buffer up to the end of the matrix, if they can be counted.
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
                    .remedy("kernels count rows and columns in 32 bits: work on parts of the matrix")
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
                    None => format!("more elements than there are addresses ({self})"),
                })
                .found(len)
                .remedy("take a longer buffer, or fewer rows or columns, a smaller ld or offset")
                .into()),
        }
    }

    /// The part of given rows and columns.
    pub(crate) fn part(&self, rows: Range<usize>, cols: Range<usize>) -> Result<Self> {
        check_range("block", "rows", &rows, self.rows)?;
        check_range("block", "cols", &cols, self.cols)?;
        Ok(Self {
            rows: rows.len(),
            cols: cols.len(),
            ld: self.ld,
            // An empty part may start past the end of the buffer.
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

/// Checks that `range` lies within `0..len`.
pub(crate) fn check_range(call: &str, argument: &str, range: &Range<usize>, len: usize) -> Result<()> {
    if range.start <= range.end && range.end <= len {
        return Ok(());
    }
    Err(BadArgument::new(ArgumentRule::Range, call, argument)
        .expected(format_args!("a range within 0..{len}"))
        .found(format_args!("{}..{}", range.start, range.end))
        .remedy("the range counts elements from the view's own start")
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
    fn empty_matrices_need_no_room() {
        for layout in [Layout::contiguous(0, 4), Layout::contiguous(4, 0)] {
            assert_eq!(rule(layout, 0), None);
            assert!(layout.is_empty() && layout.is_contiguous());
        }
        assert_eq!(rule(Layout::contiguous(0, 4).offset(1), 0), Some(ArgumentRule::Length));
    }

    #[test]
    fn parts_lie_inside() {
        let layout = Layout::contiguous(3, 4).ld(5);
        assert_eq!(layout.part(1..3, 2..4).unwrap(), Layout { rows: 2, cols: 2, ld: 5, offset: 7 });
        assert_eq!(layout.part(3..3, 4..4).unwrap(), Layout { rows: 0, cols: 0, ld: 5, offset: 0 });
        assert!(layout.part(0..4, 0..1).is_err());
        assert!(layout.part(0..1, 3..5).is_err());
        #[allow(clippy::reversed_empty_ranges, reason = "the caller's mistake")]
        let reversed = layout.part(2..1, 0..1);
        assert_eq!(
            reversed.unwrap_err().to_string(),
            "block: argument `rows`: expected a range within 0..3, found 2..1; the range counts elements from the view's own start"
        );
    }
}
