//! A batch of matrices in a buffer whose other elements are canaries: as [`support::frame`](crate::support::frame), for
//! any element type, row-major or column-major, with gaps between matrices.

use ndarray::Array3;
use warpwright::{Buffer, BufferView, BufferViewMut, Result as WarpwrightResult, TensorView, TensorViewMut};

use super::sample::Sample;

/// Where the matrices are in their buffer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Placement {
    /// Elements before the first.
    pub(crate) offset: usize,
    /// Elements between the end of a row (or column) and the start of the next.
    pub(crate) gap: usize,
    /// Elements between the end of a matrix and the start of the next, and after the last.
    pub(crate) after: usize,
    /// Column-major instead of row-major.
    pub(crate) column_major: bool,
    /// One matrix, without a batch axis.
    pub(crate) single: bool,
    /// The offset and the strides are rounded up to multiples of 16 elements.
    pub(crate) aligned: bool,
}

impl Placement {
    /// A distance, rounded up if aligned.
    fn round(self, elements: usize) -> usize {
        if self.aligned { elements.next_multiple_of(16) } else { elements }
    }
}

/// Matrices in their buffer.
#[derive(Clone, Debug)]
pub(crate) struct Framed<T> {
    /// Matrices, rows, columns.
    shape: [usize; 3],
    strides: [usize; 3],
    placement: Placement,
    image: Vec<T>,
}

impl<T: Sample> Framed<T> {
    /// Canaries everywhere.
    pub(crate) fn blank(shape: [usize; 3], placement: Placement) -> Self {
        let [batch, rows, cols] = shape;
        let placement = Placement { offset: placement.round(placement.offset), ..placement };
        let (lines, line) = if placement.column_major { (cols, rows) } else { (rows, cols) };
        let ld = placement.round((line + placement.gap).max(1));
        let matrix = if lines == 0 || line == 0 { 0 } else { (lines - 1) * ld + line };
        let stride = placement.round(matrix + placement.after);
        let strides = if placement.column_major { [stride, 1, ld] } else { [stride, ld, 1] };
        Self { shape, strides, placement, image: (0..placement.offset + batch * stride).map(T::canary).collect() }
    }

    /// These values, surrounded by canaries.
    pub(crate) fn holding(values: &Array3<f64>, placement: Placement) -> Self {
        let (batch, rows, cols) = values.dim();
        let mut framed = Self::blank([batch, rows, cols], placement);
        for ((matrix, row, col), &value) in values.indexed_iter() {
            let at = framed.at([matrix, row, col]);
            framed.image[at] = T::of(value);
        }
        framed
    }

    fn at(&self, index: [usize; 3]) -> usize {
        self.placement.offset + index.iter().zip(self.strides).map(|(index, stride)| index * stride).sum::<usize>()
    }

    /// The whole buffer before the product.
    pub(crate) fn image(&self) -> &[T] {
        &self.image
    }

    /// Shape and strides: all matrices, or the first repeated with a stride of 0.
    fn axes(&self, repeat: Option<usize>) -> ([usize; 3], [usize; 3]) {
        let ([batch, rows, cols], [stride, down, across]) = (self.shape, self.strides);
        let (batch, stride) = repeat.map_or((batch, stride), |count| (count, 0));
        ([batch, rows, cols], [stride, down, across])
    }

    /// The matrices in their buffer, as an operand; with `repeat`, the first one that many times.
    pub(crate) fn view<'b>(&self, buffer: &'b Buffer<T>, repeat: Option<usize>) -> WarpwrightResult<TensorView<'b, T>> {
        let (shape, strides) = self.axes(repeat);
        let start = usize::from(self.placement.single);
        let elements: BufferView<T> = buffer.slice(self.placement.offset..buffer.len())?;
        elements.as_tensor_strided(&shape[start..], &strides[start..])
    }

    /// The same for writing.
    pub(crate) fn view_mut<'b>(&self, buffer: &'b mut Buffer<T>) -> WarpwrightResult<TensorViewMut<'b, T>> {
        let (shape, strides) = self.axes(None);
        let (start, len) = (usize::from(self.placement.single), buffer.len());
        let elements: BufferViewMut<T> = buffer.slice_mut(self.placement.offset..len)?;
        elements.as_tensor_strided(&shape[start..], &strides[start..])
    }

    /// The values of the matrices in a buffer after the product, in row-major order.
    ///
    /// # Errors
    /// Anything outside the matrices changed.
    pub(crate) fn values(&self, got: &[T]) -> Result<Vec<f64>, String> {
        let mut inside = vec![false; self.image.len()];
        let mut values = Vec::new();
        let [batch, rows, cols] = self.shape;
        for index in ndarray::indices((batch, rows, cols)) {
            let at = self.at([index.0, index.1, index.2]);
            inside[at] = true;
            values.push(got[at].value());
        }
        let changed = |&at: &usize| !inside[at] && got[at].bits() != self.image[at].bits();
        match (0..self.image.len()).find(changed) {
            None => Ok(values),
            Some(at) => Err(format!("element {at}, outside the matrices, became {:?}", got[at])),
        }
    }

    /// Checks a buffer that is only read.
    ///
    /// # Errors
    /// Anything changed.
    pub(crate) fn unchanged(&self, got: &[T]) -> Result<(), String> {
        match self.image.iter().zip(got).position(|(before, after)| before.bits() != after.bits()) {
            None => Ok(()),
            Some(at) => Err(format!("element {at} of an input became {:?}", got[at])),
        }
    }
}
