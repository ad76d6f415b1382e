//! Sums: `reduce_sum_dynamic` by launch with every block size, `reduce_sum_f32` by launch, and `Device::sum`.

mod kernel;
mod operation;
mod whole;

use ndarray::Array2;
use rand::Rng;
use rand::rngs::StdRng;

pub(crate) use kernel::{by_launch, sample as kernel_sample};
pub(crate) use operation::{by_sum, sample as operation_sample};

/// Alternately ±10⁸ and reals from −1 to 1, which lose nearly all digits when added to a large number.
fn large_and_noise(rows: usize, cols: usize, rng: &mut StdRng) -> Array2<f32> {
    Array2::from_shape_fn((rows, cols), |(row, col)| match (row * cols + col) % 4 {
        0 => 1e8,
        2 => -1e8,
        _ => rng.random_range(-1.0..=1.0),
    })
}

/// The sum of integers, in integers.
fn integer_sum<'a>(values: impl IntoIterator<Item = &'a f32>) -> f32 {
    let sum: i64 = values.into_iter().map(|&x| x as i64).sum();
    assert!(sum.abs() < 1 << 24, "the data is too large for the test");
    sum as f32
}
