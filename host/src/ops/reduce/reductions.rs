//! The reductions and their kernels for each element type: the table in the parent's documentation.

use gpu::reduce::whole::{arg_extremes, counts, extremes, moments, products, squares, sums};
use half::{bf16, f16};
use simt::element::Element;

use super::task::Task;
use crate::error::{ArgumentRule, BadArgument, Result};

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// A reduction that has a kernel for elements `T`.
#[diagnostic::on_unimplemented(
    message = "there is no kernel for the reduction `{Self}` of `{T}`",
    note = "the table in `warpwright::reduce` says which elements a reduction takes"
)]
pub trait Reduction<T: Element>: Sealed + Copy {
    /// The type of the result.
    type Output: Element;

    /// Its name in error messages.
    #[doc(hidden)]
    const CALL: &'static str;

    /// 8-byte words of a block's partial result.
    #[doc(hidden)]
    const STATE_WORDS: usize;

    /// Refuses a length for which the result is not defined.
    #[doc(hidden)]
    fn check(&self, n: usize) -> Result<()>;

    /// Launches the kernel, after [`Reduction::check`].
    #[doc(hidden)]
    fn launch(self, task: Task<'_, T, Self::Output>) -> Result<()>;
}

/// Refuses fewer than `least` elements.
fn at_least(call: &str, least: u64, n: usize) -> Result<()> {
    if n as u64 >= least {
        return Ok(());
    }
    let expected = if least == 1 { "at least one element".to_owned() } else { format!("at least {least} elements") };
    Err(BadArgument::new(ArgumentRule::Elements, call, "x")
        .expected(expected)
        .found(n)
        .remedy("the result is not defined for fewer: handle such vectors without a reduction")
        .into())
}

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident, $call:literal, words $words:literal, least $least:literal {
        $($t:ty => $u:ty: $kernel:path $(, $parameter:expr)?;)+
    })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name;
        impl Sealed for $name {}
        $(
            impl Reduction<$t> for $name {
                type Output = $u;
                const CALL: &'static str = $call;
                const STATE_WORDS: usize = $words;

                fn check(&self, n: usize) -> Result<()> {
                    at_least($call, $least, n)
                }

                fn launch(self, task: Task<'_, $t, $u>) -> Result<()> {
                    reductions!(@launch task, $kernel $(, $parameter)?)
                }
            }
        )+
    )+};
    (@launch $task:ident, $kernel:path) => { $task.launch(&$kernel) };
    (@launch $task:ident, $kernel:path, $parameter:expr) => {{
        let of: fn(usize) -> u64 = $parameter;
        let parameter = of($task.x.len());
        $task.launch_with(&$kernel, parameter)
    }};
}

/// The parameter of the counting kernels for the count itself.
fn count(_: usize) -> u64 {
    0
}
/// The parameter for whether the count is at least one.
fn one(_: usize) -> u64 {
    2
}
/// The parameter for whether all elements count.
fn every(n: usize) -> u64 {
    n as u64 + 1
}
/// The number of elements, by which a mean divides.
fn length(n: usize) -> u64 {
    n as u64
}

