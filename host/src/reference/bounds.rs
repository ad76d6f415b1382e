//! Constants and bounds of rounding errors.

/// Unit roundoff of `f32`, 2⁻²⁴: half the distance from 1 to the next number.
pub const U_F32: f64 = 1.0 / 16_777_216.0;

/// Unit roundoff of `f64`, 2⁻⁵³.
pub const U_F64: f64 = f64::EPSILON / 2.0;

/// Largest absolute error of one `f32` operation whose result is subnormal, 2⁻¹⁵⁰: half the smallest subnormal.
pub const ETA_F32: f64 = 1.0 / ((1_u128 << 75) as f64) / ((1_u128 << 75) as f64);

/// γ(n) = n·u/(1 − n·u): bounds |∏(1 + δᵢ) − 1| over n roundings with |δᵢ| ≤ u. Infinite for n·u ≥ 1, where
/// there is no bound.
///
/// ```
/// use warpwright::reference::{U_F32, gamma};
/// assert_eq!(gamma(0, U_F32), 0.0);
/// assert!(gamma(1, U_F32) > U_F32);
/// assert_eq!(gamma(1 << 24, U_F32), f64::INFINITY);
/// ```
pub fn gamma(n: u64, u: f64) -> f64 {
    let nu = n as f64 * u;
    if nu < 1.0 { nu / (1.0 - nu) } else { f64::INFINITY }
}

/// The bound of one element: `kernel` is the largest error of the kernel, `own` that of the reference, `magnitude` the
/// sum of the magnitudes of the terms.
///
/// An infinity or NaN among the inputs must reach the result, so the bound is 0. If partial sums may overflow `f32`,
/// any result is possible, and the bound is infinite.
pub(super) fn element(magnitude: f64, kernel: f64, own: f64) -> f64 {
    if !magnitude.is_finite() {
        0.0
    } else if magnitude + kernel > f64::from(f32::MAX) {
        f64::INFINITY
    } else {
        kernel + own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_the_powers_of_two_they_name() {
        assert_eq!(U_F32, 2_f64.powi(-24));
        assert_eq!(U_F32, f64::from(f32::EPSILON) / 2.0);
        assert_eq!(U_F64, 2_f64.powi(-53));
        assert_eq!(ETA_F32, 2_f64.powi(-150));
        assert_eq!(ETA_F32 * 2.0, f64::from(f32::from_bits(1)), "the smallest subnormal");
    }
}
