//! Sums of squares and Euclidean norms.
//!
//! The square of an `f32`, `f16` or `bf16` is exact in `f64` and far from the limits of its range, so these sums and
//! norms overflow or underflow only if the result does. The square of an `f64` is computed with its rounding error
//! (Dot2 of T. Ogita, S. M. Rump, S. Oishi, *Accurate sum and dot product*, SIAM J. Sci. Comput. 26, 2005) and
//! overflows from 1.3·10¹⁵⁴ on. The norm of `f64` instead adds small, medium and large elements in three sums, as J. L.
//! Blue does (*A portable Fortran program to find the Euclidean norm of a vector*, ACM TOMS 4, 1978), scales the outer
//! two, and is right whenever the result is representable.

use core::marker::PhantomData;

use half::{bf16, f16};
use simt::math::{fma, sqrt};

use super::entries::entries;
use super::number::{ExactInF64, Integer};
use super::reduction::{Merge, Reduction};
use super::sums::{AddCompensated, AddF64, AddWrapping};

/// Σ x² in `f64`, rounded to `f32`.
pub struct Squares<T>(PhantomData<T>);
/// √Σ x² in `f64`, rounded to `f32`.
pub struct Norm<T>(PhantomData<T>);
/// Σ x² of `f64`, compensated.
pub struct SquaresOfF64;
/// √Σ x² of `f64`, in three sums: of the small, the medium and the large elements.
pub struct NormOfF64;
/// Σ x² of integers, modulo 2⁶⁴.
pub struct SquaresOfIntegers<T>(PhantomData<T>);

/// Below this, the square of an `f64` may underflow: it is multiplied by 2⁶⁰⁰ first.
const SMALL: f64 = f64::from_bits((1023 - 480) << 52);
/// From this on, the sum of 2⁵³ squares may overflow: elements are multiplied by 2⁻⁶⁰⁰ first.
const LARGE: f64 = f64::from_bits((1023 + 480) << 52);
const SCALE_UP: f64 = f64::from_bits((1023 + 600) << 52);
const SCALE_DOWN: f64 = f64::from_bits((1023 - 600) << 52);

impl<T: ExactInF64> Reduction for Squares<T> {
    type Merges = AddF64;
    type Element = T;
    type Output = f32;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: T, _: u64, _: u64) -> f64 {
        x.to_f64() * x.to_f64()
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(sum: f64, _: u64) -> f32 {
        sum as f32
    }
}

impl<T: ExactInF64> Reduction for Norm<T> {
    type Merges = AddF64;
    type Element = T;
    type Output = f32;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: T, _: u64, _: u64) -> f64 {
        x.to_f64() * x.to_f64()
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(sum: f64, _: u64) -> f32 {
        sqrt(sum) as f32
    }
}

impl Reduction for SquaresOfF64 {
    type Merges = AddCompensated;
    type Element = f64;
    type Output = f64;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: f64, _: u64, _: u64) -> (f64, f64) {
        let square = x * x;
        (square, fma(x, x, -square))
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(state: (f64, f64), _: u64) -> f64 {
        AddCompensated::total(state)
    }
}

impl Merge for NormOfF64 {
    type State = (f64, f64, f64);
    #[cfg_attr(optimised, inline(always))]
    fn identity() -> (f64, f64, f64) {
        (0.0, 0.0, 0.0)
    }
    #[cfg_attr(optimised, inline(always))]
    fn merge(a: (f64, f64, f64), b: (f64, f64, f64)) -> (f64, f64, f64) {
        (a.0 + b.0, a.1 + b.1, a.2 + b.2)
    }
}

impl Reduction for NormOfF64 {
    type Merges = Self;
    type Element = f64;
    type Output = f64;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: f64, _: u64, _: u64) -> (f64, f64, f64) {
        let size = x.abs();
        let (small, large) = (size < SMALL, size >= LARGE);
        let scaled = x * if small {
            SCALE_UP
        } else if large {
            SCALE_DOWN
        } else {
            1.0
        };
        let square = scaled * scaled;
        let within = |yes: bool| if yes { square } else { 0.0 };
        // A NaN is neither small nor large.
        (within(small), within(!small && !large), within(large))
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish((small, medium, large): (f64, f64, f64), _: u64) -> f64 {
        if large > 0.0 {
            // Small elements are negligible here; a NaN in the medium sum is not.
            sqrt(large + (medium * SCALE_DOWN) * SCALE_DOWN) * SCALE_UP
        } else if medium > 0.0 || medium.is_nan() {
            sqrt(medium + (small * SCALE_DOWN) * SCALE_DOWN)
        } else {
            sqrt(small) * SCALE_DOWN
        }
    }
}

impl<T: Integer> Reduction for SquaresOfIntegers<T> {
    type Merges = AddWrapping;
    type Element = T;
    type Output = u64;
    #[cfg_attr(optimised, inline(always))]
    fn of(x: T, _: u64, _: u64) -> u64 {
        x.residue().wrapping_mul(x.residue())
    }
    #[cfg_attr(optimised, inline(always))]
    fn finish(sum: u64, _: u64) -> u64 {
        sum
    }
}

entries! {
    /// `out[0]` = Σ x².
    at 3 blocks: reduce_sum_squares_f32(f32 by 4 => f32) Squares<f32>;
    /// `out[0]` = Σ x².
    at 3 blocks: reduce_sum_squares_f16(f16 by 8 => f32) Squares<f16>;
    /// `out[0]` = Σ x².
    at 3 blocks: reduce_sum_squares_bf16(bf16 by 8 => f32) Squares<bf16>;
    /// `out[0]` = Σ x².
    at 2 blocks: reduce_sum_squares_f64(f64 by 2 => f64) SquaresOfF64;
    /// `out[0]` = Σ x² modulo 2⁶⁴.
    at 3 blocks: reduce_sum_squares_i32(i32 by 4 => u64) SquaresOfIntegers<i32>;
    /// `out[0]` = Σ x² modulo 2⁶⁴.
    at 3 blocks: reduce_sum_squares_u32(u32 by 4 => u64) SquaresOfIntegers<u32>;
    /// `out[0]` = Σ x² modulo 2⁶⁴; with the same bits for `i64`.
    at 4 blocks: reduce_sum_squares_u64(u64 by 2 => u64) SquaresOfIntegers<u64>;
    /// `out[0]` = √Σ x².
    at 3 blocks: reduce_norm_f32(f32 by 4 => f32) Norm<f32>;
    /// `out[0]` = √Σ x².
    at 3 blocks: reduce_norm_f16(f16 by 8 => f32) Norm<f16>;
    /// `out[0]` = √Σ x².
    at 3 blocks: reduce_norm_bf16(bf16 by 8 => f32) Norm<bf16>;
    /// `out[0]` = √Σ x².
    at 2 blocks: reduce_norm_f64(f64 by 2 => f64) NormOfF64;
}
