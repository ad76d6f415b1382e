//! The reductions along an axis and their kernels for each element type.

use gpu::reduce::{columns, rows};
use half::{bf16, f16};
use simt::Kernel;
use simt::element::Element;
use simt::global::{VecMut, VecRef};

use crate::ops::reduce::reductions::{
    All, Any, ArgMax, ArgMin, CountNonzero, Max, Mean, Min, NanArgMax, NanArgMin, NanMax, NanMin, NanSum, Norm,
    Product, Reduction, Sum, SumOfSquares, Variance,
};

type Input<T> = VecRef<'static, T>;
type Workspace = VecMut<'static, u64>;
type Results<U> = VecMut<'static, U>;

/// A kernel for lines whose elements are contiguous.
pub(super) type Rows<T, U> = Kernel<(Input<T>, Workspace, Results<U>, rows::RowArgs, [u32; 5], [u32; 4])>;
/// A kernel for lines with a stride.
pub(super) type Columns<T, U> = Kernel<(Input<T>, Workspace, Results<U>, columns::ColumnArgs, [u32; 5], [u32; 4])>;

/// The kernels of one reduction and element type.
pub(super) type Kernels<T, U> = (Rows<T, U>, Columns<T, U>);

/// A reduction that has kernels for the lines of a tensor of `T`: every [`Reduction`] except
/// [`PlainSum`](super::super::PlainSum).
#[diagnostic::on_unimplemented(
    message = "there is no kernel for the reduction `{Self}` of `{T}` along an axis",
    note = "the table in `warpwright::reduce` says which elements a reduction takes"
)]
pub trait AxisReduction<T: Element>: Reduction<T> {
    /// The kernels' input element, of the size of `T`.
    #[doc(hidden)]
    type Read: Element;
    /// The kernels' output element, of the size of `Output`.
    #[doc(hidden)]
    type Written: Element;
    /// Bytes of an access.
    #[doc(hidden)]
    const VECTOR: u64 = 16;
    /// The kernels.
    #[doc(hidden)]
    const KERNELS: Kernels<Self::Read, Self::Written>;
    /// The kernels' parameter for lines of `n` elements.
    #[doc(hidden)]
    fn parameter(&self, n: usize) -> u64;
}

/// The masks for the comparison keys of maximum and minimum: see [`gpu::reduce::along::best`].
trait Masks {
    const MAX: u64;
    const MIN: u64;
}

macro_rules! masks {
    ($($t:ty: $max:expr, $min:expr;)+) => {$(
        impl Masks for $t {
            const MAX: u64 = $max;
            const MIN: u64 = $min;
        }
    )+};
}
masks! {
    f32: 0, 1 << 31;
    f16: 0, 1 << 31;
    bf16: 0, 1 << 31;
    f64: 0, 1 << 63;
    u32: 0, !0;
    i32: 1 << 31, !(1 << 31);
    u64: 0, !0;
    i64: 1 << 63, !(1 << 63);
}

/// `reductions that share kernels, each with its parameter => { element as Read => Written: kernels; }`
macro_rules! axis_reductions {
    ($($($name:ident($t:ident, $n:ident => $parameter:expr)),+ => $kernels:tt)+) => {$($(
        axis_reductions! { @of $name($t, $n => $parameter) $kernels }
    )+)+};
    (@of $name:ident($t:ident, $n:ident => $parameter:expr) {
        $($element:ty as $read:ty => $written:ty: $rows:ident $columns:ident;)+
    }) => {$(
        impl AxisReduction<$element> for $name {
            type Read = $read;
            type Written = $written;
            const KERNELS: Kernels<$read, $written> = (rows::$rows, columns::$columns);

            fn parameter(&self, $n: usize) -> u64 {
                #[allow(dead_code, reason = "not every parameter depends on the type")]
                type $t = $element;
                $parameter
            }
        }
    )+};
}

