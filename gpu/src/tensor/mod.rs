//! Products on tensor cores by `mma.sync`, for every GPU from compute capability 8.0 on.
//!
//! ```text
//!              ┌───── B ─────┐       A step along k: 64 bytes of each row of A and column of B in the block's tile come to one
//!              │   ▓▓▓▓▓▓    │ 32    of four stages of shared memory by 16-byte asynchronous copies, three steps ahead.
//!              └─────────────┘
//!  ┌─ A ─┐     ┌───── C ─────┐       8 warps of 64 × 64:         Half a step of a warp: four fragments of A, 16 × 16,
//!  │     │     │   ┌────┐    │         ┌──┬──┬──┬──┐            and eight of B, 16 × 8, by `ldmatrix`; then 32 `mma.sync`.
//!  │ ▓▓  │     │   │    │128 │         │0 │1 │2 │3 │
//!  │ ▓▓  │     │   └256─┘    │         ├──┼──┼──┼──┤            While one half is multiplied, the other is loaded.
//!  │     │     │             │         │4 │5 │6 │7 │
//!  └─────┘     └─────────────┘         └──┴──┴──┴──┘
//!    32
//! ```
//!
//! What bounds it on Hopper. Its tensor cores take an `mma.sync` of 2048 multiply-adds every 6.0 clocks on each quarter of a
//! multiprocessor, 66 % of the rate of `wgmma`. What half a step of a warp multiplies, 65 536, takes 48 clocks of all four; it needs
//! 4 KiB of fragments, and its share of the block's step is 1.5 KiB to be written: 44 clocks of the shared memory's 128 bytes. A
//! warp of 64 × 64 is therefore the least that keeps the tensor cores busy, and 128 sums and 64 registers of fragments are the most
//! that 255 registers hold. A warp's instructions are issued in order, and there are only two warps on a quarter: so the loop along
//! k has no branch, one barrier, and between each load and its use half a step of products. 64 of its 150 to 161 instructions
//! multiply, 16 load fragments, 6 start copies. The products of tf32 are rounded when they are loaded, three instructions for a
//! register, and have half as many sums.
//!
//! Where rows do not start at multiples of 16 bytes, at edges, and in a last step that is not whole, copies are of 4 bytes or go
//! through registers: right, and slow. Blocks that need not do so do not pay for it but with code.
//!
//! Sums are added in the order of k by the hardware's own rule ([`simt::matrix`]), the same on every run.
//!
//! - `number`: what `f16`, `bf16` and `f32` are to the instruction.
//! - `panel`: an operand in shared memory, from copy to fragment.
//! - `product`: what a block does, in order.
//! - `write`: from sums to C.

#![allow(clippy::too_many_arguments, reason = "the arguments of a product: `gemm::call`")]

mod number;
mod panel;
mod product;
mod write;

use half::{bf16, f16};
use simt::element::Element;
use simt::prelude::*;

use product::{Block, Call};

/// Steps along k in shared memory: three that are on their way while one is multiplied.
pub const STAGES: u32 = 4;

/// Shared memory of a block: the stages of A and of B. Where B's were, C goes through when the sums are finished.
#[repr(C)]
#[derive(Shared)]
pub struct Stages<T: Element, const A: usize, const B: usize> {
    a: SharedArray<T, A>,
    b: SharedArray<T, B>,
}

/// Blocks along x for an m × n matrix C in tiles of `rows` × `cols`.
pub const fn tiles(m: u32, n: u32, [rows, cols]: [u32; 2]) -> u32 {
    m.div_ceil(rows).saturating_mul(n.div_ceil(cols))
}

/// Elements of an operand in all stages: 64 bytes of every row or column in a step.
const fn elements(extent: usize, chunk: usize) -> usize {
    STAGES as usize * extent * 4 * chunk
}

