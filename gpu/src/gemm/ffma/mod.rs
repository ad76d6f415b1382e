//! C = A·B in `f32` by multiply-adds alone, as many per clock as the SM can issue. No tensor cores: every
//! product is rounded once, as IEEE 754 says.
//!
//! ```text
//!              ┌───── B ─────┐       A step along k: a block fetches 128 × 16 of A and 16 × 256 of B into one of two
//!              │   ▓▓▓▓▓▓    │ 16    stages of shared memory, while it multiplies what lies in the other.
//!              └─────────────┘
//!  ┌─ A ─┐     ┌───── C ─────┐       8 warps of 64 × 64:           a warp's 32 lanes, 4 × 8, in quads of 4 × 4:
//!  │     │     │   ┌────┐    │         ┌──┬──┬──┬──┐
//!  │ ▓▓  │     │   │    │128 │         │0 │1 │2 │3 │                   0 1 … 7  0 1 … 7      four times down: lane 0
//!  │ ▓▓  │     │   └256─┘    │         ├──┼──┼──┼──┤               0   ▓ ░ … ░  ▓ ░ … ░      has 16 × 8 of C, in
//!  │     │     │             │         │4 │5 │6 │7 │               …                         eight quads, 16 rows and
//!  └─────┘     └─────────────┘         └──┴──┴──┴──┘               3   ░ ░ … ░  ░ ░ … ░      32 columns apart
//!    16
//! ```
//!
//! On Hopper a warp scheduler issues one instruction per clock, and a multiply-add takes one clock: every other
//! instruction takes the place of one. What is needed is therefore counted in instructions, per thread and column of A:
//!
//! | outputs per thread | fma | loads of 16 bytes from shared memory | fma of all |
//! |---|---|---|---|
//! | 8 × 4 | 32 | 3 | 91 % |
//! | 8 × 8 | 64 | 4 | 94 % |
//! | **16 × 8** | 128 | 6 | 96 % |
//! | 16 × 16 | 256 | 8 | 97 %, but 256 sums do not fit into 255 registers |
//!
//! Fetching a step, storing A, waiting and counting take about 110 instructions more: 5 % of 16 columns. What it costs
//! besides is registers: 128 sums, so that one block of 256 threads, or two of 128, fill an SM.
//!
//! The kernels are one program with different tiles: large ones need fewer loads from memory, small ones keep more SMs
//! busy where C is small. Each element of C is one chain of fused multiply-adds in order of k, from +0,
//! whatever the tile: all of them, and [`matmul_naive`](super::naive::matmul_naive), give the same bits.
//!
//! - `mainloop`: what a block does, in order.
//! - `load`: how a step comes to shared memory, aligned or not, inside the matrices or at their edge.

mod load;
mod mainloop;

use pastey::paste;
use simt::prelude::*;

use self::mainloop::multiply;
use super::configs::ffma_configs;
#[cfg(not(target_arch = "nvptx64"))]
use super::configs::{PerfModel, ThreadConfig};

/// Blocks for an m × n matrix C in tiles of `rows` × `cols`. A grid has at most 2³¹ − 1 blocks along x.
pub const fn grid(m: u32, n: u32, [rows, cols]: [u32; 2]) -> [u32; 3] {
    [m.div_ceil(rows).saturating_mul(n.div_ceil(cols)), 1, 1]
}

/// Shared memory of a block: two stages of `ROWS / 2` columns of A, transposed, and as many rows of B.
#[repr(C)]
#[derive(Shared)]
pub struct Stages<const ROWS: usize, const M: usize, const N: usize> {
    a: SharedTile<f32, ROWS, M>,
    b: SharedTile<f32, ROWS, N>,
}

/// The type of these kernels.
#[cfg(not(target_arch = "nvptx64"))]
pub type MatmulKernel = simt::Kernel<(MatRef<'static, f32>, MatRef<'static, f32>, MatMut<'static, f32>)>;

/// A kernel with its configuration.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Debug)]
pub struct FfmaMatmul {
    /// Its row.
    pub config: &'static ThreadConfig,
    /// The kernel, for row-major A, B and C.
    pub kernel: &'static MatmulKernel,
}

macro_rules! kernels {
    ($(
        $name:literal: $m:literal x $n:literal x $depth:literal, $mq:literal x $nq:literal, $threads:literal,
        $blocks:literal, $registers:literal, [$one:literal $more:literal], $overhead:literal,
        $pm:literal x $pn:literal x $pk:literal;
    )+) => { paste! {
        $(
            /// C = A·B in `f32`, each element summed in order of k by fused multiply-adds: see [the module](self).
            ///
            /// `a` is m × k, `b` is k × n, `c` is m × n; where they disagree the common part is multiplied. Any offset
            /// and leading dimension; loads and stores are 16 bytes wide where rows start at multiples of 16 bytes.
            #[kernel(
                block = ($threads), min_blocks = $blocks, registers = $registers, barriers = 2, global_load_bytes = 4,
                global_store_bytes = 4
            )]
            pub fn [<gemm_ffma_f32_ $name>](
                #[shared] stages: &Stages<{ 2 * $depth }, $m, $n>,
                a: MatRef<f32>,
                b: MatRef<f32>,
                c: MatMut<f32>,
            ) {
                multiply::<_, _, _, $mq, $nq, $threads>(stages, a, b, c);
            }
        )+

        /// The kernels with their configurations.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const KERNELS: &[FfmaMatmul] = &[$(FfmaMatmul {
            config: &ThreadConfig {
                name: $name,
                tile: [$m, $n],
                k_granularity: 16,
                model: PerfModel { efficiency: [$one, $more], misaligned: 0.93, tile_overhead: [$overhead, $overhead] },
                needed_by: [$pm, $pn, $pk],
            },
            kernel: &[<gemm_ffma_f32_ $name>],
        }),+];
    } };
}
ffma_configs!(kernels);
