//! The end of a product that was split along k: partial products are added up, in their order, and finished.
//!
//! ```text
//!   k:      ├── part 0 ──┼── part 1 ──┼── part 2 ──┤
//!   batch:     P₀ = A₀B₀    P₁ = A₁B₁    P₂ = A₂B₂       C = act(alpha · ((P₀ + P₁) + P₂) + beta · C + bias)
//! ```
//!
//! Where C has too few tiles to keep the multiprocessors busy, a split along k gives more of them. The parts are made by any
//! kernel, as a batch: matrix p of it starts p parts further along k, and its C is part p in the workspace, `f32` without gaps.
//! Per element of C: `parts` loads of 4 bytes, 1 store.

#![allow(clippy::too_many_arguments, reason = "the arguments of a product: `call`")]

use half::{bf16, f16};
use simt::prelude::*;

use super::call::epilogue;
use super::number::{Number, Real};
pub use super::plain::TILE;

#[inline(always)]
#[track_caller]
fn merge<T: Number>(
    partial: VecRef<T::Wide>,
    c: (VecMut<T>, VecMut<T::Wide>),
    bias: VecRef<T::Wide>,
    [m, n, parts]: [u32; 3],
    ld: u64,
    scale: [T::Wide; 2],
    flags: u32,
) {
    let across = n.div_ceil(TILE[1]).max(1);
    let row = block_idx_x() / across * TILE[0] + thread_idx_y();
    let col = block_idx_x() % across * TILE[1] + thread_idx_x();
    if row >= m || col >= n {
        return;
    }
    let mut from = row as u64 * n as u64 + col as u64;
    let mut sum = partial.get_or(from as usize, T::Wide::ZERO);
    for _ in 1..parts {
        from += m as u64 * n as u64;
        sum = sum + partial.get_or(from as usize, T::Wide::ZERO);
    }
    epilogue(sum, row as u64 * ld + col as u64, c, bias, (row, col), scale, flags);
}

macro_rules! merges {
    ($($(#[$doc:meta])+ $name:ident: $t:ty => $wide:ty, $load:literal, $store:literal, $registers:literal;)+) => {$(
        $(#[$doc])+
        #[kernel(
            block = (TILE[1], TILE[0]), registers = $registers, barriers = 0, global_load_bytes = $load,
            global_store_bytes = $store
        )]
        pub fn $name(
            partial: VecRef<$wide>,
            c: VecMut<$t>,
            wide: VecMut<$wide>,
            bias: VecRef<$wide>,
            extents: [u32; 3],
            ld: u64,
            scale: [$wide; 2],
            flags: u32,
        ) {
            merge::<$t>(partial, (c, wide), bias, extents, ld, scale, flags);
        }
    )+};
}

merges! {
    /// C from `parts` partial products, each m × n without gaps, one after the other; `extents` are m, n and the number of
    /// parts, at least 1. The other arguments are those of [`call`](super::call).
    gemm_merge_f32: f32 => f32, 4, 4, 40;
    /// [`gemm_merge_f32`] for a C of `f16`.
    gemm_merge_f16: f16 => f32, 2, 2, 40;
    /// [`gemm_merge_f32`] for a C of `bf16`.
    gemm_merge_bf16: bf16 => f32, 2, 2, 40;
}
