//! The kernels on the tensor cores: one for each row of the table, element type and layout.

use half::{bf16, f16};
use pastey::paste;
use simt::float8::{E4m3, E5m2};
use simt::prelude::*;
use simt::tma::{TensorMap, TensorMapMut};
use simt::wgmma::{Accumulators, Columns, Width};

use super::config::{Config, accumulate, has, mainloop, scaled};
use super::epilogue::Of;
use super::layout::{MmaLayout, Staged, of_layout};
use super::mainloop_wgmma_blocks::Blocks;
use super::pipeline::{BlockSmem, PipelineState};
use super::{bf16x6, gemm, gemm_two_width, mainloop_wgmma_blocks, mainloop_wgmma_promoted, mainloop_wgmma_rs};
#[cfg(not(target_arch = "nvptx64"))]
use crate::gemm::args::{BlockScaledGemmKernel, PlanesGemmKernel, ScaledGemmKernel, TmaGemmKernel};
use crate::gemm::args::{BlockScales, GemmArgs, Operands, Scales, TmaGemmArgs};
#[cfg(not(target_arch = "nvptx64"))]
use crate::gemm::configs::WgmmaKernel;
use crate::gemm::configs::{
    Layout, PerfModel, WgmmaConfig, wgmma_16_configs, wgmma_bf16x6_configs, wgmma_fp8_blocks_configs,
    wgmma_fp8_configs, wgmma_fp8_fast_configs, wgmma_i8_configs, wgmma_tf32_configs,
};

/// What differs in a [`Config`] where elements of 16 and 32 bits are multiplied as they are, those of 8 bits, and where
/// planes are.
macro_rules! operands {
    ([]) => {
        type Source<'a> = ();
    };
    ([scales]) => {
        type Source<'a> = Scales<'a>;

        scaled!();
    };
    ([blocks]) => {
        type Source<'a> = BlockScales<'a>;
    };
    ([source]) => {
        type Source<'a> = Operands<'a, f32>;

        accumulate!(bf16, Operands<'_, f32>, |block, sum, state, (row, [from, to]), _source, place| {
            bf16x6::mainloop::accumulate::<Self, N, A, B, STAGES>(&block.pipeline, sum, state, (row, to - from));
            // Before the products its result would take registers that they need.
            place()
        });

        #[cfg_attr(optimised, inline(always))]
        fn finish<const N: usize>(
            accumulator: &mut Accumulators<N>,
            source: Operands<'_, f32>,
            place: [u32; 3],
            gemm: &GemmArgs<'_, f32>,
        ) where
            Columns<N>: Width,
        {
            bf16x6::unscale::unscale(accumulator, source, place, gemm);
        }
    };
}

/// The planes of an operand.
macro_rules! planes {
    ([source: $($type:tt)+]) => {
        bf16x6::PLANES
    };
    ($none:tt) => {
        1
    };
}

/// What a block does.
macro_rules! run {
    ([two_width] $config:ty, $n:literal, $($argument:expr),+) => {
        gemm_two_width::gemm::<$config, _, _, _, _>($($argument),+)
    };
    ([$($flag:ident)*] $config:ty, $n:literal, $($argument:expr),+) => {
        gemm::gemm::<$config, $n, _, _, _, _, _>($($argument),+)
    };
}

/// The value of the parameter `$source`, if there is one.
macro_rules! source {
    ([]) => {
        ()
    };
    ([$source:ident]) => {
        $source
    };
}

