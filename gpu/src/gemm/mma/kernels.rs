//! The kernels by `mma.sync`: one for each row of the table, element type and layout.

use half::{bf16, f16};
use pastey::paste;
use simt::prelude::*;

use super::mainloop::Block;
use super::{Stages, elements};
use crate::gemm::args::{GemmArgs, Operands};
#[cfg(not(target_arch = "nvptx64"))]
use crate::gemm::configs::{Layout, PerfModel, ThreadConfig, ThreadKernel};
use crate::gemm::configs::{mma_16_configs, mma_tf32_configs};
use crate::gemm::order::orders;

/// Kernels of the element type `$t`, of which 16 bytes hold `$chunk`, called `$prefix` in their names, and the list of
/// them.
macro_rules! kernels {
    ($t:ident $chunk:literal $prefix:ident $list:ident: $(
        $name:literal: $m:literal x $n:literal, $mt:literal x $nt:literal, $threads:literal, $blocks:literal,
        $registers:literal, [$($layout:ident)+], [$one:literal $more:literal], $misaligned:literal,
        [$rounded:literal $other:literal], $pm:literal x $pn:literal x $pk:literal;
    )+) => { paste! {
        $($(
            /// C = act(alpha · op(A)·op(B) + beta · C + bias): see [the module](super). Operands begin anywhere,
            /// aligned to 16 bytes for speed.
            #[kernel(
                block = ($threads), min_blocks = $blocks, registers = $registers, barriers = 5,
                global_load_bytes = size_of::<$t>() as u32, global_store_bytes = size_of::<$t>() as u32
            )]
            pub fn [<gemm_mma_ $prefix _ $layout _ $name>](
                #[shared] stages: &Stages<$t, { elements($m, $chunk) }, { elements($n, $chunk) }>,
                operands: Operands<$t>,
                gemm: GemmArgs<$t>,
            ) {
                const { assert!($threads * $mt * $nt * 4 == $m * $n) }
                Block::<$t, _, _, $chunk, $m, $n, { elements($m, $chunk) }, { elements($n, $chunk) }, $mt, $nt>::run(
                    orders!([<$layout:upper>]), stages, operands, gemm,
                );
            }
        )+)+

        /// The kernels of this element type.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const $list: &[ThreadKernel<$t>] = &[$($(
            ThreadKernel {
                config: &ThreadConfig {
                    name: $name,
                    tile: [$m, $n],
                    k_granularity: if $chunk == 8 { 32 } else { 16 },
                    model: PerfModel {
                        efficiency: [$one, $more],
                        misaligned: $misaligned,
                        tile_overhead: [$rounded, $other],
                    },
                    needed_by: [$pm, $pn, $pk],
                },
                layout: Some(Layout::[<$layout:upper>]),
                kernel: &[<gemm_mma_ $prefix _ $layout _ $name>],
            },
        )+)+];
    } };
}

macro_rules! kernels_of_f16 { ($($rows:tt)+) => { kernels! { f16 8 f16 F16: $($rows)+ } }; }
macro_rules! kernels_of_bf16 { ($($rows:tt)+) => { kernels! { bf16 8 bf16 BF16: $($rows)+ } }; }
macro_rules! kernels_of_tf32 { ($($rows:tt)+) => { kernels! { f32 4 tf32 TF32: $($rows)+ } }; }
mma_16_configs!(kernels_of_f16);
mma_16_configs!(kernels_of_bf16);
mma_tf32_configs!(kernels_of_tf32);
