//! The element types of A, B and C, and how kernels are launched on them.

use std::fmt::Debug;

use gpu::gemm::call::WIDE_C;
use gpu::gemm::merge;
use gpu::gemm::number::Number;
use gpu::hopper::{Boxed, Shared};
use half::{bf16, f16};
use simt::Kernel;
use simt::element::Element;
use simt::global::{VecMut, VecRef};

use super::candidates;
use super::configuration::{Configuration, Generic};
use super::stream_k::StreamKArgs;
use crate::device::Device;
use crate::error::Result;
use crate::launch::Launch;
use crate::memory::{BufferView, BufferViewMut, TmaTensor, TmaTensorMut};

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// A kernel that adds partial products.
type Reduce<T> = Kernel<(
    VecRef<'static, f32>,
    VecMut<'static, T>,
    VecMut<'static, f32>,
    VecRef<'static, f32>,
    [u32; 3],
    u64,
    [f32; 2],
    u32,
)>;

/// The arguments of a [`Generic`] kernel: see `gpu::gemm::call`.
#[doc(hidden)]
#[derive(Debug)]
pub struct Arguments<'a, T: Multiply> {
    pub(super) a: BufferView<'a, T>,
    pub(super) b: BufferView<'a, T>,
    pub(super) c: OutputBuffers<'a, T>,
    pub(super) bias: BufferView<'a, T::Wide>,
    pub(super) extents: [u32; 4],
    pub(super) ld: [u64; 3],
    pub(super) batch: [u64; 3],
    pub(super) scale: [T::Wide; 2],
    pub(super) flags: u32,
}

/// The tensor maps of a TMA kernel.
#[doc(hidden)]
#[derive(Debug)]
pub struct TensorMaps<'a, T: Multiply> {
    pub(super) a: TmaTensor<'a, T>,
    pub(super) b: TmaTensor<'a, T>,
    /// C, if TMA stores it.
    pub(super) c: Option<TmaTensorMut<'a, T>>,
    /// For A and B: 1 if the batch has matrices of its own, 0 if it has one for all.
    pub(super) batch_advance: [u32; 2],
}

/// Element types of A and B: `f32`, `f16` and `bf16`, whose products are accumulated in `f32`, and `f64`.
#[diagnostic::on_unimplemented(
    message = "there is no matrix product of `{Self}`",
    note = "the elements of A and B are `f32`, `f16`, `bf16` or `f64`, the same for both"
)]
pub trait Multiply: Number<Wide: Debug + PartialEq + From<f32>> + Sealed {
    /// The kernels; the first supports every problem.
    #[doc(hidden)]
    const CONFIGURATIONS: &'static [Configuration<Self>];

    /// Whether there is a kernel that adds partial products.
    #[doc(hidden)]
    const HAS_SPLIT_K: bool;

    /// Launches a kernel that reads operands by pointer.
    #[doc(hidden)]
    fn launch(
        device: &Device,
        kernel: &Generic<Self, Self::Wide>,
        launch: Launch<'_>,
        arguments: Arguments<'_, Self>,
    ) -> Result<()>;

