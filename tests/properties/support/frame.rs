//! A matrix inside a larger buffer whose other elements are canaries.
//!
//! ```text
//!   c c c a a a a c c      offset 3, 3 × 4, ld 6, 2 elements after the last row:
//!   a a a a c c a a a a    a = element of the matrix, c = canary
//!   c c
//! ```
//!
//! A canary is a NaN whose payload depends on its index: a kernel that *reads* padding computes a NaN, one that
//! *writes* it changes its bits, and one that moves it leaves the wrong payload. An output is initialised with
//! canaries, so an element that the kernel does not write is detected too.

use ndarray::{Array2, ArrayView2};
use warpwright::Layout;

/// Position of a matrix in its buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Elements before the first row.
    pub(crate) offset: usize,
    /// Elements between the end of a row and the start of the next.
    pub(crate) gap: usize,
    /// Elements after the last row.
    pub(crate) after: usize,
}

/// A matrix in its buffer. A vector is a matrix of one row.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    layout: Layout,
    image: Vec<f32>,
}

impl Frame {
    /// The given values, surrounded by canaries.
    pub(crate) fn holding(values: ArrayView2<f32>, place: Place) -> Self {
        let mut frame = Self::blank(values.nrows(), values.ncols(), place);
        for ((row, col), value) in values.indexed_iter() {
            frame.image[place.offset + row * frame.layout.ld + col] = *value;
        }
        frame
    }

    /// Only canaries.
    pub(crate) fn blank(rows: usize, cols: usize, place: Place) -> Self {
        let layout = Layout::contiguous(rows, cols).ld(cols + place.gap).offset(place.offset);
        let matrix = if layout.is_empty() { 0 } else { (rows - 1) * layout.ld + cols };
        Self { layout, image: (0..place.offset + matrix + place.after).map(canary).collect() }
    }

    /// Shape and position.
    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// The whole buffer before the kernel runs.
    pub(crate) fn image(&self) -> &[f32] {
        &self.image
    }

    /// The expected buffer with these elements, row by row, in the matrix.
    pub(crate) fn with(&self, elements: &[f32]) -> Vec<f32> {
        let Layout { rows, cols, .. } = self.layout;
        let values = Array2::from_shape_vec((rows, cols), elements.to_vec());
        let place = Place { offset: self.layout.offset, gap: self.layout.ld - cols, after: 0 };
        let filled = Self::holding(values.expect("as many elements as the matrix has").view(), place);
        let mut image = self.image.clone();
        image[..filled.image.len()].copy_from_slice(&filled.image);
        image
    }

    /// The elements of the matrix, row by row, of a buffer after the kernel.
    ///
    /// # Errors
    /// Anything outside the matrix changed.
    pub(crate) fn elements(&self, got: &[f32]) -> Result<Vec<f32>, String> {
        self.compare(got, |index| !self.contains(index))?;
        Ok((0..got.len()).filter(|&index| self.contains(index)).map(|index| got[index]).collect())
    }

    /// Checks a buffer that the kernel only reads.
    ///
    /// # Errors
    /// Anything changed.
    pub(crate) fn unchanged(&self, got: &[f32]) -> Result<(), String> {
        self.compare(got, |_| true)
    }

    /// Compares the bits of the elements that `watched` selects with their initial bits.
    fn compare(&self, got: &[f32], watched: impl Fn(usize) -> bool) -> Result<(), String> {
        if got.len() != self.image.len() {
            return Err(format!("the buffer had {} elements and has {}", self.image.len(), got.len()));
        }
        for (index, (before, after)) in self.image.iter().zip(got).enumerate() {
            if watched(index) && before.to_bits() != after.to_bits() {
                let what = if self.contains(index) { "of an input" } else { "outside the matrix" };
                return Err(format!(
                    "element {index} of the buffer, {what} ({:?}), changed from {before:e} ({:#010x}) to {after:e} \
                     ({:#010x})",
                    self.layout,
                    before.to_bits(),
                    after.to_bits(),
                ));
            }
        }
        Ok(())
    }

    /// Whether an element of the buffer is in the matrix.
    fn contains(&self, index: usize) -> bool {
        let Layout { rows, cols, ld, offset } = self.layout;
        index >= offset && ld > 0 && (index - offset) / ld < rows && (index - offset) % ld < cols
    }
}

/// A quiet NaN whose 22 payload bits depend on its index.
fn canary(index: usize) -> f32 {
    f32::from_bits(0x7fc0_0000 | ((index as u32).wrapping_mul(0x9e37_79b9) >> 10))
}
