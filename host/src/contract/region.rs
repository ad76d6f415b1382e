//! The bytes of an allocation that a copy reads or writes.

/// Rows of bytes at a constant pitch: a vector is one row, a matrix with a leading dimension has many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// First byte.
    pub(crate) offset: usize,
    /// Number of rows.
    pub(crate) rows: usize,
    /// Bytes of a row.
    pub(crate) row: usize,
    /// Bytes from the start of one row to the start of the next.
    pub(crate) pitch: usize,
}

impl Region {
    /// `bytes` bytes from `offset` on.
    pub(crate) fn bytes(offset: usize, bytes: usize) -> Self {
        Self { offset, rows: 1, row: bytes, pitch: bytes }
    }

    /// `rows` rows of `row` bytes, `pitch` bytes apart; merged into one row if they are contiguous.
    pub(crate) fn rows(offset: usize, rows: usize, row: usize, pitch: usize) -> Self {
        if rows == 1 || pitch == row { Self::bytes(offset, rows * row) } else { Self { offset, rows, row, pitch } }
    }

    /// Two regions of equal length, split into the same rows: a contiguous region is split like the other one.
    pub(crate) fn matched(self, other: Self) -> (Self, Self) {
        let split = |it: Self, like: Self| {
            if it.rows == 1 { Self { rows: like.rows, row: like.row, pitch: like.row, ..it } } else { it }
        };
        (split(self, other), split(other, self))
    }

    /// Bytes of all rows, without the gaps between them.
    pub(crate) fn len(&self) -> usize {
        self.rows * self.row
    }

    /// Whether there is nothing to copy.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "the driver refuses copies of nothing"))]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The offset of each row.
    pub(crate) fn starts(&self) -> impl Iterator<Item = usize> + use<> {
        let Self { offset, rows, pitch, .. } = *self;
        (0..rows).map(move |row| offset + row * pitch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_gaps_are_one_row() {
        assert_eq!(Region::rows(4, 3, 8, 8), Region::bytes(4, 24));
        assert_eq!(Region::rows(4, 1, 8, 100), Region::bytes(4, 8));
        let strided = Region::rows(4, 3, 8, 12);
        assert_eq!((strided.len(), strided.starts().collect::<Vec<_>>()), (24, vec![4, 16, 28]));
        assert!(Region::rows(0, 0, 8, 12).is_empty());
    }

    #[test]
    fn matched_regions_have_the_same_rows() {
        let (packed, strided) = (Region::bytes(4, 24), Region::rows(0, 3, 8, 12));
        let split = Region { offset: 4, rows: 3, row: 8, pitch: 8 };
        assert_eq!(packed.matched(strided), (split, strided));
        assert_eq!(strided.matched(packed), (strided, split));
        assert_eq!(packed.matched(packed), (packed, packed));
        let wider = Region::rows(0, 3, 8, 100);
        assert_eq!(strided.matched(wider), (strided, wider));
    }
}
