//! C = act(alpha · op(A)·op(B) + beta · C + bias), one element of C per thread: for every type, layout and shape.
//!
//! ```text
//!            ┌─ op(B) ─┐        A warp covers 32 columns of one row of C. Along k a thread adds products one after
//!            │    ║    │ k      the other by fused multiply-adds in the type of the sums: f32, or f64 for f64.
//!            └────╫────┘
//!  ┌op(A)┐   ┌────╫────┐        All other kernels agree within rounding, and for integers exactly.
//!  │═════│   │════╬    │ m
//!  └─────┘   └─────────┘ n
//! ```
//!
//! Per thread and matrix: 2·k loads of one element, k fma, 1 store. No shared memory, no barrier. Arguments and grid
//! are those of [`args`](super::args); sums of `i8` are integers; for tf32, A and B are `f32` that are rounded when
//! they are read.

use half::{bf16, f16};
use simt::float8::{E4m3, E5m2};
use simt::prelude::*;

use super::args::{GemmArgs, Operands, TRANSPOSE_A, TRANSPOSE_B, strides};
#[cfg(not(target_arch = "nvptx64"))]
use super::configs::{PerfModel, ThreadConfig, ThreadKernel};
use super::number::{Number, Real, tf32};

/// Rows and columns of C per block: a warp per row, and 8 warps of 256 threads fill an SM evenly.
pub const TILE: [u32; 2] = [8, 32];

/// `read` converts an element to what is multiplied.
#[cfg_attr(optimised, inline(always))]
fn gemm<T: Number>(read: impl Fn(T) -> T::Wide, operands: Operands<'_, T>, args: GemmArgs<'_, T>) {
    sum_each(operands, args, T::Wide::ZERO, |sum, x, y| fma(read(x), read(y), sum), |sum| sum);
}

/// Each element of C from its sum, which begins with `zero` and to which `add` adds the product of two elements.
#[cfg_attr(optimised, inline(always))]
fn sum_each<T: Number, S: Copy>(
    Operands { a, b, ld, stride }: Operands<'_, T>,
    args: GemmArgs<'_, T>,
    zero: S,
    add: impl Fn(S, T, T) -> S,
    accumulator: impl Fn(S) -> T::Wide,
) {
    let GemmArgs { m, n, k, batch, flags, .. } = args;
    let across = n.div_ceil(TILE[1]).max(1);
    let row = block_idx_x() / across * TILE[0] + thread_idx_y();
    let col = block_idx_x() % across * TILE[1] + thread_idx_x();
    if row >= m || col >= n {
        return;
    }
    let (a_down, a_along) = strides(ld[0], flags & TRANSPOSE_A != 0);
    let (b_along, b_across) = strides(ld[1], flags & TRANSPOSE_B != 0);
    let mut matrix = block_idx_z();
    while matrix < batch {
        let mut from_a = matrix as u64 * stride[0] + row as u64 * a_down;
        let mut from_b = matrix as u64 * stride[1] + col as u64 * b_across;
        let mut sum = zero;
        for _ in 0..k {
            let (x, y) = (a.get_or(from_a as usize, T::ZERO), b.get_or(from_b as usize, T::ZERO));
            sum = add(sum, x, y);
            from_a = from_a.wrapping_add(a_along);
            from_b = from_b.wrapping_add(b_along);
        }
        args.store(accumulator(sum), args.index(matrix, row, col), (row, col));
        matrix = matrix.saturating_add(grid_dim_z());
    }
}

macro_rules! kernels {
    ($($(#[$doc:meta])+ $name:ident $list:ident: $t:ty, $read:expr, $bytes:literal, $registers:literal;)+) => {$(
        $(#[$doc])+
        #[kernel(
            block = (TILE[1], TILE[0]), registers = $registers, barriers = 0, global_load_bytes = $bytes,
            global_store_bytes = $bytes
        )]
        pub fn $name(operands: Operands<$t>, args: GemmArgs<$t>) {
            gemm::<$t>($read, operands, args);
        }

        /// The kernel with its configuration.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const $list: ThreadKernel<$t> = ThreadKernel { config: &CONFIG, layout: None, kernel: &$name };
    )+};
}

/// The kernel above for `i8`, whose products are added as `i32`.
#[kernel(
    block = (TILE[1], TILE[0]), registers = 48, barriers = 0, global_load_bytes = 1, global_store_bytes = 2
)]
pub fn gemm_reference_i8(operands: Operands<i8>, args: GemmArgs<i8>) {
    let add = |sum: i32, x: i8, y: i8| sum.wrapping_add(x as i32 * y as i32);
    sum_each(operands, args, 0, add, |sum| if args.has_integers() { f32::from_bits(sum as u32) } else { sum as f32 });
}

/// The kernel with its configuration.
#[cfg(not(target_arch = "nvptx64"))]
pub const I8: ThreadKernel<i8> = ThreadKernel { config: &CONFIG, layout: None, kernel: &gemm_reference_i8 };

/// Its speed is predicted: 5 % of the multiply-adds of an SM that eight blocks share, less with fewer.
#[cfg(not(target_arch = "nvptx64"))]
const CONFIG: ThreadConfig = ThreadConfig {
    name: "8x32",
    tile: TILE,
    k_granularity: 16,
    model: PerfModel { efficiency: [0.01, 0.03], misaligned: 1.0, tile_overhead: [32.0, 32.0] },
    needed_by: [1, 1, 1],
};

kernels! {
    /// The kernel above for `f32`: the bits of [`matmul_naive`](super::naive::matmul_naive) where C = A·B.
    gemm_reference_f32 F32: f32, |x| x, 4, 48;
    /// The kernel above for `f32` rounded to tf32.
    gemm_reference_tf32 TF32: f32, tf32, 4, 48;
    /// The kernel above for `f16`.
    gemm_reference_f16 F16: f16, Number::wide, 2, 48;
    /// The kernel above for `bf16`.
    gemm_reference_bf16 BF16: bf16, Number::wide, 2, 48;
    /// The kernel above for [`E4m3`].
    gemm_reference_e4m3 E4M3: E4m3, Number::wide, 1, 48;
    /// The kernel above for [`E5m2`].
    gemm_reference_e5m2 E5M2: E5m2, Number::wide, 1, 48;
    /// The kernel above for `f64`; [`WIDE_C`](super::args::WIDE_C) has no meaning.
    gemm_reference_f64 F64: f64, |x| x, 8, 56;
}
