//! The element types of grouped products and of their offsets.

use gpu::gemm::args::{GroupedGemmArgs, GroupedGemmKernel, Operands};
use gpu::gemm::configs::WgmmaKernel;
use gpu::gemm::{grouped_reference, sm90};
use half::{bf16, f16};
use simt::Kernel;
use simt::element::Element;
use simt::float8::E4m3;

use crate::ops::gemm::element::Multiply;

/// A kernel whose threads load the operands.
type Reference<T> = Kernel<(Operands<'static, T>, GroupedGemmArgs<'static, T>)>;

/// Element types of A and B of a grouped product: `f16`, `bf16` and [`E4m3`].
#[diagnostic::on_unimplemented(
    message = "there is no grouped product of `{Self}`",
    note = "the elements of A and B are `f16`, `bf16` or `E4m3`, the same for both"
)]
pub trait GroupedMultiply: Multiply<Wide = f32> {
    /// The kernels on tensor cores.
    #[doc(hidden)]
    const KERNELS: &'static [WgmmaKernel<GroupedGemmKernel<Self>>];
    /// The kernel for everything.
    #[doc(hidden)]
    const REFERENCE: &'static Reference<Self>;
}

macro_rules! grouped {
    ($($t:ident $list:ident $reference:ident;)+) => {$(
        impl GroupedMultiply for $t {
            const KERNELS: &'static [WgmmaKernel<GroupedGemmKernel<Self>>] = sm90::grouped::$list;
            const REFERENCE: &'static Reference<Self> = &grouped_reference::$reference;
        }
    )+};
}
grouped! {
    f16 F16 gemm_grouped_reference_f16;
    bf16 BF16 gemm_grouped_reference_bf16;
    E4m3 E4M3 gemm_grouped_reference_e4m3;
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
