//! References that are equal to the last bit.

use ndarray::{Array2, ArrayView2};

/// x + y in `f32`. IEEE 754 addition is correctly rounded on GPU and CPU alike, so a result must have these bits; a NaN's
/// payload is the exception, which [`super::same_bits`] would tell apart.
///
/// The shorter of the two decides the length.
pub fn add(x: &[f32], y: &[f32]) -> Vec<f32> {
    x.iter().zip(y).map(|(x, y)| x + y).collect()
}

/// The transpose of `a`: a copy, so a result must have these bits.
pub fn transpose(a: ArrayView2<f32>) -> Array2<f32> {
    let (rows, cols) = a.dim();
    Array2::from_shape_fn((cols, rows), |(row, col)| a[(col, row)])
}
