//! The kernels of grouped products: one for each row of the table, element type and layout of B.

use half::{bf16, f16};
use pastey::paste;
use simt::float8::E4m3;
use simt::prelude::*;
use simt::tma::{TensorMap, TensorMapMut};
use simt::wgmma::{Accumulators, Columns, Width};

use super::gemm;
use super::units::GroupedSmem;
#[cfg(not(target_arch = "nvptx64"))]
use crate::gemm::args::GroupedGemmKernel;
use crate::gemm::args::{GemmArgs, GroupedGemmArgs, Scales};
#[cfg(not(target_arch = "nvptx64"))]
use crate::gemm::configs::WgmmaKernel;
use crate::gemm::configs::{Layout, PerfModel, WgmmaConfig, grouped_configs, grouped_fp8_configs};
use crate::gemm::sm90::config::{Config, accumulate, has, mainloop, scaled};
use crate::gemm::sm90::epilogue::Of;
use crate::gemm::sm90::layout::{MmaLayout, Staged, of_layout};
use crate::gemm::sm90::mainloop_wgmma_promoted;
use crate::gemm::sm90::pipeline::{BlockSmem, PipelineState};

/// Kernels for elements `$t`, called `$prefix` in their names, and the list of them, `$list`.
macro_rules! kernels {
    ($t:ident $prefix:ident $list:ident; $(
        $name:literal: $m:literal x $n:literal, $cluster:literal, $stages:literal, $flags:tt, [$($layout:ident)+],
        $efficiency:literal, [$rounded:literal $other:literal], $pm:literal x $pn:literal x $pk:literal;
    )+) => { paste! {
        $(
            kernels!(
                @row $t $flags [<CONFIG_ $prefix:upper _ $name:upper>] [<$prefix:camel $name:camel>]
                WgmmaConfig {
                    name: $name,
                    mma: [$m, $n],
                    cluster: $cluster,
                    stages: $stages,
                    swap_ab: false,
                    two_width: false,
                    stream_k: has!($flags stream_k),
                    a_in_registers: false,
                    planes: 1,
                    promotes: has!($flags promotes),
                    promotes_blocks: false,
                    element_bytes: size_of::<$t>() as u32,
                    model: PerfModel {
                        efficiency: [$efficiency, $efficiency],
                        misaligned: 1.0,
                        tile_overhead: [$rounded, $other],
                    },
                    needed_by: [$pm, $pn, $pk],
                }
            );
            $(kernels!(
                @kernel $t $m $n $stages [<gemm_grouped_ $prefix _ $layout _ $name>] [<$layout:upper>]
                [<CONFIG_ $prefix:upper _ $name:upper>] [<$prefix:camel $name:camel>]
            );)+
        )+

        /// The kernels of this element type.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const $list: &[WgmmaKernel<GroupedGemmKernel<$t>>] = &[$($(
            WgmmaKernel {
                config: &[<CONFIG_ $prefix:upper _ $name:upper>],
                layout: Layout::[<$layout:upper>],
                kernel: &[<gemm_grouped_ $prefix _ $layout _ $name>],
            },
        )+)+];
    } };
    (@row $t:ident [$($flag:ident)*] $const:ident $config:ident $value:expr) => {
        const $const: WgmmaConfig = $value;

        enum $config<const A_K_MAJOR: bool, const B_K_MAJOR: bool> {}
        impl<const A_K_MAJOR: bool, const B_K_MAJOR: bool> Config for $config<A_K_MAJOR, B_K_MAJOR>
        where
            $t: Staged<A_K_MAJOR> + Staged<B_K_MAJOR>,
        {
            type Element = $t;
            type Operand = $t;
            type Source<'a> = Scales<'a>;
            type Form =
                Of<
                    { $const.swap_ab },
                    { $const.a_in_registers },
                    true,
                    { $const.store_rows().is_some() },
                    { $const.copies_boxes() },
                >;
            type MajorA = <$t as Staged<A_K_MAJOR>>::Major;
            type MajorB = <$t as Staged<B_K_MAJOR>>::Major;
            const CONFIG: WgmmaConfig = $const;
            const K_MAJOR: [bool; 2] = [A_K_MAJOR, B_K_MAJOR];
            scaled!();
            $(mainloop!($flag);)*
        }
    };
    (@kernel $t:ident $m:literal $n:literal $stages:literal $kernel:ident $layout:ident $const:ident $config:ident) => {
        /// `C_g = alpha · A_g·op(B_g) + beta · C_g`: see [the module](super).
        #[kernel(
            pdl,
            block = ($const.threads()),
            min_blocks = 1,
            cluster = $const.cluster,
            registers = $const.registers(),
            barriers = $const.barriers() + $n / 64,
            traps = 4
        )]
        pub fn $kernel(
            #[shared] smem: &GroupedSmem<
                $t, { $m * 128 / size_of::<$t>() * $stages }, { $n * 128 / size_of::<$t>() * $stages }, $stages,
                { $const.staging() },
            >,
            a: &TensorMap<$t>,
            b: &TensorMap<$t>,
            stored: &TensorMapMut<$t>,
            args: GroupedGemmArgs<$t>,
        ) {
            let layout = MmaLayout::new($const.k_major(Layout::$layout));
            gemm::<of_layout!($config $const $layout), $n, _, _, _, _>(smem, (a, b, stored), args, layout);
        }
    };
}

macro_rules! kernels_of_bf16 {
    ($($rows:tt)+) => { kernels! { bf16 bf16 BF16; $($rows)+ } };
}
macro_rules! kernels_of_f16 {
    ($($rows:tt)+) => { kernels! { f16 f16 F16; $($rows)+ } };
}
macro_rules! kernels_of_e4m3 {
    ($($rows:tt)+) => { kernels! { E4m3 e4m3 E4M3; $($rows)+ } };
}
grouped_configs!(kernels_of_bf16);
grouped_configs!(kernels_of_f16);
grouped_fp8_configs!(kernels_of_e4m3);
