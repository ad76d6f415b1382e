//! Sums and means, squares and norms.
//!
//! The parameter of a sum: 0 for Σ x, d + 1 for Σ x / d. That of a sum of squares: 0 for Σ x², 1 for √Σ x². What is done with NaNs is
//! no parameter but a kernel of its own: a look at each element takes as many instructions as its conversion and addition, and
//! the 8 elements of a vector of `f16` have none to spare.

use core::marker::PhantomData;

use simt::math::sqrt;

use super::Along;
use crate::reduce::whole::number::{Integer, Short};
use crate::reduce::whole::order::{NanPolicy, Propagate};
use crate::reduce::whole::reduction::Merge;
use crate::reduce::whole::sums::{Added, Compensated, Wrapped, merges_as};

/// Σ x or Σ x / d in `f64`, rounded to `f32`; a NaN counts as 0 where the policy is to ignore it.
pub struct Total<T, P = Propagate>(PhantomData<(T, P)>);
/// Σ x or Σ x / d of `f64`, compensated; NaNs as in [`Total`].
pub struct TotalOfF64<P = Propagate>(PhantomData<P>);
/// The bits of Σ x modulo 2⁶⁴, or of Σ x / d as an `f64`.
pub struct TotalOfIntegers<T>(PhantomData<T>);
/// Σ x² or √Σ x² in `f64`, rounded to `f32`.
pub struct SquareTotal<T>(PhantomData<T>);

merges_as! {
    [T: Short, P: NanPolicy] Total<T, P>: Added;
    [P: NanPolicy] TotalOfF64<P>: Compensated;
    [T: Integer] TotalOfIntegers<T>: Wrapped;
    [T: Short] SquareTotal<T>: Added;
}

/// A NaN as 0, if it is to be ignored.
#[inline(always)]
fn counted<P: NanPolicy>(x: f64) -> f64 {
    if P::IGNORES && x.is_nan() { 0.0 } else { x }
}

/// The sum, or the sum divided.
#[inline(always)]
fn divided(sum: f64, parameter: u64) -> f64 {
    if parameter == 0 { sum } else { sum / (parameter - 1) as f64 }
}

impl<T: Short, P: NanPolicy> Along for Total<T, P> {
    type Element = T;
    type Output = f32;
    #[inline(always)]
    fn of(x: T, _: u64, _: u64) -> f64 {
        counted::<P>(x.wide())
    }
    #[inline(always)]
    fn finish(sum: f64, parameter: u64) -> f32 {
        divided(sum, parameter) as f32
    }
}

impl<P: NanPolicy> Along for TotalOfF64<P> {
    type Element = f64;
    type Output = f64;
    #[inline(always)]
    fn of(x: f64, _: u64, _: u64) -> (f64, f64) {
        (counted::<P>(x), 0.0)
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
