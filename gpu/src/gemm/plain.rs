//! C = act(alpha · op(A)·op(B) + beta · C + bias), one element of C per thread: for every type, layout and shape.
//!
//! ```text
//!            ┌─ op(B) ─┐        A warp covers 32 columns of one row of C. Along k a thread adds products one after the
//!            │    ║    │ k      other by fused multiply-adds in the type of the sums: f32, or f64 for f64.
//!            └────╫────┘
//!  ┌op(A)┐   ┌────╫────┐        Every faster kernel has this one for its simpler twin: its results are within rounding of
//!  │═════│   │════╬    │ m      these, and for integers equal.
//!  └─────┘   └─────────┘ n
//! ```
//!
//! Per thread and matrix: 2·k loads of one element, k fma, 1 store. No shared memory, no barrier. Arguments and grid are those of
//! [`call`](super::call); for tf32, A and B are `f32` that are rounded when they are read.

#![allow(clippy::too_many_arguments, reason = "the arguments of a product: `call`")]

use half::{bf16, f16};
use simt::prelude::*;

use super::call::{TRANSPOSE_A, TRANSPOSE_B, epilogue, strides};
use super::number::{Number, Real, tf32};

/// Rows and columns of C per block: a warp per row, and 8 warps of 256 threads fill a multiprocessor evenly.
pub const TILE: [u32; 2] = [8, 32];

/// `read` makes of an element what is multiplied.
#[inline(always)]
#[track_caller]
fn product<T: Number>(
    read: impl Fn(T) -> T::Wide,
    (a, b): (VecRef<T>, VecRef<T>),
    c: (VecMut<T>, VecMut<T::Wide>),
    bias: VecRef<T::Wide>,
    [m, n, k, batches]: [u32; 4],
    ld: [u64; 3],
    batch: [u64; 3],
    scale: [T::Wide; 2],
    flags: u32,
) {
    let across = n.div_ceil(TILE[1]).max(1);
    let row = block_idx_x() / across * TILE[0] + thread_idx_y();
    let col = block_idx_x() % across * TILE[1] + thread_idx_x();
    if row >= m || col >= n {
        return;
    }
    let (a_down, a_along) = strides(ld[0], flags & TRANSPOSE_A != 0);
    let (b_along, b_across) = strides(ld[1], flags & TRANSPOSE_B != 0);
    let mut matrix = block_idx_z();
    while matrix < batches {
        let mut from_a = matrix as u64 * batch[0] + row as u64 * a_down;
        let mut from_b = matrix as u64 * batch[1] + col as u64 * b_across;
        let mut sum = T::Wide::ZERO;
        for _ in 0..k {
            let (x, y) = (a.get_or(from_a as usize, T::ZERO), b.get_or(from_b as usize, T::ZERO));
            sum = fma(read(x), read(y), sum);
            from_a = from_a.wrapping_add(a_along);
            from_b = from_b.wrapping_add(b_along);
        }
        let at = matrix as u64 * batch[2] + row as u64 * ld[2] + col as u64;
        epilogue(sum, at, c, bias, (row, col), scale, flags);
        matrix = matrix.saturating_add(grid_dim_z());
    }
}

macro_rules! products {
    ($($(#[$doc:meta])+ $name:ident: $t:ty => $wide:ty, $read:expr, $load:literal, $store:literal, $registers:literal;)+) => {$(
        $(#[$doc])+
        #[kernel(
            block = (TILE[1], TILE[0]), registers = $registers, barriers = 0, global_load_bytes = $load,
            global_store_bytes = $store
        )]
        pub fn $name(
            a: VecRef<$t>,
            b: VecRef<$t>,
            c: VecMut<$t>,
            wide: VecMut<$wide>,
            bias: VecRef<$wide>,
            extents: [u32; 4],
            ld: [u64; 3],
            batch: [u64; 3],
            scale: [$wide; 2],
            flags: u32,
        ) {
            product::<$t>($read, (a, b), (c, wide), bias, extents, ld, batch, scale, flags);
        }
    )+};
}

products! {
    /// The product above in `f32`: the bits of [`matmul_naive`](super::naive::matmul_naive) where C = A·B.
    gemm_plain_f32: f32 => f32, |x| x, 4, 4, 48;
    /// The product above of `f32` numbers rounded to tf32, added in `f32`.
    gemm_plain_tf32: f32 => f32, tf32, 4, 4, 48;
    /// The product above of `f16`, added in `f32`.
    gemm_plain_f16: f16 => f32, Number::wide, 2, 2, 48;
    /// The product above of `bf16`, added in `f32`.
    gemm_plain_bf16: bf16 => f32, Number::wide, 2, 2, 48;
    /// The product above in `f64`; bit 2 of `flags` has no use.
    gemm_plain_f64: f64 => f64, |x| x, 8, 8, 56;
}
