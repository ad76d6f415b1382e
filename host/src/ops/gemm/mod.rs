//! Matrix products in BLAS's words: C = act(alpha · op(A)·op(B) + beta · C + bias).
//!
//! ```
//! use ndarray::array;
//! let device = warpwright::Device::simulator();
//! let a = device.upload(&array![[1.0_f32, 2.0], [3.0, 4.0]])?;
//! let b = device.upload(&array![[1.0_f32, -1.0], [0.0, 1.0]])?;
//! let bias = device.upload(&[10.0_f32, 0.0])?;
//! let c = device.gemm(&a, &b).alpha(2.0).bias(&bias).relu().run()?;
//! assert_eq!(c.download()?, array![[12.0, 2.0], [16.0, 2.0]]);
//! # Ok::<(), warpwright::Error>(())
//! ```
//!
//! | A, B | sums | C | |
//! |---|---|---|---|
//! | `f32` | `f32`, every product rounded once with its sum | `f32` | tf32 with [`Gemm::arithmetic`] |
//! | `f16` | `f32` | `f16` or `f32` | |
//! | `bf16` | `f32` | `bf16` or `f32` | |
//! | `f64` | `f64` | `f64` | no GELU |
//!
//! **Memory.** A, B and C are matrices, or tensors of three axes: a batch. Their rows may be any distance apart, and so may
//! their columns, if the elements of each column follow each other instead (Fortran's order): such a matrix is
//! `as_tensor_strided(&[m, n], &[1, ld])`. A matrix stands for a whole batch of itself; so does a stride of 0. Extents have 64
//! bits, but for k, which has 32.
//!
//! **What is not read.** C with beta = 0; A and B with alpha = 0 or k = 0. So NaNs there do not matter.
//!
//! **Kernels.** `f16`, `bf16` and tf32 are multiplied by tensor cores, on every GPU from compute capability 8.0 on. On Hopper these
//! are fastest where A and B, each of their rows as it lies in memory, and each matrix of a batch begin at multiples of
//! 16 bytes, and C too if nothing but alpha is done to the product. Where A or B does not lie so, a copy of it in the workspace
//! does: [`Algorithm::pack`].
//!
//! **Work.** [`Gemm::into`] queues launches and nothing else: no allocation, no waiting; it can be captured in a CUDA graph once
//! a product of the kind has loaded the kernels. Memory for partial products and copies is the caller's, [`Gemm::workspace`];
//! without it k is not split, no tile of C is shared among blocks, and nothing copied. The result has the same bits, run after run;
//! which bits depends on the [`Algorithm`], which [`Gemm::plans`]
//! lists and [`Gemm::algorithm`] fixes.

mod builder;
mod calls;
mod candidates;
mod check;
mod element;
#[cfg(test)]
mod golden;
mod packing;
mod plan;
mod problem;
mod run;
mod share;
mod stored;
mod unfit;

pub use builder::Gemm;
pub use element::{Multiply, Output};
pub use plan::{Algorithm, Plan};

use crate::memory::Layout;

/// What messages call it.
const CALL: &str = "gemm";

/// op(X) = X or Xᵀ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Op {
    /// X.
    #[default]
    N,
    /// Xᵀ.
    T,
}

/// What is done to alpha · op(A)·op(B) + beta · C + bias.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activation {
    /// Nothing.
    #[default]
    None,
    /// max(x, 0); a NaN stays one.
    Relu,
    /// x·Φ(x) with Φ the normal distribution function, (1 + erf(x/√2)) / 2: the exact form, not that by tanh.
    Gelu,
}

/// How products of `f32` are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Arithmetic {
    /// With all bits of the operands; sums of `f32`, `f16` and `bf16` are `f32`.
    #[default]
    Full,
    /// With `f32` operands rounded to 10 bits after the point (tf32), as tensor cores take them; sums are `f32`.
    Tf32,
}

/// Which elements of C share a number of the bias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bias {
    PerColumn,
    PerRow,
}

/// A matrix row by row without gaps.
fn rows(rows: usize, cols: usize, ld: usize) -> Layout {
    Layout::contiguous(rows, cols).ld(ld)
}
