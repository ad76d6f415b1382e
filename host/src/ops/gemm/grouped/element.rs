//! The element types of grouped products and of their offsets.

use gpu::gemm::args::{GroupedGemmArgs, GroupedGemmKernel, Operands};
use gpu::gemm::configs::WgmmaKernel;
use gpu::gemm::{grouped_reference, sm90};
use half::{bf16, f16};
use simt::Kernel;
use simt::element::Element;

use crate::ops::gemm::element::Multiply;

/// A kernel whose threads load the operands.
type Reference<T> = Kernel<(Operands<'static, T>, GroupedGemmArgs<'static, T>)>;

/// Element types of A and B of a grouped product: `f16` and `bf16`.
#[diagnostic::on_unimplemented(
    message = "there is no grouped product of `{Self}`",
    note = "the elements of A and B are `f16` or `bf16`, the same for both"
)]
pub trait GroupedMultiply: Multiply<Wide = f32, Stored = Self> {
    /// The kernels on tensor cores.
    #[doc(hidden)]
    const KERNELS: &'static [WgmmaKernel<GroupedGemmKernel<Self>>];
    /// The kernel for everything.
    #[doc(hidden)]
    const REFERENCE: &'static Reference<Self>;
}

impl GroupedMultiply for f16 {
    const KERNELS: &'static [WgmmaKernel<GroupedGemmKernel<Self>>] = sm90::grouped::F16;
    const REFERENCE: &'static Reference<Self> = &grouped_reference::gemm_grouped_reference_f16;
}

impl GroupedMultiply for bf16 {
    const KERNELS: &'static [WgmmaKernel<GroupedGemmKernel<Self>>] = sm90::grouped::BF16;
    const REFERENCE: &'static Reference<Self> = &grouped_reference::gemm_grouped_reference_bf16;
}

mod sealed {
    pub trait Sealed {}
}

/// Integer types of the offsets of a grouped product: `u32` and `i32`, whose negative numbers count as too large.
pub trait GroupOffset: Element + sealed::Sealed {}
impl sealed::Sealed for u32 {}
impl sealed::Sealed for i32 {}
impl GroupOffset for u32 {}
impl GroupOffset for i32 {}
