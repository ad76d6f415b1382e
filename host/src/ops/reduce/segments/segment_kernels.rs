//! The reductions of segments and their kernels for each element type.

use gpu::reduce::segments::{self as kernels, FIXED, LENGTH_MINUS, LENGTH_PLUS_ONE, SegmentArgs};
use half::{bf16, f16};
use simt::Kernel;
use simt::element::Element;
use simt::global::{VecMut, VecRef};

use crate::ops::reduce::axis::AxisReduction;
use crate::ops::reduce::reductions::{
    All, Any, ArgMax, ArgMin, CountNonzero, Max, Mean, Min, NanArgMax, NanArgMin, NanMax, NanMin, NanSum, Norm,
    Product, Sum, SumOfSquares, Variance,
};

type Input<T> = VecRef<'static, T>;
type Results<U> = VecMut<'static, U>;

/// A kernel for segments.
pub(super) type Segments<T, U> =
    Kernel<(Input<T>, VecRef<'static, u32>, VecMut<'static, u64>, Results<U>, SegmentArgs, u64)>;

mod sealed {
    pub trait Sealed {}
}

/// Integer types of segment offsets: `u32` and `u64`.
pub trait Offset: Element + Into<u64> + sealed::Sealed {}
impl sealed::Sealed for u32 {}
impl sealed::Sealed for u64 {}
impl Offset for u32 {}
impl Offset for u64 {}

/// A reduction that has a kernel for the segments of a vector of `T`: every [`AxisReduction`].
#[diagnostic::on_unimplemented(
    message = "there is no kernel for the reduction `{Self}` of segments of `{T}`",
    note = "the table in `warpwright::reduce` says which elements a reduction takes"
)]
pub trait SegmentReduction<T: Element>: AxisReduction<T> {
    /// The kernel.
    #[doc(hidden)]
    const SEGMENTS: Segments<Self::Read, Self::Written>;
    /// How the kernel's parameter depends on the length of a segment: see [`gpu::reduce::segments`].
    #[doc(hidden)]
    const PARAMETER_KIND: u32;
    /// The kernel's parameter, before it is combined with the length.
    #[doc(hidden)]
    fn segment_parameter(&self) -> u64;
}

/// `reductions that share kernels, each with the kind of its parameter => { element: kernel; }`
macro_rules! segments {
    ($($($name:ident $kind:ident),+ => $kernels:tt)+) => {$($(segments! { @of $name $kind $kernels })+)+};
    (@of $name:ident $kind:ident { $($t:ty: $kernel:ident;)+ }) => {$(
        impl SegmentReduction<$t> for $name {
            const SEGMENTS: Segments<Self::Read, Self::Written> = kernels::$kernel;
            const PARAMETER_KIND: u32 = $kind;
            fn segment_parameter(&self) -> u64 {
                segments!(@parameter $kind self $t)
            }
        }
    )+};
    (@parameter FIXED $own:ident $t:ty) => { AxisReduction::<$t>::parameter($own, 0) };
    (@parameter LENGTH_PLUS_ONE $own:ident $t:ty) => { 0 };
    (@parameter LENGTH_MINUS $own:ident $t:ty) => { u64::from($own.ddof) };
}
segments! {
    Sum FIXED => {
        f32: segments_total_f32;
        f16: segments_total_f16;
        bf16: segments_total_bf16;
        f64: segments_total_f64;
        i32: segments_total_i32;
        u32: segments_total_u32;
        i64: segments_total_u64;
        u64: segments_total_u64;
    }
    NanSum FIXED => {
        f32: segments_nan_total_f32;
        f16: segments_nan_total_f16;
        bf16: segments_nan_total_bf16;
        f64: segments_nan_total_f64;
    }
    Max FIXED, Min FIXED => {
        f32: segments_best_f32;
        f16: segments_best_f16;
        bf16: segments_best_bf16;
        f64: segments_best_f64;
        i32: segments_best_u32;
        u32: segments_best_u32;
        i64: segments_best_u64;
        u64: segments_best_u64;
    }
    NanMax FIXED, NanMin FIXED => {
        f32: segments_nan_best_f32;
        f16: segments_nan_best_f16;
        bf16: segments_nan_best_bf16;
        f64: segments_nan_best_f64;
    }
    ArgMax FIXED, ArgMin FIXED => {
        f32: segments_best_at_f32;
        f16: segments_best_at_f16;
        bf16: segments_best_at_bf16;
        f64: segments_best_at_f64;
        i32: segments_best_at_u32;
        u32: segments_best_at_u32;
        i64: segments_best_at_u64;
        u64: segments_best_at_u64;
    }
    NanArgMax FIXED, NanArgMin FIXED => {
        f32: segments_nan_best_at_f32;
        f16: segments_nan_best_at_f16;
        bf16: segments_nan_best_at_bf16;
        f64: segments_nan_best_at_f64;
    }
    Mean LENGTH_PLUS_ONE => {
        f32: segments_total_f32;
        f16: segments_total_f16;
        bf16: segments_total_bf16;
        f64: segments_total_f64;
        i32: segments_total_i32;
        u32: segments_total_u32;
    }
    SumOfSquares FIXED => {
        f32: segments_squares_f32;
        f16: segments_squares_f16;
        bf16: segments_squares_bf16;
        f64: segments_squares_f64;
        i32: segments_squares_i32;
        u32: segments_squares_u32;
        i64: segments_squares_u64;
        u64: segments_squares_u64;
    }
    Norm FIXED => {
        f32: segments_squares_f32;
        f16: segments_squares_f16;
        bf16: segments_squares_bf16;
        f64: segments_norm_f64;
    }
    Product FIXED => {
        f32: segments_product_f32;
        f16: segments_product_f16;
        bf16: segments_product_bf16;
        f64: segments_product_f64;
        i32: segments_product_i32;
        u32: segments_product_u32;
        i64: segments_product_u64;
        u64: segments_product_u64;
    }
    CountNonzero FIXED, Any FIXED, All LENGTH_PLUS_ONE => {
        u8: segments_count_u8;
        f32: segments_count_f32;
        f16: segments_count_f16_bits;
        bf16: segments_count_f16_bits;
        f64: segments_count_f64;
        i32: segments_count_u32;
        u32: segments_count_u32;
        i64: segments_count_u64;
        u64: segments_count_u64;
    }
    Variance LENGTH_MINUS => {
        f32: segments_variance_f32;
        f16: segments_variance_f16;
        bf16: segments_variance_bf16;
        f64: segments_variance_f64;
    }
}
