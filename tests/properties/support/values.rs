//! Input data.

use ndarray::Array2;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Random numbers for the data of a case.
pub(crate) fn rng(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}

/// Integers from −8 to 8: sums of thousands of products are exact in `f32`, in any order.
pub(crate) fn integers(rows: usize, cols: usize, rng: &mut StdRng) -> Array2<f32> {
    Array2::from_shape_simple_fn((rows, cols), || rng.random_range(-8..=8) as f32)
}

/// Reals from −`scale` to `scale`.
pub(crate) fn reals(rows: usize, cols: usize, scale: f32, rng: &mut StdRng) -> Array2<f32> {
    Array2::from_shape_simple_fn((rows, cols), || rng.random_range(-1.0..=1.0) * scale)
}

/// Any bits, including NaNs, infinities, zeros and subnormals.
pub(crate) fn any_bits(rows: usize, cols: usize, rng: &mut StdRng) -> Array2<f32> {
    Array2::from_shape_simple_fn((rows, cols), || f32::from_bits(rng.random()))
}

/// Values that propagate through sums.
pub(crate) const NON_FINITE: [f32; 3] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
