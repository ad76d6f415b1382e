//! Matrix products.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, Axis};

use super::{ETA_F32, Reference, U_F32, U_F64, bounds, gamma, parallel};

/// Rows of the product that one core computes at a time: enough to amortise packing `b` for each.
const PANEL: usize = 128;

/// The product of two `f32` matrices, for a kernel that accumulates in `f32` by fused multiply-adds.
///
/// `a` is m × K, `b` K × n, the result m × n. With `c = fma(a[i][k], b[k][j], c)` from 0, each product is exact and
/// then rounded at most K times: |ĉ − c| ≤ γ(K)·Σ|a||b| + K·η, in any order of k and with any zero padding. The
/// reference's own error, γ(K)·Σ|a||b| with the roundoff of `f64` (a product of two `f32` is exact there), is added; if
/// partial sums may overflow `f32`, the bound is infinite.
///
/// # Errors
/// `a` does not have as many columns as `b` has rows.
pub fn matmul(a: ArrayView2<f32>, b: ArrayView2<f32>) -> Result<Reference, ndarray::ShapeError> {
    let depth = a.ncols();
    let value = matmul_fast(a, b)?;
    let magnitude = matmul_fast(a.mapv(f32::abs).view(), b.mapv(f32::abs).view())?;
    let own = gamma(depth as u64, U_F64);
    let kernel = gamma(depth as u64, U_F32);
    let bound = magnitude.iter().map(|&computed| {
        // |A||B| was itself computed with a relative error of at most `own`.
        let magnitude = computed * (1.0 + 2.0 * own);
        bounds::element(magnitude, kernel * magnitude + depth as f64 * ETA_F32, own * magnitude)
    });
    Ok(Reference { bound: bound.collect(), value: value.iter().copied().collect() })
}

/// The product in `f64` by `ndarray`, that is by the crate `matrixmultiply`: blocked, vectorised if the CPU supports
/// it, row panels in parallel on the cores.
///
/// `ndarray` is a dependency anyway, as part of this crate's interface, and a 4096³ product takes seconds. The tests
/// check it against [`matmul_plain`].
///
/// # Errors
/// `a` does not have as many columns as `b` has rows.
pub fn matmul_fast(a: ArrayView2<f32>, b: ArrayView2<f32>) -> Result<Array2<f64>, ndarray::ShapeError> {
    agree(a, b)?;
    let b = b.mapv(f64::from);
    let mut c = Array2::zeros((a.nrows(), b.ncols()));
    let panels = c.axis_chunks_iter_mut(Axis(0), PANEL).zip(a.axis_chunks_iter(Axis(0), PANEL));
    parallel::for_each(panels, |(mut c, a)| general_mat_mul(1.0, &a.mapv(f64::from), &b, 0.0, &mut c));
    Ok(c)
}

/// The product in `f64` by three plain loops: the definition, for small shapes and as a check of [`matmul_fast`].
///
/// # Errors
/// `a` does not have as many columns as `b` has rows.
pub fn matmul_plain(a: ArrayView2<f32>, b: ArrayView2<f32>) -> Result<Array2<f64>, ndarray::ShapeError> {
    agree(a, b)?;
    Ok(Array2::from_shape_fn((a.nrows(), b.ncols()), |(row, col)| {
        (0..a.ncols()).map(|k| f64::from(a[(row, k)]) * f64::from(b[(k, col)])).sum()
    }))
}

