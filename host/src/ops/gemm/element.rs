//! The element types of A, B and C.

use std::fmt::Debug;

use gpu::gemm::args::{F16_C, INTEGER_C, WIDE_C};
use gpu::gemm::number::Number;
use gpu::gemm::reduce_k::{self, ReduceK};
use half::{bf16, f16};
use simt::element::Element;
use simt::float8::{E4m3, E5m2};

use super::configuration::Kernels;
use crate::error::Result;
use crate::memory::BufferViewMut;

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// Element types of A and B: `f32`, `f16`, `bf16`, [`E4m3`] and [`E5m2`], whose products are accumulated in `f32`;
/// `i8`, whose products are accumulated in `i32`; and `f64`.
#[diagnostic::on_unimplemented(
    message = "there is no matrix product of `{Self}`",
    note = "the elements of A and B are `f32`, `f16`, `bf16`, `f64`, `i8`, `E4m3` or `E5m2`, the same for both"
)]
pub trait Multiply:
    Number<Wide: Debug + PartialEq + From<f32> + Send + Sync, Stored: Debug> + Kernels + Sealed
{
    /// The kernel that adds the partial products of split-K.
    #[doc(hidden)]
    const REDUCE: Option<&'static ReduceK<Self>>;

    /// Partial products in a workspace as an output; empty without split-K.
    #[doc(hidden)]
    fn partials(workspace: BufferViewMut<'_, f32>) -> OutputBuffers<'_, Self>;
}

/// Element types of A and B of 8 bits, whose products may have factors for rows and columns: `i8`, [`E4m3`] and
/// [`E5m2`].
#[diagnostic::on_unimplemented(
    message = "products of `{Self}` have no factors for rows and columns",
    note = "they are for the quantised types: `i8`, `E4m3` and `E5m2`"
)]
pub trait Quantized: Multiply<Wide = f32> {}
impl Quantized for i8 {}
impl Quantized for E4m3 {}
impl Quantized for E5m2 {}

/// No partial products.
#[allow(clippy::needless_pass_by_value, reason = "the signature of `OutputBuffers::of`")]
fn no_partials<T: Multiply>(workspace: BufferViewMut<'_, f32>) -> OutputBuffers<'_, T> {
    OutputBuffers { own: workspace.empty(), wide: workspace.empty(), flag: 0 }
}

macro_rules! multiply {
    ($($t:ident: $reduce:expr, $partials:path;)+) => {$(
        impl Sealed for $t {}
        impl Multiply for $t {
            const REDUCE: Option<&'static ReduceK<$t>> = $reduce;
            fn partials(workspace: BufferViewMut<'_, f32>) -> OutputBuffers<'_, $t> {
                $partials(workspace)
            }
        }
    )+};
}
multiply! {
    f32: Some(&reduce_k::gemm_reduce_k_f32), OutputBuffers::of;
    f16: Some(&reduce_k::gemm_reduce_k_f16), OutputBuffers::of;
    bf16: Some(&reduce_k::gemm_reduce_k_bf16), OutputBuffers::of;
    f64: None, no_partials;
    i8: None, no_partials;
    E4m3: None, no_partials;
    E5m2: None, no_partials;
}

impl Sealed for i32 {}

/// C as kernels take it: in the type of A and B (of 8-bit ones in 16 bits), or in that of the sums (or as `i32`); the
/// other one is empty.
#[doc(hidden)]
#[derive(Debug)]
pub struct OutputBuffers<'c, T: Multiply> {
    pub(super) own: BufferViewMut<'c, T::Stored>,
    pub(super) wide: BufferViewMut<'c, T::Wide>,
    /// The kernels' flags that say which.
    pub(super) flag: u32,
}

impl<'c, T: Multiply> OutputBuffers<'c, T> {
    pub(super) fn of<C: Output<T>>(c: BufferViewMut<'c, C>) -> Self {
        let (own, wide) = C::buffers(c);
        Self { own, wide, flag: C::FLAGS }
    }

    pub(super) fn is_wide(&self) -> bool {
        self.flag & WIDE_C != 0
    }

    /// Bytes of an element of C.
    pub(super) fn element_bytes(&self) -> usize {
        if self.is_wide() { size_of::<T::Wide>() } else { size_of::<T::Stored>() }
    }

    /// `len` elements beginning with `start`.
    pub(super) fn slice(&mut self, start: usize, len: usize) -> Result<OutputBuffers<'_, T>> {
        let range = |is_c: bool| if is_c { start..start + len } else { 0..0 };
        let is_wide = self.is_wide();
        Ok(OutputBuffers {
            own: self.own.view_mut().slice(range(!is_wide))?,
            wide: self.wide.view_mut().slice(range(is_wide))?,
            flag: self.flag,
        })
    }
}

