//! The tutorial's kernels for Hopper: C = A·B of `bf16` on tensor cores, from `mma.sync` to the parts of which
//! [`gemm::sm90`](crate::gemm::sm90) consists.
//!
//! Each kernel has one idea more than the one before:
//!
//! | kernel | idea |
//! |---|---|
//! | [`mma`] | a warp multiplies 16 × 16 by 16 × 8 in one instruction |
//! | [`tma`] | one thread has the Tensor Memory Accelerator load the tiles |
//! | [`wgmma`] | four warps multiply 64 × 16 by 16 × 128, straight from shared memory |
//! | [`pipelined`] | a producer warp loads while a consumer warpgroup multiplies |
//! | [`consumers`] | two consumer warpgroups of 232 registers a thread: tiles of 128 × 256 |
//! | [`persistent`] | a block for each SM computes tile after tile |
//! | [`overlapped`] | TMA stores a tile while the next one is computed |
//!
//! All matrices are row-major. `a` is m × k, `b` is k × n, `c` is m × n, for any m, n and k; the rows of each start at
//! multiples of 16 bytes. Sums are in `f32` and are rounded to `bf16` once, at the end. TMA loads `a` in boxes of 128
//! rows of 64 elements, `b` in boxes of 64 rows of 64, both with a swizzle of 128 bytes: [`BOX_A`], [`BOX_B`].

pub mod boxes;
pub mod consumers;
pub mod mma;
pub mod overlapped;
pub mod persistent;
pub mod pipelined;
pub mod ring;
mod store;
pub mod tma;
mod warp_tile;
pub mod wgmma;

/// Rows of C per block.
pub const ROWS: u32 = 128;
/// Extent of a step along k: 128 bytes of `bf16`.
pub const DEPTH: u32 = 64;
/// Rows and columns of a box of A.
pub const BOX_A: [u32; 2] = [ROWS, DEPTH];
/// Rows and columns of a box of B.
pub const BOX_B: [u32; 2] = [DEPTH, 64];

/// Elements of a box of A, and of one of B.
const OF_A: usize = (BOX_A[0] * BOX_A[1]) as usize;
const OF_B: usize = (BOX_B[0] * BOX_B[1]) as usize;

/// Blocks for an m × n matrix C in tiles of [`ROWS`] × `cols`.
pub const fn grid(m: u32, n: u32, cols: u32) -> [u32; 3] {
    [n.div_ceil(cols), m.div_ceil(ROWS), 1]
}

/// The kernels of this module.
#[cfg(not(target_arch = "nvptx64"))]
pub const KERNELS: &[&simt::KernelInfo] = &[
    mma::matmul_mma.info(),
    tma::matmul_tma.info(),
    wgmma::matmul_wgmma.info(),
    pipelined::matmul_pipelined.info(),
    consumers::matmul_consumers.info(),
    persistent::matmul_persistent.info(),
    overlapped::matmul_overlapped.info(),
];
