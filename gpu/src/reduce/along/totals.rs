//! Sums and means, squares and norms.
//!
//! The parameter of a sum is 0 for Σ x, d + 1 for Σ x / d; of a sum of squares, 0 for Σ x², 1 for √Σ x². Sums without
//! NaNs are kernels of their own: a test of each element takes as many instructions as its conversion and addition, and
//! kernels for `f16`, with 8 elements in 16 bytes, have none to spare.

use core::marker::PhantomData;

use simt::math::sqrt;

use crate::reduce::whole::compare::{NanPolicy, Propagate};
use crate::reduce::whole::number::{ExactInF64, Integer};
use crate::reduce::whole::reduction::Reduction;
use crate::reduce::whole::sums::{AddCompensated, AddF64, AddWrapping};

/// Σ x or Σ x / d in `f64`, rounded to `f32`; NaNs count as 0 if the policy is to ignore them.
pub struct Total<T, P = Propagate>(PhantomData<(T, P)>);
/// Σ x or Σ x / d of `f64`, compensated; NaNs as in [`Total`].
pub struct TotalOfF64<P = Propagate>(PhantomData<P>);
/// The bits of Σ x modulo 2⁶⁴, or of Σ x / d as an `f64`.
pub struct TotalOfIntegers<T>(PhantomData<T>);
/// Σ x² or √Σ x² in `f64`, rounded to `f32`.
pub struct SquareTotal<T>(PhantomData<T>);

/// `x`, or 0 for a NaN if NaNs are ignored.
#[cfg_attr(optimised, inline(always))]
fn counted<P: NanPolicy>(x: f64) -> f64 {
    if P::IGNORES && x.is_nan() { 0.0 } else { x }
}

/// The sum, or the mean.
#[cfg_attr(optimised, inline(always))]
fn divided(sum: f64, parameter: u64) -> f64 {
    if parameter == 0 { sum } else { sum / (parameter - 1) as f64 }
}

impl<T: ExactInF64, P: NanPolicy> Reduction for Total<T, P> {
    type Merges = AddF64;
    type Element = T;
    type Output = f32;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: T, _: u64, _: u64) -> f64 {
        counted::<P>(x.to_f64())
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(sum: f64, parameter: u64) -> f32 {
        divided(sum, parameter) as f32
    }
}

impl<P: NanPolicy> Reduction for TotalOfF64<P> {
    type Merges = AddCompensated;
    type Element = f64;
    type Output = f64;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: f64, _: u64, _: u64) -> (f64, f64) {
        (counted::<P>(x), 0.0)
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(state: (f64, f64), parameter: u64) -> f64 {
        divided(AddCompensated::total(state), parameter)
    }
}

impl<T: Integer> Reduction for TotalOfIntegers<T> {
    type Merges = AddWrapping;
    type Element = T;
    type Output = u64;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: T, _: u64, _: u64) -> u64 {
        x.residue()
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(sum: u64, parameter: u64) -> u64 {
        if parameter == 0 { sum } else { (T::to_f64(sum) / (parameter - 1) as f64).to_bits() }
    }
}

impl<T: ExactInF64> Reduction for SquareTotal<T> {
    type Merges = AddF64;
    type Element = T;
    type Output = f32;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: T, _: u64, _: u64) -> f64 {
        x.to_f64() * x.to_f64()
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(sum: f64, parameter: u64) -> f32 {
        (if parameter == 0 { sum } else { sqrt(sum) }) as f32
    }
}
