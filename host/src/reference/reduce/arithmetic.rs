//! Sums, means, norms and products.

use super::exact::{Exact, product as exact_product};
use super::scalar::{Format, Scalar};
use super::{U_F32, U_F64, gamma};

/// How a kernel adds. In each case the sum of exact terms tᵢ along a tree of depth d has an error of at most e, before
/// it is rounded to the format of the result; A = Σ│tᵢ│.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// In `f32`: e = γ(d)·A with u = 2⁻²⁴. No other rounding follows.
    InF32,
    /// In `f64`: e = γ(d)·A with u = 2⁻⁵³, from exact terms.
    InF64,
    /// In `f64`, with the rounding errors of all additions (and products) accumulated separately. Each rounding error
    /// is exact; those of additions sum to at most γ(d)·A, those of products to u·A. A path of their
    /// accumulation has at most 2d + 1 additions: e = γ(2d + 1)·(γ(d) + u)·A, and the last addition rounds: u·│s│.
    /// Products that underflow lose at most 2⁻¹⁰⁷³ each.
    Compensated,
}

impl Added {
    fn error(self, depth: u64, magnitude: f64, terms: usize) -> f64 {
        match self {
            Self::InF32 => gamma(depth, U_F32) * magnitude,
            Self::InF64 => gamma(depth, U_F64) * magnitude,
            Self::Compensated => {
                let errors = (gamma(depth, U_F64) + U_F64) * magnitude;
                gamma(2 * depth + 1, U_F64) * errors + terms as f64 * f64::from_bits(2)
            }
        }
    }

    /// The format of the result, and the number of final roundings in `f64`.
    fn format(self) -> (Format, f64) {
        match self {
            Self::InF32 | Self::InF64 => (Format::F32, 0.0),
            Self::Compensated => (Format::F64, 1.0),
        }
    }
}

/// The sum of all terms, each in two parts, divided by `divisor`, for a kernel that adds as `added` says.
fn of_terms(
    terms: impl IntoIterator<Item = [f64; 2]>,
    count: usize,
    depth: u64,
    added: Added,
    divisor: Option<u64>,
) -> Scalar {
    let terms: Vec<[f64; 2]> = terms.into_iter().collect();
    if terms.iter().any(|[term, _]| !term.is_finite()) {
        return Scalar::exact(terms.iter().map(|[term, _]| term).sum());
    }
    let sum = Exact::of(terms.iter().flatten().copied()).parts();
    let magnitude = Exact::of(terms.iter().map(|[term, _]| term.abs())).parts().0;
    let error = added.error(depth, magnitude, count);
    if magnitude == 0.0 && terms.iter().flatten().all(|&term| term == 0.0) {
        return Scalar::exact(0.0);
    }
    let (format, roundings) = added.format();
    if added == Added::InF32 {
        // The sum is an `f32` already; a partial sum that overflows makes any result possible.
        let bound = if magnitude + error > f64::from(f32::MAX) { f64::INFINITY } else { error };
        return Scalar { value: sum.0, rest: sum.1, bound };
    }
    if magnitude + error > f64::MAX {
        return Scalar { value: sum.0, rest: sum.1, bound: f64::INFINITY };
    }
    match divisor {
        None => format.rounded(sum, error, roundings),
        Some(n) => {
            // The remainder has a relative error of 2⁻¹⁰⁶ of the quotient.
            let n = n as f64;
            let value = sum.0 / n;
            let rest = (value.mul_add(-n, sum.0) + sum.1) / n;
            format.rounded((value, rest), error / n, roundings + 1.0)
        }
    }
}

/// Σ x.
pub fn sum(x: &[f64], depth: u64, added: Added) -> Scalar {
    of_terms(x.iter().map(|&x| [x, 0.0]), x.len(), depth, added, None)
}

/// Σ x / n.
pub fn mean(x: &[f64], depth: u64, added: Added) -> Scalar {
    of_terms(x.iter().map(|&x| [x, 0.0]), x.len(), depth, added, Some(x.len() as u64))
}

/// Σ x·y; in `f64` the products must be exact.
///
/// # Panics
/// If the lengths differ.
pub fn dot(x: &[f64], y: &[f64], depth: u64, added: Added) -> Scalar {
    assert_eq!(x.len(), y.len(), "the vectors of a dot product have the same length");
    of_terms(x.iter().zip(y).map(|(&x, &y)| exact_product(x, y)), x.len(), depth, added, None)
}

