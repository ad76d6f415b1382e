//! Memory layouts of A, B and C.

use super::options::{CALL, Op};
use crate::error::{ArgumentRule, BadArgument, Error, Result};
use crate::memory::{Axes, Layout};

/// Largest extent of an axis of a tensor map: coordinates are `i32`, and a tile may extend beyond the end.
const MAX_TMA_EXTENT: usize = 1 << 30;
/// Alignment in bytes of everything that TMA addresses.
pub(super) const TMA_ALIGNMENT: usize = 16;
/// Strides of a tensor map are smaller than this many bytes.
const MAX_TMA_STRIDE: usize = 1 << 40;

/// A matrix, or a batch of them: `rows` × `cols`, element (r, c) at `r · ld + c`, or at `c · ld + r` where it is
/// transposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OperandLayout {
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) transposed: bool,
    pub(super) ld: usize,
    /// Number of matrices, if the tensor has a batch axis.
    pub(super) batch: Option<usize>,
    /// Elements from matrix to matrix; 0 for the same matrix again.
    pub(super) stride: usize,
    /// Address of the first element modulo 16.
    pub(super) misalignment: u8,
}

impl OperandLayout {
    /// op(X) of a tensor X with the axes rows and columns, or batch, rows and columns.
    ///
    /// A single row or column fits both layouts; then op(X) is not transposed.
    pub(super) fn of(argument: &str, axes: &Axes, op: Op) -> Result<Self> {
        Self::of_call((CALL, argument), axes, op)
    }

    /// [`Self::of`] for another call, which errors name.
    pub(super) fn of_call(argument: (&str, &str), axes: &Axes, op: Op) -> Result<Self> {
        let (batch, stride, [rows, cols], [down, across]) = match (axes.shape(), axes.strides()) {
            (&[rows, cols], &[down, across]) => (None, 0, [rows, cols], [down, across]),
            (&[batch, rows, cols], &[stride, down, across]) => (Some(batch), stride, [rows, cols], [down, across]),
            _ => return Err(not_a_matrix(argument, axes)),
        };
        // The leading dimension of each layout, if the elements of a row, or of a column, are contiguous.
        let by_rows = (cols <= 1 || across == 1).then_some(if rows <= 1 { cols.max(1) } else { down });
        let by_cols = (rows <= 1 || down == 1).then_some(if cols <= 1 { rows.max(1) } else { across });
        let long_enough = |ld: &usize, least: usize| *ld >= least.max(1) || rows == 0 || cols == 0;
        let row_major = by_rows.filter(|ld| long_enough(ld, cols));
        let column_major = by_cols.filter(|ld| long_enough(ld, rows));
        let layout = |transposed, ld| Self { rows, cols, transposed, ld, batch, stride, misalignment: 0 };
        let layout = match (row_major, column_major, op) {
            (Some(ld), None, _) | (Some(ld), Some(_), Op::N) => layout(false, ld),
            (None, Some(ld), _) | (Some(_), Some(ld), Op::T) => layout(true, ld),
            (None, None, _) => return Err(no_leading_dimension(argument, axes, by_rows.is_some(), [rows, cols])),
        };
        Ok(match op {
            Op::N => layout,
            Op::T => layout.t(),
        })
    }

    /// A row-major matrix without padding.
    pub(super) fn row_major(rows: usize, cols: usize) -> Self {
        Self { rows, cols, transposed: false, ld: cols, batch: None, stride: rows * cols, misalignment: 0 }
    }

    /// The same layout with its first element at this address.
    pub(super) fn at(self, address: usize) -> Self {
        Self { misalignment: (address % TMA_ALIGNMENT) as u8, ..self }
    }

    /// The layout of matrix `number` of the batch in a buffer, as it is stored.
    pub(super) fn matrix(&self, number: usize) -> Layout {
        let [rows, cols] = self.stored_shape();
        Layout::contiguous(rows, cols).ld(self.ld).offset(number * self.stride)
    }

