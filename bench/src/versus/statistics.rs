//! Medians, and whether two sets of samples differ.

/// The median; NaN of nothing.
pub fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        len if len % 2 == 1 => sorted[len / 2],
        len => f64::midpoint(sorted[len / 2 - 1], sorted[len / 2]),
    }
}

/// How far the samples spread about their median, as a share of it: the range of the middle half.
pub fn spread(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted.get(((sorted.len() - 1) as f64 * share).round() as usize).copied().unwrap_or(f64::NAN);
    if sorted.is_empty() { f64::NAN } else { (at(0.75) - at(0.25)) / median(samples) }
}

/// Probability that samples of one distribution would lie at least so far above each other as `b` above `a`.
///
/// The one-sided test of Mann and Whitney (1947), by its exact distribution where there are no ties and few samples,
/// else by the normal approximation with the correction for ties and for continuity. It asks only for the order of the
/// samples, so an outlier counts as one sample and no more.
pub fn above(a: &[f64], b: &[f64]) -> f64 {
    let (m, n) = (a.len(), b.len());
    if m == 0 || n == 0 {
        return 1.0;
    }
    let mut all: Vec<(f64, bool)> = a.iter().map(|&x| (x, false)).chain(b.iter().map(|&x| (x, true))).collect();
    all.sort_by(|x, y| x.0.total_cmp(&y.0));
    let (mut ranks, mut ties, mut start) = (0.0, 0.0, 0);
    while start < all.len() {
        let same = all[start..].iter().take_while(|x| x.0.total_cmp(&all[start].0).is_eq()).count();
        let rank = start as f64 + f64::midpoint(same as f64, 1.0);
        ranks += rank * all[start..start + same].iter().filter(|x| x.1).count() as f64;
        ties += (same as f64).powi(3) - same as f64;
        start += same;
    }
    // Pairs in which b is above a, ties as halves.
    let u = ranks - (n * (n + 1)) as f64 / 2.0;
    if ties == 0.0 && m * n <= 400 {
        return exact(m, n, u.round() as usize);
    }
    let (pairs, total) = ((m * n) as f64, (m + n) as f64);
    let variance = pairs / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    normal_above((u - pairs / 2.0 - 0.5) / variance.sqrt())
}

/// P(U ≥ u) without ties, by the recursion over the largest element: it is one of b's and above all m of a, or one of
/// a's.
fn exact(m: usize, n: usize, u: usize) -> f64 {
    // counts[j][u] for i elements of a and j of b; row by row in i.
    let most = m * n;
    let mut counts = vec![vec![0.0; most + 1]; n + 1];
    for row in &mut counts {
        row[0] = 1.0;
    }
    for i in 1..=m {
        let mut next = vec![vec![0.0; most + 1]; n + 1];
        next[0][0] = 1.0;
        for j in 1..=n {
            for at in 0..=most {
                let of_b = if at >= i { next[j - 1][at - i] } else { 0.0 };
                next[j][at] = counts[j][at] + of_b;
            }
        }
        counts = next;
    }
    let total: f64 = counts[n].iter().sum();
    counts[n][u.min(most)..].iter().sum::<f64>() / total
}

/// P(Z ≥ z) of the standard normal distribution; error below 1.5·10⁻⁷ (Abramowitz and Stegun, 7.1.26).
fn normal_above(z: f64) -> f64 {
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / 0.327_591_1_f64.mul_add(x, 1.0);
    let polynomial = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let erfc = polynomial.iter().fold(0.0, |sum, factor| f64::mul_add(sum, t, *factor)) * t * (-x * x).exp();
    if z >= 0.0 { erfc / 2.0 } else { 1.0 - erfc / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
        assert_eq!(spread(&[1.0, 2.0, 3.0, 4.0, 5.0]), 2.0 / 3.0);
    }

    #[test]
    fn the_exact_distribution_is_that_of_the_tables() {
        // All of b above all of a: one arrangement of (m + n choose n).
        assert!((above(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]) - 1.0 / 20.0).abs() < 1e-12);
        assert!((above(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]) - 1.0 / 252.0).abs() < 1e-12);
        assert_eq!(above(&[4.0, 5.0, 6.0], &[1.0, 2.0, 3.0]), 1.0);
        // U = 8 of 9 pairs: two arrangements of 20 have as much or more.
        assert!((above(&[1.0, 2.0, 4.0], &[3.0, 5.0, 6.0]) - 2.0 / 20.0).abs() < 1e-12);
    }

    #[test]
    fn the_approximation_agrees_with_the_exact_distribution() {
        let a: Vec<f64> = (0..20).map(|i| f64::from(i * 2)).collect();
        let b: Vec<f64> = (0..20).map(|i| f64::from(i * 2 + 7)).collect();
        let exact = above(&a, &b);
        // One sample more in each, at both ends, is more than the exact distribution is asked for.
        let more = |x: &[f64]| [x, &[1000.0]].concat();
        let approximate = above(&more(&a), &more(&b));
        assert!((exact - approximate).abs() < 0.02, "{exact} and {approximate}");
    }

    #[test]
    fn samples_of_one_distribution_are_not_above_each_other() {
        assert_eq!(above(&[5.0; 30], &[5.0; 30]), 1.0);
        assert_eq!(above(&[], &[1.0]), 1.0);
        assert!((normal_above(1.959_964) - 0.025).abs() < 1e-6);
        assert!((normal_above(-1.0) - 0.841_344_7).abs() < 1e-6);
    }
}
