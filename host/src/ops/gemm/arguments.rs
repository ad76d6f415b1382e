//! The kernels' argument structs (`gpu::gemm::args`) as a launch passes them.

use gpu::gemm::args::{GemmArgs, Operands, TmaGemmArgs};
use simt::StructArg;

use super::element::{Multiply, OutputBuffers};
use super::stream_k::StreamKArgs;
use crate::error::Result;
use crate::launch::{Arg, Binder, Sealed};
use crate::memory::BufferView;

/// [`GemmArgs`].
#[derive(Debug)]
pub(super) struct GemmArguments<'a, T: Multiply> {
    pub(super) c: OutputBuffers<'a, T>,
    pub(super) bias: BufferView<'a, T::Wide>,
    pub(super) ldc: u64,
    pub(super) stride_c: u64,
    /// m, n, k and the number of matrices.
    pub(super) extents: [u32; 4],
    /// alpha and beta.
    pub(super) scale: [T::Wide; 2],
    pub(super) flags: u32,
}

impl<T: Multiply> Sealed for GemmArguments<'_, T> {}
impl<T: Multiply> Arg<GemmArgs<'static, T>> for GemmArguments<'_, T> {
    fn bind<'b>(self, binder: &mut Binder<'b>) -> Result<GemmArgs<'static, T>>
    where
        Self: 'b,
    {
        let ([m, n, k, batch], [alpha, beta]) = (self.extents, self.scale);
        binder.fields(&["c", "c_wide", "bias"], |binder| {
            Ok(GemmArgs {
                c: binder.field(0, self.c.own)?,
                c_wide: binder.field(1, self.c.wide)?,
                bias: binder.field(2, self.bias)?,
                ldc: self.ldc,
                stride_c: self.stride_c,
                m,
                n,
                k,
                batch,
                alpha,
                beta,
                flags: self.flags,
            })
        })
    }
}

/// [`Operands`].
#[derive(Debug)]
pub(super) struct OperandArguments<'a, T: Multiply> {
    pub(super) a: BufferView<'a, T>,
    pub(super) b: BufferView<'a, T>,
    pub(super) ld: [u64; 2],
    pub(super) stride: [u64; 2],
}

impl<T: Multiply> Sealed for OperandArguments<'_, T> {}
impl<T: Multiply> Arg<Operands<'static, T>> for OperandArguments<'_, T> {
    fn bind<'b>(self, binder: &mut Binder<'b>) -> Result<Operands<'static, T>>
    where
        Self: 'b,
    {
        binder.fields(Operands::<T>::NAMES, |binder| {
            let (a, b) = (binder.field(0, self.a)?, binder.field(1, self.b)?);
            Ok(Operands { a, b, ld: self.ld, stride: self.stride })
        })
    }
}

/// [`TmaGemmArgs`].
#[derive(Debug)]
pub(super) struct TmaArguments<'a, T: Multiply> {
    pub(super) gemm: GemmArguments<'a, T>,
    pub(super) batch_step: [u32; 2],
    pub(super) stream_k: StreamKArgs<'a>,
}

impl<T: Multiply> Sealed for TmaArguments<'_, T> {}
impl<T: Multiply> Arg<TmaGemmArgs<'static, T>> for TmaArguments<'_, T> {
    fn bind<'b>(self, binder: &mut Binder<'b>) -> Result<TmaGemmArgs<'static, T>>
    where
        Self: 'b,
    {
        let gemm = self.gemm.bind(binder)?;
        let stream_k = self.stream_k.fields().bind(binder)?;
        Ok(TmaGemmArgs { gemm, batch_step: self.batch_step, stream_k })
    }
}
