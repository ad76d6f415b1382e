//! How an operand lies in memory, in BLAS's words.

use super::{CALL, Op};
use crate::error::{ArgumentRule, BadArgument, Error, Result};
use crate::memory::Axes;

/// Most elements along an axis that is cut into boxes: places in it have 32 bits and a sign, with a tile beyond the end.
const MOST_IN_BOXES: usize = 1 << 30;

/// A matrix, or a batch of them: `rows` × `cols`, element (r, c) at `r · ld + c`, or at `c · ld + r` where it is transposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OperandLayout {
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) transposed: bool,
    pub(super) ld: usize,
    /// Number of matrices, if there is an axis for them.
    pub(super) batch: Option<usize>,
    /// Elements from matrix to matrix.
    pub(super) stride: usize,
    /// Bytes from the last multiple of 16 to the first element.
    pub(super) past: usize,
}

impl OperandLayout {
    /// op(X) for the tensor X with these axes: the last two are rows and columns, one before them counts matrices.
    ///
    /// A row or column of one element may be any distance from the next: where both readings fit, op(X) is not transposed.
    pub(super) fn of(argument: &str, axes: &Axes, op: Op) -> Result<Self> {
        let (batch, stride, [rows, cols], [down, across]) = match (axes.shape(), axes.strides()) {
            (&[rows, cols], &[down, across]) => (None, 0, [rows, cols], [down, across]),
            (&[batch, rows, cols], &[stride, down, across]) => (Some(batch), stride, [rows, cols], [down, across]),
            _ => return Err(not_a_matrix(argument, axes)),
        };
        // The leading dimension of each reading, if neighbours along a row, or along a column, are neighbours in memory.
        let by_rows = (cols <= 1 || across == 1).then_some(if rows <= 1 { cols.max(1) } else { down });
        let by_cols = (rows <= 1 || down == 1).then_some(if cols <= 1 { rows.max(1) } else { across });
        let long_enough = |ld: &usize, least: usize| *ld >= least.max(1) || rows == 0 || cols == 0;
        let by_rows_fits = by_rows.filter(|ld| long_enough(ld, cols));
        let by_cols_fits = by_cols.filter(|ld| long_enough(ld, rows));
        let stored = |transposed, ld| Self { rows, cols, transposed, ld, batch, stride, past: 0 };
        let stored = match (by_rows_fits, by_cols_fits, op) {
            (Some(ld), None, _) | (Some(ld), Some(_), Op::N) => stored(false, ld),
            (None, Some(ld), _) | (Some(_), Some(ld), Op::T) => stored(true, ld),
            (None, None, _) => return Err(no_leading_dimension(argument, axes, by_rows.is_some(), [rows, cols])),
        };
        Ok(match op {
            Op::N => stored,
            Op::T => stored.t(),
        })
    }

    /// The same, the first element at this address.
    pub(super) fn at(self, address: usize) -> Self {
        Self { past: address % 16, ..self }
    }

    /// Rows as they lie in memory, and elements in each.
    pub(super) fn lines(&self) -> [usize; 2] {
        if self.transposed { [self.cols, self.rows] } else { [self.rows, self.cols] }
    }

    /// Whether the copy engine takes `batch` of these matrices, of elements of `bytes` bytes: everything begins at multiples of
    /// 16 bytes, less than 2⁴⁰ apart, and 31 bits count what there is.
    pub(super) fn fits_boxes(&self, batch: usize, bytes: usize) -> bool {
        let [lines, line] = self.lines();
        let apart = |count: usize, stride: usize| {
            count <= 1 || stride.checked_mul(bytes).is_some_and(|gap| gap.is_multiple_of(16) && gap < 1 << 40)
        };
        let counted = [lines, line, batch].iter().all(|&count| count <= MOST_IN_BOXES);
        self.past == 0 && counted && apart(lines, self.ld) && apart(batch, self.stride)
    }

    /// Whether it writes them, too: whole pieces of 16 bytes, and so to whole pieces only.
    pub(super) fn takes_boxes(&self, batch: usize, bytes: usize) -> bool {
        self.fits_boxes(batch, bytes) && (self.lines()[1] * bytes).is_multiple_of(16)
    }

    /// The transposed matrix, in the same memory.
    pub(super) fn t(self) -> Self {
        Self { rows: self.cols, cols: self.rows, transposed: !self.transposed, ..self }
    }

    /// Where element (`row`, `col`) of a matrix lies, counted from its first.
    pub(super) fn place(&self, row: usize, col: usize) -> usize {
        if self.transposed { col * self.ld + row } else { row * self.ld + col }
    }

    /// Elements from the first to the end of the last of the part of `rows` × `cols`, of `batch` matrices.
    pub(super) fn span(&self, batch: usize, rows: usize, cols: usize) -> usize {
        if batch == 0 || rows == 0 || cols == 0 {
            0
        } else {
            (batch - 1) * self.stride + self.place(rows - 1, cols - 1) + 1
        }
    }
}

fn not_a_matrix(argument: &str, axes: &Axes) -> Error {
    BadArgument::new(ArgumentRule::Axes, CALL, argument)
        .expected("two axes, rows and columns, or three: batch, rows and columns")
        .found(format_args!("shape {:?}", axes.shape()))
        .remedy("merge the axes of a batch, or multiply slices along the first")
        .into()
}