/// Element types whose products [`Device::matmul`](crate::Device::matmul) computes, which sums in order of k: `f32` and
/// `f64`.
#[diagnostic::on_unimplemented(
    message = "`matmul` does not multiply matrices of `{Self}`: use `gemm`",
    note = "`matmul` sums in order of k, for `f32` and `f64`; \
            `device.gemm(&a, &b).run()` also multiplies `f16` and `bf16`, on tensor cores"
)]
pub trait Sequential: Multiply<Stored = Self> + Output<Self> {}
#[diagnostic::do_not_recommend]
impl Sequential for f32 {}
#[diagnostic::do_not_recommend]
impl Sequential for f64 {}

/// Element types of C: that of A and B, or `f32` if A and B are `f16` or `bf16`. Where A and B are [`E4m3`] or
/// [`E5m2`], `f32`, `bf16` or `f16`; where they are `i8` also `i32`, the sums as they are: alpha is then 1, beta 0, and
/// there is neither bias nor activation.
#[diagnostic::on_unimplemented(
    message = "a matrix of `{Self}` cannot take the product of matrices of `{T}`",
    note = "C has the elements of A and B, or `f32` where these are `f16` or `bf16`; where they have 8 bits, `f32`, \
            `bf16` or `f16`, and where they are `i8` also `i32`"
)]
pub trait Output<T: Multiply>: Element + Sealed {
    /// The kernels' flags for it.
    #[doc(hidden)]
    const FLAGS: u32;

    /// C as elements of A and B, or as sums; the other one is empty.
    #[doc(hidden)]
    fn buffers(c: BufferViewMut<'_, Self>) -> (BufferViewMut<'_, T::Stored>, BufferViewMut<'_, T::Wide>);
}

/// C in the type of A and B, or in one of the same size as [`Number::Stored`].
fn own<T: Multiply, C: Element>(c: BufferViewMut<'_, C>) -> (BufferViewMut<'_, T::Stored>, BufferViewMut<'_, T::Wide>) {
    let none = c.empty();
    (c.cast(), none)
}

/// C in the type of the sums, or in one of the same size.
fn wide<T: Multiply, C: Element>(
    c: BufferViewMut<'_, C>,
) -> (BufferViewMut<'_, T::Stored>, BufferViewMut<'_, T::Wide>) {
    (c.empty(), c.cast())
}

macro_rules! outputs {
    ($($c:ident of $t:ident: $flags:expr, $buffers:ident;)+) => {$(
        impl Output<$t> for $c {
            const FLAGS: u32 = $flags;
            fn buffers(
                c: BufferViewMut<'_, $c>,
            ) -> (BufferViewMut<'_, <$t as Number>::Stored>, BufferViewMut<'_, <$t as Number>::Wide>) {
                $buffers::<$t, $c>(c)
            }
        }
    )+};
}
outputs! {
    f32 of f32: 0, own;
    f16 of f16: 0, own;
    f32 of f16: WIDE_C, wide;
    bf16 of bf16: 0, own;
    f32 of bf16: WIDE_C, wide;
    f64 of f64: 0, own;
    f32 of E4m3: WIDE_C, wide;
    bf16 of E4m3: 0, own;
    f16 of E4m3: F16_C, own;
    f32 of E5m2: WIDE_C, wide;
    bf16 of E5m2: 0, own;
    f16 of E5m2: F16_C, own;
    i32 of i8: WIDE_C | INTEGER_C, wide;
    f32 of i8: WIDE_C, wide;
    bf16 of i8: 0, own;
    f16 of i8: F16_C, own;
}
