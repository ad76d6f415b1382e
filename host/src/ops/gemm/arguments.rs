//! [`GemmArgs`] as a launch passes it. The other argument structs of `gpu::gemm::args` are [`Fields`](crate::Fields).

use gpu::gemm::args::GemmArgs;
use simt::StructArg;

use super::element::{Multiply, OutputBuffers};
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
    fn bind<'b>(self, binder: &mut Binder<'b>) -> GemmArgs<'static, T>
    where
        Self: 'b,
    {
        let ([m, n, k, batch], [alpha, beta]) = (self.extents, self.scale);
        binder.fields(GemmArgs::<T>::NAMES, |binder| GemmArgs {
            c: binder.field(0, self.c.own),
            c_wide: binder.field(1, self.c.wide),
            bias: binder.field(2, self.bias),
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
    }
}
