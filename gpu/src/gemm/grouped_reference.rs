//! `C_g = act(alpha · A_g·op(B_g) + beta · C_g)` for groups g of rows, one element of C per thread: for every layout
//! and shape.
//!
//! ```text
//!              ┌─ op(B_g) ┐       A warp covers 32 columns of one row of C. Each thread looks for the row's group
//!              │    ║     │ k     among the offsets, then adds products in order of k, as `reference` does.
//!              └────╫─────┘
//!  ┌─── A ───┐ ┌────╫─────┐
//!  │═════════│ │════╬     │ rows offsets[g] to offsets[g + 1]
//!  └─────────┘ └──────────┘ n
//! ```
//!
//! Per thread: at most a load for each offset, 2·k of one element, k fma, 1 store. No shared memory, no barrier.

use half::{bf16, f16};
use simt::float8::E4m3;
use simt::prelude::*;

use super::args::{GroupedGemmArgs, Operands, SCALES, TRANSPOSE_A, TRANSPOSE_B, strides};
use super::number::Number;
use super::reference::TILE;

/// The group of a row: the first that ends after it, unless the row lies before the first group. What a group is if
/// offsets decrease is in [`sm90::schedule::grouped`](super::sm90::schedule::grouped::Groups).
#[cfg_attr(optimised, inline(always))]
fn group_of(row: u32, offsets: VecRef<'_, u32>, count: u32) -> Option<u32> {
    let first = offsets.len().saturating_sub(count as usize);
    let mut at = 0;
    while at < offsets.len() && offsets.get_or(at, 0) <= row {
        at += 1;
    }
    if at < first || at >= offsets.len() { None } else { Some((at - first) as u32) }
}

#[cfg_attr(optimised, inline(always))]
fn gemm<T: Number<Wide = f32>>(
    operands: Operands<'_, T>,
    GroupedGemmArgs { gemm, offsets, scales, .. }: GroupedGemmArgs<'_, T>,
) {
    let Operands { a, b, ld, stride } = operands;
    let across = gemm.n.div_ceil(TILE[1]).max(1);
    let row = block_idx_x() / across * TILE[0] + thread_idx_y();
    let col = block_idx_x() % across * TILE[1] + thread_idx_x();
    if row >= gemm.m || col >= gemm.n {
        return;
    }
    let Some(group) = group_of(row, offsets, gemm.batch) else { return };
    let (a_down, a_along) = strides(ld[0], gemm.flags & TRANSPOSE_A != 0);
    let (b_along, b_across) = strides(ld[1], gemm.flags & TRANSPOSE_B != 0);
    let mut from_a = row as u64 * a_down;
    let mut from_b = group as u64 * stride[1] + col as u64 * b_across;
    let mut sum = 0.0_f32;
    for _ in 0..gemm.k {
        let (x, y) = (a.get_or(from_a as usize, T::ZERO), b.get_or(from_b as usize, T::ZERO));
        sum = fma(x.wide(), y.wide(), sum);
        from_a = from_a.wrapping_add(a_along);
        from_b = from_b.wrapping_add(b_along);
    }
    if gemm.flags & SCALES != 0 {
        let column = group as usize * gemm.n as usize + col as usize;
        sum = sum * scales.rows.get_or(row as usize, 1.0) * scales.columns.get_or(column, 1.0);
    }
    gemm.store(sum, gemm.index(0, row, col), (row, col));
}

macro_rules! kernels {
    ($($(#[$doc:meta])+ $name:ident: $t:ty, $bytes:literal bytes;)+) => {$(
        $(#[$doc])+
        #[kernel(
            block = (TILE[1], TILE[0]), registers = 48, barriers = 0, global_load_bytes = $bytes, global_store_bytes = 2
        )]
        pub fn $name(operands: Operands<$t>, args: GroupedGemmArgs<$t>) {
            gemm::<$t>(operands, args);
        }
    )+};
}
kernels! {
    /// The kernel above for `f16`.
    gemm_grouped_reference_f16: f16, 2 bytes;
    /// The kernel above for `bf16`.
    gemm_grouped_reference_bf16: bf16, 2 bytes;
    /// The kernel above for `E4m3`.
    gemm_grouped_reference_e4m3: E4m3, 1 bytes;
}
