//! Sums and means, squares and norms.
//!
//! The parameter of a sum: 0 for Σ x, d + 1 for Σ x / d, and [`IGNORE_NANS`] with either, which takes each NaN for 0. That of
//! a sum of squares: 0 for Σ x², 1 for √Σ x².

use core::marker::PhantomData;

use simt::math::sqrt;

use super::Along;
use crate::reduce::whole::number::{Integer, Short};
use crate::reduce::whole::reduction::Merge;
use crate::reduce::whole::sums::{Added, Compensated, Wrapped, merges_as};

/// The bit of the parameter by which a NaN counts as 0.
pub const IGNORE_NANS: u64 = 1 << 63;

/// Σ x or Σ x / d in `f64`, rounded to `f32`.
pub struct Total<T>(PhantomData<T>);
/// Σ x or Σ x / d of `f64`, compensated.
pub struct TotalOfF64;
/// The bits of Σ x modulo 2⁶⁴, or of Σ x / d as an `f64`.
pub struct TotalOfIntegers<T>(PhantomData<T>);
/// Σ x² or √Σ x² in `f64`, rounded to `f32`.
pub struct SquareTotal<T>(PhantomData<T>);

merges_as! {
    [T: Short] Total<T>: Added;
    [] TotalOfF64: Compensated;
    [T: Integer] TotalOfIntegers<T>: Wrapped;
    [T: Short] SquareTotal<T>: Added;
}

/// A NaN as 0, if the parameter says so.
#[inline(always)]
fn counted(x: f64, parameter: u64) -> f64 {
    if parameter & IGNORE_NANS != 0 && x.is_nan() { 0.0 } else { x }
}

/// The sum, or the sum divided.
#[inline(always)]
fn divided(sum: f64, parameter: u64) -> f64 {
    let divisor = parameter & !IGNORE_NANS;
    if divisor == 0 { sum } else { sum / (divisor - 1) as f64 }
}

impl<T: Short> Along for Total<T> {
    type Element = T;
    type Output = f32;
    #[inline(always)]
    fn of(x: T, _: u64, parameter: u64) -> f64 {
        counted(x.wide(), parameter)
    }
    #[inline(always)]
    fn finish(sum: f64, parameter: u64) -> f32 {
        divided(sum, parameter) as f32
    }
}

impl Along for TotalOfF64 {
    type Element = f64;
    type Output = f64;
    #[inline(always)]
    fn of(x: f64, _: u64, parameter: u64) -> (f64, f64) {
        (counted(x, parameter), 0.0)
    }
    #[inline(always)]
    fn finish(state: (f64, f64), parameter: u64) -> f64 {
        divided(Compensated::total(state), parameter)
    }
}

impl<T: Integer> Along for TotalOfIntegers<T> {
    type Element = T;
    type Output = u64;
    #[inline(always)]
    fn of(x: T, _: u64, _: u64) -> u64 {
        x.residue()
    }
    #[inline(always)]
    fn finish(sum: u64, parameter: u64) -> u64 {
        if parameter == 0 { sum } else { (T::real(sum) / (parameter - 1) as f64).to_bits() }
    }
}

impl<T: Short> Along for SquareTotal<T> {
    type Element = T;
    type Output = f32;
    #[inline(always)]
    fn of(x: T, _: u64, _: u64) -> f64 {
        x.wide() * x.wide()
    }
    #[inline(always)]
    fn finish(sum: f64, parameter: u64) -> f32 {
        (if parameter == 0 { sum } else { sqrt(sum) }) as f32
    }
}