/// √Σ x², for a kernel that adds squares in `f64`, which are all positive. The sum has a relative error of at most
/// γ(d + 4): one rounding of a square, d additions, up to 3 more to combine the sums of three magnitudes. The root has
/// half of that, and one rounding.
pub fn norm(x: &[f64], depth: u64, format: Format) -> Scalar {
    let largest = x.iter().fold(0.0_f64, |most, x| if x.is_nan() { *x } else { most.max(x.abs()) });
    if x.iter().any(|x| !x.is_finite()) || largest == 0.0 {
        let nan = x.iter().any(|x| x.is_nan());
        return Scalar::exact(if nan { f64::NAN } else { largest });
    }
    // Scaling by a power of two is exact; in two steps, since the power itself may overflow.
    let exponent = (i32::from((largest.to_bits() >> 52) as u16 & 0x7ff) - 1023).max(-1022);
    let scale = |x: f64, by: i32| x * 2_f64.powi(by / 2) * 2_f64.powi(by - by / 2);
    let sum = Exact::of(x.iter().flat_map(|&x| exact_product(scale(x, -exponent), scale(x, -exponent)))).parts();
    let root = sum.0.sqrt();
    let value = scale(root, exponent);
    let rest = scale((root.mul_add(-root, sum.0) + sum.1) / (2.0 * root), exponent);
    let error = gamma(depth + 4, U_F64) * value;
    let scalar = format.rounded((value, rest), error, 1.0);
    Scalar { bound: scalar.bound + f64::from_bits(1), ..scalar }
}

/// ∏ x, for a kernel that multiplies in `f64`: each of n − 1 products is rounded, γ(n)·│∏ x│. If a partial product may
/// overflow or underflow `f64`, the bound is infinite.
pub fn product(x: &[f64], format: Format) -> Scalar {
    if x.iter().any(|x| !x.is_finite() || *x == 0.0) {
        let plain = x.iter().product();
        let logs: f64 = x.iter().filter(|x| x.is_finite() && **x != 0.0).map(|x| x.abs().log2().abs()).sum();
        return Scalar { bound: if logs < 1000.0 { 0.0 } else { f64::INFINITY }, ..Scalar::exact(plain) };
    }
    let logs: f64 = x.iter().map(|x| x.abs().log2().abs()).sum();
    let (mut high, mut low) = (1.0_f64, 0.0_f64);
    for &x in x {
        let [product, error] = exact_product(high, x);
        low = low * x + error;
        high = product;
    }
    let scalar = format.rounded((high, low), gamma(x.len() as u64, U_F64) * high.abs(), 0.0);
    if logs < 1000.0 { scalar } else { Scalar { bound: f64::INFINITY, ..scalar } }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(n: usize) -> Vec<f64> {
        (0..n).map(|i| (i as f64).sin() * 2_f64.powi((i % 40) as i32)).collect()
    }

    #[test]
    fn plain_addition_of_f64_fails_where_compensation_passes() {
        let mut x = noise(1000);
        x.extend(noise(1000).iter().map(|x| -x));
        x.push(0.1);
        let compensated = sum(&x, 2001, Added::Compensated);
        assert!(compensated.error_over_bound(0.1) <= 1.0);
        assert!(compensated.error_over_bound(x.iter().sum::<f64>()) > 1.0, "its errors exceed the bound");
        assert!(compensated.error_over_bound(0.1 + 1e-9) > 1.0);
    }

    #[test]
    fn norms_have_any_size() {
        assert_eq!(norm(&[3e300, 4e300], 1, Format::F64).value, 5e300);
        assert_eq!(
            norm(&[3.0 * 2_f64.powi(-1074), 4.0 * 2_f64.powi(-1074)], 1, Format::F64).value,
            5.0 * 2_f64.powi(-1074)
        );
        assert!(norm(&[1.0, f64::NAN], 1, Format::F32).value.is_nan());
        assert_eq!(norm(&[1.0, f64::NEG_INFINITY], 1, Format::F32).value, f64::INFINITY);
        assert_eq!(norm(&[], 1, Format::F32), Scalar::exact(0.0));
    }

    #[test]
    fn a_product_that_may_overflow_has_no_bound() {
        assert!(product(&[1e200, 1e-200], Format::F64).bound.is_infinite());
        assert!(product(&[1.5; 100], Format::F64).error_over_bound(1.5_f64.powi(100)) <= 1.0);
        assert_eq!(product(&[], Format::F64).value, 1.0);
        assert!(product(&[0.0, f64::INFINITY], Format::F64).value.is_nan());
    }

    #[test]
    fn a_mean_is_known_beyond_f64() {
        let third = mean(&[1.0, 0.0, 0.0], 3, Added::Compensated);
        assert_eq!(third.value, 1.0 / 3.0);
        assert!((third.rest - 1.850_371_707_708_594e-17).abs() < 1e-30, "{}", third.rest);
        assert!(third.error_over_bound(1.0_f64 / 3.0) < 1.0);
    }
}
