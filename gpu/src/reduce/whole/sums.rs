//! Sums and means.
//!
//! | elements | added in | result |
//! |---|---|---|
//! | `f32`, `f16`, `bf16` | `f64` | `f32`, rounded once |
//! | `f32`, plain mode | `f32` | `f32` |
//! | `f64` | `f64`, and what each addition loses in another | `f64` |
//! | `i32`, `u32`, `u64` (and `i64`, which wraps alike) | 64 bits, modulo 2⁶⁴ | 64 bits |
//!
//! An H200 delivers about 5 `f32` a clock and multiprocessor, which has 64 additions in `f64` to spend on them; a compensated
//! addition takes 8, and `f64` come half as fast: accuracy costs nothing.

use core::marker::PhantomData;

use half::{bf16, f16};

use super::entries::entries;
use super::number::{Integer, Short};
use super::reduction::{Merge, Reduction};

/// Merges that add in `f64`.
pub struct Added;
impl Merge for Added {
    type State = f64;
    #[inline(always)]
    fn none() -> f64 {
        0.0
    }
    #[inline(always)]
    fn merge(a: f64, b: f64) -> f64 {
        a + b
    }
}

/// Merges that add modulo 2⁶⁴.
pub struct Wrapped;
impl Merge for Wrapped {
    type State = u64;
    #[inline(always)]
    fn none() -> u64 {
        0
    }
    #[inline(always)]
    fn merge(a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }
}

/// Merges that add in `f64` and keep what each addition loses: a sum, and the sum of what it lacks.
///
/// D. E. Knuth, *The Art of Computer Programming*, vol. 2, 4.2.2, theorem B: the lost part of an addition is a number, and six
/// operations find it whichever summand is larger.
pub struct Compensated;
impl Merge for Compensated {
    type State = (f64, f64);
    #[inline(always)]
    fn none() -> (f64, f64) {
        (0.0, 0.0)
    }
    #[inline(always)]
    fn merge((a, lost_a): (f64, f64), (b, lost_b): (f64, f64)) -> (f64, f64) {
        let sum = a + b;
        let of_b = sum - a;
        let lost = (a - (sum - of_b)) + (b - of_b);
        (sum, (lost_a + lost_b) + lost)
    }
}

impl Compensated {
    /// The sum with what it lacks; an infinite or NaN sum alone, beside which the lost part is NaN.
    #[inline(always)]
    pub(crate) fn total((sum, lost): (f64, f64)) -> f64 {
        if lost.is_nan() { sum } else { sum + lost }
    }
}

/// Gives a reduction the merges of another type.
macro_rules! merges_as {
    ($([$($param:tt)*] $t:ty: $base:ty;)+) => {$(
        impl<$($param)*> Merge for $t {
            type State = <$base as Merge>::State;
            #[inline(always)]
            fn none() -> Self::State {
                <$base>::none()
            }
            #[inline(always)]
            fn merge(a: Self::State, b: Self::State) -> Self::State {
                <$base>::merge(a, b)
            }
        }
    )+};
}
pub(crate) use merges_as;

/// Σ x in `f64`, rounded to `f32`.
pub struct Sum<T>(PhantomData<T>);
/// Σ of what is no NaN in `f64`, rounded to `f32`.
pub struct NanSum<T>(PhantomData<T>);
/// Σ of what is no NaN of `f64`, compensated.
pub struct NanSumOfF64;
/// Σ x / `parameter` in `f64`, rounded to `f32`.
pub struct Mean<T>(PhantomData<T>);
/// Σ x in `f32`.
pub struct PlainSum;
/// Σ x of `f64`, compensated.
pub struct SumOfF64;
/// Σ x / `parameter` of `f64`, the sum compensated.
pub struct MeanOfF64;
/// Σ x of integers, modulo 2⁶⁴.
pub struct SumOfIntegers<T>(PhantomData<T>);
/// Σ x / `parameter` of integers, the sum exact (below 2³² elements of 32 bits).
pub struct MeanOfIntegers<T>(PhantomData<T>);

merges_as! {
    [T: Short] Sum<T>: Added;
    [T: Short] NanSum<T>: Added;
    [] NanSumOfF64: Compensated;
    [T: Short] Mean<T>: Added;
    [] SumOfF64: Compensated;
    [] MeanOfF64: Compensated;
    [T: Integer] SumOfIntegers<T>: Wrapped;
    [T: Integer] MeanOfIntegers<T>: Wrapped;
}

