//! Arguments of the GEMM kernels.
//!
//! ```text
//! C = act(alpha · op(A)·op(B) + beta · C + bias)        op(A) is m × k, op(B) k × n, C m × n, row-major
//! ```
//!
//! A kernel takes its operands, as [`Operands`] or as tensor maps, and [`GemmArgs`]. With k = 0 neither A nor B is
//! read, with beta = 0 C is not. The caller leaves out the product where alpha is 0: it passes k = 0.

use simt::KernelArg;
use simt::element::Element;
use simt::prelude::*;

use super::number::Number;

/// op(A) = Aᵀ: A lies in memory as k × m. Kernels that are written for one layout ignore it.
pub const TRANSPOSE_A: u32 = 1;
/// op(B) = Bᵀ: B lies in memory as n × k. Kernels that are written for one layout ignore it.
pub const TRANSPOSE_B: u32 = 1 << 1;
/// C lies in `c_wide`, in the type of the accumulators, or with [`INTEGER_C`] in `i32`.
pub const WIDE_C: u32 = 1 << 2;
/// The bias has n elements, one for each column of C.
pub const BIAS_PER_COLUMN: u32 = 1 << 3;
/// The bias has m elements, one for each row of C.
pub const BIAS_PER_ROW: u32 = 1 << 4;
/// C has elements of `f16`, which lie in `c` as their bits. Only where A and B have 8 bits.
pub const F16_C: u32 = 1 << 5;
/// C takes the sums of products of `i8` as they are, `i32`, which lie in `c_wide` as their bits: with [`WIDE_C`], and
/// with an epilogue that does nothing. Alpha is ignored.
pub const INTEGER_C: u32 = 1 << 6;
/// Rows and columns of C have factors of their own: see [`Scales`].
pub const SCALES: u32 = 1 << 7;
/// The bits of the activation; all 0 for the identity.
pub const ACTIVATION: u32 = 3 << 8;
/// max(x, 0), a NaN for a NaN.
pub const RELU: u32 = 1 << 8;
/// x·Φ(x), Φ the distribution function of the normal distribution: see [`gelu`](super::gelu::gelu). Not for `f64`.
pub const GELU: u32 = 2 << 8;
/// TMA stores C, whose rows are multiples of 16 bytes long: the flags ask for nothing else, and beta is 0.
pub const TMA_STORE: u32 = 1 << 16;

/// Each element of A is loaded once, and they are more than the L2 cache keeps until the next launch: they give way
/// first to what is used again. Only kernels with one consumer and without clusters look at it.
pub const STREAMS_A: u32 = 1 << 17;
/// The same of B.
pub const STREAMS_B: u32 = 1 << 18;
/// The next launch may begin once all blocks of this one have loaded their operands; else from the beginning.
pub const LAUNCHES_LATE: u32 = 1 << 19;

/// Threads copy C from staged boxes, since TMA cannot store it: the flags ask for nothing else, and beta is 0. Only of
/// kernels that do so ([`copies_boxes`](super::configs::WgmmaConfig::copies_boxes)), and of types that they stage.
pub const COPY_STORE: u32 = 1 << 20;

/// Everything but the operands.
#[repr(C)]
#[derive(Clone, Copy, KernelArg)]
pub struct GemmArgs<'a, T: Number> {
    /// The matrices C in the type of A and B, of 8-bit ones in [`Number::Stored`]; empty with [`WIDE_C`].
    pub c: VecMut<'a, T::Stored>,
    /// The matrices C in the type of the accumulators; empty without [`WIDE_C`].
    pub c_wide: VecMut<'a, T::Wide>,
    /// n elements with [`BIAS_PER_COLUMN`], m with [`BIAS_PER_ROW`], else none.
    pub bias: VecRef<'a, T::Wide>,
    /// Elements of C from row to row.
    pub ldc: u64,
    /// Elements of C from matrix to matrix.
    pub stride_c: u64,
    /// Rows of C.
    pub m: u32,
    /// Columns of C.
    pub n: u32,
    /// Columns of op(A), rows of op(B).
    pub k: u32,
    /// Number of matrices.
    pub batch: u32,
    /// Factor of op(A)·op(B).
    pub alpha: T::Wide,
    /// Factor of the old C.
    pub beta: T::Wide,
    /// The constants of this module.
    pub flags: u32,
}

/// A and B in global memory, of a kernel whose threads load them.
///
/// The grid has the tiles of C along x, row by row unless the kernel says otherwise, and matrices along z: a kernel
/// goes on by `grid_dim_z`.
#[repr(C)]
#[derive(Clone, Copy, KernelArg)]
pub struct Operands<'a, T: Element> {
    /// The matrices A, the first at element 0.
    pub a: VecRef<'a, T>,
    /// The matrices B, the first at element 0.
    pub b: VecRef<'a, T>,
    /// Elements of A and of B from row to row in memory.
    pub ld: [u64; 2],
    /// Elements of A and of B from matrix to matrix; 0 for the same matrix again.
    pub stride: [u64; 2],
}

/// [`GemmArgs`] of a kernel whose operands are tensor maps, third dimension the batch.
#[repr(C)]
#[derive(Clone, Copy, KernelArg)]
pub struct TmaGemmArgs<'a, T: Number> {
    /// Everything but the operands.
    pub gemm: GemmArgs<'a, T>,
    /// By how many matrices of A and of B the next one of C goes on: 1, or 0 for the same one again.
    pub batch_step: [u32; 2],
    /// How tiles are split among blocks.
    pub stream_k: StreamKArgs<'a>,
}