axis_reductions! {
    Sum(T, _n => 0) => {
        f32 as f32 => f32: rows_total_f32 columns_total_f32;
        f16 as f16 => f32: rows_total_f16 columns_total_f16;
        bf16 as bf16 => f32: rows_total_bf16 columns_total_bf16;
        f64 as f64 => f64: rows_total_f64 columns_total_f64;
        i32 as i32 => u64: rows_total_i32 columns_total_i32;
        u32 as u32 => u64: rows_total_u32 columns_total_u32;
        i64 as u64 => u64: rows_total_u64 columns_total_u64;
        u64 as u64 => u64: rows_total_u64 columns_total_u64;
    }
    NanSum(T, _n => 0) => {
        f32 as f32 => f32: rows_nan_total_f32 columns_nan_total_f32;
        f16 as f16 => f32: rows_nan_total_f16 columns_nan_total_f16;
        bf16 as bf16 => f32: rows_nan_total_bf16 columns_nan_total_bf16;
        f64 as f64 => f64: rows_nan_total_f64 columns_nan_total_f64;
    }
    Mean(T, n => n as u64 + 1) => {
        f32 as f32 => f32: rows_total_f32 columns_total_f32;
        f16 as f16 => f32: rows_total_f16 columns_total_f16;
        bf16 as bf16 => f32: rows_total_bf16 columns_total_bf16;
        f64 as f64 => f64: rows_total_f64 columns_total_f64;
        i32 as i32 => u64: rows_total_i32 columns_total_i32;
        u32 as u32 => u64: rows_total_u32 columns_total_u32;
    }
    SumOfSquares(T, _n => 0) => {
        f32 as f32 => f32: rows_squares_f32 columns_squares_f32;
        f16 as f16 => f32: rows_squares_f16 columns_squares_f16;
        bf16 as bf16 => f32: rows_squares_bf16 columns_squares_bf16;
        f64 as f64 => f64: rows_squares_f64 columns_squares_f64;
        i32 as i32 => u64: rows_squares_i32 columns_squares_i32;
        u32 as u32 => u64: rows_squares_u32 columns_squares_u32;
        i64 as u64 => u64: rows_squares_u64 columns_squares_u64;
        u64 as u64 => u64: rows_squares_u64 columns_squares_u64;
    }
    Norm(T, _n => 1) => {
        f32 as f32 => f32: rows_squares_f32 columns_squares_f32;
        f16 as f16 => f32: rows_squares_f16 columns_squares_f16;
        bf16 as bf16 => f32: rows_squares_bf16 columns_squares_bf16;
        f64 as f64 => f64: rows_norm_f64 columns_norm_f64;
    }
    Product(T, _n => 0) => {
        f32 as f32 => f32: rows_product_f32 columns_product_f32;
        f16 as f16 => f32: rows_product_f16 columns_product_f16;
        bf16 as bf16 => f32: rows_product_bf16 columns_product_bf16;
        f64 as f64 => f64: rows_product_f64 columns_product_f64;
        i32 as i32 => i64: rows_product_i32 columns_product_i32;
        u32 as u32 => u64: rows_product_u32 columns_product_u32;
        i64 as u64 => u64: rows_product_u64 columns_product_u64;
        u64 as u64 => u64: rows_product_u64 columns_product_u64;
    }
    Max(T, _n => <T as Masks>::MAX), Min(T, _n => <T as Masks>::MIN) => {
        f32 as f32 => f32: rows_best_f32 columns_best_f32;
        f16 as f16 => f16: rows_best_f16 columns_best_f16;
        bf16 as bf16 => bf16: rows_best_bf16 columns_best_bf16;
        f64 as f64 => f64: rows_best_f64 columns_best_f64;
        i32 as u32 => u32: rows_best_u32 columns_best_u32;
        u32 as u32 => u32: rows_best_u32 columns_best_u32;
        i64 as u64 => u64: rows_best_u64 columns_best_u64;
        u64 as u64 => u64: rows_best_u64 columns_best_u64;
    }
    NanMax(T, _n => <T as Masks>::MAX), NanMin(T, _n => <T as Masks>::MIN) => {
        f32 as f32 => f32: rows_nan_best_f32 columns_nan_best_f32;
        f16 as f16 => f16: rows_nan_best_f16 columns_nan_best_f16;
        bf16 as bf16 => bf16: rows_nan_best_bf16 columns_nan_best_bf16;
        f64 as f64 => f64: rows_nan_best_f64 columns_nan_best_f64;
    }
    ArgMax(T, _n => <T as Masks>::MAX), ArgMin(T, _n => <T as Masks>::MIN) => {
        f32 as f32 => u64: rows_best_at_f32 columns_best_at_f32;
        f16 as f16 => u64: rows_best_at_f16 columns_best_at_f16;
        bf16 as bf16 => u64: rows_best_at_bf16 columns_best_at_bf16;
        f64 as f64 => u64: rows_best_at_f64 columns_best_at_f64;
        i32 as u32 => u64: rows_best_at_u32 columns_best_at_u32;
        u32 as u32 => u64: rows_best_at_u32 columns_best_at_u32;
        i64 as u64 => u64: rows_best_at_u64 columns_best_at_u64;
        u64 as u64 => u64: rows_best_at_u64 columns_best_at_u64;
    }
    NanArgMax(T, _n => <T as Masks>::MAX), NanArgMin(T, _n => <T as Masks>::MIN) => {
        f32 as f32 => u64: rows_nan_best_at_f32 columns_nan_best_at_f32;
        f16 as f16 => u64: rows_nan_best_at_f16 columns_nan_best_at_f16;
        bf16 as bf16 => u64: rows_nan_best_at_bf16 columns_nan_best_at_bf16;
        f64 as f64 => u64: rows_nan_best_at_f64 columns_nan_best_at_f64;
    }
    CountNonzero(T, _n => 0), Any(T, _n => 2), All(T, n => n as u64 + 1) => {
        u8 as u8 => u64: rows_count_u8 columns_count_u8;
        f32 as f32 => u64: rows_count_f32 columns_count_f32;
        f16 as u16 => u64: rows_count_f16_bits columns_count_f16_bits;
        bf16 as u16 => u64: rows_count_f16_bits columns_count_f16_bits;
        f64 as f64 => u64: rows_count_f64 columns_count_f64;
        i32 as u32 => u64: rows_count_u32 columns_count_u32;
        u32 as u32 => u64: rows_count_u32 columns_count_u32;
        i64 as u64 => u64: rows_count_u64 columns_count_u64;
        u64 as u64 => u64: rows_count_u64 columns_count_u64;
    }
}

macro_rules! variances {
    ($($t:ty => $u:ty, $vector:literal: $rows:ident $columns:ident;)+) => {$(
        impl AxisReduction<$t> for Variance {
            type Read = $t;
            type Written = $u;
            const VECTOR: u64 = $vector;
            const KERNELS: Kernels<$t, $u> = (rows::$rows, columns::$columns);

            fn parameter(&self, n: usize) -> u64 {
                n as u64 - u64::from(self.ddof)
            }
        }
    )+};
}
variances! {
    f32 => f32, 16: rows_variance_f32 columns_variance_f32;
    f16 => f32, 8: rows_variance_f16 columns_variance_f16;
    bf16 => f32, 8: rows_variance_bf16 columns_variance_bf16;
    f64 => f64, 16: rows_variance_f64 columns_variance_f64;
}
