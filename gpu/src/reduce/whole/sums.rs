//! Sums and means.
//!
//! | elements | added in | result |
//! |---|---|---|
//! | `f32`, `f16`, `bf16` | `f64` | `f32`, rounded once |
//! | `f32`, plain mode | `f32` | `f32` |
//! | `f64` | `f64`, with the rounding error of each addition in a second `f64` | `f64` |
//! | `i32`, `u32`, `u64` (and `i64`, which has the same bits) | 64 bits, modulo 2⁶⁴ | 64 bits |
//!
//! An H200's memory delivers about 5 `f32` per clock and SM, and an SM does 64 `f64` additions per clock. A compensated
//! addition takes 8 operations, and `f64` elements arrive half as fast: the accuracy costs no time.

use core::marker::PhantomData;

use half::{bf16, f16};

use super::entries::entries;
use super::number::{ExactInF64, Integer};
use super::reduction::{Merge, Reduction};

/// Merges that add in `f64`.
pub struct AddF64;
impl Merge for AddF64 {
    type State = f64;
    #[cfg_attr(optimised, inline(always))]
    fn identity() -> f64 {
        0.0
    }
    #[cfg_attr(optimised, inline(always))]
    fn merge(a: f64, b: f64) -> f64 {
        a + b
    }
}

/// Merges that add modulo 2⁶⁴.
pub struct AddWrapping;
impl Merge for AddWrapping {
    type State = u64;
    #[cfg_attr(optimised, inline(always))]
    fn identity() -> u64 {
        0
    }
    #[cfg_attr(optimised, inline(always))]
    fn merge(a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }
}

/// Merges that add in `f64` and keep the rounding errors: a sum, and the sum of the errors of its additions.
///
/// D. E. Knuth, *The Art of Computer Programming*, vol. 2, 4.2.2, theorem B: the rounding error of an addition is
/// representable, and six operations compute it whichever summand is larger.
pub struct AddCompensated;
impl Merge for AddCompensated {
    type State = (f64, f64);
    #[cfg_attr(optimised, inline(always))]
    fn identity() -> (f64, f64) {
        (0.0, 0.0)
    }
    #[cfg_attr(optimised, inline(always))]
    fn merge((a, lost_a): (f64, f64), (b, lost_b): (f64, f64)) -> (f64, f64) {
        let sum = a + b;
        let of_b = sum - a;
        let lost = (a - (sum - of_b)) + (b - of_b);
        (sum, (lost_a + lost_b) + lost)
    }
}

impl AddCompensated {
    /// The sum plus its error; only the sum if it is infinite or NaN, where the error is NaN.
    #[cfg_attr(optimised, inline(always))]
    pub(crate) fn total((sum, lost): (f64, f64)) -> f64 {
        if lost.is_nan() { sum } else { sum + lost }
    }
}

/// Σ x in `f64`, rounded to `f32`.
pub struct Sum<T>(PhantomData<T>);
/// Σ x without NaNs in `f64`, rounded to `f32`.
pub struct NanSum<T>(PhantomData<T>);
/// Σ x of `f64` without NaNs, compensated.
pub struct NanSumOfF64;
/// Σ x / `parameter` in `f64`, rounded to `f32`.
pub struct Mean<T>(PhantomData<T>);
/// Σ x in `f32`.
pub struct SumInF32;
/// Σ x of `f64`, compensated.
pub struct SumOfF64;
/// Σ x / `parameter` of `f64`, the sum compensated.
pub struct MeanOfF64;
/// Σ x of integers, modulo 2⁶⁴.
pub struct SumOfIntegers<T>(PhantomData<T>);
/// Σ x / `parameter` of integers, the sum exact (below 2³² elements of 32 bits).
pub struct MeanOfIntegers<T>(PhantomData<T>);

impl Merge for SumInF32 {
    type State = f32;
    #[cfg_attr(optimised, inline(always))]
    fn identity() -> f32 {
        0.0
    }
    #[cfg_attr(optimised, inline(always))]
    fn merge(a: f32, b: f32) -> f32 {
        a + b
    }
}

impl<T: ExactInF64> Reduction for Sum<T> {
    type Merges = AddF64;
    type Element = T;
    type Output = f32;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: T, _: u64, _: u64) -> f64 {
        x.to_f64()
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(sum: f64, _: u64) -> f32 {
        sum as f32
    }
}

impl<T: ExactInF64> Reduction for NanSum<T> {
    type Merges = AddF64;
    type Element = T;
    type Output = f32;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: T, _: u64, _: u64) -> f64 {
        let x = x.to_f64();
        if x.is_nan() { 0.0 } else { x }
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(sum: f64, _: u64) -> f32 {
        sum as f32
    }
}

impl Reduction for NanSumOfF64 {
    type Merges = AddCompensated;
    type Element = f64;
    type Output = f64;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: f64, _: u64, _: u64) -> (f64, f64) {
        (if x.is_nan() { 0.0 } else { x }, 0.0)
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(state: (f64, f64), _: u64) -> f64 {
        AddCompensated::total(state)
    }
}

