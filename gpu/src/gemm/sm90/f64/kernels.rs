//! The kernels for `f64` fed by TMA: one for each row of the table and layout.

use pastey::paste;
use simt::prelude::*;
use simt::tma::{TensorMap, TensorMapMut};

use super::config::Config;
use super::mainloop::{Smem, elements, gemm};
use super::operand::{A, B};
use crate::gemm::args::TmaGemmArgs;
#[cfg(not(target_arch = "nvptx64"))]
use crate::gemm::configs::MmaF64Kernel;
use crate::gemm::configs::{Layout, MmaF64Config, PerfModel, mma_f64_sm90_configs};

macro_rules! kernels {
    ($(
        $name:literal: $m:literal x $n:literal, $mb:literal x $nb:literal, $stages:literal,
        stream_k = $stream_k:literal, [$($layout:ident)+],
        [$one:literal $more:literal], $misaligned:literal, $overhead:literal, $pm:literal x $pn:literal x $pk:literal;
    )+) => { paste! {
        $($(
            enum [<$layout:camel $name:camel>] {}
            impl Config for [<$layout:camel $name:camel>] {
                type A = A<{ Layout::[<$layout:upper>].k_major()[0] }>;
                type B = B<{ Layout::[<$layout:upper>].k_major()[1] }>;
                const CONFIG: MmaF64Config = MmaF64Config {
                    name: $name,
                    tile: [$m, $n],
                    warp: [$mb, $nb],
                    stages: $stages,
                    stream_k: $stream_k,
                    model: PerfModel {
                        efficiency: [$one, $more],
                        misaligned: $misaligned,
                        tile_overhead: [$overhead, $overhead],
                    },
                    needed_by: [$pm, $pn, $pk],
                };
            }

            /// C = act(alpha · op(A)·op(B) + beta · C + bias) of `f64`: see [the module](super).
            #[kernel(pdl, block = (MmaF64Config::THREADS), min_blocks = 1, registers = 168, barriers = 1)]
            pub fn [<gemm_sm90_f64_ $layout _ $name>](
                #[shared] smem: &Smem<{ elements($m, $stages) }, { elements($n, $stages) }, $stages>,
                a: &TensorMap<f64>,
                b: &TensorMap<f64>,
                stored: &TensorMapMut<f64>,
                args: TmaGemmArgs<f64>,
            ) {
                // Threads store C.
                let _ = stored;
                gemm::<[<$layout:camel $name:camel>], $mb, $nb, _, _, _>(smem, (a, b), args);
            }
        )+)+

        /// The kernels of this module.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const F64: &[MmaF64Kernel] = &[$($(
            MmaF64Kernel {
                config: &<[<$layout:camel $name:camel>] as Config>::CONFIG,
                layout: Layout::[<$layout:upper>],
                kernel: &[<gemm_sm90_f64_ $layout _ $name>],
            },
        )+)+];
    } };
}
mma_f64_sm90_configs!(kernels);
