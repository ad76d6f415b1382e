//! Variance: Σ (x − mean)² / divisor, in one pass and without the cancellation of Σ x² − n·mean².
//!
//! States are counts, means and sums of squared deviations, all in `f64`, and merge by the formula of T. F. Chan, G. H.
//! Golub and R. J. `LeVeque` (*Updating formulae and a pairwise algorithm for computing sample variances*, COMPSTAT
//! 1982):
//!
//! ```text
//!   n = a.n + b.n,   δ = b.mean − a.mean,   mean = a.mean + δ·(b.n / n),
//!   squares = a.squares + b.squares + δ²·a.n·(b.n / n)
//! ```
//!
//! Sums shifted by one fixed number would be cheaper, but no number suits all data: if it is taken from an outlier,
//! everything cancels again. Every deviation here is from the mean of the same elements, so the error grows with max│x│
//! over the standard deviation, not with its square. The mean of a 16-byte vector is computed first, with divisions by
//! constants; one true division per 64 bytes remains.

use core::marker::PhantomData;

use half::{bf16, f16};

use super::entries::entries;
use super::number::ExactInF64;
use super::reduction::{Merge, Reduction};

/// A count, the mean, and the sum of squared deviations from it.
type State = (f64, f64, f64);

/// Merges by Chan's formula.
pub struct Moments;

impl Merge for Moments {
    type State = State;
    #[cfg_attr(optimised, inline(always))]
    fn identity() -> State {
        (0.0, 0.0, 0.0)
    }
    #[cfg_attr(optimised, inline(always))]
    fn merge(a: State, b: State) -> State {
        let ((n_a, mean_a, squares_a), (n_b, mean_b, squares_b)) = (a, b);
        let n = n_a + n_b;
        let share = n_b / n;
        let delta = mean_b - mean_a;
        let merged = (n, mean_a + delta * share, (squares_a + squares_b) + (delta * delta) * (n_a * share));
        // If one side has no elements, the other is the result: without 0 / 0 or −∞ − 0.
        if n_b == 0.0 {
            a
        } else if n_a == 0.0 {
            b
        } else {
            merged
        }
    }
}

#[cfg_attr(optimised, inline(always))]
fn moments_of<T: Copy>(lanes: &[T], to_f64: fn(T) -> f64) -> State {
    let n = lanes.len() as f64;
    let mut sum = to_f64(lanes[0]);
    for lane in 1..lanes.len() {
        sum += to_f64(lanes[lane]);
    }
    let mean = sum / n;
    let mut squares = 0.0;
    for lane in 0..lanes.len() {
        squares += (to_f64(lanes[lane]) - mean) * (to_f64(lanes[lane]) - mean);
    }
    (n, mean, squares)
}

/// Σ (x − mean)² / `parameter` in `f64`, rounded to `f32`.
pub struct Variance<T>(PhantomData<T>);
/// Σ (x − mean)² / `parameter` of `f64`.
pub struct VarianceOfF64;

impl<T: ExactInF64> Reduction for Variance<T> {
    type Merges = Moments;
    type Element = T;
    type Output = f32;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: T, _: u64, _: u64) -> State {
        moments_of(&[x], T::to_f64)
    }
    #[cfg_attr(optimised, inline(always))]
    fn of_vector(lanes: &[T], _: u64, _: u64) -> State {
        moments_of(lanes, T::to_f64)
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish((_, _, squares): State, divisor: u64) -> f32 {
        (squares / divisor as f64) as f32
    }
}

impl Reduction for VarianceOfF64 {
    type Merges = Moments;
    type Element = f64;
    type Output = f64;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: f64, _: u64, _: u64) -> State {
        moments_of(&[x], |x| x)
    }
    #[cfg_attr(optimised, inline(always))]
    fn of_vector(lanes: &[f64], _: u64, _: u64) -> State {
        moments_of(lanes, |x| x)
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish((_, _, squares): State, divisor: u64) -> f64 {
        squares / divisor as f64
    }
}

entries! {
    /// `out[0]` = Σ (x − mean)² / `parameter`.
    at 2 blocks: reduce_variance_f32(f32 by 4 => f32) Variance<f32>, parameter;
    /// `out[0]` = Σ (x − mean)² / `parameter`.
    at 2 blocks: reduce_variance_f16(f16 by 8 => f32) Variance<f16>, parameter;
    /// `out[0]` = Σ (x − mean)² / `parameter`.
    at 2 blocks: reduce_variance_bf16(bf16 by 8 => f32) Variance<bf16>, parameter;
    /// `out[0]` = Σ (x − mean)² / `parameter`.
    at 2 blocks: reduce_variance_f64(f64 by 2 => f64) VarianceOfF64, parameter;
}
