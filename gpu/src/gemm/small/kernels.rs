//! The kernels for a C of few rows or columns: one for each row of the table.

use half::{bf16, f16};
use pastey::paste;
use simt::prelude::*;

#[cfg(not(target_arch = "nvptx64"))]
use super::LARGE_EXTENT;
use super::ffma::Rows;
use super::mainloop::gemm;
use super::mma::Fragments;
use super::{Smem, scratch, staged};
use crate::gemm::args::{GemmArgs, Operands};
#[cfg(not(target_arch = "nvptx64"))]
use crate::gemm::configs::{PerfModel, ThreadConfig, ThreadKernel};
use crate::gemm::configs::{small_16_configs, small_f32_configs};

/// Kernels of the element type `$t`, and the list of them, `$list`.
macro_rules! kernels {
    ($t:ident $list:ident: $(
        $name:literal: $per_vector:literal, $accumulators:ty, $rows:literal, $small_is_a:literal, $threads:literal,
        $registers:literal,
        [$one:literal $more:literal], $misaligned:literal, [$rounded:literal $other:literal],
        $pm:literal x $pn:literal x $pk:literal;
    )+) => { paste! {
        $(
            /// C = act(alpha · op(A)·op(B) + beta · C + bias): see [the module](super).
            #[kernel(
                block = ($threads), min_blocks = 1, registers = $registers, barriers = 4,
                global_load_bytes = size_of::<$t>() as u32, global_store_bytes = size_of::<$t>() as u32
            )]
            pub fn [<gemm_small_ $t _ $name>](
                #[shared] smem: &Smem<
                    $t,
                    { staged($threads, $rows, size_of::<$t>()) },
                    { scratch($threads, $rows) },
                >,
                operands: Operands<$t>,
                args: GemmArgs<$t>,
            ) {
                gemm::<$t, $accumulators, $per_vector, $rows, $threads, $small_is_a, _, _>(smem, operands, args);
            }
        )+

        /// The kernels of this element type.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const $list: &[ThreadKernel<$t>] = &[$(
            ThreadKernel {
                config: &ThreadConfig {
                    name: $name,
                    tile: if $small_is_a { [$rows, LARGE_EXTENT] } else { [LARGE_EXTENT, $rows] },
                    k_granularity: 16,
                    model: PerfModel {
                        efficiency: [$one, $more],
                        misaligned: $misaligned,
                        tile_overhead: [$rounded, $other],
                    },
                    needed_by: [$pm, $pn, $pk],
                },
                layout: None,
                kernel: &[<gemm_small_ $t _ $name>],
            },
        )+];
    } };
}

macro_rules! kernels_of_bf16 { ($($rows:tt)+) => { kernels! { bf16 BF16: $($rows)+ } }; }
macro_rules! kernels_of_f16 { ($($rows:tt)+) => { kernels! { f16 F16: $($rows)+ } }; }
macro_rules! kernels_of_f32 { ($($rows:tt)+) => { kernels! { f32 F32: $($rows)+ } }; }
small_16_configs!(kernels_of_bf16);
small_16_configs!(kernels_of_f16);
small_f32_configs!(kernels_of_f32);
