//! What the planner and the launches know of a kernel.

use std::fmt;

use gpu::gemm::number::Number;
use gpu::hopper::gemm::finish::box_rows;
use gpu::hopper::gemm::product::DEPTH;
use gpu::hopper::{Boxed, Shared};
use simt::global::{MatMut, MatRef, VecMut, VecRef};
use simt::{Kernel, KernelInfo};

use super::options::Arithmetic;
use crate::ops::resident;

/// A kernel with the arguments of `gpu::gemm::call`.
pub(super) type Generic<T, W> = Kernel<(
    VecRef<'static, T>,
    VecRef<'static, T>,
    VecMut<'static, T>,
    VecMut<'static, W>,
    VecRef<'static, W>,
    [u32; 4],
    [u64; 3],
    [u64; 3],
    [W; 2],
    u32,
)>;
/// A kernel for C = A·B, all three row-major.
pub(super) type Product<T> = Kernel<(MatRef<'static, T>, MatRef<'static, T>, MatMut<'static, T>)>;

/// A kernel and its properties.
#[doc(hidden)]
#[derive(Debug)]
pub struct Configuration<T: Number> {
    pub(super) entry: Entry<T>,
    pub(super) arithmetic: Arithmetic,
    /// Whether A and B are transposed, if the kernel is for one layout only.
    pub(super) layout: Option<[bool; 2]>,
    pub(super) model: &'static PerfModel,
    /// Whether each sum is a sequential accumulation in order of k by fused multiply-adds.
    pub(super) is_sequential: bool,
}

/// The kernel, by its signature.
pub(super) enum Entry<T: Number> {
    /// Reads operands by pointer; has the whole epilogue.
    Generic(&'static Generic<T, T::Wide>),
    /// Loads operands by TMA; has the whole epilogue.
    Tma(&'static Boxed<T, T::Wide>, LoadMode),
    /// The same with a stream-K schedule.
    StreamK(&'static Shared<T, T::Wide>, LoadMode),
    /// Writes the product only; the epilogue is another launch.
    Product(&'static Product<T>),
}

/// How a TMA kernel loads its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoadMode {
    /// Boxes of 128 bytes of each row in memory, swizzled for tensor cores. TMA can store C in such boxes, too.
    /// Persistent: one cluster of blocks per slot loops over tiles.
    Swizzled,
    /// The same with boxes of B as high as wide, for the two-width tile schedule: `gpu::hopper::wide::tiles`.
    TwoWidth,
    /// Of an MN-major operand this many rows in memory, each as long as the tile is high or wide, not swizzled; of a
    /// K-major operand 128 bytes of each row, swizzled. Threads store C. One block per tile, except with stream-K.
    Rows(u32),
}

/// The parameters of the cost model.
#[derive(Debug)]
pub(super) struct PerfModel {
    /// Rows and columns of C per cluster of blocks.
    pub(super) tile: [u32; 2],
    /// The parts of a split-K begin at multiples of this many elements, so that they are aligned as the operands are
    /// and end with a whole step.
    pub(super) k_granularity: usize,
    /// Multiply-adds per clock and SM as a fraction of 128, the rate of `f32` (tensor cores exceed 1): with one block
    /// on the SM, and with as many as fit; if one fits, with one tile, and with several in sequence. For the two-width
    /// schedule: of narrow, and of wide tiles.
    pub(super) efficiency: [f64; 2],
    /// Factor of the efficiency with misaligned rows: not multiples of 128 bytes apart for TMA kernels, not of 16 bytes
    /// for others.
    pub(super) misaligned_efficiency: f64,
    /// Time before the first and after the last multiply-add of a tile, in elements of k: with a TMA store of C, and
    /// with the generic epilogue.
    pub(super) tile_overhead: [f64; 2],
}

impl<T: Number> Entry<T> {
    fn info(&self) -> &'static KernelInfo {
        match self {
            Self::Generic(kernel) => kernel.info(),
            Self::Tma(kernel, _) => kernel.info(),
            Self::StreamK(kernel, _) => kernel.info(),
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
    pub(super) fn info(&self) -> &'static KernelInfo {
        self.entry.info()
    }

    /// How operands are loaded, for TMA kernels.
    pub(super) fn load_mode(&self) -> Option<LoadMode> {
        match self.entry {
            Entry::Tma(_, mode) | Entry::StreamK(_, mode) => Some(mode),
            Entry::Generic(_) | Entry::Product(_) => None,
        }
    }

    /// Whether it has a stream-K schedule.
    pub(super) fn has_stream_k(&self) -> bool {
        matches!(self.entry, Entry::StreamK(..))
    }

    /// Rows and columns of C per cluster of blocks.
    pub(super) fn tile(&self) -> [u32; 2] {
        self.model.tile
    }

    /// Elements of k per step of the main loop, for stream-K.
    pub(super) fn k_step(&self) -> u32 {
        match self.load_mode() {
            Some(LoadMode::Rows(depth)) => depth,
            _ => DEPTH,
        }
    }

    /// Blocks per cluster.
    pub(super) fn cluster(&self) -> u32 {
        self.info().cluster
    }

    /// Blocks per SM (occupancy).
    pub(super) fn blocks_per_sm(&self) -> u32 {
        resident(self.info())
    }

    /// Clusters that run at the same time with one block per SM. A cluster runs within a GPC, of 16 or 18 SMs or fewer:
    /// on an H200, 28 clusters of four blocks run together, not 33.
    pub(super) fn cluster_slots(&self, sm_count: u32) -> u32 {
        let all = sm_count / self.cluster();
        (if self.cluster() > 2 { all * 7 / 8 } else { all }).max(1)
    }

    /// Clusters that run at the same time.
    pub(super) fn resident_clusters(&self, sm_count: u32) -> u32 {
        self.cluster_slots(sm_count) * self.blocks_per_sm()
    }

    /// Rows of the boxes, 128 bytes wide, in which TMA stores C, if it can.
    pub(super) fn store_box_rows(&self) -> Option<u32> {
        let [rows, cols] = self.tile();
        match self.load_mode()? {
            LoadMode::Swizzled | LoadMode::TwoWidth if cols.is_multiple_of(64) => box_rows(rows),
            _ => None,
        }
    }
}
