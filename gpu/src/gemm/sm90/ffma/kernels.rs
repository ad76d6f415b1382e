//! The kernels by FFMA fed by TMA: one for each row of the table and layout.

use pastey::paste;
use simt::prelude::*;
use simt::tma::{TensorMap, TensorMapMut};

use super::config::Config;
use super::mainloop::{Smem, SplitSmem};
use super::{mainloop, mainloop_split};
use crate::gemm::args::TmaGemmArgs;
#[cfg(not(target_arch = "nvptx64"))]
use crate::gemm::configs::FfmaKernel;
use crate::gemm::configs::{FfmaConfig, Layout, PerfModel, ffma_sm90_configs};

/// The type of the shared memory.
macro_rules! smem {
    (1 $elements:expr, $stages:expr) => { Smem<{ $elements }, { $stages }> };
    ($groups:literal $elements:expr, $stages:expr) => { SplitSmem<{ $elements }, { $stages }> };
}

/// What a block does.
macro_rules! run {
    (1 $config:ty, $mq:literal $nq:literal $own:literal, $smem:ident $maps:tt $args:ident) => {
        mainloop::gemm::<$config, $mq, $nq, _, _>($smem, $maps, $args)
    };
    ($groups:literal $config:ty, $mq:literal $nq:literal $own:literal, $smem:ident $maps:tt $args:ident) => {
        mainloop_split::gemm::<$config, $mq, $own, _, _>($smem, $maps, $args)
    };
}

macro_rules! kernels {
    ($(
        $name:literal: $m:literal x $n:literal x $depth:literal, $mq:literal x $nq:literal, $threads:literal,
        $groups:tt, $stages:literal, $blocks:literal, $unroll:literal, [$($layout:ident)+],
        [$one:literal $more:literal], $overhead:literal, $pm:literal x $pn:literal x $pk:literal;
    )+) => { paste! {
        $($(
            enum [<$layout:camel $name:camel>] {}
            impl Config for [<$layout:camel $name:camel>] {
                const CONFIG: FfmaConfig = FfmaConfig {
                    name: $name,
                    tile: [$m, $n],
                    depth: $depth,
                    threads: $threads,
                    groups: $groups,
                    blocks_per_sm: $blocks,
                    unroll: $unroll,
                    model: PerfModel {
                        efficiency: [$one, $more],
                        misaligned: 1.0,
                        tile_overhead: [$overhead, $overhead],
                    },
                    needed_by: [$pm, $pn, $pk],
                };
                const K_MAJOR: [bool; 2] = Layout::[<$layout:upper>].k_major();
            }

            /// C = act(alpha · op(A)·op(B) + beta · C + bias) of `f32`: see [the module](super).
            #[kernel(
                pdl, block = ($threads), min_blocks = $blocks, registers = 255,
                barriers = <[<$layout:camel $name:camel>] as Config>::CONFIG
                    .barriers(<[<$layout:camel $name:camel>] as Config>::K_MAJOR),
                traps = 2
            )]
            pub fn [<gemm_sm90_f32_ $layout _ $name>](
                #[shared] smem: &smem!($groups ($m + $n) * $depth * $stages * $groups, $stages * $groups),
                a: &TensorMap<f32>,
                b: &TensorMap<f32>,
                stored: &TensorMapMut<f32>,
                args: TmaGemmArgs<f32>,
            ) {
                // Threads store C.
                let _ = stored;
                run!($groups [<$layout:camel $name:camel>], $mq $nq $stages, smem (a, b) args);
            }
        )+)+

        /// The kernels of this module.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const F32: &[FfmaKernel] = &[$($(
            FfmaKernel {
                config: &<[<$layout:camel $name:camel>] as Config>::CONFIG,
                layout: Layout::[<$layout:upper>],
                kernel: &[<gemm_sm90_f32_ $layout _ $name>],
            },
        )+)+];
    } };
}
ffma_sm90_configs!(kernels);
