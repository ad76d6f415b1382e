//! Products of `f32` on tensor cores, as accurate as `f32` arithmetic: each operand is a sum of three `bf16`, and six
//! of the nine products are added (`Bf16x6`; cuBLAS has nine, `BF16x9`).
//!
//! ```text
//!   a · 2¹⁶ = a₀ + a₁ + a₂          8 bits each, exact         split      one pass over A and B, to the workspace
//!
//!   64 of k:  a₀b₂ + a₂b₀ + a₁b₁ + a₀b₁ + a₁b₀ + a₀b₀          mainloop   tensor cores, smallest products first
//!   C += …                                                                registers, rounded to nearest
//!   C · 2⁻³²                                                   unscale
//! ```
//!
//! **Why the sum of 64 products is added to another register.** Tensor cores cut off what does not fit their
//! accumulator, so that a long sum of numbers of one sign drifts. Sums of [`DEPTH`] products are short enough; they are
//! then added by ordinary additions.
//!
//! **Why smallest products first.** While the accumulator is small, little is cut off.
//!
//! **Why the factor 2¹⁶.** The least `bf16` is 2⁻¹³³, so every `f32` below 2¹¹¹, subnormal ones included, is exactly a
//! sum of three.
//!
//! **What does not fit.** An operand of 2¹¹¹ or more, an infinity and a NaN is split into NaNs, and sums of 2⁹⁶ or more
//! overflow. `unscale` computes such elements of C again, with sums in `f64`: infinities and NaN are where IEEE 754
//! puts them, at a thousandth of the speed.
//!
//! # Error
//!
//! With u = 2⁻²⁴ and S = (|A||B|)ᵢⱼ, an element of A·B is off by at most
//!
//! ```text
//!   (140 + k / 64 + p) · u · S   and   2⁻¹⁴⁹
//! ```
//!
//! where stream-K adds p partial sums. The bound of a sum of fused multiply-adds is k · u · S. It is the sum of:
//!
//! - the products left out, a₁b₂ + a₂b₁ + a₂b₂: |a₁| ≤ 2⁻⁸|a|, |a₂| ≤ 2⁻¹⁶|a|, so 2.1 · u · S;
//! - a sum on tensor cores, at least as accurate as additions that round towards zero
//!   ([`simt::matrix`](simt::matrix#numbers)), 2u each: 64 on a partial sum of at most 1.01 · S of these 64, 320 before
//!   on one of at most 2⁻⁶ · S: 138 · u · S;
//! - the additions of such sums, rounded to nearest, one at most for each 64 of k and for each part of stream-K;
//! - 2⁻¹⁴⁹ where the result is subnormal.

pub(super) mod mainloop;
pub mod split;
pub(super) mod unscale;

/// Planes of an operand.
pub const PLANES: u32 = 3;
/// Elements of k whose products are added on tensor cores; rows of the planes are padded with zeros to a multiple of
/// it.
pub const DEPTH: u32 = 64;
/// By what both operands are multiplied.
const SCALE: f32 = 65_536.0;
