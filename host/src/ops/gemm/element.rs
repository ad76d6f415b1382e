//! Which numbers are multiplied, and how kernels are launched on them.

use gpu::gemm::call::WIDE_C;
use gpu::gemm::merge;
use gpu::gemm::number::Number;
use gpu::hopper::{Boxed, Shared};
use half::{bf16, f16};
use simt::Kernel;
use simt::element::Element;
use simt::global::{VecMut, VecRef};

use super::candidates::{self, Call, Candidate};
use super::share::Sharing;
use crate::device::Device;
use crate::error::Result;
use crate::launch::Launch;
use crate::memory::{BufferView, BufferViewMut, TmaTensor, TmaTensorMut};

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// A kernel that adds partial products.
type Merge<T> = Kernel<(
    VecRef<'static, f32>,
    VecMut<'static, T>,
    VecMut<'static, f32>,
    VecRef<'static, f32>,
    [u32; 3],
    u64,
    [f32; 2],
    u32,
)>;

/// The arguments of a [`Call`].
#[doc(hidden)]
#[derive(Debug)]
pub struct Arguments<'a, T: Multiply> {
    pub(super) a: BufferView<'a, T>,
    pub(super) b: BufferView<'a, T>,
    pub(super) c: BufferViewMut<'a, T>,
    pub(super) wide: BufferViewMut<'a, T::Wide>,
    pub(super) bias: BufferView<'a, T::Wide>,
    pub(super) extents: [u32; 4],
    pub(super) ld: [u64; 3],
    pub(super) batch: [u64; 3],
    pub(super) scale: [T::Wide; 2],
    pub(super) flags: u32,
}

/// The operands of a [`Boxed`] kernel.
#[doc(hidden)]
#[derive(Debug)]
pub struct Maps<'a, T: Multiply> {
    pub(super) a: TmaTensor<'a, T>,
    pub(super) b: TmaTensor<'a, T>,
    /// C, where the copy engine writes it.
    pub(super) c: Option<TmaTensorMut<'a, T>>,
    /// 1 where A's, B's matrix goes on with C's, 0 for the same one again.
    pub(super) batches: [u32; 2],
}

/// Numbers that can be multiplied: `f32`, `f16` and `bf16`, whose products are added in `f32`, and `f64`.
#[diagnostic::on_unimplemented(
    message = "there is no matrix product of `{Self}`",
    note = "the elements of A and B are `f32`, `f16`, `bf16` or `f64`, the same for both"
)]
pub trait Multiply: Number<Wide: std::fmt::Debug + PartialEq + From<f32>> + Sealed {
    /// The kernels, the one for everything first.
    #[doc(hidden)]
    const CANDIDATES: &'static [Candidate<Self>];

    /// Whether there is a kernel that adds partial products.
    #[doc(hidden)]
    const SPLITS: bool;

    /// Launches a kernel that takes these arguments.
    #[doc(hidden)]
    fn launch(
        device: &Device,
        kernel: &Call<Self, Self::Wide>,
        launch: Launch<'_>,
        arguments: Arguments<'_, Self>,
    ) -> Result<()>;

