//! The kernels for each element type: the rows of `gpu::gemm::configs`, and what the planner and the launches ask of
//! them.

use std::fmt;
use std::sync::LazyLock;

use gpu::gemm::args::{BlockScaledGemmKernel, GemmKernel, PlanesGemmKernel, ScaledGemmKernel, TmaGemmKernel};
use gpu::gemm::configs::{
    FfmaConfig, FfmaKernel, Layout, MmaF64Config, MmaF64Kernel, PerfModel, ThreadKernel, WgmmaConfig, WgmmaKernel,
};
use gpu::gemm::number::Number;
use gpu::gemm::sm90::bf16x6;
use gpu::gemm::{ffma, mma, mma_f64, reference, sm90, small};
use half::{bf16, f16};
use simt::float8::{E4m3, E5m2};
use simt::global::{MatMut, MatRef};
use simt::{Kernel, KernelInfo};

use super::options::Arithmetic;
use crate::ops::blocks_per_sm;

/// A kernel for C = A·B, all three row-major.
pub(super) type Product<T> = Kernel<(MatRef<'static, T>, MatRef<'static, T>, MatMut<'static, <T as Number>::Stored>)>;

/// A kernel and its properties.
#[doc(hidden)]
#[derive(Debug)]
pub struct Configuration<T: Number> {
    pub(super) entry: Entry<T>,
    pub(super) arithmetic: Arithmetic,
    /// The layout of A and B, if the kernel is for one only.
    pub(super) layout: Option<Layout>,
    /// Rows and columns of C per cluster of blocks.
    pub(super) tile: [u32; 2],
    /// The parts of a split-K begin at multiples of this many elements, so that they are aligned as the operands are
    /// and end with a whole step.
    pub(super) k_granularity: usize,
    pub(super) model: &'static PerfModel,
    /// Whether each sum is a sequential accumulation in order of k by fused multiply-adds.
    pub(super) is_sequential: bool,
}

/// The kernel, by its signature.
pub(super) enum Entry<T: Number> {
    /// Threads load the operands; has the whole epilogue.
    Generic(&'static GemmKernel<T>),
    /// TMA loads the operands; has the whole epilogue.
    Tma(&'static TmaGemmKernel<T>, TmaConfig),
    /// TMA loads the operands, of 8 bits; has the whole epilogue, and factors of rows and columns.
    Scaled(&'static ScaledGemmKernel<T>, TmaConfig),
    /// TMA loads the operands, of 8 bits; has the whole epilogue, and needs factors of blocks.
    BlockScaled(&'static BlockScaledGemmKernel<T>, TmaConfig),
    /// TMA loads the planes that the operands were split into; has the whole epilogue.
    Planes(&'static PlanesGemmKernel<T>, TmaConfig),
    /// Writes the product only; the epilogue is another launch.
    Product(&'static Product<T>),
}

/// The row of a TMA kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TmaConfig {
    /// TMA boxes of 128 bytes of each row in memory, swizzled for tensor cores. TMA can store C in such boxes, too.
    /// Persistent: one cluster of blocks per slot loops over tiles.
    Wgmma(&'static WgmmaConfig),
    /// Of an MN-major operand a box of rows as long as the tile is high or wide, not swizzled; of a K-major operand 128
    /// bytes of each row, swizzled. Threads store C. One block per tile, except with stream-K.
    Ffma(&'static FfmaConfig),
    /// TMA boxes of 128 bytes of each row in memory, swizzled. Threads store C. Persistent.
    MmaF64(&'static MmaF64Config),
}

impl TmaConfig {
    /// Elements of k per stage.
    pub(super) fn k_step(self) -> u32 {
        match self {
            Self::Wgmma(config) => config.depth(),
            Self::Ffma(config) => config.depth,
            Self::MmaF64(_) => MmaF64Config::DEPTH,
        }
    }

    /// Bytes of an element of the operands that TMA loads.
    pub(super) fn operand_bytes(self) -> usize {
        match self {
            Self::Wgmma(config) => config.element_bytes as usize,
            Self::Ffma(_) => size_of::<f32>(),
            Self::MmaF64(_) => size_of::<f64>(),
        }
    }

    /// Elements of a row of the operands that TMA loads, for so many of k: of planes all three, padded.
    pub(super) fn row_len(self, k: usize) -> usize {
        match self {
            Self::Wgmma(config) if config.planes > 1 => bf16x6::split::row_len(k),
            _ => k,
        }
    }

    /// Whether it has a stream-K schedule.
    pub(super) fn has_stream_k(self) -> bool {
        match self {
            Self::Wgmma(config) => config.stream_k,
            Self::Ffma(config) => config.is_stream_k(),
            Self::MmaF64(config) => config.stream_k,
        }
    }

    /// Bytes of a partial sum of a stream-K schedule.
    pub(super) fn partial_bytes(self) -> usize {
        match self {
            Self::Wgmma(_) | Self::Ffma(_) => size_of::<f32>(),
            Self::MmaF64(_) => size_of::<f64>(),
        }
    }

    /// Whether tiles have two widths.
    pub(super) fn is_two_width(self) -> bool {
        matches!(self, Self::Wgmma(config) if config.two_width)
    }

    /// Rows of the boxes of A and of B where they are K-major, columns where they are MN-major and not swizzled.
    pub(super) fn box_edges(self) -> [u32; 2] {
        match self {
            Self::Wgmma(config) => {
                let [a, b] = config.k_major_rows();
                if config.swap_ab { [b, a] } else { [a, b] }
            }
            Self::Ffma(config) => config.tile,
            Self::MmaF64(config) => config.tile,
        }
    }

    /// Rows of the boxes, 128 bytes wide, in which TMA stores a C of elements of so many bytes, if it can.
    pub(super) fn store_box_rows(self, output_bytes: usize) -> Option<u32> {
        match self {
            Self::Wgmma(config) if config.stores(output_bytes as u32) => config.store_rows(),
            Self::Wgmma(_) | Self::Ffma(_) | Self::MmaF64(_) => None,
        }
    }

    /// Whether threads copy these boxes where TMA cannot store them.
    pub(super) fn copies_boxes(self, output_bytes: usize) -> bool {
        match self {
            Self::Wgmma(config) => config.stores(output_bytes as u32) && config.copies_boxes(),
            Self::Ffma(_) | Self::MmaF64(_) => false,
        }
    }

    /// Flags of a block: of each consumer warpgroup, or warp, that passes partials of its own.
    #[cfg(test)]
    pub(super) fn flags(self) -> u32 {
        match self {
            Self::Wgmma(config) => config.consumers(),
            Self::Ffma(_) => 1,
            Self::MmaF64(_) => 8,
        }
    }
}

impl<T: Number> Entry<T> {
    fn info(&self) -> &'static KernelInfo {
        match self {
            Self::Generic(kernel) => kernel.info(),
            Self::Tma(kernel, _) => kernel.info(),
            Self::Scaled(kernel, _) => kernel.info(),
            Self::BlockScaled(kernel, _) => kernel.info(),
            Self::Planes(kernel, _) => kernel.info(),
            Self::Product(kernel) => kernel.info(),
        }
    }
}

impl<T: Number> fmt::Debug for Entry<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().name)
    }
}

impl<T: Number> Configuration<T> {
    fn thread(kernel: &ThreadKernel<T>, arithmetic: Arithmetic, is_sequential: bool) -> Self {
        let &ThreadKernel { config, layout, kernel } = kernel;
        let (tile, k_granularity, model) = (config.tile, config.k_granularity, &config.model);
        Self { entry: Entry::Generic(kernel), arithmetic, layout, tile, k_granularity, model, is_sequential }
    }

    fn wgmma(kernel: &WgmmaKernel<TmaGemmKernel<T>>, arithmetic: Arithmetic) -> Self {
        let &WgmmaKernel { config, layout, kernel } = kernel;
        Self::of_wgmma(config, layout, Entry::Tma(kernel, TmaConfig::Wgmma(config)), arithmetic)
    }

    fn of_wgmma(config: &'static WgmmaConfig, layout: Layout, entry: Entry<T>, arithmetic: Arithmetic) -> Self {
        let (tile, k_granularity, model) = (config.tile(), config.depth() as usize, &config.model);
        Self { entry, arithmetic, layout: Some(layout), tile, k_granularity, model, is_sequential: false }
    }

    fn scaled(kernel: &WgmmaKernel<ScaledGemmKernel<T>>, arithmetic: Arithmetic) -> Self {
        let &WgmmaKernel { config, layout, kernel } = kernel;
        Self::of_wgmma(config, layout, Entry::Scaled(kernel, TmaConfig::Wgmma(config)), arithmetic)
    }

    /// Whether it has factors of rows and columns.
    pub(super) fn has_scales(&self) -> bool {
        matches!(self.entry, Entry::Scaled(..))
    }

    /// Whether it needs factors of blocks.
    pub(super) fn has_block_scales(&self) -> bool {
        matches!(self.entry, Entry::BlockScaled(..))
    }

    /// Whether it multiplies planes of the operands.
    pub(super) fn has_planes(&self) -> bool {
        matches!(self.entry, Entry::Planes(..))
    }

    /// Bytes of A or B that are loaded for an element of k.
    pub(super) fn bytes_per_k(&self) -> usize {
        if self.has_planes() { bf16x6::PLANES as usize * size_of::<bf16>() } else { size_of::<T>() }
    }

    pub(super) fn info(&self) -> &'static KernelInfo {
        self.entry.info()
    }

    /// The row of a TMA kernel.
    pub(super) fn tma(&self) -> Option<TmaConfig> {
        match self.entry {
            Entry::Tma(_, config)
            | Entry::Scaled(_, config)
            | Entry::BlockScaled(_, config)
            | Entry::Planes(_, config) => Some(config),
            Entry::Generic(_) | Entry::Product(_) => None,
        }
    }

    /// Whether it has a stream-K schedule.
    pub(super) fn has_stream_k(&self) -> bool {
        self.tma().is_some_and(TmaConfig::has_stream_k)
    }

    /// Bytes of a partial sum of a stream-K schedule.
    pub(super) fn partial_bytes(&self) -> usize {
        self.tma().map_or(0, TmaConfig::partial_bytes)
    }

    /// Elements of k per step of the main loop, for stream-K.
    pub(super) fn k_step(&self) -> u32 {
        self.tma().map_or(1, TmaConfig::k_step)
    }

    /// Blocks per cluster.
    pub(super) fn cluster(&self) -> u32 {
        self.info().cluster
    }

    /// Blocks per SM (occupancy).
    pub(super) fn blocks_per_sm(&self) -> u32 {
        blocks_per_sm(self.info())
    }

    /// Clusters that run at the same time with one block per SM. A cluster runs within a GPC, of 16 or 18 SMs or fewer:
    /// on an H200, 30 clusters of four blocks run together, not 33, as `cuOccupancyMaxActiveClusters` says, too.
    pub(super) fn cluster_slots(&self, sm_count: u32) -> u32 {
        let all = sm_count / self.cluster();
        (if self.cluster() > 2 { all * 10 / 11 } else { all }).max(1)
    }

    /// Clusters that run at the same time.
    pub(super) fn resident_clusters(&self, sm_count: u32) -> u32 {
        self.cluster_slots(sm_count) * self.blocks_per_sm()
    }
}

impl Configuration<f32> {
    fn bf16x6(kernel: &WgmmaKernel<PlanesGemmKernel<f32>>) -> Self {
        let &WgmmaKernel { config, layout, kernel } = kernel;
        Self::of_wgmma(config, layout, Entry::Planes(kernel, TmaConfig::Wgmma(config)), Arithmetic::Bf16x6)
    }

    fn tma_ffma(&FfmaKernel { config, layout, kernel }: &FfmaKernel) -> Self {
        Self {
            entry: Entry::Tma(kernel, TmaConfig::Ffma(config)),
            arithmetic: Arithmetic::Full,
            layout: Some(layout),
            tile: config.tile,
            k_granularity: config.depth as usize,
            model: &config.model,
            is_sequential: config.groups == 1,
        }
    }

    fn ffma(&ffma::FfmaMatmul { config, kernel }: &ffma::FfmaMatmul) -> Self {
        Self {
            entry: Entry::Product(kernel),
            arithmetic: Arithmetic::Full,
            layout: Some(Layout::NN),
            tile: config.tile,
            k_granularity: config.k_granularity,
            model: &config.model,
            is_sequential: true,
        }
    }
}

impl Configuration<E4m3> {
    fn block_scaled(kernel: &WgmmaKernel<BlockScaledGemmKernel<E4m3>>) -> Self {
        let &WgmmaKernel { config, layout, kernel } = kernel;
        Self::of_wgmma(config, layout, Entry::BlockScaled(kernel, TmaConfig::Wgmma(config)), Arithmetic::Full)
    }
}

impl Configuration<f64> {
    fn tma_mma(&MmaF64Kernel { config, layout, kernel }: &MmaF64Kernel) -> Self {
        Self {
            entry: Entry::Tma(kernel, TmaConfig::MmaF64(config)),
            arithmetic: Arithmetic::Full,
            layout: Some(layout),
            tile: config.tile,
            k_granularity: MmaF64Config::DEPTH as usize,
            model: &config.model,
            is_sequential: true,
        }
    }
}

/// Element types and their kernels. Of equally fast kernels the planner takes the first; the first of all supports
/// every problem.
#[doc(hidden)]
pub trait Kernels: Number {
    fn configurations() -> &'static [Configuration<Self>];
}

impl Kernels for f32 {
    fn configurations() -> &'static [Configuration<f32>] {
        static ALL: LazyLock<Vec<Configuration<f32>>> = LazyLock::new(|| {
            let (full, tf32) = (Arithmetic::Full, Arithmetic::Tf32);
            let reference = [(reference::F32, full), (reference::TF32, tf32)]
                .map(|(of, as_)| Configuration::thread(&of, as_, true));
            let of_mma = mma::TF32.iter().map(|kernel| Configuration::thread(kernel, tf32, false));
            let of_small = small::F32.iter().map(|kernel| Configuration::thread(kernel, full, false));
            reference
                .into_iter()
                .chain(ffma::KERNELS.iter().map(Configuration::ffma))
                .chain(sm90::ffma::F32.iter().map(Configuration::tma_ffma))
                .chain(of_mma)
                .chain(sm90::TF32.iter().map(|kernel| Configuration::wgmma(kernel, tf32)))
                .chain(sm90::BF16X6.iter().map(Configuration::bf16x6))
                .chain(of_small)
                .collect()
        });
        &ALL
    }
}

impl Kernels for f64 {
    fn configurations() -> &'static [Configuration<f64>] {
        static ALL: LazyLock<Vec<Configuration<f64>>> = LazyLock::new(|| {
            let kernels = std::iter::once(&reference::F64).chain(mma_f64::F64);
            let by_threads = kernels.map(|kernel| Configuration::thread(kernel, Arithmetic::Full, true));
            by_threads.chain(sm90::f64::F64.iter().map(Configuration::tma_mma)).collect()
        });
        &ALL
    }
}

macro_rules! kernels_of_16_bits {
    ($($t:ident $list:ident)+) => {$(
        impl Kernels for $t {
            fn configurations() -> &'static [Configuration<$t>] {
                static ALL: LazyLock<Vec<Configuration<$t>>> = LazyLock::new(|| {
                    let full = Arithmetic::Full;
                    std::iter::once(Configuration::thread(&reference::$list, full, true))
                        .chain(mma::$list.iter().map(|kernel| Configuration::thread(kernel, full, false)))
                        .chain(sm90::$list.iter().map(|kernel| Configuration::wgmma(kernel, full)))
                        .chain(small::$list.iter().map(|kernel| Configuration::thread(kernel, full, false)))
                        .collect()
                });
                &ALL
            }
        }
    )+};
}
kernels_of_16_bits! { f16 F16 bf16 BF16 }

impl Kernels for i8 {
    fn configurations() -> &'static [Configuration<i8>] {
        static ALL: LazyLock<Vec<Configuration<i8>>> = LazyLock::new(|| {
            let full = Arithmetic::Full;
            std::iter::once(Configuration::thread(&reference::I8, full, true))
                .chain(sm90::I8.iter().map(|kernel| Configuration::scaled(kernel, full)))
                .collect()
        });
        &ALL
    }
}

macro_rules! kernels_of_float8 {
    ($($t:ident $list:ident $fast:ident $blocks:expr;)+) => {$(
        impl Kernels for $t {
            fn configurations() -> &'static [Configuration<$t>] {
                static ALL: LazyLock<Vec<Configuration<$t>>> = LazyLock::new(|| {
                    let (full, fast) = (Arithmetic::Full, Arithmetic::FastAccumulation);
                    std::iter::once(Configuration::thread(&reference::$list, full, true))
                        .chain(sm90::$fast.iter().map(|kernel| Configuration::scaled(kernel, fast)))
                        .chain(sm90::$list.iter().map(|kernel| Configuration::scaled(kernel, full)))
                        .chain($blocks)
                        .collect()
                });
                &ALL
            }
        }
    )+};
}
kernels_of_float8! {
    E4m3 E4M3 E4M3_FAST sm90::E4M3_BLOCKS.iter().map(Configuration::block_scaled);
    E5m2 E5M2 E5M2_FAST [];
}
