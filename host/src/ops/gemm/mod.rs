//! Matrix products: C = act(alpha · op(A)·op(B) + beta · C + bias).
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
//! | A, B | accumulated in | C | |
//! |---|---|---|---|
//! | `f32` | `f32`, by fused multiply-adds | `f32` | by tensor cores with [`Gemm::arithmetic`]: see [`Arithmetic`] |
//! | `f16` | `f32` | `f16` or `f32` | |
//! | `bf16` | `f32` | `bf16` or `f32` | |
//! | `f64` | `f64` | `f64` | no GELU |
//! | `i8` | `i32`, exactly modulo 2³² | `i32`, `f32`, `bf16` or `f16` | alpha and all else in `f32`; nothing else for
//! `i32` |
//! | `E4m3`, `E5m2` | `f32` | `f32`, `bf16` or `f16` | faster with [`Arithmetic::FastAccumulation`] |
//!
//! **Layouts.** A, B and C are matrices, or tensors of three axes: batch, rows and columns. They may be row-major, with
//! any leading dimension, or column-major (Fortran order): such a matrix is `as_tensor_strided(&[m, n], &[1, ld])`. A
//! single matrix, or a stride of 0, serves for the whole batch. Extents have 64 bits, except k, which has 32.
//!
//! **What is not read.** C with beta = 0; A and B with alpha = 0 or k = 0. NaNs there do not matter.
//!
//! **Kernels.** `f16`, `bf16` and tf32 use tensor cores, on every GPU of compute capability 8.0 or later. The kernels
//! for Hopper load by TMA, which needs A and B with the address, the rows in memory and the matrices of a batch at
//! multiples of 16 bytes; C too, for TMA stores, if nothing but alpha is applied to the product. Misaligned operands
//! are copied to the workspace first: [`Algorithm::pack`].
//!
//! **Work.** [`Gemm::into`] queues launches: it does not allocate or wait, and can be captured in a CUDA graph once a
//! product of the kind has loaded the kernels. Partial products and copies of operands go to the caller's
//! [`Gemm::workspace`]; without one there is no split-K, no stream-K and no copy. Results are reproducible: the same
//! bits in every run of one [`Algorithm`], which [`Gemm::plans`] lists and [`Gemm::algorithm`] fixes.

mod algorithm;
mod applicability;
mod arguments;
mod builder;
mod calls;
mod choice;
mod configuration;
mod cost;
#[cfg(test)]
mod coverage;
mod dispatch;
mod element;
#[cfg(test)]
mod golden;
mod grouped;
mod launch;
mod launch_config;
mod operands;
mod options;
mod pack;
mod planner;
mod problem;
mod stream_k;
#[cfg(test)]
mod tests;

pub use algorithm::{Algorithm, Plan};
pub use builder::Gemm;
pub use element::{Multiply, Output, Quantized, Sequential};
pub use grouped::{GroupOffset, GroupedGemm, GroupedMultiply};
pub use options::{Activation, Arithmetic, Op};
