//! References that are equal to the last bit.

use ndarray::{Array2, ArrayView2, Axis};
use rayon::iter::{ParallelBridge, ParallelIterator};

/// Rows of the result that one core copies at a time: a cache line of each row of the source, four times.
const BAND: usize = 64;

/// x + y in `f32`. IEEE 754 addition is correctly rounded on GPU and CPU alike, so a result must have these bits; only the
/// payload of a NaN may differ: see [`super::Reference::exact`].
///
/// The shorter of the two decides the length.
pub fn add(x: &[f32], y: &[f32]) -> Vec<f32> {
    x.iter().zip(y).map(|(x, y)| x + y).collect()
}

/// The transpose of `a`: a copy, so a result must have these bits.
pub fn transpose(a: ArrayView2<f32>) -> Array2<f32> {
    let mut transposed = Array2::zeros((a.ncols(), a.nrows()));
    let bands = transposed.axis_chunks_iter_mut(Axis(0), BAND).zip(a.axis_chunks_iter(Axis(1), BAND));
    bands.par_bridge().for_each(|(mut rows, columns)| rows.assign(&columns.t()));
    transposed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        for (rows, cols) in [(0, 3), (3, 0), (1, 1), (5, 7), (2 * BAND + 1, 3), (3, 2 * BAND + 1)] {
            let a = Array2::from_shape_fn((rows, cols), |(i, j)| (1000 * i + j) as f32);
            let b = transpose(a.view());
            assert_eq!(b.dim(), (cols, rows));
            for ((i, j), &value) in b.indexed_iter() {
                assert_eq!(value, a[(j, i)]);
            }
        }
    }
}
