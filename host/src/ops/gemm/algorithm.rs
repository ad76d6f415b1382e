//! What callers name and see of a choice: the algorithm, and its plan for one problem.

use std::fmt;

use simt::KernelInfo;

use super::pack::Packing;
use super::stream_k::Schedule;

/// How to compute a product: the kernel, which operands are packed, and how the work is split along k.
///
/// ```
/// use warpwright::gemm::Algorithm;
/// let algorithm = Algorithm::of(gpu::gemm::reference::gemm_reference_f32.info()).split_k(4);
/// assert_eq!(algorithm.to_string(), "gemm_reference_f32, split-K 4");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Algorithm {
    kernel: &'static KernelInfo,
    parts: u32,
    /// Blocks of the stream-K schedule; 0 without it.
    blocks: u32,
    packed: [bool; 2],
}

impl Algorithm {
    /// This kernel, with neither split-K nor stream-K, on A and B as they are.
    pub fn of(kernel: &'static KernelInfo) -> Self {
        Self { kernel, parts: 1, blocks: 0, packed: [false; 2] }
    }

    /// With split-K: k in this many parts, whose products are added up in order. There may be fewer, since parts begin
    /// at multiples of 16, 32 or 64 elements, depending on the kernel.
    #[must_use]
    pub fn split_k(self, parts: u32) -> Self {
        Self { parts: parts.max(1), ..self }
    }

    /// With a stream-K schedule: this many blocks split the tiles of C that would not fill a wave evenly along k, in
    /// one launch. There may be fewer blocks, no more than there are steps along k. The bits of the result depend on
    /// their number, except for kernels that accumulate sequentially in order of k (`gemm_sm90_f32_tn_…`). An H200
    /// has 132 SMs.
    #[must_use]
    pub fn stream_k(self, blocks: u32) -> Self {
        Self { blocks, ..self }
    }

    /// With a copy of A, of B, or of both in the workspace, in the layout that the kernel needs, each row at a multiple
    /// of 128 bytes. Only for kernels that load operands by TMA. With alpha = 0 nothing is copied.
    #[must_use]
    pub fn pack(self, [a, b]: [bool; 2]) -> Self {
        Self { packed: [a, b], ..self }
    }

    /// Whether A, and B, is copied.
    pub fn packed(&self) -> [bool; 2] {
        self.packed
    }

    /// The kernel that multiplies.
    pub fn kernel(&self) -> &'static KernelInfo {
        self.kernel
    }

    /// Parts of k: 1 without split-K.
    pub fn parts(&self) -> u32 {
        self.parts
    }

    /// Blocks of the stream-K schedule; 0 without it.
    pub fn blocks(&self) -> u32 {
        self.blocks
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kernel.name)?;
        f.write_str(match self.packed {
            [false, false] => "",
            [true, false] => ", A packed",
            [false, true] => ", B packed",
            [true, true] => ", A and B packed",
        })?;
        if self.parts > 1 {
            write!(f, ", split-K {}", self.parts)?;
        }
        if self.blocks > 0 {
            write!(f, ", stream-K on {} blocks", self.blocks)?;
        }
        Ok(())
    }
}

/// An algorithm for one problem, with its workspace and estimated cost.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub(super) algorithm: Algorithm,
    /// Index into the configurations of the element type.
    pub(super) configuration: usize,
    pub(super) work: Work,
    pub(super) tile: [u32; 2],
    pub(super) cost: f64,
}

impl Plan {
    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Rows and columns of C per block, or per cluster of blocks.
    pub fn tile(&self) -> [u32; 2] {
        self.tile
    }

    /// Elements of `f32` for partial products and packed operands: see [`Gemm::workspace`](super::Gemm::workspace).
    pub fn workspace_len(&self) -> usize {
        self.work.workspace_len
    }

    /// Estimated time in `f32` multiply-adds of one SM, 128 per clock: 253 440 are 1 µs at 1.98 GHz. For comparisons.
    pub fn cost(&self) -> f64 {
        self.cost
    }
}

/// How an algorithm carries out one problem.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    pub(super) packing: Packing,
    pub(super) split: SplitK,
    pub(super) stream_k: Option<Schedule>,
    pub(super) follow_up: FollowUp,
    /// `f32` for partial products and packed operands.
    pub(super) workspace_len: usize,
}

/// k in parts: all of one length, but for the last, which may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SplitK {
    pub(super) parts: u32,
    /// Elements of k per part.
    pub(super) part: usize,
    /// Elements of k in a shorter last part; 0 if there is none.
    pub(super) remainder: usize,
}

impl SplitK {
    /// k in at most `parts` parts, whose length is a multiple of `granularity`.
    pub(super) fn new(k: usize, parts: u32, granularity: usize) -> Self {
        let part = k.div_ceil(parts as usize).next_multiple_of(granularity).max(granularity);
        let parts = k.div_ceil(part).max(1) as u32;
        Self { parts, part, remainder: if parts > 1 { k % part } else { 0 } }
    }
}

/// The launches after those that multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FollowUp {
    /// None: the kernel has the epilogue.
    None,
    /// C holds the product; the epilogue is applied in place.
    Epilogue,
    /// Partial products, or one whole product, in the workspace are added up, with the epilogue.
    Reduce,
}