/// Kernels for C of `$t` and operands of `$x`, called `$prefix` in their names, and the list of them, `$list`, of
/// signature `$kind`. There may be one more parameter, `$source`: what planes were split from, or the factors of
/// rows and columns.
macro_rules! kernels {
    ($t:ident of $x:ident $source:tt $prefix:ident $list:ident: $kind:ident; $(
        $name:literal: $m:literal x $n:literal, $cluster:literal, $stages:literal, $flags:tt, [$($layout:ident)+],
        [$one:literal $more:literal], $misaligned:literal, [$rounded:literal $other:literal],
        $pm:literal x $pn:literal x $pk:literal;
    )+) => { paste! {
        $(
            kernels!(
                @row $t $x $source $m $n $stages $flags
                [<ROW_ $prefix:upper $(_ $layout:upper)+ _ $name:upper>] [<$prefix:camel $($layout:camel)+ $name:camel>]
                [$(
                    [<gemm_sm90_ $prefix _ $layout _ $name>] [<CONFIG_ $prefix:upper _ $layout:upper _ $name:upper>]
                    [<$layout:upper>],
                )+]
                WgmmaConfig {
                    name: $name,
                    mma: [$m, $n],
                    cluster: $cluster,
                    stages: $stages,
                    swap_ab: has!($flags swap_ab),
                    two_width: has!($flags two_width),
                    stream_k: has!($flags stream_k),
                    a_in_registers: has!($flags a_in_registers),
                    promotes: has!($flags promotes),
                    promotes_blocks: has!($flags promotes_blocks),
                    planes: planes!($source),
                    element_bytes: size_of::<$x>() as u32,
                    model: PerfModel {
                        efficiency: [$one, $more],
                        misaligned: $misaligned,
                        tile_overhead: [$rounded, $other],
                    },
                    needed_by: [$pm, $pn, $pk],
                }
            );
        )+

        /// The kernels of this element type.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const $list: &[WgmmaKernel<$kind<$t>>] = &[$($(
            WgmmaKernel {
                config: &[<CONFIG_ $prefix:upper _ $layout:upper _ $name:upper>],
                layout: Layout::[<$layout:upper>],
                kernel: &[<gemm_sm90_ $prefix _ $layout _ $name>],
            },
        )+)+];
    } };
    (@row $t:ident $x:ident $source:tt $m:literal $n:literal $stages:literal $flags:tt
        $const:ident $config:ident [$($kernel:ident $of_layout:ident $layout:ident,)+] $value:expr
    ) => {
        kernels!(@config $t $x $source $flags $const $config $value);
        $(
            #[cfg(not(target_arch = "nvptx64"))]
            const $of_layout: WgmmaConfig = $const;
            kernels!(@kernel $t $x $source $m $n $stages $flags $const $config $kernel $layout);
        )+
    };
    (@config $t:ident $x:ident [$($source:ident: $($type:tt)+)?] [$($flag:ident)*] $const:ident $config:ident
        $value:expr
    ) => {
        const $const: WgmmaConfig = $value;

        enum $config<const A_K_MAJOR: bool, const B_K_MAJOR: bool> {}
        impl<const A_K_MAJOR: bool, const B_K_MAJOR: bool> Config for $config<A_K_MAJOR, B_K_MAJOR>
        where
            $x: Staged<A_K_MAJOR> + Staged<B_K_MAJOR>,
        {
            type Element = $t;
            type Operand = $x;
            type Form =
                Of<
                    { $const.swap_ab },
                    { $const.a_in_registers },
                    false,
                    { $const.store_rows().is_some() },
                    { $const.copies_boxes() },
                >;
            type MajorA = <$x as Staged<A_K_MAJOR>>::Major;
            type MajorB = <$x as Staged<B_K_MAJOR>>::Major;
            const CONFIG: WgmmaConfig = $const;
            const K_MAJOR: [bool; 2] = [A_K_MAJOR, B_K_MAJOR];
            operands!([$($source)?]);
            $(mainloop!($flag);)*
        }
    };
    (@kernel $t:ident $x:ident [$($source:ident: $($type:tt)+)?] $m:literal $n:literal $stages:literal [$($flag:ident)*]
        $const:ident $config:ident $kernel:ident $layout:ident
    ) => {
        /// C = act(alpha · op(A)·op(B) + beta · C + bias): see [the module](super).
        #[kernel(
            pdl,
            block = ($const.threads()),
            min_blocks = 1,
            cluster = $const.cluster,
            registers = $const.registers(),
            barriers = $const.barriers(),
            traps = 4
        )]
        pub fn $kernel(
            #[shared] smem: &BlockSmem<
                $x, { $m * 128 / size_of::<$x>() * $stages }, { $n * 128 / size_of::<$x>() * $stages }, $stages,
                { $const.staging() }, { $const.factors() },
            >,
            a: &TensorMap<$x>,
            b: &TensorMap<$x>,
            stored: &TensorMapMut<$t>,
            args: TmaGemmArgs<$t>,
            $($source: $($type)+,)?
        ) {
            run!(
                [$($flag)*] of_layout!($config $const $layout), $n, smem, (a, b, stored), args, source!([$($source)?]),
                MmaLayout::new($const.k_major(Layout::$layout))
            );
        }
    };
}

