//! A batch of matrices somewhere in a buffer whose other elements are canaries: [`support::frame`](crate::support::frame) with
//! any element, rows or columns together, and gaps between matrices.

use ndarray::Array3;
use warpwright::{Buffer, BufferView, BufferViewMut, Result as WarpwrightResult, TensorView, TensorViewMut};

use super::sample::Sample;

/// Where matrices lie.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    /// Elements before the first.
    pub(crate) offset: usize,
    /// Elements between the end of a row (or column) and the start of the next.
    pub(crate) gap: usize,
    /// Elements between the end of a matrix and the start of the next, and after the last.
    pub(crate) after: usize,
    /// The elements of a column follow each other, not those of a row.
    pub(crate) by_columns: bool,
    /// The axis of the batch is left out: there is one matrix.
    pub(crate) flat: bool,
    /// Offset, and distances of rows and matrices, are rounded up to multiples of 16 elements.
    pub(crate) aligned: bool,
}

impl Place {
    /// A distance in memory.
    fn round(self, elements: usize) -> usize {
        if self.aligned { elements.next_multiple_of(16) } else { elements }
    }
}

/// Matrices in their buffer.
#[derive(Clone, Debug)]
pub(crate) struct Held<T> {
    /// Matrices, rows, columns.
    shape: [usize; 3],
    strides: [usize; 3],
    place: Place,
    image: Vec<T>,
}

impl<T: Sample> Held<T> {
    /// Canaries throughout.
    pub(crate) fn blank(shape: [usize; 3], place: Place) -> Self {
        let [batch, rows, cols] = shape;
        let place = Place { offset: place.round(place.offset), ..place };
        let (lines, line) = if place.by_columns { (cols, rows) } else { (rows, cols) };
        let ld = place.round((line + place.gap).max(1));
        let matrix = if lines == 0 || line == 0 { 0 } else { (lines - 1) * ld + line };
        let stride = place.round(matrix + place.after);
        let strides = if place.by_columns { [stride, 1, ld] } else { [stride, ld, 1] };
        Self { shape, strides, place, image: (0..place.offset + batch * stride).map(T::canary).collect() }
    }

    /// These values, surrounded by canaries.
    pub(crate) fn holding(values: &Array3<f64>, place: Place) -> Self {
        let (batch, rows, cols) = values.dim();
        let mut held = Self::blank([batch, rows, cols], place);
        for ((matrix, row, col), &value) in values.indexed_iter() {
            let at = held.at([matrix, row, col]);
            held.image[at] = T::of(value);
        }
        held
    }

    fn at(&self, index: [usize; 3]) -> usize {
        self.place.offset + index.iter().zip(self.strides).map(|(index, stride)| index * stride).sum::<usize>()
    }

    /// The whole buffer before the product.
    pub(crate) fn image(&self) -> &[T] {
        &self.image
    }

    /// The axes to be seen by the product: `repeat` copies of the one matrix, or all matrices.
    fn axes(&self, repeat: Option<usize>) -> ([usize; 3], [usize; 3]) {
        let ([batch, rows, cols], [stride, down, across]) = (self.shape, self.strides);
        let (batch, stride) = repeat.map_or((batch, stride), |count| (count, 0));
        ([batch, rows, cols], [stride, down, across])
    }

    /// The matrices in their buffer, as an operand; with `repeat`, the first of them so many times.
    pub(crate) fn view<'b>(&self, buffer: &'b Buffer<T>, repeat: Option<usize>) -> WarpwrightResult<TensorView<'b, T>> {
        let (shape, strides) = self.axes(repeat);
        let start = usize::from(self.place.flat);
        let elements: BufferView<T> = buffer.slice(self.place.offset..buffer.len())?;
        elements.as_tensor_strided(&shape[start..], &strides[start..])
    }

    /// The same for writing.
    pub(crate) fn view_mut<'b>(&self, buffer: &'b mut Buffer<T>) -> WarpwrightResult<TensorViewMut<'b, T>> {
        let (shape, strides) = self.axes(None);
        let (start, len) = (usize::from(self.place.flat), buffer.len());
        let elements: BufferViewMut<T> = buffer.slice_mut(self.place.offset..len)?;
        elements.as_tensor_strided(&shape[start..], &strides[start..])
    }

    /// The values of the matrices in a buffer after the product, row by row.
    ///
    /// # Errors
    /// Anything beside them changed.
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