    /// Number of contiguous lines in memory, and elements of each: rows and columns, swapped if transposed.
    pub(super) fn stored_shape(&self) -> [usize; 2] {
        if self.transposed { [self.cols, self.rows] } else { [self.rows, self.cols] }
    }

    /// Whether TMA can load `batch` of these matrices: the base address and all strides are multiples of 16 bytes,
    /// strides are less than 2⁴⁰ bytes, and extents fit the coordinates.
    pub(super) fn tma_loadable(&self, batch: usize, element_bytes: usize) -> bool {
        let [lines, line] = self.stored_shape();
        let is_stride = |count: usize, stride: usize| {
            let bytes = stride.checked_mul(element_bytes);
            count <= 1 || bytes.is_some_and(|bytes| bytes.is_multiple_of(TMA_ALIGNMENT) && bytes < MAX_TMA_STRIDE)
        };
        self.misalignment == 0
            && [lines, line, batch].iter().all(|&extent| extent <= MAX_TMA_EXTENT)
            && is_stride(lines, self.ld)
            && is_stride(batch, self.stride)
    }

    /// Whether TMA can also store them: it writes multiples of 16 bytes, so lines must be that long.
    pub(super) fn tma_storable(&self, batch: usize, element_bytes: usize) -> bool {
        self.tma_loadable(batch, element_bytes)
            && (self.stored_shape()[1] * element_bytes).is_multiple_of(TMA_ALIGNMENT)
    }

    /// The transposed matrix, in the same memory.
    pub(super) fn t(self) -> Self {
        Self { rows: self.cols, cols: self.rows, transposed: !self.transposed, ..self }
    }

    /// Index of element (`row`, `col`), relative to the matrix's first.
    pub(super) fn offset(&self, row: usize, col: usize) -> usize {
        if self.transposed { col * self.ld + row } else { row * self.ld + col }
    }

    /// Number of elements from the first to the last, inclusive, of the `rows` × `cols` blocks of `batch` matrices.
    pub(super) fn extent(&self, batch: usize, rows: usize, cols: usize) -> usize {
        if batch == 0 || rows == 0 || cols == 0 {
            0
        } else {
            (batch - 1) * self.stride + self.offset(rows - 1, cols - 1) + 1
        }
    }
}

fn not_a_matrix((call, argument): (&str, &str), axes: &Axes) -> Error {
    BadArgument::new(ArgumentRule::Axes, call, argument)
        .expected("two axes, rows and columns, or three: batch, rows and columns")
        .found(format_args!("shape {:?}", axes.shape()))
        .remedy("merge the batch axes, or multiply slices along the first axis")
        .into()
}