impl Merge for PlainSum {
    type State = f32;
    #[inline(always)]
    fn none() -> f32 {
        0.0
    }
    #[inline(always)]
    fn merge(a: f32, b: f32) -> f32 {
        a + b
    }
}

impl<T: Short> Reduction for Sum<T> {
    type Element = T;
    type Output = f32;
    #[inline(always)]
    fn of(x: T, _: u64) -> f64 {
        x.wide()
    }
    #[inline(always)]
    fn finish(sum: f64, _: u64) -> f32 {
        sum as f32
    }
}

impl<T: Short> Reduction for NanSum<T> {
    type Element = T;
    type Output = f32;
    #[inline(always)]
    fn of(x: T, _: u64) -> f64 {
        let x = x.wide();
        if x.is_nan() { 0.0 } else { x }
    }
    #[inline(always)]
    fn finish(sum: f64, _: u64) -> f32 {
        sum as f32
    }
}

impl Reduction for NanSumOfF64 {
    type Element = f64;
    type Output = f64;
    #[inline(always)]
    fn of(x: f64, _: u64) -> (f64, f64) {
        (if x.is_nan() { 0.0 } else { x }, 0.0)
    }
    #[inline(always)]
    fn finish(state: (f64, f64), _: u64) -> f64 {
        Compensated::total(state)
    }
}

impl<T: Short> Reduction for Mean<T> {
    type Element = T;
    type Output = f32;
    #[inline(always)]
    fn of(x: T, _: u64) -> f64 {
        x.wide()
    }
    #[inline(always)]
    fn finish(sum: f64, divisor: u64) -> f32 {
        (sum / divisor as f64) as f32
    }
}

impl Reduction for PlainSum {
    type Element = f32;
    type Output = f32;
    #[inline(always)]
    fn of(x: f32, _: u64) -> f32 {
        x
    }
    #[inline(always)]
    fn finish(sum: f32, _: u64) -> f32 {
        sum
    }
}

impl Reduction for SumOfF64 {
    type Element = f64;
    type Output = f64;
    #[inline(always)]
    fn of(x: f64, _: u64) -> (f64, f64) {
        (x, 0.0)
    }
    #[inline(always)]
    fn finish(state: (f64, f64), _: u64) -> f64 {
        Compensated::total(state)
    }
}

impl Reduction for MeanOfF64 {
    type Element = f64;
    type Output = f64;
    #[inline(always)]
    fn of(x: f64, _: u64) -> (f64, f64) {
        (x, 0.0)
    }
    #[inline(always)]
    fn finish(state: (f64, f64), divisor: u64) -> f64 {
        Compensated::total(state) / divisor as f64
    }
}

impl<T: Integer> Reduction for SumOfIntegers<T> {
    type Element = T;
    type Output = T::Wide;
    #[inline(always)]
    fn of(x: T, _: u64) -> u64 {
        x.residue()
    }
    #[inline(always)]
    fn finish(sum: u64, _: u64) -> T::Wide {
        T::of_residue(sum)
    }
}

impl<T: Integer> Reduction for MeanOfIntegers<T> {
    type Element = T;
    type Output = f64;
    #[inline(always)]
    fn of(x: T, _: u64) -> u64 {
        x.residue()
    }
    #[inline(always)]
    fn finish(sum: u64, divisor: u64) -> f64 {
        T::real(sum) / divisor as f64
    }
}

entries! {
    /// `out[0]` = Σ x.
    at 4 blocks: reduce_sum_f32(f32 by 4 => f32) Sum<f32>;
    /// `out[0]` = Σ x, added in `f32`: what the accuracy of [`reduce_sum_f32`] costs is the difference.
    at 3 blocks: reduce_sum_f32_plain(f32 by 4 => f32) PlainSum;
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
    /// `out[0]` = Σ of what is no NaN.
    at 3 blocks: reduce_nan_sum_f32(f32 by 4 => f32) NanSum<f32>;
    /// `out[0]` = Σ of what is no NaN.
    at 3 blocks: reduce_nan_sum_f16(f16 by 8 => f32) NanSum<f16>;
    /// `out[0]` = Σ of what is no NaN.
    at 3 blocks: reduce_nan_sum_bf16(bf16 by 8 => f32) NanSum<bf16>;
    /// `out[0]` = Σ of what is no NaN.
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
