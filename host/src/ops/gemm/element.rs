//! The element types of A, B and C.

use std::fmt::Debug;

use gpu::gemm::args::WIDE_C;
use gpu::gemm::number::Number;
use gpu::gemm::reduce_k::{self, ReduceK};
use half::{bf16, f16};
use simt::element::Element;

use super::configuration::Kernels;
use crate::error::Result;
use crate::memory::{BufferViewMut, TmaTensor};

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// Element types of A and B: `f32`, `f16` and `bf16`, whose products are accumulated in `f32`, and `f64`.
#[diagnostic::on_unimplemented(
    message = "there is no matrix product of `{Self}`",
    note = "the elements of A and B are `f32`, `f16`, `bf16` or `f64`, the same for both"
)]
pub trait Multiply: Number<Wide: Debug + PartialEq + From<f32> + Send + Sync> + Kernels + Sealed {
    /// The kernel that adds the partial products of split-K.
    #[doc(hidden)]
    const REDUCE: Option<&'static ReduceK<Self>>;

    /// The tensor with its elements rounded to tf32 as they are loaded, for `f32`.
    #[doc(hidden)]
    fn rounded(tensor: TmaTensor<'_, Self>) -> Result<TmaTensor<'_, Self>>;

    /// Partial products in a workspace as an output; empty without split-K.
    #[doc(hidden)]
    fn partials(workspace: BufferViewMut<'_, f32>) -> OutputBuffers<'_, Self>;
}

/// No partial products.
#[allow(clippy::needless_pass_by_value, reason = "the signature of `OutputBuffers::of`")]
fn no_partials<T: Multiply>(workspace: BufferViewMut<'_, f32>) -> OutputBuffers<'_, T> {
    OutputBuffers { own: workspace.empty(), wide: workspace.empty(), flag: 0 }
}

macro_rules! multiply {
    ($($t:ident: $reduce:expr, $partials:path, $rounded:path;)+) => {$(
        impl Sealed for $t {}
        impl Multiply for $t {
            const REDUCE: Option<&'static ReduceK<$t>> = $reduce;
            fn rounded(tensor: TmaTensor<'_, $t>) -> Result<TmaTensor<'_, $t>> {
                $rounded(tensor)
            }

            fn partials(workspace: BufferViewMut<'_, f32>) -> OutputBuffers<'_, $t> {
                $partials(workspace)
            }
        }
    )+};
}
multiply! {
    f32: Some(&reduce_k::gemm_reduce_k_f32), OutputBuffers::of, TmaTensor::rounded_to_tf32;
    f16: Some(&reduce_k::gemm_reduce_k_f16), OutputBuffers::of, Ok;
    bf16: Some(&reduce_k::gemm_reduce_k_bf16), OutputBuffers::of, Ok;
    f64: None, no_partials, Ok;
}

/// C as kernels take it: in the type of A and B, or in that of the sums; the other one is empty.
#[doc(hidden)]
#[derive(Debug)]
pub struct OutputBuffers<'c, T: Multiply> {
    pub(super) own: BufferViewMut<'c, T>,
    pub(super) wide: BufferViewMut<'c, T::Wide>,
    /// The kernels' flag that says which.
    pub(super) flag: u32,
}

impl<'c, T: Multiply> OutputBuffers<'c, T> {
    pub(super) fn of<C: Output<T>>(c: BufferViewMut<'c, C>) -> Self {
        let (own, wide) = C::buffers(c);
        Self { own, wide, flag: if C::IS_WIDE { WIDE_C } else { 0 } }
    }

    /// `len` elements beginning with `start`.
    pub(super) fn slice(&mut self, start: usize, len: usize) -> Result<OutputBuffers<'_, T>> {
        let range = |is_c: bool| if is_c { start..start + len } else { 0..0 };
        let is_wide = self.flag == WIDE_C;
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
pub trait Sequential: Multiply + Output<Self> {}
#[diagnostic::do_not_recommend]
impl Sequential for f32 {}
#[diagnostic::do_not_recommend]
impl Sequential for f64 {}

/// Element types of C: that of A and B, or `f32` if A and B are `f16` or `bf16`.
#[diagnostic::on_unimplemented(
    message = "a matrix of `{Self}` cannot take the product of matrices of `{T}`",
    note = "C has the elements of A and B, or `f32` where these are `f16` or `bf16`"
)]
pub trait Output<T: Multiply>: Element + Sealed {
    /// Whether it is the type of the sums, and not that of A and B.
    #[doc(hidden)]
    const IS_WIDE: bool;

    /// C as elements of A and B, or as sums; the other one is empty.
    #[doc(hidden)]
    fn buffers(c: BufferViewMut<'_, Self>) -> (BufferViewMut<'_, T>, BufferViewMut<'_, T::Wide>);
}

/// C in the type of A and B.
fn own<T: Multiply>(c: BufferViewMut<'_, T>) -> (BufferViewMut<'_, T>, BufferViewMut<'_, T::Wide>) {
    let none = c.empty();
    (c, none)
}

/// C in the type of the sums.
fn wide<T: Multiply>(c: BufferViewMut<'_, T::Wide>) -> (BufferViewMut<'_, T>, BufferViewMut<'_, T::Wide>) {
    (c.empty(), c)
}

macro_rules! outputs {
    ($($c:ident of $t:ident: $is_wide:literal, $buffers:ident;)+) => {$(
        impl Output<$t> for $c {
            const IS_WIDE: bool = $is_wide;
            fn buffers(
                c: BufferViewMut<'_, $c>,
            ) -> (BufferViewMut<'_, $t>, BufferViewMut<'_, <$t as Number>::Wide>) {
                $buffers::<$t>(c)
            }
        }
    )+};
}
outputs! {
    f32 of f32: false, own;
    f16 of f16: false, own;
    f32 of f16: true, wide;
    bf16 of bf16: false, own;
    f32 of bf16: true, wide;
    f64 of f64: false, own;
}
