//! Products of `f64` on tensor cores by `mma.sync`, for every GPU from compute capability 8.0 on.
//!
//! A family of their own, because Hopper has an instruction for `f64` that GPUs before it lack: they are compiled for
//! both. Its fragments are not those of the other types, so neither is the main loop.

mod mainloop;

use pastey::paste;
use simt::prelude::*;

use crate::gemm::args::{GemmArgs, Operands};
use crate::gemm::configs::mma_f64_configs;
#[cfg(not(target_arch = "nvptx64"))]
use crate::gemm::configs::{PerfModel, ThreadConfig, ThreadKernel};

/// Shared memory of a block: the stages of A and of B. Sums go through where A's stages were.
#[repr(C)]
#[derive(Shared)]
pub struct Stages<const A: usize, const B: usize> {
    a: SharedArray<f64, A>,
    b: SharedArray<f64, B>,
}

/// One kernel for each row of the table, and the list of them.
macro_rules! kernels {
    ($(
        $name:literal: $m:literal x $n:literal, $mt:literal x $nt:literal, $threads:literal, $blocks:literal,
        $registers:literal, [$one:literal $more:literal], $overhead:literal, $pm:literal x $pn:literal x $pk:literal;
    )+) => { paste! {
        $(
            /// C = act(alpha · op(A)·op(B) + beta · C + bias): see [the module](super). Sums have the bits of
            /// [`gemm_reference_f64`](crate::gemm::reference).
            #[kernel(
                block = ($threads), min_blocks = $blocks, registers = $registers, barriers = 10,
                global_load_bytes = 8, global_store_bytes = 8
            )]
            pub fn [<gemm_mma_f64_ $name>](
                #[shared] stages: &Stages<
                    { mainloop::elements($m) }, { mainloop::elements($n) },
                >,
                operands: Operands<f64>,
                gemm: GemmArgs<f64>,
            ) {
                mainloop::gemm::<
                    $m, $n, $mt, $nt, $threads, { mainloop::elements($m) }, { mainloop::elements($n) },
                >(stages, operands, gemm);
            }
        )+

        /// The kernels.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const F64: &[ThreadKernel<f64>] = &[$(
            ThreadKernel {
                config: &ThreadConfig {
                    name: $name,
                    tile: [$m, $n],
                    k_granularity: 16,
                    model: PerfModel {
                        efficiency: [$one, $more],
                        misaligned: 1.0,
                        tile_overhead: [$overhead, $overhead],
                    },
                    needed_by: [$pm, $pn, $pk],
                },
                layout: None,
                kernel: &[<gemm_mma_f64_ $name>],
            },
        )+];
    } };
}
mma_f64_configs!(kernels);