fn no_leading_dimension((call, argument): (&str, &str), axes: &Axes, by_rows: bool, [rows, cols]: [usize; 2]) -> Error {
    let unit = axes.strides()[axes.strides().len() - 2..].contains(&1);
    let expected = match (unit, by_rows) {
        (false, _) => "contiguous rows or columns, a stride of 1".to_owned(),
        (true, true) => format!("a leading dimension of at least {cols}, the number of columns"),
        (true, false) => format!("a leading dimension of at least {rows}, the number of rows"),
    };
    BadArgument::new(ArgumentRule::LeadingDimension, call, argument)
        .expected(expected)
        .found(format_args!("{axes}"))
        .remedy("pass the strides of the memory, or copy the matrix with permute_into or copy_from first")
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(shape: &[usize], strides: &[usize], op: Op) -> Result<(usize, usize, bool, usize)> {
        let layout = OperandLayout::of("a", &Axes::strided("test", shape, strides).unwrap(), op)?;
        Ok((layout.rows, layout.cols, layout.transposed, layout.ld))
    }

    #[test]
    fn row_major_column_major_and_ops() {
        assert_eq!(of(&[3, 4], &[5, 1], Op::N).unwrap(), (3, 4, false, 5));
        assert_eq!(of(&[3, 4], &[5, 1], Op::T).unwrap(), (4, 3, true, 5));
        assert_eq!(of(&[3, 4], &[1, 7], Op::N).unwrap(), (3, 4, true, 7));
        assert_eq!(of(&[3, 4], &[1, 7], Op::T).unwrap(), (4, 3, false, 7));
    }

    #[test]
    fn single_rows_and_columns_are_not_transposed() {
        // The distance between the elements of a column is its leading dimension.
        assert_eq!(of(&[3, 1], &[5, 1], Op::N).unwrap(), (3, 1, false, 5));
        assert_eq!(of(&[3, 1], &[1, 1], Op::N).unwrap(), (3, 1, false, 1));
        assert_eq!(of(&[3, 1], &[1, 1], Op::T).unwrap(), (1, 3, false, 3));
        assert_eq!(of(&[1, 3], &[9, 1], Op::N).unwrap(), (1, 3, false, 3));
        assert_eq!(of(&[1, 3], &[9, 2], Op::N).unwrap(), (1, 3, true, 2));
        assert_eq!(of(&[1, 1], &[0, 0], Op::N).unwrap(), (1, 1, false, 1));
        assert!(of(&[0, 4], &[0, 0], Op::N).unwrap().2, "without elements, any strides");
    }

    #[test]
    fn layouts_without_contiguous_rows_or_columns_are_rejected() {
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
            "gemm: argument `a`: expected a leading dimension of at least 4, the number of columns, found shape \
             [3, 4], strides [3, 1]; pass the strides of the memory, or copy the matrix with permute_into or copy_from \
             first"
        );
    }

    #[test]
    fn tma_needs_addresses_and_strides_of_16_bytes() {
        let of = |shape: &[usize], strides: &[usize], op, address| {
            OperandLayout::of("a", &Axes::strided("test", shape, strides).unwrap(), op).unwrap().at(address)
        };
        assert!(of(&[3, 5], &[8, 1], Op::N, 256).tma_loadable(1, 2));
        assert!(of(&[5, 3], &[1, 8], Op::T, 16).tma_loadable(1, 2), "columns of 16 bytes");
        assert!(of(&[1, 5], &[5, 1], Op::N, 0).tma_loadable(1, 2), "the stride of a single row does not matter");
        assert!(!of(&[3, 5], &[8, 1], Op::N, 24).tma_loadable(1, 2), "the first element");
        assert!(!of(&[3, 5], &[12, 1], Op::N, 0).tma_loadable(1, 2), "rows of 24 bytes");
        assert!(of(&[3, 5], &[12, 1], Op::N, 0).tma_loadable(1, 4), "rows of 48 bytes");
        assert!(!of(&[2, 3, 5], &[28, 8, 1], Op::N, 0).tma_loadable(2, 2), "matrices 56 bytes apart");
        assert!(of(&[2, 3, 5], &[32, 8, 1], Op::N, 0).tma_loadable(2, 2));
        assert!(of(&[2, 3, 5], &[0, 8, 1], Op::N, 0).tma_loadable(2, 2), "the same matrix twice");
        assert!(!of(&[2, 5], &[1 << 39, 1], Op::N, 0).tma_loadable(1, 2), "rows 2^40 bytes apart");
        assert!(!of(&[1, (1 << 30) + 1], &[1 << 31, 1], Op::N, 0).tma_loadable(1, 2), "rows longer than 2^30");
        assert!(of(&[3, 8], &[16, 1], Op::N, 0).tma_storable(1, 2));
        assert!(!of(&[3, 9], &[16, 1], Op::N, 0).tma_storable(1, 2), "rows of 18 bytes");
    }

    #[test]
    fn an_extent_ends_with_the_last_element() {
        let axes = Axes::strided("test", &[3, 4, 5], &[100, 7, 1]).unwrap();
        let layout = OperandLayout::of("a", &axes, Op::T).unwrap();
        assert_eq!(Some(layout.extent(3, 5, 4)), axes.span());
        assert_eq!((layout.extent(1, 2, 2), layout.extent(0, 2, 2), layout.extent(2, 0, 2)), (9, 0, 0));
    }
}
