//! A method of [`Device`] for each reduction.

use gpu::reduce::whole::arg_extremes::NO_INDEX;

use super::reductions::{
    All, Any, ArgMax, ArgMin, CountNonzero, Max, Mean, Min, NanArgMax, NanArgMin, NanMax, NanMin, NanSum, Norm,
    Product, Reduction, Sum, SumOfSquares, Variance,
};
use crate::device::Device;
use crate::error::{ArgumentRule, BadArgument, Result};
use crate::ops::operand::Operand;

/// Methods that return the result of the reduction.
macro_rules! named {
    ($($(#[$doc:meta])* $name:ident: $reduction:ident;)+) => {$(
        $(#[$doc])*
        pub fn $name<'a, X>(&self, x: X) -> Result<<$reduction as Reduction<X::Element>>::Output>
        where
            X: Operand<'a>,
            $reduction: Reduction<X::Element>,
        {
            self.reduce($reduction, x)
        }
    )+};
}

/// Methods that return an index.
macro_rules! positions {
    ($($(#[$doc:meta])* $name:ident: $reduction:ident;)+) => {$(
        $(#[$doc])*
        pub fn $name<'a, X>(&self, x: X) -> Result<usize>
        where
            X: Operand<'a>,
            $reduction: Reduction<X::Element, Output = u64>,
        {
            index(stringify!($name), self.reduce($reduction, x)?)
        }
    )+};
}

fn index(call: &str, index: u64) -> Result<usize> {
    if index != NO_INDEX {
        return Ok(index as usize);
    }
    Err(BadArgument::new(ArgumentRule::Elements, call, "x")
        .expected("at least one element that is not NaN")
        .found("only NaN")
        .remedy("use argmax or argmin, which return the index of a NaN")
        .into())
}

/// Methods that return a truth value.
macro_rules! predicates {
    ($($(#[$doc:meta])* $name:ident: $reduction:ident;)+) => {$(
        $(#[$doc])*
        pub fn $name<'a, X>(&self, x: X) -> Result<bool>
        where
            X: Operand<'a>,
            $reduction: Reduction<X::Element, Output = u64>,
        {
            Ok(self.reduce($reduction, x)? == 1)
        }
    )+};
}

/// Reductions of all elements of a vector or matrix; each waits for its result. See [`Device::reduce`] for errors, and
/// [`warpwright::reduce`](crate::reduce) for element types and accuracy.
impl Device {
    named! {
        /// Σ x. `f32`, `f16` and `bf16` are added in `f64` and the sum rounded to `f32` once; `f64` are added with
        /// compensation; integers give 64 bits and wrap. 0 for empty input.
        ///
        /// ```
        /// let device = warpwright::Device::simulator();
        /// let x = device.upload(&[0.5_f32; 1000])?;
        /// assert_eq!(device.sum(&x)?, 500.0);
        /// assert_eq!(device.sum(x.slice(0..0)?)?, 0.0);
        /// assert_eq!(device.sum(&device.upload(&[i32::MAX; 3])?)?, 3 * i64::from(i32::MAX));
        /// # Ok::<(), warpwright::Error>(())
        /// ```
        ///
        /// # Errors
        /// As [`Device::reduce`].
        sum: Sum;

        /// Σ of the elements that are not NaN, added as in [`Device::sum`]; 0 if there are none.
        ///
        /// ```
        /// let device = warpwright::Device::simulator();
        /// assert_eq!(device.nan_sum(&device.upload(&[1.0, f32::NAN, 2.0])?)?, 3.0);
        /// # Ok::<(), warpwright::Error>(())
        /// ```
        ///
        /// # Errors
        /// As [`Device::reduce`].
        nan_sum: NanSum;

        /// Σ x², added as in [`Device::sum`]; integers give `u64` and wrap.
        ///
        /// # Errors
        /// As [`Device::reduce`].
        sum_of_squares: SumOfSquares;

        /// ∏ x. `f32`, `f16` and `bf16` are multiplied in `f64`; integers give 64 bits and wrap. 1 for empty
        /// input.
        ///
        /// # Errors
        /// As [`Device::reduce`].
        product: Product;

        /// √Σ x², without overflow or underflow of intermediate results.
        ///
        /// ```
        /// let device = warpwright::Device::simulator();
        /// let far = 2_f64.powi(600);
        /// assert_eq!(device.norm(&device.upload(&[3.0 * far, 4.0 * far])?)?, 5.0 * far);
        /// # Ok::<(), warpwright::Error>(())
        /// ```
        ///
        /// # Errors
        /// As [`Device::reduce`].
        norm: Norm;

        /// Σ x / n, the sum as in [`Device::sum`]; `f64` for `i32` and `u32`.
        ///
        /// # Errors
        /// Empty input; as [`Device::reduce`].
        mean: Mean;

        /// The maximum. A NaN is greater than every number; +0 is greater than −0, except that for `f64` either may be
        /// returned.
        ///
        /// ```
        /// let device = warpwright::Device::simulator();
        /// assert_eq!(device.max(&device.upload(&[f32::NEG_INFINITY; 3])?)?, f32::NEG_INFINITY);
        /// assert!(device.max(&device.upload(&[1.0, f32::NAN])?)?.is_nan());
        /// assert_eq!(device.nan_max(&device.upload(&[1.0, f32::NAN])?)?, 1.0);
        /// # Ok::<(), warpwright::Error>(())
        /// ```
        ///
        /// # Errors
        /// Empty input; as [`Device::reduce`].
        max: Max;

        /// The minimum. A NaN is less than every number; −0 is less than +0, except that for `f64` either may be
        /// returned.
        ///
        /// # Errors
        /// Empty input; as [`Device::reduce`].
        min: Min;

        /// The maximum of the elements that are not NaN; NaN if all are.
        ///
        /// # Errors
        /// Empty input; as [`Device::reduce`].
        nan_max: NanMax;

        /// The minimum of the elements that are not NaN; NaN if all are.
        ///
        /// # Errors
        /// Empty input; as [`Device::reduce`].
        nan_min: NanMin;

        /// The number of nonzero elements. A NaN is nonzero, −0 is zero.
        ///
        /// # Errors
        /// As [`Device::reduce`].
        count_nonzero: CountNonzero;
    }

    positions! {
        /// The first index of the maximum, row-major in a matrix; of the first NaN if there is one.
        ///
        /// ```
        /// let device = warpwright::Device::simulator();
        /// assert_eq!(device.argmax(&device.upload(&[1, 7, 3, 7])?)?, 1);
        /// # Ok::<(), warpwright::Error>(())
        /// ```
        ///
        /// # Errors
        /// Empty input; as [`Device::reduce`].
        argmax: ArgMax;

        /// The first index of the minimum, row-major in a matrix; of the first NaN if there is one.
        ///
        /// # Errors
        /// Empty input; as [`Device::reduce`].
        argmin: ArgMin;

        /// The first index of the maximum of the elements that are not NaN.
        ///
        /// # Errors
        /// Empty input, or only NaN; as [`Device::reduce`].
        nan_argmax: NanArgMax;

        /// The first index of the minimum of the elements that are not NaN.
        ///
        /// # Errors
        /// Empty input, or only NaN; as [`Device::reduce`].
        nan_argmin: NanArgMin;
    }

    predicates! {
        /// Whether any element is nonzero; false for empty input.
        ///
        /// # Errors
        /// As [`Device::reduce`].
        any: Any;

        /// Whether all elements are nonzero; true for empty input.
        ///
        /// # Errors
        /// As [`Device::reduce`].
        all: All;
    }

    /// Σ (x − mean)² / (n − `ddof`), in one pass and without cancellation. NaN if any element is infinite or NaN.
    ///
    /// ```
    /// let device = warpwright::Device::simulator();
    /// let x = device.upload(&[1e8_f32, 1e8 + 8.0, 1e8 + 16.0])?;
    /// assert_eq!(device.variance(&x, 1)?, 64.0);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// At most `ddof` elements; as [`Device::reduce`].
    pub fn variance<'a, X>(&self, x: X, ddof: u32) -> Result<<Variance as Reduction<X::Element>>::Output>
    where
        X: Operand<'a>,
        Variance: Reduction<X::Element>,
    {
        self.reduce(Variance { ddof }, x)
    }
}
