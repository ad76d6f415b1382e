//! The reductions, as values, and for which elements there are kernels: the table in the parent's documentation.

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
    /// What comes out.
    type Output: Element;

    /// What messages call it.
    #[doc(hidden)]
    const CALL: &'static str;

    /// Words of a block's state.
    #[doc(hidden)]
    const STATE_WORDS: usize;

    /// Refuses a length for which there is no result.
    #[doc(hidden)]
    fn check(&self, n: usize) -> Result<()>;

    /// Launches the kernel; the length was checked.
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
        .remedy("there is no result for so few: leave such vectors out before")
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

/// The parameter of the counting kernels that asks for the count.
fn count(_: usize) -> u64 {
    0
}
/// … whether there is at least one.
fn one(_: usize) -> u64 {
    2
}
/// … whether there are as many as elements.
fn every(n: usize) -> u64 {
    n as u64 + 1
}
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
    /// Σ of what is no NaN.
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
    /// √Σ x²: neither overflows nor underflows on the way.
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
    /// The greatest element; NaN if there is one.
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
    /// The least element; NaN if there is one.
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
    /// The greatest number among the elements; NaN if there is none.
    NanMax, "nan_max", words 1, least 1 {
        f32 => f32: extremes::reduce_nan_max_f32;
        f16 => f16: extremes::reduce_nan_max_f16;
        bf16 => bf16: extremes::reduce_nan_max_bf16;
        f64 => f64: extremes::reduce_nan_max_f64;
    }
    /// The least number among the elements; NaN if there is none.
    NanMin, "nan_min", words 1, least 1 {
        f32 => f32: extremes::reduce_nan_min_f32;
        f16 => f16: extremes::reduce_nan_min_f16;
        bf16 => bf16: extremes::reduce_nan_min_bf16;
        f64 => f64: extremes::reduce_nan_min_f64;
    }
    /// The first index of the greatest element; of the first NaN if there is one.
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
    /// The first index of the least element; of the first NaN if there is one.
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
    /// The first index of the greatest number among the elements; `u64::MAX` if there is none.
    NanArgMax, "nan_argmax", words 2, least 1 {
        f32 => u64: arg_extremes::reduce_nan_argmax_f32;
        f16 => u64: arg_extremes::reduce_nan_argmax_f16;
        bf16 => u64: arg_extremes::reduce_nan_argmax_bf16;
        f64 => u64: arg_extremes::reduce_nan_argmax_f64;
    }
    /// The first index of the least number among the elements; `u64::MAX` if there is none.
    NanArgMin, "nan_argmin", words 2, least 1 {
        f32 => u64: arg_extremes::reduce_nan_argmin_f32;
        f16 => u64: arg_extremes::reduce_nan_argmin_f16;
        bf16 => u64: arg_extremes::reduce_nan_argmin_bf16;
        f64 => u64: arg_extremes::reduce_nan_argmin_f64;
    }
    /// How many elements are not zero. A NaN is not, −0 is.
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
    /// 1 if any element is not zero, else 0.
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
    /// 1 if all elements are not zero, else 0.
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

/// Σ (x − mean)² / (n − `ddof`); NaN if there is an infinity or a NaN. There must be more than `ddof` elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variance {
    /// Delta degrees of freedom: 0 for the variance of all there is, 1 for an estimate from a sample.
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