impl<T: ExactInF64> Reduction for Mean<T> {
    type Merges = AddF64;
    type Element = T;
    type Output = f32;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: T, _: u64, _: u64) -> f64 {
        x.to_f64()
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(sum: f64, divisor: u64) -> f32 {
        (sum / divisor as f64) as f32
    }
}

impl Reduction for SumInF32 {
    type Merges = Self;
    type Element = f32;
    type Output = f32;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: f32, _: u64, _: u64) -> f32 {
        x
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(sum: f32, _: u64) -> f32 {
        sum
    }
}

impl Reduction for SumOfF64 {
    type Merges = AddCompensated;
    type Element = f64;
    type Output = f64;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: f64, _: u64, _: u64) -> (f64, f64) {
        (x, 0.0)
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(state: (f64, f64), _: u64) -> f64 {
        AddCompensated::total(state)
    }
}

impl Reduction for MeanOfF64 {
    type Merges = AddCompensated;
    type Element = f64;
    type Output = f64;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: f64, _: u64, _: u64) -> (f64, f64) {
        (x, 0.0)
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(state: (f64, f64), divisor: u64) -> f64 {
        AddCompensated::total(state) / divisor as f64
    }
}

impl<T: Integer> Reduction for SumOfIntegers<T> {
    type Merges = AddWrapping;
    type Element = T;
    type Output = T::Wide;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: T, _: u64, _: u64) -> u64 {
        x.residue()
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(sum: u64, _: u64) -> T::Wide {
        T::of_residue(sum)
    }
}

impl<T: Integer> Reduction for MeanOfIntegers<T> {
    type Merges = AddWrapping;
    type Element = T;
    type Output = f64;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: T, _: u64, _: u64) -> u64 {
        x.residue()
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(sum: u64, divisor: u64) -> f64 {
        T::to_f64(sum) / divisor as f64
    }
}

entries! {
    /// `out[0]` = Σ x.
    at 4 blocks: reduce_sum_f32(f32 by 4 => f32) Sum<f32>;
    /// `out[0]` = Σ x, added in `f32`: to measure what the accuracy of [`reduce_sum_f32`] costs.
    at 3 blocks: reduce_sum_f32_plain(f32 by 4 => f32) SumInF32;
    /// `out[0]` = Σ x.
    at 3 blocks: reduce_sum_f16(f16 by 8 => f32) Sum<f16>;
    /// `out[0]` = Σ x.
    at 3 blocks: reduce_sum_bf16(bf16 by 8 => f32) Sum<bf16>;
    /// `out[0]` = Σ x.
    at 2 blocks: reduce_sum_f64(f64 by 2 => f64) SumOfF64;
    /// `out[0]` = Σ x modulo 2⁶⁴.
    at 4 blocks: reduce_sum_i32(i32 by 4 => i64) SumOfIntegers<i32>;
    /// `out[0]` = Σ x modulo 2⁶⁴.
    at 3 blocks: reduce_sum_u32(u32 by 4 => u64) SumOfIntegers<u32>;
    /// `out[0]` = Σ x modulo 2⁶⁴; with the same bits for `i64`.
    at 4 blocks: reduce_sum_u64(u64 by 2 => u64) SumOfIntegers<u64>;
    /// `out[0]` = Σ x without NaNs.
    at 3 blocks: reduce_nan_sum_f32(f32 by 4 => f32) NanSum<f32>;
    /// `out[0]` = Σ x without NaNs.
    at 3 blocks: reduce_nan_sum_f16(f16 by 8 => f32) NanSum<f16>;
    /// `out[0]` = Σ x without NaNs.
    at 3 blocks: reduce_nan_sum_bf16(bf16 by 8 => f32) NanSum<bf16>;
    /// `out[0]` = Σ x without NaNs.
    at 2 blocks: reduce_nan_sum_f64(f64 by 2 => f64) NanSumOfF64;
    /// `out[0]` = Σ x / `parameter`.
    at 4 blocks: reduce_mean_f32(f32 by 4 => f32) Mean<f32>, parameter;
    /// `out[0]` = Σ x / `parameter`.
    at 3 blocks: reduce_mean_f16(f16 by 8 => f32) Mean<f16>, parameter;
    /// `out[0]` = Σ x / `parameter`.
    at 3 blocks: reduce_mean_bf16(bf16 by 8 => f32) Mean<bf16>, parameter;
    /// `out[0]` = Σ x / `parameter`.
    at 2 blocks: reduce_mean_f64(f64 by 2 => f64) MeanOfF64, parameter;
    /// `out[0]` = Σ x / `parameter`.
    at 4 blocks: reduce_mean_i32(i32 by 4 => f64) MeanOfIntegers<i32>, parameter;
    /// `out[0]` = Σ x / `parameter`.
    at 3 blocks: reduce_mean_u32(u32 by 4 => f64) MeanOfIntegers<u32>, parameter;
}