macro_rules! kernels_of_bf16 {
    ($($rows:tt)+) => { kernels! { bf16 of bf16 [] bf16 BF16: TmaGemmKernel; $($rows)+ } };
}
macro_rules! kernels_of_f16 {
    ($($rows:tt)+) => { kernels! { f16 of f16 [] f16 F16: TmaGemmKernel; $($rows)+ } };
}
macro_rules! kernels_of_tf32 {
    ($($rows:tt)+) => { kernels! { f32 of f32 [] tf32 TF32: TmaGemmKernel; $($rows)+ } };
}
macro_rules! kernels_of_bf16x6 {
    ($($rows:tt)+) => { kernels! { f32 of bf16 [source: Operands<f32>] bf16x6 BF16X6: PlanesGemmKernel; $($rows)+ } };
}
macro_rules! kernels_of_i8 {
    ($($rows:tt)+) => { kernels! { i8 of i8 [scales: Scales] i8 I8: ScaledGemmKernel; $($rows)+ } };
}
macro_rules! kernels_of_e4m3 {
    ($($rows:tt)+) => { kernels! { E4m3 of E4m3 [scales: Scales] e4m3 E4M3: ScaledGemmKernel; $($rows)+ } };
}
macro_rules! kernels_of_e4m3_blocks {
    ($($rows:tt)+) => {
        kernels! { E4m3 of E4m3 [blocks: BlockScales] e4m3_blocks E4M3_BLOCKS: BlockScaledGemmKernel; $($rows)+ }
    };
}
macro_rules! kernels_of_e5m2 {
    ($($rows:tt)+) => { kernels! { E5m2 of E5m2 [scales: Scales] e5m2 E5M2: ScaledGemmKernel; $($rows)+ } };
}
macro_rules! fast_kernels_of_e4m3 {
    ($($rows:tt)+) => { kernels! { E4m3 of E4m3 [scales: Scales] e4m3_fast E4M3_FAST: ScaledGemmKernel; $($rows)+ } };
}
macro_rules! fast_kernels_of_e5m2 {
    ($($rows:tt)+) => { kernels! { E5m2 of E5m2 [scales: Scales] e5m2_fast E5M2_FAST: ScaledGemmKernel; $($rows)+ } };
}
wgmma_16_configs!(kernels_of_bf16);
wgmma_16_configs!(kernels_of_f16);
wgmma_tf32_configs!(kernels_of_tf32);
wgmma_bf16x6_configs!(kernels_of_bf16x6);
wgmma_i8_configs!(kernels_of_i8);
wgmma_fp8_configs!(kernels_of_e4m3);
wgmma_fp8_configs!(kernels_of_e5m2);
wgmma_fp8_blocks_configs!(kernels_of_e4m3_blocks);
wgmma_fp8_fast_configs!(fast_kernels_of_e4m3);
wgmma_fp8_fast_configs!(fast_kernels_of_e5m2);

#[cfg(test)]
#[allow(unreachable_pub, reason = "the kernels of the tables are public")]
mod tests {
    use super::*;

    // A row that no table has.
    kernels! {
        bf16 of bf16 [] added ADDED: TmaGemmKernel;
        "2x96x128": 128 x 96, 2, 6, [swap_ab stream_k], [nn tt], [1.0 1.0], 1.0, [1.0 1.0], 1000 x 1000 x 1000;
    }

    #[test]
    fn a_row_is_all_that_a_configuration_needs() {
        let names: Vec<_> = ADDED.iter().map(|kernel| kernel.kernel.info().name).collect();
        assert_eq!(names, ["gemm_sm90_added_nn_2x96x128", "gemm_sm90_added_tt_2x96x128"]);
        for WgmmaKernel { config, layout, kernel } in ADDED {
            let info = kernel.info();
            // Cᵀ is computed: two blocks of 128 columns of C, one beside the other, and two consumer warpgroups each.
            assert_eq!((config.tile(), config.threads(), config.k_major_rows()), ([96, 256], 384, [128, 48]));
            assert_eq!((info.block, info.cluster), (Some([384, 1, 1]), 2));
            assert_eq!(
                (info.limits.registers, info.limits.barriers),
                (Some(config.registers()), Some(config.barriers()))
            );
            assert_eq!(config.needed_by, [1000, 1000, 1000]);
            assert_eq!(*layout, if info.name.contains("_nn_") { Layout::NN } else { Layout::TT });
        }
    }
}