/// For each kernel: its elements and how many there are in 16 bytes; the block's tile; fragments of A and of B in a warp's;
/// threads; whether rows of op(A), columns of op(B) are rows in memory; blocks to a multiprocessor; registers; least width of an
/// access to global memory.
macro_rules! products {
    ($(
        $(#[$doc:meta])+
        $name:ident: $t:ident $chunk:literal, $m:literal x $n:literal, $mt:literal x $nt:literal, $threads:literal,
        $a_along:literal $b_along:literal, $blocks:literal, $registers:literal, $width:literal;
    )+) => {$(
        $(#[$doc])+
        #[kernel(
            block = ($threads), min_blocks = $blocks, registers = $registers, barriers = 5,
            global_load_bytes = $width, global_store_bytes = $width
        )]
        pub fn $name(
            #[shared] stages: &Stages<$t, { elements($m, $chunk) }, { elements($n, $chunk) }>,
            a: VecRef<$t>,
            b: VecRef<$t>,
            c: VecMut<$t>,
            wide: VecMut<f32>,
            bias: VecRef<f32>,
            extents: [u32; 4],
            ld: [u64; 3],
            batch: [u64; 3],
            scale: [f32; 2],
            flags: u32,
        ) {
            let call = Call { a, b, c, wide, bias, extents, ld, batch, scale, flags };
            Block::<
                $t, $chunk, { elements($m, $chunk) }, { elements($n, $chunk) }, $m, $n, $mt, $nt, $threads, $a_along, $b_along,
            >::run(stages, &call);
        }
    )+};
}

products! {
    /// A·B of `f16`, added in `f32`, in tiles of 128 × 256. Arguments are those of [`call`](crate::gemm::call); `a` and `b` have
    /// any offset and rows any distance, aligned to 16 bytes for speed.
    gemm_f16_128x256_nn: f16 8, 128 x 256, 4 x 8, 256, true false, 1, 255, 2;
    /// [`gemm_f16_128x256_nn`] for A·Bᵀ of `f16`, in tiles of 128 × 256.
    gemm_f16_128x256_nt: f16 8, 128 x 256, 4 x 8, 256, true true, 1, 255, 2;
    /// [`gemm_f16_128x256_nn`] for Aᵀ·B of `f16`, in tiles of 128 × 256.
    gemm_f16_128x256_tn: f16 8, 128 x 256, 4 x 8, 256, false false, 1, 255, 2;
    /// [`gemm_f16_128x256_nn`] for Aᵀ·Bᵀ of `f16`, in tiles of 128 × 256.
    gemm_f16_128x256_tt: f16 8, 128 x 256, 4 x 8, 256, false true, 1, 255, 2;
    /// [`gemm_f16_128x256_nn`] for A·B of `f16`, in tiles of 64 × 64.
    gemm_f16_64x64_nn: f16 8, 64 x 64, 2 x 4, 128, true false, 3, 168, 2;
    /// [`gemm_f16_128x256_nn`] for A·Bᵀ of `f16`, in tiles of 64 × 64.
    gemm_f16_64x64_nt: f16 8, 64 x 64, 2 x 4, 128, true true, 3, 168, 2;
    /// [`gemm_f16_128x256_nn`] for Aᵀ·B of `f16`, in tiles of 64 × 64.
    gemm_f16_64x64_tn: f16 8, 64 x 64, 2 x 4, 128, false false, 3, 168, 2;
    /// [`gemm_f16_128x256_nn`] for Aᵀ·Bᵀ of `f16`, in tiles of 64 × 64.
    gemm_f16_64x64_tt: f16 8, 64 x 64, 2 x 4, 128, false true, 3, 168, 2;
    /// [`gemm_f16_128x256_nn`] for A·B of `bf16`, in tiles of 128 × 256.
    gemm_bf16_128x256_nn: bf16 8, 128 x 256, 4 x 8, 256, true false, 1, 255, 2;
    /// [`gemm_f16_128x256_nn`] for A·Bᵀ of `bf16`, in tiles of 128 × 256.
    gemm_bf16_128x256_nt: bf16 8, 128 x 256, 4 x 8, 256, true true, 1, 255, 2;
    /// [`gemm_f16_128x256_nn`] for Aᵀ·B of `bf16`, in tiles of 128 × 256.
    gemm_bf16_128x256_tn: bf16 8, 128 x 256, 4 x 8, 256, false false, 1, 255, 2;
    /// [`gemm_f16_128x256_nn`] for Aᵀ·Bᵀ of `bf16`, in tiles of 128 × 256.
    gemm_bf16_128x256_tt: bf16 8, 128 x 256, 4 x 8, 256, false true, 1, 255, 2;
    /// [`gemm_f16_128x256_nn`] for A·B of `bf16`, in tiles of 64 × 64.
    gemm_bf16_64x64_nn: bf16 8, 64 x 64, 2 x 4, 128, true false, 3, 168, 2;
    /// [`gemm_f16_128x256_nn`] for A·Bᵀ of `bf16`, in tiles of 64 × 64.
    gemm_bf16_64x64_nt: bf16 8, 64 x 64, 2 x 4, 128, true true, 3, 168, 2;
    /// [`gemm_f16_128x256_nn`] for Aᵀ·B of `bf16`, in tiles of 64 × 64.
    gemm_bf16_64x64_tn: bf16 8, 64 x 64, 2 x 4, 128, false false, 3, 168, 2;
    /// [`gemm_f16_128x256_nn`] for Aᵀ·Bᵀ of `bf16`, in tiles of 64 × 64.
    gemm_bf16_64x64_tt: bf16 8, 64 x 64, 2 x 4, 128, false true, 3, 168, 2;
    /// [`gemm_f16_128x256_nn`] for A·B of `f32`, rounded to tf32, in tiles of 128 × 128.
    gemm_tf32_128x128_nn: f32 4, 128 x 128, 4 x 4, 256, true false, 1, 255, 4;
    /// [`gemm_f16_128x256_nn`] for A·Bᵀ of `f32`, rounded to tf32, in tiles of 128 × 128.
    gemm_tf32_128x128_nt: f32 4, 128 x 128, 4 x 4, 256, true true, 1, 255, 4;
    /// [`gemm_f16_128x256_nn`] for Aᵀ·B of `f32`, rounded to tf32, in tiles of 128 × 128.
    gemm_tf32_128x128_tn: f32 4, 128 x 128, 4 x 4, 256, false false, 1, 255, 4;
    /// [`gemm_f16_128x256_nn`] for Aᵀ·Bᵀ of `f32`, rounded to tf32, in tiles of 128 × 128.
    gemm_tf32_128x128_tt: f32 4, 128 x 128, 4 x 4, 256, false true, 1, 255, 4;
    /// [`gemm_f16_128x256_nn`] for A·B of `f32`, rounded to tf32, in tiles of 64 × 64.
    gemm_tf32_64x64_nn: f32 4, 64 x 64, 2 x 4, 128, true false, 3, 168, 4;
    /// [`gemm_f16_128x256_nn`] for A·Bᵀ of `f32`, rounded to tf32, in tiles of 64 × 64.
    gemm_tf32_64x64_nt: f32 4, 64 x 64, 2 x 4, 128, true true, 3, 168, 4;
    /// [`gemm_f16_128x256_nn`] for Aᵀ·B of `f32`, rounded to tf32, in tiles of 64 × 64.
    gemm_tf32_64x64_tn: f32 4, 64 x 64, 2 x 4, 128, false false, 3, 168, 4;
    /// [`gemm_f16_128x256_nn`] for Aᵀ·Bᵀ of `f32`, rounded to tf32, in tiles of 64 × 64.
    gemm_tf32_64x64_tt: f32 4, 64 x 64, 2 x 4, 128, false true, 3, 168, 4;
}