    /// The tensor with its elements rounded to tf32 as they are loaded, for `f32`.
    #[doc(hidden)]
    fn rounded(tensor: TmaTensor<'_, Self>) -> Result<TmaTensor<'_, Self>>;

    /// Launches a TMA kernel, which does not use `a`, `b` and their strides.
    #[doc(hidden)]
    fn launch_tma(
        device: &Device,
        kernel: &Boxed<Self, Self::Wide>,
        launch: Launch<'_>,
        maps: TensorMaps<'_, Self>,
        arguments: Arguments<'_, Self>,
    ) -> Result<()>;

    /// Launches a TMA kernel that has a stream-K schedule.
    #[doc(hidden)]
    fn launch_stream_k(
        device: &Device,
        kernel: &Shared<Self, Self::Wide>,
        launch: Launch<'_>,
        maps: TensorMaps<'_, Self>,
        arguments: Arguments<'_, Self>,
        stream_k: StreamKArgs<'_>,
    ) -> Result<()>;

    /// Partial products in a workspace as an output; empty without split-K.
    #[doc(hidden)]
    fn partials(workspace: BufferViewMut<'_, f32>) -> OutputBuffers<'_, Self>;

    /// Adds partial products, as many as `extents[3]`. `a`, `b` and `batch` are not used.
    #[doc(hidden)]
    fn reduce(
        device: &Device,
        launch: Launch<'_>,
        partials: BufferView<'_, f32>,
        arguments: Arguments<'_, Self>,
    ) -> Result<()>;
}

macro_rules! multiply {
    ($($t:ident in $wide:ident: $has_split_k:literal, $configurations:ident, $rounded:path $(, $reduce:path)?;)+) => {$(
        impl Sealed for $t {}
        impl Multiply for $t {
            const CONFIGURATIONS: &'static [Configuration<$t>] = candidates::$configurations;
            const HAS_SPLIT_K: bool = $has_split_k;

            fn launch(
                device: &Device,
                kernel: &Generic<$t, $wide>,
                launch: Launch<'_>,
                Arguments { a, b, c, bias, extents, ld, batch, scale, flags }: Arguments<'_, $t>,
            ) -> Result<()> {
                let flags = flags | c.flag;
                device.launch(kernel, launch, (a, b, c.own, c.wide, bias, extents, ld, batch, scale, flags))?;
                Ok(())
            }

            fn rounded(tensor: TmaTensor<'_, $t>) -> Result<TmaTensor<'_, $t>> {
                $rounded(tensor)
            }

            fn launch_tma(
                device: &Device,
                kernel: &Boxed<$t, $wide>,
                launch: Launch<'_>,
                TensorMaps { a, b, c: map_c, batch_advance }: TensorMaps<'_, $t>,
                Arguments { c, bias, extents, ld, batch, scale, flags, .. }: Arguments<'_, $t>,
            ) -> Result<()> {
                let (strides, flags) = ([ld[2], batch[2]], flags | c.flag);
                let arguments =
                    (a, b, map_c, c.own, c.wide, bias, extents, batch_advance, strides, scale, flags);
                device.launch(kernel, launch, arguments)?;
                Ok(())
            }

            fn launch_stream_k(
                device: &Device,
                kernel: &Shared<$t, $wide>,
                launch: Launch<'_>,
                TensorMaps { a, b, c: map_c, batch_advance }: TensorMaps<'_, $t>,
                Arguments { c, bias, extents, ld, batch, scale, flags, .. }: Arguments<'_, $t>,
                StreamKArgs { split_tiles, partials, flags: tile_flags, epoch }: StreamKArgs<'_>,
            ) -> Result<()> {
                let (strides, flags) = ([ld[2], batch[2]], flags | c.flag);
                let arguments = (
                    a, b, map_c, c.own, c.wide, bias, extents, batch_advance, strides, scale, flags, split_tiles,
                    partials, tile_flags, epoch,
                );
                device.launch(kernel, launch, arguments)?;
                Ok(())
            }

            fn partials(workspace: BufferViewMut<'_, f32>) -> OutputBuffers<'_, $t> {
                multiply!(@partials workspace $($reduce)?)
            }

            #[allow(unused_variables, reason = "without split-K")]
            fn reduce(
                device: &Device,
                launch: Launch<'_>,
                partials: BufferView<'_, f32>,
                Arguments { c, bias, extents: [m, n, _, parts], ld, scale, flags, .. }: Arguments<'_, $t>,
            ) -> Result<()> {
                $(
                    let kernel: &Reduce<$t> = &$reduce;
                    let arguments = (partials, c.own, c.wide, bias, [m, n, parts], ld[2], scale, flags | c.flag);
                    device.launch(kernel, launch, arguments)?;
                )?
                Ok(())
            }
        }
    )+};
    (@partials $workspace:ident) => {
        OutputBuffers { own: $workspace.nothing(), wide: $workspace.nothing(), flag: 0 }
    };
    (@partials $workspace:ident $reduce:path) => {
        OutputBuffers::of($workspace)
    };
}
multiply! {
    f32 in f32: true, F32, TmaTensor::rounded_to_tf32, merge::gemm_merge_f32;
    f16 in f32: true, F16, Ok, merge::gemm_merge_f16;
    bf16 in f32: true, BF16, Ok, merge::gemm_merge_bf16;
    f64 in f64: false, F64, Ok;
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
    let none = c.nothing();
    (c, none)
}

/// C in the type of the sums.
fn wide<T: Multiply>(c: BufferViewMut<'_, T::Wide>) -> (BufferViewMut<'_, T>, BufferViewMut<'_, T::Wide>) {
    (c.nothing(), c)
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
