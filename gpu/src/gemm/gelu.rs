//! GELU in its exact form, x·Φ(x) with Φ(x) = (1 + erf(x/√2)) / 2 (D. Hendrycks, K. Gimpel, *Gaussian Error Linear
//! Units*, 2016), not the approximation by tanh.
//!
//! With z = |x| and Q(z) = 1 − Φ(z), which is Φ(−z), it is x·Q(z) left of 0 and x·(1 − Q(z)) right of it: nothing
//! cancels. Q falls over many powers of two but its logarithm is nearly a parabola: log₂ 2Q(z) = z·r(z), r a polynomial
//! of degree 9, fitted on [0, 6] so that the largest error of Q to the power 0.7 is least (iteratively reweighted least
//! squares in 40 digits). In exact arithmetic the error of GELU is 0.015·2⁻²⁴·|x|; beyond 6, Q is below 10⁻⁹ and the
//! polynomial falls without bound.
//!
//! Additions, multiplications and fused multiply-adds only, each rounded as IEEE 754 says: the same bits on every GPU
//! and on the simulator.

use simt::math::{fma, maximum, minimum};

/// |gelu(x) − x·Φ(x)| ≤ [`ERROR`]·2⁻²⁴·|x| + 2⁻¹⁴⁹, as found by trying every `f32`.
pub const ERROR: f64 = 1.68;

/// The greatest slope of x·Φ(x) is at √2: Φ(√2) + √2·φ(√2) = 1.12890…
pub const SLOPE: f64 = 1.129;

/// r from its highest power down.
const R: [f32; 10] = [
    -4.639_774e-8,
    1.216_678_9e-6,
    -1.395_088_4e-5,
    8.959_838e-5,
    -3.126_094_8e-4,
    4.723_674e-5,
    6.909_964_5e-3,
    -5.242_736_7e-2,
    -4.592_226e-1,
    -1.151_104_2,
];

/// x·Φ(x), within [`ERROR`]. GELU(−∞) is −0, the limit.
#[cfg_attr(optimised, inline(always))]
#[must_use]
pub fn gelu(x: f32) -> f32 {
    // At −15 and left of it the result underflows to −0; so does it for −∞, which must not meet a factor 0.
    let x = maximum(x, -15.0);
    let z = minimum(x.abs(), 15.0);
    let mut r = fma(R[0], z, R[1]);
    r = fma(r, z, R[2]);
    r = fma(r, z, R[3]);
    r = fma(r, z, R[4]);
    r = fma(r, z, R[5]);
    r = fma(r, z, R[6]);
    r = fma(r, z, R[7]);
    r = fma(r, z, R[8]);
    r = fma(r, z, R[9]);
    let q = 0.5 * exp2(maximum(r * z, -200.0));
    x * if x < 0.0 { q } else { 1.0 - q }
}

/// 2 to the power `x`, which is a NaN or from −200 to 0. In exact arithmetic its relative error is 0.03·2⁻²⁴.
#[cfg_attr(optimised, inline(always))]
fn exp2(x: f32) -> f32 {
    // Adding 1.5·2²³ leaves no bit after the point: what is added to its bits is the nearest integer.
    const SHIFT: f32 = 12_582_912.0;
    let shifted = x + SHIFT;
    let n = shifted.to_bits().wrapping_sub(SHIFT.to_bits()) as i32;
    let f = x - (shifted - SHIFT);
    let mut p = fma(1.534_565_7e-4, f, 1.339_992_4e-3);
    p = fma(p, f, 9.618_489e-3);
    p = fma(p, f, 5.550_329e-2);
    p = fma(p, f, 2.402_264_7e-1);
    p = fma(p, f, 6.931_472e-1);
    p = fma(p, f, 1.0);
    // In two steps, since 2⁻²⁰⁰ is no f32.
    let half = n >> 1;
    p * power(half) * power(n.wrapping_sub(half))
}

/// 2 to the power `n`, from −126 to 127.
#[cfg_attr(optimised, inline(always))]
fn power(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}