/// The family's kernels.
#[cfg(not(target_arch = "nvptx64"))]
pub const KERNELS: &[&simt::KernelInfo] = &[
    gemm_f16_128x256_nn.info(),
    gemm_f16_128x256_nt.info(),
    gemm_f16_128x256_tn.info(),
    gemm_f16_128x256_tt.info(),
    gemm_f16_64x64_nn.info(),
    gemm_f16_64x64_nt.info(),
    gemm_f16_64x64_tn.info(),
    gemm_f16_64x64_tt.info(),
    gemm_bf16_128x256_nn.info(),
    gemm_bf16_128x256_nt.info(),
    gemm_bf16_128x256_tn.info(),
    gemm_bf16_128x256_tt.info(),
    gemm_bf16_64x64_nn.info(),
    gemm_bf16_64x64_nt.info(),
    gemm_bf16_64x64_tn.info(),
    gemm_bf16_64x64_tt.info(),
    gemm_tf32_128x128_nn.info(),
    gemm_tf32_128x128_nt.info(),
    gemm_tf32_128x128_tn.info(),
    gemm_tf32_128x128_tt.info(),
    gemm_tf32_64x64_nn.info(),
    gemm_tf32_64x64_nt.info(),
    gemm_tf32_64x64_tn.info(),
    gemm_tf32_64x64_tt.info(),
];
