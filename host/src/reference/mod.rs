//! The oracle: what the operations should give, computed on the CPU, and how far a correct kernel may be from it.
//!
//! A [`Reference`] holds, for each element of the result, its value in `f64` and a *bound*: the largest distance that
//! rounding in the arithmetic of the kernel can explain, from the standard model fl(x ∘ y) = (x ∘ y)(1 + δ), |δ| ≤ u
//! (N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., ch. 2 and 3), with the reference's own
//! error added. A check gives the worst ratio of error to bound: above 1 the kernel is wrong, whatever the data. No
//! tolerance is chosen anywhere.
//!
//! Inputs that are small integers make every sum exact, in any order; then the bound is far too kind and
//! [`same_bits`] is the check to use.
//!
//! | operation | reference | bound |
//! |---|---|---|
//! | [`matmul()`] | `f64` product by `matrixmultiply`, [`matmul_plain`] as its check | γ(K)·(│A││B│) + K·η |
//! | [`gemm()`]: scaled, added to C and a bias, activated, rounded | the same | see there |
//! | [`sum()`] | Neumaier's compensated sum in `f64` | γ(depth)·Σ│x│ |
//! | [`reduce`]: sums, means, norms, products, variances | exact sums | see there |
//! | [`sum_in_f64`] | the same | u·│s│ + γ(depth)·Σ│x│ with u = 2⁻⁵³ in γ |
//! | [`add`] | the `f32` sum, correctly rounded | 0: equal bits, [`Reference::exact`] where there are NaNs |
//! | [`transpose`] | a copy | 0: equal bits |
//!
//! Here γ(n) = n·u/(1 − n·u), u = 2⁻²⁴ and η = 2⁻¹⁵⁰ (half the smallest subnormal).

mod bounds;
mod compare;
mod elementwise;
mod gemm;
mod matmul;
pub mod reduce;
mod sum;

pub use bounds::{ETA_F32, U_F32, U_F64, gamma};
pub use compare::{Mismatch, Reference, Verdict, same_bits};
pub use elementwise::{add, transpose};
pub use gemm::{Format, Gemm, gemm};
pub use matmul::{matmul, matmul_fast, matmul_plain};
pub use sum::{neumaier, sum, sum_in_f64};