/// [`GemmArgs`] of a product of groups of rows: `m` counts the rows of all groups, `batch` the groups, and C is one
/// matrix.
#[repr(C)]
#[derive(Clone, Copy, KernelArg)]
pub struct GroupedGemmArgs<'a, T: Number> {
    /// Everything but the operands.
    pub gemm: GemmArgs<'a, T>,
    /// The row after the last of each group, in front of which may be the first row of group 0.
    pub offsets: VecRef<'a, u32>,
    /// Factors of the rows of all groups, and of n columns for each group.
    pub scales: Scales<'a>,
    /// Memory for tiles that are split among blocks. The device counts them; none are if `tiles` is 0.
    pub stream_k: StreamKArgs<'a>,
}

/// Factors of the rows and of the columns of op(A)·op(B), the same for all matrices of a batch: the sum is multiplied
/// by that of its row, then by that of its column, rounded each time. Read with [`SCALES`] alone.
#[repr(C)]
#[derive(Clone, Copy, KernelArg)]
pub struct Scales<'a> {
    /// m factors; or none, which are 1.
    pub rows: VecRef<'a, f32>,
    /// n factors; or none, which are 1.
    pub columns: VecRef<'a, f32>,
}

/// Rows and columns of op(A)·op(B), and steps of k, that share a factor of [`BlockScales`].
pub const SCALE_BLOCK: u32 = 128;

/// Factors of the products of each [`SCALE_BLOCK`] of k: their sum is multiplied by the product of both, and added to
/// the whole sum by a fused multiply-add.
#[repr(C)]
#[derive(Clone, Copy, KernelArg)]
pub struct BlockScales<'a> {
    /// m × ⌈k / 128⌉: of each row of op(A).
    pub a: MatRef<'a, f32>,
    /// ⌈n / 128⌉ × ⌈k / 128⌉: of 128 columns of op(B) each.
    pub b: MatRef<'a, f32>,
}

/// What a stream-K schedule needs: see `sm90::schedule::stream_k` and `sm90::fixup`.
#[repr(C)]
#[derive(Clone, Copy, KernelArg)]
pub struct StreamKArgs<'a> {
    /// Where blocks leave the accumulators of tiles that others finish.
    pub partials: VecMut<'a, f32>,
    /// A flag for each of them. Any content but `epoch` is right.
    pub flags: VecMut<'a, u64>,
    /// The value of a set flag, which no flag has before the launch.
    pub epoch: u64,
    /// Tiles that are split; 0: every tile is one block's.
    pub tiles: u32,
    /// Blocks, or clusters, for each of them, where all have equally many; else 0.
    pub parts: u32,
}

/// Elements from one row of op(X) to the next, and from one column to the next.
#[cfg_attr(optimised, inline(always))]
pub const fn strides(ld: u64, transposed: bool) -> (u64, u64) {
    if transposed { (1, ld) } else { (ld, 1) }
}

/// A kernel whose threads load the operands.
#[cfg(not(target_arch = "nvptx64"))]
pub type GemmKernel<T> = simt::Kernel<(Operands<'static, T>, GemmArgs<'static, T>)>;

/// A kernel whose operands are loaded by TMA: the maps of A, of B and of C, of which the last counts only with
/// [`TMA_STORE`].
#[cfg(not(target_arch = "nvptx64"))]
pub type TmaGemmKernel<T> = simt::Kernel<(
    simt::tma::TensorMap<'static, T>,
    simt::tma::TensorMap<'static, T>,
    simt::tma::TensorMapMut<'static, T>,
    TmaGemmArgs<'static, T>,
)>;

/// A [`TmaGemmKernel`] of groups of rows: the maps of A and C have one matrix, that of B one for each group.
#[cfg(not(target_arch = "nvptx64"))]
pub type GroupedGemmKernel<T> = simt::Kernel<(
    simt::tma::TensorMap<'static, T>,
    simt::tma::TensorMap<'static, T>,
    simt::tma::TensorMapMut<'static, T>,
    GroupedGemmArgs<'static, T>,
)>;

/// A [`TmaGemmKernel`] for operands of 8 bits.
#[cfg(not(target_arch = "nvptx64"))]
pub type ScaledGemmKernel<T> = simt::Kernel<(
    simt::tma::TensorMap<'static, T>,
    simt::tma::TensorMap<'static, T>,
    simt::tma::TensorMapMut<'static, T>,
    TmaGemmArgs<'static, T>,
    Scales<'static>,
)>;

/// A [`TmaGemmKernel`] for operands of 8 bits with factors of blocks.
#[cfg(not(target_arch = "nvptx64"))]
pub type BlockScaledGemmKernel<T> = simt::Kernel<(
    simt::tma::TensorMap<'static, T>,
    simt::tma::TensorMap<'static, T>,
    simt::tma::TensorMapMut<'static, T>,
    TmaGemmArgs<'static, T>,
    BlockScales<'static>,
)>;

/// A [`TmaGemmKernel`] that loads planes of `bf16`, with the operands that were split into them.
#[cfg(not(target_arch = "nvptx64"))]
pub type PlanesGemmKernel<T> = simt::Kernel<(
    simt::tma::TensorMap<'static, half::bf16>,
    simt::tma::TensorMap<'static, half::bf16>,
    simt::tma::TensorMapMut<'static, T>,
    TmaGemmArgs<'static, T>,
    Operands<'static, T>,
)>;
