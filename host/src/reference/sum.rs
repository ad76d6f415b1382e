//! Sums.

use super::{ETA_F32, Reference, U_F32, U_F64, bounds, gamma};

/// Neumaier's compensated sum in `f64`: accumulates the rounding error of each addition, and adds it at the end.
///
/// A. Neumaier, *Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen*, ZAMM 54 (1974). The error of
/// each addition is computed exactly, so the result is that of Sum2 in T. Ogita, S. M. Rump and S. Oishi, *Accurate sum
/// and dot product*, SIAM J. Sci. Comput. 26 (2005), prop. 4.5: |error| ≤ u·|s| + γ(n−1)²·Σ|x|.
///
/// ```
/// use warpwright::reference::neumaier;
/// assert_eq!(neumaier([1.0, 1e100, 1.0, -1e100]), 2.0);
/// ```
pub fn neumaier(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut error) = (0.0_f64, 0.0_f64);
    for value in values {
        let next = sum + value;
        error += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    // With an infinity or NaN among the values, `error` is NaN and `sum` is right.
    if error.is_nan() { sum } else { sum + error }
}

/// The sum of `x`, for a kernel that adds in `f32` along a tree of the given depth.
///
/// `depth` is the largest number of additions on the path of an element to the root; adding a zero as padding is exact.
/// Each addition multiplies the partial sum by 1 + δ, so |ŝ − s| ≤ γ(depth)·Σ|x| for any shape of the tree (Higham,
/// section 4.2); a subnormal sum is exact. If a partial sum may overflow `f32`, the bound is infinite.
pub fn sum(x: &[f32], depth: u64) -> Reference {
    let value = neumaier(x.iter().copied().map(f64::from));
    let magnitude = neumaier(x.iter().map(|x| f64::from(x.abs())));
    let own = U_F64 * value.abs() + gamma(x.len() as u64, U_F64).powi(2) * magnitude;
    let kernel = gamma(depth, U_F32) * magnitude;
    Reference { value: vec![value], bound: vec![bounds::element(magnitude, kernel, own)] }
}

/// The sum of `x`, for a kernel that adds in `f64` along a tree of the given depth and rounds the result to `f32`.
///
/// As in [`sum()`], the sum in `f64` is off by at most e = γ(depth)·Σ|x|, here with the unit roundoff of `f64`; the
/// last rounding adds at most u·(|s| + e), or η if the result is subnormal.
pub fn sum_in_f64(x: &[f32], depth: u64) -> Reference {
    let value = neumaier(x.iter().copied().map(f64::from));
    let magnitude = neumaier(x.iter().map(|x| f64::from(x.abs())));
    let own = U_F64 * value.abs() + gamma(x.len() as u64, U_F64).powi(2) * magnitude;
    let added = gamma(depth, U_F64) * magnitude;
    let rounded = U_F32 * (value.abs() + added) + ETA_F32;
    let bound = if !magnitude.is_finite() {
        0.0
    } else if value.abs() + added + own > f64::from(f32::MAX) {
        f64::INFINITY
    } else if value == 0.0 && magnitude == 0.0 {
        0.0
    } else {
        added + rounded + own
    };
    Reference { value: vec![value], bound: vec![bound] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rounding_is_within_the_bound_and_two_are_not() {
        let x: Vec<f32> = (0..4096_u32).map(|i| (i as f32).sin() * f32::powi(2.0, (i % 20) as i32)).collect();
        let once = x.iter().copied().map(f64::from).sum::<f64>() as f32;
        let verdict = sum_in_f64(&x, 4096).check(&[once]).unwrap();
        assert!(verdict.passes() && verdict.worst > 0.0, "{verdict}");
        let next = f32::from_bits(once.to_bits() + 1);
        assert!(!sum_in_f64(&x, 4096).check(&[next]).unwrap().passes(), "the next number is too far");
        assert_eq!(sum_in_f64(&[], 1), Reference { value: vec![0.0], bound: vec![0.0] });
        assert_eq!(sum_in_f64(&[3e38, 3e38], 1).bound, [f64::INFINITY], "out of range after rounding");
        assert!(sum_in_f64(&[3e38, 3e38, -3e38], 2).bound[0].is_finite(), "only partial sums are out of range");
    }

    #[test]
    fn compensation_keeps_what_plain_addition_loses() {
        // 2⁵³ + 1 − 2⁵³ in f64 is 0 without compensation.
        let big = 9_007_199_254_740_992.0;
        assert_eq!(neumaier([big, 1.0, -big]), 1.0);
        assert_eq!([big, 1.0, -big].iter().sum::<f64>(), 0.0);
    }

    #[test]
    fn non_finite_values_reach_the_sum() {
        assert_eq!(neumaier([1.0, f64::INFINITY]), f64::INFINITY);
        assert_eq!(neumaier([f64::NEG_INFINITY, 1.0]), f64::NEG_INFINITY);
        assert!(neumaier([f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        assert!(neumaier([1.0, f64::NAN]).is_nan());
    }

    #[test]
    fn a_tree_in_f32_stays_within_its_bound_and_a_lost_element_does_not() {
        // A wide range of exponents makes rounding errors large.
        let x: Vec<f32> = (0..1024_u32).map(|i| (i as f32).sin() * f32::powi(2.0, (i % 20) as i32)).collect();
        let tree = |mut level: Vec<f32>| {
            while level.len() > 1 {
                level = level.chunks(2).map(|pair| pair.iter().sum()).collect();
            }
            level[0]
        };
        let reference = sum(&x, 10);
        let verdict = reference.check(&[tree(x.clone())]).unwrap();
        assert!(verdict.passes(), "{verdict}");
        let mut lost = x.clone();
        lost[719] = 0.0;
        assert!(!reference.check(&[tree(lost)]).unwrap().passes(), "a lost element of {} must be detected", x[719]);
    }

    #[test]
    fn an_empty_sum_is_zero_without_error() {
        assert_eq!(sum(&[], 0), Reference { value: vec![0.0], bound: vec![0.0] });
    }

    #[test]
    fn a_sum_that_may_overflow_has_no_bound() {
        assert_eq!(sum(&[3e38, 3e38, -3e38], 2).bound, [f64::INFINITY]);
    }

    #[test]
    fn an_infinity_must_reach_the_sum() {
        let reference = sum(&[1.0, f32::INFINITY, 2.0], 2);
        assert!(reference.check(&[f32::INFINITY]).unwrap().passes());
        assert!(!reference.check(&[3.0]).unwrap().passes());
        assert!(!reference.check(&[f32::NAN]).unwrap().passes());
    }
}