reductions! {
    /// Σ x.
    Sum, "sum", words 2, least 0 {
        f32 => f32: sums::reduce_sum_f32;
        f16 => f32: sums::reduce_sum_f16;
        bf16 => f32: sums::reduce_sum_bf16;
        f64 => f64: sums::reduce_sum_f64;
        i32 => i64: sums::reduce_sum_i32;
        u32 => u64: sums::reduce_sum_u32;
        i64 => i64: sums::reduce_sum_u64;
        u64 => u64: sums::reduce_sum_u64;
    }
    /// Σ x of `f32`, added in `f32`: no faster than [`Sum`], and less exact.
    PlainSum, "plain sum", words 1, least 0 {
        f32 => f32: sums::reduce_sum_f32_plain;
    }
    /// Σ of the elements that are not NaN.
    NanSum, "nan_sum", words 2, least 0 {
        f32 => f32: sums::reduce_nan_sum_f32;
        f16 => f32: sums::reduce_nan_sum_f16;
        bf16 => f32: sums::reduce_nan_sum_bf16;
        f64 => f64: sums::reduce_nan_sum_f64;
    }
    /// Σ x².
    SumOfSquares, "sum_of_squares", words 2, least 0 {
        f32 => f32: squares::reduce_sum_squares_f32;
        f16 => f32: squares::reduce_sum_squares_f16;
        bf16 => f32: squares::reduce_sum_squares_bf16;
        f64 => f64: squares::reduce_sum_squares_f64;
        i32 => u64: squares::reduce_sum_squares_i32;
        u32 => u64: squares::reduce_sum_squares_u32;
        i64 => u64: squares::reduce_sum_squares_u64;
        u64 => u64: squares::reduce_sum_squares_u64;
    }
    /// √Σ x², without overflow or underflow of intermediate results.
    Norm, "norm", words 3, least 0 {
        f32 => f32: squares::reduce_norm_f32;
        f16 => f32: squares::reduce_norm_f16;
        bf16 => f32: squares::reduce_norm_bf16;
        f64 => f64: squares::reduce_norm_f64;
    }
    /// ∏ x.
    Product, "product", words 1, least 0 {
        f32 => f32: products::reduce_product_f32;
        f16 => f32: products::reduce_product_f16;
        bf16 => f32: products::reduce_product_bf16;
        f64 => f64: products::reduce_product_f64;
        i32 => i64: products::reduce_product_i32;
        u32 => u64: products::reduce_product_u32;
        i64 => i64: products::reduce_product_u64;
        u64 => u64: products::reduce_product_u64;
    }
    /// Σ x / n.
    Mean, "mean", words 2, least 1 {
        f32 => f32: sums::reduce_mean_f32, length;
        f16 => f32: sums::reduce_mean_f16, length;
        bf16 => f32: sums::reduce_mean_bf16, length;
        f64 => f64: sums::reduce_mean_f64, length;
        i32 => f64: sums::reduce_mean_i32, length;
        u32 => f64: sums::reduce_mean_u32, length;
    }
    /// The maximum; NaN if any element is NaN.
    Max, "max", words 1, least 1 {
        f32 => f32: extremes::reduce_max_f32;
        f16 => f16: extremes::reduce_max_f16;
        bf16 => bf16: extremes::reduce_max_bf16;
        f64 => f64: extremes::reduce_max_f64;
        i32 => i32: extremes::reduce_max_i32;
        u32 => u32: extremes::reduce_max_u32;
        i64 => i64: extremes::reduce_max_i64;
        u64 => u64: extremes::reduce_max_u64;
    }
    /// The minimum; NaN if any element is NaN.
    Min, "min", words 1, least 1 {
        f32 => f32: extremes::reduce_min_f32;
        f16 => f16: extremes::reduce_min_f16;
        bf16 => bf16: extremes::reduce_min_bf16;
        f64 => f64: extremes::reduce_min_f64;
        i32 => i32: extremes::reduce_min_i32;
        u32 => u32: extremes::reduce_min_u32;
        i64 => i64: extremes::reduce_min_i64;
        u64 => u64: extremes::reduce_min_u64;
    }
    /// The maximum of the elements that are not NaN; NaN if all are.
    NanMax, "nan_max", words 1, least 1 {
        f32 => f32: extremes::reduce_nan_max_f32;
        f16 => f16: extremes::reduce_nan_max_f16;
        bf16 => bf16: extremes::reduce_nan_max_bf16;
        f64 => f64: extremes::reduce_nan_max_f64;
    }
    /// The minimum of the elements that are not NaN; NaN if all are.
    NanMin, "nan_min", words 1, least 1 {
        f32 => f32: extremes::reduce_nan_min_f32;
        f16 => f16: extremes::reduce_nan_min_f16;
        bf16 => bf16: extremes::reduce_nan_min_bf16;
        f64 => f64: extremes::reduce_nan_min_f64;
    }
    /// The first index of the maximum; of the first NaN if there is one.
    ArgMax, "argmax", words 2, least 1 {
        f32 => u64: arg_extremes::reduce_argmax_f32;
        f16 => u64: arg_extremes::reduce_argmax_f16;
        bf16 => u64: arg_extremes::reduce_argmax_bf16;
        f64 => u64: arg_extremes::reduce_argmax_f64;
        i32 => u64: arg_extremes::reduce_argmax_i32;
        u32 => u64: arg_extremes::reduce_argmax_u32;
        i64 => u64: arg_extremes::reduce_argmax_i64;
        u64 => u64: arg_extremes::reduce_argmax_u64;
    }
    /// The first index of the minimum; of the first NaN if there is one.
    ArgMin, "argmin", words 2, least 1 {
        f32 => u64: arg_extremes::reduce_argmin_f32;
        f16 => u64: arg_extremes::reduce_argmin_f16;
        bf16 => u64: arg_extremes::reduce_argmin_bf16;
        f64 => u64: arg_extremes::reduce_argmin_f64;
        i32 => u64: arg_extremes::reduce_argmin_i32;
        u32 => u64: arg_extremes::reduce_argmin_u32;
        i64 => u64: arg_extremes::reduce_argmin_i64;
        u64 => u64: arg_extremes::reduce_argmin_u64;
    }
    /// The first index of the maximum of the elements that are not NaN; `u64::MAX` if all are.
    NanArgMax, "nan_argmax", words 2, least 1 {
        f32 => u64: arg_extremes::reduce_nan_argmax_f32;
        f16 => u64: arg_extremes::reduce_nan_argmax_f16;
        bf16 => u64: arg_extremes::reduce_nan_argmax_bf16;
        f64 => u64: arg_extremes::reduce_nan_argmax_f64;
    }
    /// The first index of the minimum of the elements that are not NaN; `u64::MAX` if all are.
    NanArgMin, "nan_argmin", words 2, least 1 {
        f32 => u64: arg_extremes::reduce_nan_argmin_f32;
        f16 => u64: arg_extremes::reduce_nan_argmin_f16;
        bf16 => u64: arg_extremes::reduce_nan_argmin_bf16;
        f64 => u64: arg_extremes::reduce_nan_argmin_f64;
    }
    /// The number of nonzero elements. A NaN is nonzero, −0 is zero.
    CountNonzero, "count_nonzero", words 1, least 0 {
        u8 => u64: counts::reduce_count_u8, count;
        f32 => u64: counts::reduce_count_f32, count;
        f16 => u64: counts::reduce_count_f16_bits, count;
        bf16 => u64: counts::reduce_count_f16_bits, count;
        f64 => u64: counts::reduce_count_f64, count;
        i32 => u64: counts::reduce_count_u32, count;
        u32 => u64: counts::reduce_count_u32, count;
        i64 => u64: counts::reduce_count_u64, count;
        u64 => u64: counts::reduce_count_u64, count;
    }
    /// 1 if any element is nonzero, else 0.
    Any, "any", words 1, least 0 {
        u8 => u64: counts::reduce_count_u8, one;
        f32 => u64: counts::reduce_count_f32, one;
        f16 => u64: counts::reduce_count_f16_bits, one;
        bf16 => u64: counts::reduce_count_f16_bits, one;
        f64 => u64: counts::reduce_count_f64, one;
        i32 => u64: counts::reduce_count_u32, one;
        u32 => u64: counts::reduce_count_u32, one;
        i64 => u64: counts::reduce_count_u64, one;
        u64 => u64: counts::reduce_count_u64, one;
    }
    /// 1 if all elements are nonzero, else 0.
    All, "all", words 1, least 0 {
        u8 => u64: counts::reduce_count_u8, every;
        f32 => u64: counts::reduce_count_f32, every;
        f16 => u64: counts::reduce_count_f16_bits, every;
        bf16 => u64: counts::reduce_count_f16_bits, every;
        f64 => u64: counts::reduce_count_f64, every;
        i32 => u64: counts::reduce_count_u32, every;
        u32 => u64: counts::reduce_count_u32, every;
        i64 => u64: counts::reduce_count_u64, every;
        u64 => u64: counts::reduce_count_u64, every;
    }
}

/// Σ (x − mean)² / (n − `ddof`); NaN if any element is infinite or NaN. Needs more than `ddof` elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variance {
    /// Delta degrees of freedom: 0 for the variance of a population, 1 for an estimate from a sample.
    pub ddof: u32,
}
impl Sealed for Variance {}

macro_rules! variances {
    ($($t:ty => $u:ty: $kernel:path;)+) => {$(
        impl Reduction<$t> for Variance {
            type Output = $u;
            const CALL: &'static str = "variance";
            const STATE_WORDS: usize = 3;

            fn check(&self, n: usize) -> Result<()> {
                at_least("variance", u64::from(self.ddof) + 1, n)
            }

            fn launch(self, task: Task<'_, $t, $u>) -> Result<()> {
                let divisor = task.x.len() as u64 - u64::from(self.ddof);
                task.launch_with(&$kernel, divisor)
            }
        }
    )+};
}
variances! {
    f32 => f32: moments::reduce_variance_f32;
    f16 => f32: moments::reduce_variance_f16;
    bf16 => f32: moments::reduce_variance_bf16;
    f64 => f64: moments::reduce_variance_f64;
}
