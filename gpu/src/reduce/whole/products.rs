//! Products.
//!
//! `f32`, `f16` and `bf16` are multiplied in `f64`. An intermediate product of a few dozen of them can still overflow
//! or underflow although the result would not; `f64` itself has no wider type. Integers are multiplied modulo 2⁶⁴.

use core::marker::PhantomData;

use half::{bf16, f16};

use super::entries::entries;
use super::number::{ExactInF64, Integer};
use super::reduction::{Merge, Reduction};

/// Merges that multiply in `f64`.
pub struct MultiplyF64;
impl Merge for MultiplyF64 {
    type State = f64;
    #[cfg_attr(optimised, inline(always))]
    fn identity() -> f64 {
        1.0
    }
    #[cfg_attr(optimised, inline(always))]
    fn merge(a: f64, b: f64) -> f64 {
        a * b
    }
}

/// Merges that multiply modulo 2⁶⁴.
pub struct MultiplyWrapping;
impl Merge for MultiplyWrapping {
    type State = u64;
    #[cfg_attr(optimised, inline(always))]
    fn identity() -> u64 {
        1
    }
    #[cfg_attr(optimised, inline(always))]
    fn merge(a: u64, b: u64) -> u64 {
        a.wrapping_mul(b)
    }
}

/// ∏ x in `f64`, rounded to `f32`.
pub struct Product<T>(PhantomData<T>);
/// ∏ x of `f64`.
pub struct ProductOfF64;
/// ∏ x of integers, modulo 2⁶⁴.
pub struct ProductOfIntegers<T>(PhantomData<T>);

impl<T: ExactInF64> Reduction for Product<T> {
    type Merges = MultiplyF64;
    type Element = T;
    type Output = f32;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: T, _: u64, _: u64) -> f64 {
        x.to_f64()
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(product: f64, _: u64) -> f32 {
        product as f32
    }
}

impl Reduction for ProductOfF64 {
    type Merges = MultiplyF64;
    type Element = f64;
    type Output = f64;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: f64, _: u64, _: u64) -> f64 {
        x
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(product: f64, _: u64) -> f64 {
        product
    }
}

impl<T: Integer> Reduction for ProductOfIntegers<T> {
    type Merges = MultiplyWrapping;
    type Element = T;
    type Output = T::Wide;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: T, _: u64, _: u64) -> u64 {
        x.residue()
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(product: u64, _: u64) -> T::Wide {
        T::of_residue(product)
    }
}

entries! {
    /// `out[0]` = ∏ x.
    at 4 blocks: reduce_product_f32(f32 by 4 => f32) Product<f32>;
    /// `out[0]` = ∏ x.
    at 3 blocks: reduce_product_f16(f16 by 8 => f32) Product<f16>;
    /// `out[0]` = ∏ x.
    at 3 blocks: reduce_product_bf16(bf16 by 8 => f32) Product<bf16>;
    /// `out[0]` = ∏ x.
    at 4 blocks: reduce_product_f64(f64 by 2 => f64) ProductOfF64;
    /// `out[0]` = ∏ x modulo 2⁶⁴.
    at 3 blocks: reduce_product_i32(i32 by 4 => i64) ProductOfIntegers<i32>;
    /// `out[0]` = ∏ x modulo 2⁶⁴.
    at 3 blocks: reduce_product_u32(u32 by 4 => u64) ProductOfIntegers<u32>;
    /// `out[0]` = ∏ x modulo 2⁶⁴; with the same bits for `i64`.
    at 4 blocks: reduce_product_u64(u64 by 2 => u64) ProductOfIntegers<u64>;
}