    /// The same boxes, their elements rounded to what tensor cores take.
    #[doc(hidden)]
    fn rounded(boxes: TmaTensor<'_, Self>) -> Result<TmaTensor<'_, Self>>;

    /// Launches a kernel that takes tensor maps; `a`, `b` and their strides have no use.
    #[doc(hidden)]
    fn launch_boxed(
        device: &Device,
        kernel: &Boxed<Self, Self::Wide>,
        launch: Launch<'_>,
        maps: Maps<'_, Self>,
        arguments: Arguments<'_, Self>,
    ) -> Result<()>;

    /// [`Multiply::launch_boxed`] of a kernel whose blocks may share tiles.
    #[doc(hidden)]
    fn launch_shared(
        device: &Device,
        kernel: &Shared<Self, Self::Wide>,
        launch: Launch<'_>,
        maps: Maps<'_, Self>,
        arguments: Arguments<'_, Self>,
        sharing: Sharing<'_>,
    ) -> Result<()>;

    /// Partial products in a workspace as a C; none where nothing is split.
    #[doc(hidden)]
    fn partial(workspace: BufferViewMut<'_, f32>) -> Destination<'_, Self>;

    /// Adds as many partial products as the last of the extents says; `a`, `b` and `batch` have no use.
    #[doc(hidden)]
    fn merge(
        device: &Device,
        launch: Launch<'_>,
        partial: BufferView<'_, f32>,
        arguments: Arguments<'_, Self>,
    ) -> Result<()>;
}

macro_rules! multiply {
    ($($t:ident in $wide:ident: $splits:literal, $candidates:ident, $rounded:path $(, $merge:path)?;)+) => {$(
        impl Sealed for $t {}
        impl Multiply for $t {
            const CANDIDATES: &'static [Candidate<$t>] = candidates::$candidates;
            const SPLITS: bool = $splits;

            fn launch(
                device: &Device,
                kernel: &Call<$t, $wide>,
                launch: Launch<'_>,
                Arguments { a, b, c, wide, bias, extents, ld, batch, scale, flags }: Arguments<'_, $t>,
            ) -> Result<()> {
                device.launch(kernel, launch, (a, b, c, wide, bias, extents, ld, batch, scale, flags))?;
                Ok(())
            }

            fn rounded(boxes: TmaTensor<'_, $t>) -> Result<TmaTensor<'_, $t>> {
                $rounded(boxes)
            }

            fn launch_boxed(
                device: &Device,
                kernel: &Boxed<$t, $wide>,
                launch: Launch<'_>,
                Maps { a, b, c: stored, batches }: Maps<'_, $t>,
                Arguments { c, wide, bias, extents, ld, batch, scale, flags, .. }: Arguments<'_, $t>,
            ) -> Result<()> {
                let strides = [ld[2], batch[2]];
                device.launch(kernel, launch, (a, b, stored, c, wide, bias, extents, batches, strides, scale, flags))?;
                Ok(())
            }

            fn launch_shared(
                device: &Device,
                kernel: &Shared<$t, $wide>,
                launch: Launch<'_>,
                Maps { a, b, c: stored, batches }: Maps<'_, $t>,
                Arguments { c, wide, bias, extents, ld, batch, scale, flags, .. }: Arguments<'_, $t>,
                Sharing { tiles, sums, flags: up, token }: Sharing<'_>,
            ) -> Result<()> {
                let strides = [ld[2], batch[2]];
                let call = (a, b, stored, c, wide, bias, extents, batches, strides, scale, flags, tiles, sums, up, token);
                device.launch(kernel, launch, call)?;
                Ok(())
            }

            fn partial(workspace: BufferViewMut<'_, f32>) -> Destination<'_, $t> {
                multiply!(@partial workspace $($merge)?)
            }

            #[allow(unused_variables, reason = "where nothing is split")]
            fn merge(
                device: &Device,
                launch: Launch<'_>,
                partial: BufferView<'_, f32>,
                Arguments { c, wide, bias, extents: [m, n, _, parts], ld, scale, flags, .. }: Arguments<'_, $t>,
            ) -> Result<()> {
                $(
                    let kernel: &Merge<$t> = &$merge;
                    device.launch(kernel, launch, (partial, c, wide, bias, [m, n, parts], ld[2], scale, flags))?;
                )?
                Ok(())
            }
        }
    )+};
    (@partial $workspace:ident) => {
        Destination { own: $workspace.empty(), wide: $workspace.empty(), flag: 0 }
    };
    (@partial $workspace:ident $merge:path) => {
        Destination::of($workspace)
    };
}
multiply! {
    f32 in f32: true, F32, TmaTensor::rounded_to_tf32, merge::gemm_merge_f32;
    f16 in f32: true, F16, Ok, merge::gemm_merge_f16;
    bf16 in f32: true, BF16, Ok, merge::gemm_merge_bf16;
    f64 in f64: false, F64, Ok;
}

/// C as the kernels take it: as elements of A and B, or as sums; the other one is empty.
#[doc(hidden)]
#[derive(Debug)]
pub struct Destination<'c, T: Multiply> {
    pub(super) own: BufferViewMut<'c, T>,
    pub(super) wide: BufferViewMut<'c, T::Wide>,
    /// Which of both it is, as a call's flag.
    pub(super) flag: u32,
}

impl<'c, T: Multiply> Destination<'c, T> {
    pub(super) fn of<C: Output<T>>(c: BufferViewMut<'c, C>) -> Self {
        let (own, wide) = C::destination(c);
        Self { own, wide, flag: if C::WIDE { WIDE_C } else { 0 } }
    }

    /// `len` elements from `start` on.
    pub(super) fn part(
        &mut self,
        start: usize,
        len: usize,
    ) -> Result<(BufferViewMut<'_, T>, BufferViewMut<'_, T::Wide>)> {
        let range = |is_c: bool| if is_c { start..start + len } else { 0..0 };
        let is_wide = self.flag == WIDE_C;
        Ok((self.own.view_mut().slice(range(!is_wide))?, self.wide.view_mut().slice(range(is_wide))?))
    }
}

/// What C may be made of: the type of A and B, or `f32` where that is shorter.
#[diagnostic::on_unimplemented(
    message = "a matrix of `{Self}` cannot take the product of matrices of `{T}`",
    note = "C has the elements of A and B, or `f32` where these are `f16` or `bf16`"
)]
pub trait Output<T: Multiply>: Element + Sealed {
    /// Whether C has the type of the sums and not that of A and B.
    #[doc(hidden)]
    const WIDE: bool;

    /// C as the kernels take it: as elements of A and B, or as sums, the other one empty.
    #[doc(hidden)]
    fn destination(c: BufferViewMut<'_, Self>) -> (BufferViewMut<'_, T>, BufferViewMut<'_, T::Wide>);
}

macro_rules! outputs {
    ($($t:ty),+) => {$(
        impl Output<$t> for $t {
            const WIDE: bool = false;
            fn destination(c: BufferViewMut<'_, Self>) -> (BufferViewMut<'_, $t>, BufferViewMut<'_, <$t as Number>::Wide>) {
                let none = c.empty();
                (c, none)
            }
        }
    )+};
}
outputs! { f32, f16, bf16, f64 }

macro_rules! wide_outputs {
    ($($t:ty),+) => {$(
        impl Output<$t> for f32 {
            const WIDE: bool = true;
            fn destination(c: BufferViewMut<'_, Self>) -> (BufferViewMut<'_, $t>, BufferViewMut<'_, f32>) {
                (c.empty(), c)
            }
        }
    )+};
}
wide_outputs! { f16, bf16 }
