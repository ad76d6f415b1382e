//! Variance.

use super::exact::{self, Exact, product};
use super::scalar::{Format, Scalar};
use super::{U_F64, gamma};

/// Σ (x − mean)² / (n − `ddof`), for a kernel that merges counts, means and sums of squares by the formula of Chan,
/// Golub and `LeVeque` in `f64`, along a tree of depth d whose leaves are the means of up to 16 elements.
///
/// With X = max│x│ and S = Σ (x − mean)²:
///
/// - *Means.* A merged mean is a weighted mean of the two, which does not increase errors, plus a correction of at most
///   2X with 4 roundings, and one rounding of the sum: at most 9u·X more at each merge. A leaf has γ(16)·X. So a mean
///   has an error of at most E = γ(9d + 16)·X, and a difference of two of at most e = 2E.
/// - *Squares.* S is the sum, over merges, of w·δ² with w = p·q / (p + q) for p and q elements, and of the leaves. Each
///   δ has the error e, so S has at most Σ w·(2│δ│e + e²) ≤ 2e·√(W·S) + W·e² (Cauchy and Schwarz), W = Σ w. A merge has
///   w ≤ min(p, q), and no element is in the smaller set more than log₂ n times: W ≤ n·(log₂ n + 1), leaves included.
/// - *Rounding.* Each term is rounded at most 6 times and added at most 2d + 16 times, all terms being positive: γ(2d +
///   22).
pub fn variance(x: &[f64], ddof: u32, depth: u64, format: Format) -> Scalar {
    if x.iter().any(|x| !x.is_finite()) {
        return Scalar::exact(f64::NAN);
    }
    let n = x.len() as f64;
    let divisor = (x.len() as u64).saturating_sub(u64::from(ddof)) as f64;
    if divisor == 0.0 {
        return Scalar { bound: f64::INFINITY, ..Scalar::exact(f64::NAN) };
    }
    // With a number m near the mean, exactly: Σ (x − mean)² = Σ (x − m)² − (Σ (x − m))² / n.
    let m = Exact::of(x.iter().copied()).parts().0 / n;
    let mut squares = Exact::default();
    let mut shifted = Exact::default();
    for &x in x {
        // x − m = high + low, exactly.
        let [high, low] = exact::sum(x, -m);
        shifted.add(high);
        shifted.add(low);
        for (a, b) in [(high, high), (high, 2.0 * low), (low, low)] {
            for term in product(a, b) {
                squares.add(term);
            }
        }
    }
    let (shift, _) = shifted.parts();
    squares.add(-(shift * shift / n));
    let sum = squares.parts();
    let largest = x.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let e = 2.0 * gamma(9 * depth + 16, U_F64) * largest;
    let w = n * (n.log2() + 1.0);
    let error = gamma(2 * depth + 22, U_F64) * sum.0.abs() + 2.0 * e * (w * sum.0.abs()).sqrt() + w * e * e;
    let value = sum.0 / divisor;
    let rest = (value.mul_add(-divisor, sum.0) + sum.1) / divisor;
    if value == 0.0 && largest == 0.0 {
        return Scalar::exact(0.0);
    }
    // Squares of deviations that underflow lose the smallest positive f64 each.
    let scalar = format.rounded((value, rest), error / divisor, 1.0);
    Scalar { bound: scalar.bound + n * f64::from_bits(2), ..scalar }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cancellation_exceeds_the_bound() {
        let x: Vec<f64> = (0..1000).map(|i| 1e8 + f64::from(i % 7)).collect();
        let reference = variance(&x, 0, 20, Format::F64);
        let naive = x.iter().map(|x| x * x).sum::<f64>() / 1000.0 - (x.iter().sum::<f64>() / 1000.0).powi(2);
        assert!(reference.error_over_bound(naive) > 1.0, "Σ x² / n − mean² gives {naive}: {reference:?}");
        let mean = x.iter().sum::<f64>() / 1000.0;
        let two_pass = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1000.0;
        assert!(reference.error_over_bound(two_pass) <= 1.0, "{reference:?} {two_pass}");
    }

    #[test]
    fn small_cases_are_known() {
        assert_eq!(variance(&[1.0, 3.0], 0, 1, Format::F64).value, 1.0);
        assert_eq!(variance(&[1.0, 3.0], 1, 1, Format::F64).value, 2.0);
        assert_eq!(variance(&[5.0], 0, 1, Format::F64).value, 0.0);
        assert!(variance(&[1.0, f64::INFINITY], 0, 1, Format::F64).value.is_nan());
    }
}