fn agree(a: ArrayView2<f32>, b: ArrayView2<f32>) -> Result<(), ndarray::ShapeError> {
    if a.ncols() == b.nrows() {
        Ok(())
    } else {
        Err(ndarray::ShapeError::from_kind(ndarray::ErrorKind::IncompatibleShape))
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, s};
    use rand::{Rng, SeedableRng, rngs::StdRng};

    use super::*;

    fn random(rows: usize, cols: usize, rng: &mut StdRng) -> Array2<f32> {
        Array2::from_shape_simple_fn((rows, cols), || rng.random_range(-1.0..1.0))
    }

    /// Shapes at the edges of `matrixmultiply`'s blocks and of row panels, and empty ones.
    const SHAPES: [(usize, usize, usize); 12] = [
        (0, 3, 2),
        (3, 0, 2),
        (3, 2, 0),
        (1, 1, 1),
        (3, 5, 7),
        (8, 4, 8),
        (17, 33, 65),
        (64, 64, 64),
        (129, 31, 257),
        (300, 20, 10),
        (5, 600, 3),
        (70, 257, 66),
    ];

    #[test]
    fn fast_product_agrees_with_the_plain_loop() {
        let mut rng = StdRng::seed_from_u64(1);
        for (m, k, n) in SHAPES {
            let (a, b) = (random(m, k, &mut rng), random(k, n, &mut rng));
            let (fast, plain) = (matmul_fast(a.view(), b.view()).unwrap(), matmul_plain(a.view(), b.view()).unwrap());
            let magnitude = matmul_plain(a.mapv(f32::abs).view(), b.mapv(f32::abs).view()).unwrap();
            for ((fast, plain), magnitude) in fast.iter().zip(&plain).zip(&magnitude) {
                // Each side is within γ(k)·|A||B| of the product.
                let bound = 2.0 * gamma(k as u64, U_F64) * magnitude;
                assert!((fast - plain).abs() <= bound, "{m}×{k}×{n}: {fast} against {plain}, bound {bound}");
            }
        }
    }

    #[test]
    fn integers_are_exact() {
        let mut rng = StdRng::seed_from_u64(2);
        for (m, k, n) in SHAPES {
            let mut integers =
                |rows, cols| Array2::from_shape_simple_fn((rows, cols), || rng.random_range(-8..=8) as f32);
            let (a, b) = (integers(m, k), integers(k, n));
            assert_eq!(matmul_fast(a.view(), b.view()).unwrap(), matmul_plain(a.view(), b.view()).unwrap());
        }
    }

    fn sequential_fma(a: ArrayView2<f32>, b: ArrayView2<f32>) -> Vec<f32> {
        let product = Array2::from_shape_fn((a.nrows(), b.ncols()), |(i, j)| {
            (0..a.ncols()).fold(0.0_f32, |c, k| a[(i, k)].mul_add(b[(k, j)], c))
        });
        product.iter().copied().collect()
    }

    #[test]
    fn sequential_accumulation_is_within_the_bound() {
        let mut rng = StdRng::seed_from_u64(3);
        for (m, k, n) in SHAPES {
            let (a, b) = (random(m, k, &mut rng), random(k, n, &mut rng));
            let verdict = matmul(a.view(), b.view()).unwrap().check(&sequential_fma(a.view(), b.view())).unwrap();
            assert!(verdict.passes(), "{m}×{k}×{n}: {verdict}");
        }
    }

    #[test]
    fn subnormal_products_are_within_the_bound() {
        let a = Array2::from_elem((1, 3), 1.1e-22_f32);
        let b = Array2::from_elem((3, 1), 1.3e-23_f32);
        let verdict = matmul(a.view(), b.view()).unwrap().check(&sequential_fma(a.view(), b.view())).unwrap();
        assert!(verdict.worst > 0.0 && verdict.passes(), "{verdict}");
    }

    #[test]
    fn one_lost_product_breaks_the_bound() {
        let mut rng = StdRng::seed_from_u64(4);
        let (a, b) = (random(8, 100, &mut rng), random(100, 8, &mut rng));
        let reference = matmul(a.view(), b.view()).unwrap();
        let short = sequential_fma(a.slice(s![.., ..99]), b.slice(s![..99, ..]));
        assert!(!reference.check(&short).unwrap().passes());
    }

    #[test]
    fn a_nan_reaches_its_row_only() {
        let mut a = Array2::from_elem((3, 4), 1.0_f32);
        a[(1, 2)] = f32::NAN;
        let b = Array2::from_elem((4, 2), 0.5_f32);
        let reference = matmul(a.view(), b.view()).unwrap();
        let nan = f32::NAN;
        assert!(reference.check(&[2.0, 2.0, nan, nan, 2.0, 2.0]).unwrap().passes());
        assert!(!reference.check(&[2.0, 2.0, nan, 2.0, 2.0, 2.0]).unwrap().passes());
        assert!(!reference.check(&[2.0, nan, nan, nan, 2.0, 2.0]).unwrap().passes());
    }

    #[test]
    fn shapes_must_agree() {
        let (a, b) = (Array2::zeros((2, 3)), Array2::zeros((2, 3)));
        assert!(matmul(a.view(), b.view()).is_err());
        assert!(matmul_plain(a.view(), b.view()).is_err());
    }
}
