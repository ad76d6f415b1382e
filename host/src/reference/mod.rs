//! The reference implementation of the operations on the CPU, with error bounds for correct kernels.
//!
//! A [`Reference`] has, for each element of the result, its value in `f64` and a *bound*: the largest error that
//! rounding in the arithmetic of the kernel can cause, from the standard model fl(x ∘ y) = (x ∘ y)(1 + δ), |δ| ≤ u (N.
//! J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., ch. 2 and 3), with the reference's own error
//! added. A check returns the largest ratio of error to bound: above 1 the kernel is wrong, for any data. There are no
//! chosen tolerances.
//!
//! ```
//! use ndarray::Array2;
//! use warpwright::{Device, reference};
//!
//! let device = Device::simulator();
//! let a = Array2::from_shape_fn((20, 30), |(i, k)| (i as f32 - k as f32) / 7.0);
//! let b = Array2::from_shape_fn((30, 10), |(k, j)| (k * j) as f32 / 3.0);
//! let c = device.matmul(&device.upload(&a)?, &device.upload(&b)?)?;
//! let verdict = reference::matmul(a.view(), b.view())?.check(&c.download()?)?;
//! assert!(verdict.passes(), "{verdict}");
//! # Ok::<(), warpwright::Error>(())
//! ```
//!
//! With small integers as inputs every sum is exact, in any order; then the bound is far too loose: use [`same_bits`].
//!
//! | operation | reference | bound |
//! |---|---|---|
//! | [`matmul()`] | `f64` product by `matrixmultiply`, [`matmul_plain`] as its check | γ(K)·(│A││B│) + K·η |
//! | [`gemm()`]: scaled, added to C and a bias, activated, rounded | the same | see [`gemm()`] |
//! | [`grouped_gemm`]: groups of rows, each with a B of its own | the same | as [`gemm()`] |
//! | [`sum()`] | Neumaier's compensated sum in `f64` | γ(depth)·Σ│x│ |
//! | [`reduce`]: sums, means, norms, products, variances | exact sums | see [`reduce`] |
//! | [`sum_in_f64`] | the same | u·│s│ + γ(depth)·Σ│x│ with u = 2⁻⁵³ in γ |
//! | [`add`] | the `f32` sum, correctly rounded | 0: equal bits, [`Reference::exact`] for NaNs |
//! | [`transpose`] | a copy | 0: equal bits |
//!
//! Here γ(n) = n·u/(1 − n·u), u = 2⁻²⁴ and η = 2⁻¹⁵⁰ (half the smallest subnormal).

mod bounds;
mod compare;
#[cfg(feature = "kernels")]
mod elementwise;
#[cfg(feature = "gemm")]
mod gemm;
#[cfg(feature = "kernels-gemm")]
mod matmul;
#[cfg(feature = "kernels")]
mod parallel;
pub mod reduce;
mod sum;

pub use bounds::{ETA_F32, U_F32, U_F64, gamma};
pub use compare::{Mismatch, Reference, Verdict, same_bits};
#[cfg(feature = "kernels")]
pub use elementwise::{add, transpose};
#[cfg(feature = "gemm")]
pub use gemm::{Format, Gemm, gemm, grouped_gemm};
#[cfg(feature = "kernels-gemm")]
pub use matmul::{matmul, matmul_fast, matmul_plain};
pub use sum::{neumaier, sum, sum_in_f64};
