//! The end of split-K: partial products are added up in their order, and the epilogue applied.
//!
//! ```text
//!   k:      ├── part 0 ──┼── part 1 ──┼── part 2 ──┤
//!   batch:     P₀ = A₀B₀    P₁ = A₁B₁    P₂ = A₂B₂       C = act(alpha · ((P₀ + P₁) + P₂) + beta · C + bias)
//! ```
//!
//! Where C has too few tiles to keep the SMs busy, a split along k gives more of them. Any kernel computes the parts,
//! as a batch: matrix p starts p parts further along k, and its C is part p in the workspace, `f32` without gaps. Per
//! element of C: `parts` loads of 4 bytes, 1 store.

use half::{bf16, f16};
use simt::prelude::*;

use super::args::GemmArgs;
use super::number::{Number, Real};
pub use super::reference::TILE;

#[cfg_attr(optimised, inline(always))]
fn reduce_k<T: Number>(partials: VecRef<T::Wide>, parts: u32, args: GemmArgs<'_, T>) {
    let GemmArgs { m, n, .. } = args;
    let across = n.div_ceil(TILE[1]).max(1);
    let row = block_idx_x() / across * TILE[0] + thread_idx_y();
    let col = block_idx_x() % across * TILE[1] + thread_idx_x();
    if row >= m || col >= n {
        return;
    }
    let mut from = row as u64 * n as u64 + col as u64;
    let mut sum = partials.get_or(from as usize, T::Wide::ZERO);
    for _ in 1..parts {
        from += m as u64 * n as u64;
        sum = sum + partials.get_or(from as usize, T::Wide::ZERO);
    }
    args.store(sum, args.index(0, row, col), (row, col));
}

macro_rules! kernels {
    ($($(#[$doc:meta])+ $name:ident: $t:ty, $bytes:literal;)+) => {$(
        $(#[$doc])+
        #[kernel(
            block = (TILE[1], TILE[0]), registers = 40, barriers = 0,
            global_load_bytes = $bytes, global_store_bytes = $bytes
        )]
        pub fn $name(partials: VecRef<f32>, parts: u32, args: GemmArgs<$t>) {
            reduce_k::<$t>(partials, parts, args);
        }
    )+};
}

kernels! {
    /// C from `parts` partial products, at least 1, each m × n without gaps, one after the other. k and the batch have
    /// no meaning.
    gemm_reduce_k_f32: f32, 4;
    /// [`gemm_reduce_k_f32`] for a C of `f16`.
    gemm_reduce_k_f16: f16, 2;
    /// [`gemm_reduce_k_f32`] for a C of `bf16`.
    gemm_reduce_k_bf16: bf16, 2;
}

/// The kernel of an element type.
#[cfg(not(target_arch = "nvptx64"))]
pub type ReduceK<T> = simt::Kernel<(VecRef<'static, f32>, u32, GemmArgs<'static, T>)>;
