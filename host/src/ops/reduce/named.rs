//! The reductions by name.

use gpu::reduce::whole::arg_extremes::NO_INDEX;

use super::kinds::{
    All, Any, ArgMax, ArgMin, CountNonzero, Max, Mean, Min, NanArgMax, NanArgMin, NanMax, NanMin, NanSum, Norm,
    Product, Reduction, Sum, SumOfSquares, Variance,
};
use crate::device::Device;
use crate::error::{ArgumentRule, BadArgument, Result};
use crate::ops::add::Operand;

/// Methods that give what the reduction gives.
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

/// Methods that give an index.
macro_rules! positions {
    ($($(#[$doc:meta])* $name:ident: $reduction:ident;)+) => {$(
        $(#[$doc])*
        pub fn $name<'a, X>(&self, x: X) -> Result<usize>
        where
            X: Operand<'a>,
            $reduction: Reduction<X::Element, Output = u64>,
        {
            place(stringify!($name), self.reduce($reduction, x)?)
        }
    )+};
}

fn place(call: &str, index: u64) -> Result<usize> {
    if index != NO_INDEX {
        return Ok(index as usize);
    }
    Err(BadArgument::new(ArgumentRule::Elements, call, "x")
        .expected("at least one number")
        .found("nothing but NaN")
        .remedy("there is no index of a number: use argmax or argmin for that of a NaN")
        .into())
}

/// Methods that give yes or no.
macro_rules! questions {
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
/// [`warpwright::reduce`](crate::reduce) for elements and accuracy.
impl Device {
    named! {
        /// Σ x. `f32`, `f16` and `bf16` are added in `f64` and the sum rounded to `f32` once; `f64` are added with
        /// compensation; integers give 64 bits and wrap. 0 if there is no element.
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

        /// Σ of what is no NaN, added as in [`Device::sum`]; 0 if there is nothing else.
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

        /// ∏ x. `f32`, `f16` and `bf16` are multiplied in `f64`; integers give 64 bits and wrap. 1 if there is no element.
        ///
        /// # Errors
        /// As [`Device::reduce`].
        product: Product;

        /// √Σ x², which neither overflows nor underflows on the way.
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
        /// There is no element; as [`Device::reduce`].
        mean: Mean;

        /// The greatest element. A NaN is greater than every number; +0 is greater than −0, but of
        /// `f64` either may come.
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
        /// There is no element; as [`Device::reduce`].
        max: Max;

        /// The least element. A NaN is less than every number; −0 is less than +0, but of `f64` either
        /// may come.
        ///
        /// # Errors
        /// There is no element; as [`Device::reduce`].
        min: Min;

        /// The greatest number among the elements, NaN if all are.
        ///
        /// # Errors
        /// There is no element; as [`Device::reduce`].
        nan_max: NanMax;

        /// The least number among the elements, NaN if all are.
        ///
        /// # Errors
        /// There is no element; as [`Device::reduce`].
        nan_min: NanMin;

        /// How many elements are not zero. A NaN is not, −0 is.
        ///
        /// # Errors
        /// As [`Device::reduce`].
        count_nonzero: CountNonzero;
    }

    positions! {
        /// The first index of the greatest element, row by row in a matrix; of the first NaN if there is one.
        ///
        /// ```
        /// let device = warpwright::Device::simulator();
        /// assert_eq!(device.argmax(&device.upload(&[1, 7, 3, 7])?)?, 1);
        /// # Ok::<(), warpwright::Error>(())
        /// ```
        ///
        /// # Errors
        /// There is no element; as [`Device::reduce`].
        argmax: ArgMax;

        /// The first index of the least element, row by row in a matrix; of the first NaN if there is one.
        ///
        /// # Errors
        /// There is no element; as [`Device::reduce`].
        argmin: ArgMin;

        /// The first index of the greatest number among the elements.
        ///
        /// # Errors
        /// There is no number; as [`Device::reduce`].
        nan_argmax: NanArgMax;

        /// The first index of the least number among the elements.
        ///
        /// # Errors
        /// There is no number; as [`Device::reduce`].
        nan_argmin: NanArgMin;
    }

    questions! {
        /// Whether any element is not zero; false if there is none.
        ///
        /// # Errors
        /// As [`Device::reduce`].
        any: Any;

        /// Whether all elements are not zero; true if there is none.
        ///
        /// # Errors
        /// As [`Device::reduce`].
        all: All;
    }

    /// Σ (x − mean)² / (n − `ddof`), in one reading and without cancellation. NaN if there is an infinity or a NaN.
    ///
    /// ```
    /// let device = warpwright::Device::simulator();
    /// let x = device.upload(&[1e8_f32, 1e8 + 8.0, 1e8 + 16.0])?;
    /// assert_eq!(device.variance(&x, 1)?, 64.0);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// There are not more than `ddof` elements; as [`Device::reduce`].
    pub fn variance<'a, X>(&self, x: X, ddof: u32) -> Result<<Variance as Reduction<X::Element>>::Output>
    where
        X: Operand<'a>,
        Variance: Reduction<X::Element>,
    {
        self.reduce(Variance { ddof }, x)
    }
}
