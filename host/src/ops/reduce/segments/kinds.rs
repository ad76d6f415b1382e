//! Which reductions there are of segments, and by which kernels.

use gpu::reduce_segments as kernels;
use half::{bf16, f16};
use simt::Kernel;
use simt::element::Element;
use simt::global::{VecMut, VecRef};

use crate::ops::reduce::along::AxisReduction;
use crate::ops::reduce::kinds::{ArgMax, ArgMin, Max, Mean, Min, NanArgMax, NanArgMin, NanMax, NanMin, NanSum, Sum};

type Memory<T> = VecRef<'static, T>;
type Results<U> = VecMut<'static, U>;

/// A kernel for segments.
pub(super) type Segments<T, U> =
    Kernel<(Memory<T>, VecRef<'static, u32>, VecMut<'static, u64>, Results<U>, u32, u32, u32, u64)>;

mod sealed {
    pub trait Sealed {}
}

/// Integers that say where segments begin: `u32` and `u64`.
pub trait Offset: Element + Into<u64> + sealed::Sealed {}
impl sealed::Sealed for u32 {}
impl sealed::Sealed for u64 {}
impl Offset for u32 {}
impl Offset for u64 {}

/// A reduction that has a kernel for the segments of a vector of `T`.
#[diagnostic::on_unimplemented(
    message = "there is no kernel for the reduction `{Self}` of segments of `{T}`",
    note = "segments have `Sum`, `NanSum`, `Mean`, `Max`, `Min`, `ArgMax`, `ArgMin`, and these with `Nan` before"
)]
pub trait SegmentReduction<T: Element>: AxisReduction<T> {
    /// The kernel.
    #[doc(hidden)]
    const SEGMENTS: Segments<Self::Read, Self::Written>;
    /// Whether its parameter is the segment's length + 1.
    #[doc(hidden)]
    const BY_LENGTH: bool;
}

macro_rules! segments {
    ($($name:ident, by length $by:literal { $($t:ty: $kernel:ident;)+ })+) => {$($(
        impl SegmentReduction<$t> for $name {
            const SEGMENTS: Segments<Self::Read, Self::Written> = kernels::$kernel;
            const BY_LENGTH: bool = $by;
        }
    )+)+};
}
segments! {
    Sum, by length false {
        f32: segments_total_f32;
        f16: segments_total_f16;
        bf16: segments_total_bf16;
        f64: segments_total_f64;
        i32: segments_total_i32;
        u32: segments_total_u32;
        i64: segments_total_u64;
        u64: segments_total_u64;
    }
    NanSum, by length false {
        f32: segments_nan_total_f32;
        f16: segments_nan_total_f16;
        bf16: segments_nan_total_bf16;
        f64: segments_nan_total_f64;
    }
    Max, by length false {
        f32: segments_best_f32;
        f16: segments_best_f16;
        bf16: segments_best_bf16;
        f64: segments_best_f64;
        i32: segments_best_u32;
        u32: segments_best_u32;
        i64: segments_best_u64;
        u64: segments_best_u64;
    }
    Min, by length false {
        f32: segments_best_f32;
        f16: segments_best_f16;
        bf16: segments_best_bf16;
        f64: segments_best_f64;
        i32: segments_best_u32;
        u32: segments_best_u32;
        i64: segments_best_u64;
        u64: segments_best_u64;
    }
    NanMax, by length false {
        f32: segments_nan_best_f32;
        f16: segments_nan_best_f16;
        bf16: segments_nan_best_bf16;
        f64: segments_nan_best_f64;
    }
    NanMin, by length false {
        f32: segments_nan_best_f32;
        f16: segments_nan_best_f16;
        bf16: segments_nan_best_bf16;
        f64: segments_nan_best_f64;
    }
    ArgMax, by length false {
        f32: segments_best_at_f32;
        f16: segments_best_at_f16;
        bf16: segments_best_at_bf16;
        f64: segments_best_at_f64;
        i32: segments_best_at_u32;
        u32: segments_best_at_u32;
        i64: segments_best_at_u64;
        u64: segments_best_at_u64;
    }
    ArgMin, by length false {
        f32: segments_best_at_f32;
        f16: segments_best_at_f16;
        bf16: segments_best_at_bf16;
        f64: segments_best_at_f64;
        i32: segments_best_at_u32;
        u32: segments_best_at_u32;
        i64: segments_best_at_u64;
        u64: segments_best_at_u64;
    }
    NanArgMax, by length false {
        f32: segments_nan_best_at_f32;
        f16: segments_nan_best_at_f16;
        bf16: segments_nan_best_at_bf16;
        f64: segments_nan_best_at_f64;
    }
    NanArgMin, by length false {
        f32: segments_nan_best_at_f32;
        f16: segments_nan_best_at_f16;
        bf16: segments_nan_best_at_bf16;
        f64: segments_nan_best_at_f64;
    }
    Mean, by length true {
        f32: segments_total_f32;
        f16: segments_total_f16;
        bf16: segments_total_bf16;
        f64: segments_total_f64;
        i32: segments_total_i32;
        u32: segments_total_u32;
    }
}