fn no_leading_dimension(argument: &str, axes: &Axes, by_rows: bool, [rows, cols]: [usize; 2]) -> Error {
    let unit = axes.strides()[axes.strides().len() - 2..].contains(&1);
    let expected = match (unit, by_rows) {
        (false, _) => "rows or columns whose elements follow each other, a stride of 1".to_owned(),
        (true, true) => format!("a leading dimension of at least {cols}, the number of columns"),
        (true, false) => format!("a leading dimension of at least {rows}, the number of rows"),
    };
    BadArgument::new(ArgumentRule::LeadingDimension, CALL, argument)
        .expected(expected)
        .found(format_args!("{axes}"))
        .remedy("give the strides of the memory, or copy the matrix with permute_into or copy_from first")
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(shape: &[usize], strides: &[usize], op: Op) -> Result<(usize, usize, bool, usize)> {
        let stored = OperandLayout::of("a", &Axes::strided("test", shape, strides).unwrap(), op)?;
        Ok((stored.rows, stored.cols, stored.transposed, stored.ld))
    }

    #[test]
    fn rows_columns_and_ops() {
        assert_eq!(of(&[3, 4], &[5, 1], Op::N).unwrap(), (3, 4, false, 5));
        assert_eq!(of(&[3, 4], &[5, 1], Op::T).unwrap(), (4, 3, true, 5));
        assert_eq!(of(&[3, 4], &[1, 7], Op::N).unwrap(), (3, 4, true, 7));
        assert_eq!(of(&[3, 4], &[1, 7], Op::T).unwrap(), (4, 3, false, 7));
    }

    #[test]
    fn vectors_are_read_so_that_nothing_is_transposed() {
        // A column with a distance between its elements has it for a leading dimension.
        assert_eq!(of(&[3, 1], &[5, 1], Op::N).unwrap(), (3, 1, false, 5));
        assert_eq!(of(&[3, 1], &[1, 1], Op::N).unwrap(), (3, 1, false, 1));
        assert_eq!(of(&[3, 1], &[1, 1], Op::T).unwrap(), (1, 3, false, 3));
        assert_eq!(of(&[1, 3], &[9, 1], Op::N).unwrap(), (1, 3, false, 3));
        assert_eq!(of(&[1, 3], &[9, 2], Op::N).unwrap(), (1, 3, true, 2));
        assert_eq!(of(&[1, 1], &[0, 0], Op::N).unwrap(), (1, 1, false, 1));
        assert!(of(&[0, 4], &[0, 0], Op::N).unwrap().2, "no element: any strides");
    }

    #[test]
    fn memory_that_is_neither_is_refused() {
        for (shape, strides) in [
            (&[3, 4][..], &[8, 2][..]),
            (&[3, 4], &[3, 1]),
            (&[3, 4], &[1, 2]),
            (&[3, 4], &[0, 1]),
            (&[3, 1], &[0, 1]),
            (&[4], &[1]),
            (&[1, 1, 3, 4], &[0, 0, 4, 1]),
        ] {
            let error = of(shape, strides, Op::N).unwrap_err().to_string();
            assert!(error.starts_with("gemm: argument `a`: expected "), "{shape:?}, {strides:?}: {error}");
        }
        assert_eq!(
            of(&[3, 4], &[3, 1], Op::N).unwrap_err().to_string(),
            "gemm: argument `a`: expected a leading dimension of at least 4, the number of columns, found shape [3, 4], \
             strides [3, 1]; give the strides of the memory, or copy the matrix with permute_into or copy_from first"
        );
    }

    #[test]
    fn the_copy_engine_takes_what_begins_at_multiples_of_16_bytes() {
        let of = |shape: &[usize], strides: &[usize], op, address| {
            OperandLayout::of("a", &Axes::strided("test", shape, strides).unwrap(), op).unwrap().at(address)
        };
        assert!(of(&[3, 5], &[8, 1], Op::N, 256).fits_boxes(1, 2));
        assert!(of(&[5, 3], &[1, 8], Op::T, 16).fits_boxes(1, 2), "columns of 16 bytes");
        assert!(of(&[1, 5], &[5, 1], Op::N, 0).fits_boxes(1, 2), "one row begins where it begins");
        assert!(!of(&[3, 5], &[8, 1], Op::N, 24).fits_boxes(1, 2), "the first element");
        assert!(!of(&[3, 5], &[12, 1], Op::N, 0).fits_boxes(1, 2), "rows of 24 bytes");
        assert!(of(&[3, 5], &[12, 1], Op::N, 0).fits_boxes(1, 4), "rows of 48 bytes");
        assert!(!of(&[2, 3, 5], &[28, 8, 1], Op::N, 0).fits_boxes(2, 2), "matrices 56 bytes apart");
        assert!(of(&[2, 3, 5], &[32, 8, 1], Op::N, 0).fits_boxes(2, 2));
        assert!(of(&[2, 3, 5], &[0, 8, 1], Op::N, 0).fits_boxes(2, 2), "the same matrix twice");
        assert!(!of(&[2, 5], &[1 << 39, 1], Op::N, 0).fits_boxes(1, 2), "rows 2^40 bytes apart");
        assert!(!of(&[1, (1 << 30) + 1], &[1 << 31, 1], Op::N, 0).fits_boxes(1, 2), "too long");
        assert!(of(&[3, 8], &[16, 1], Op::N, 0).takes_boxes(1, 2));
        assert!(!of(&[3, 9], &[16, 1], Op::N, 0).takes_boxes(1, 2), "rows end within 16 bytes");
    }

    #[test]
    fn a_span_ends_with_the_last_element() {
        let axes = Axes::strided("test", &[3, 4, 5], &[100, 7, 1]).unwrap();
        let stored = OperandLayout::of("a", &axes, Op::T).unwrap();
        assert_eq!(Some(stored.span(3, 5, 4)), axes.span());
        assert_eq!((stored.span(1, 2, 2), stored.span(0, 2, 2), stored.span(2, 0, 2)), (9, 0, 0));
    }
}
