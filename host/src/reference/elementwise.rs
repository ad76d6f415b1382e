//! References that results must match bit by bit.

use ndarray::{Array2, ArrayView2, Axis};

use super::parallel;

/// Rows of the result that one core copies at a time: four cache lines of each row of the source.
const PANEL: usize = 64;

/// x + y in `f32`. IEEE 754 addition is correctly rounded on GPU and CPU alike, so a result must have the same bits,
/// except the payload of a NaN: see [`super::Reference::exact`].
///
/// The result has the length of the shorter vector.
pub fn add(x: &[f32], y: &[f32]) -> Vec<f32> {
    x.iter().zip(y).map(|(x, y)| x + y).collect()
}

/// The transpose of `a`: a copy, so a result must have the same bits.
pub fn transpose(a: ArrayView2<f32>) -> Array2<f32> {
    let mut transposed = Array2::zeros((a.ncols(), a.nrows()));
    let panels = transposed.axis_chunks_iter_mut(Axis(0), PANEL).zip(a.axis_chunks_iter(Axis(1), PANEL));
    parallel::for_each(panels, |(mut rows, columns)| rows.assign(&columns.t()));
    transposed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        for (rows, cols) in [(0, 3), (3, 0), (1, 1), (5, 7), (2 * PANEL + 1, 3), (3, 2 * PANEL + 1)] {
            let a = Array2::from_shape_fn((rows, cols), |(i, j)| (1000 * i + j) as f32);
            let b = transpose(a.view());
            assert_eq!(b.dim(), (cols, rows));
            for ((i, j), &value) in b.indexed_iter() {
                assert_eq!(value, a[(j, i)]);
            }
        }
    }
}
