//! Exact sums.

/// The exact sum of numbers, as an expansion: terms that do not overlap, in order of size.
///
/// J. R. Shewchuk, *Adaptive precision floating-point arithmetic and fast robust geometric predicates*, Discrete
/// Comput. Geom. 18 (1997): adding a number to an expansion term by term, and keeping the rounding error of each
/// addition, gives an expansion. Exact as long as no addition overflows.
#[derive(Clone, Debug, Default)]
pub(super) struct Exact(Vec<f64>);

impl Exact {
    /// The sum of all values.
    pub(super) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut sum = Self::default();
        values.into_iter().for_each(|value| sum.add(value));
        sum
    }

    pub(super) fn add(&mut self, value: f64) {
        if value == 0.0 {
            return;
        }
        let mut carry = value;
        let mut kept = 0;
        for i in 0..self.0.len() {
            let [sum, lost] = sum(carry, self.0[i]);
            if lost != 0.0 {
                self.0[kept] = lost;
                kept += 1;
            }
            carry = sum;
        }
        self.0.truncate(kept);
        self.0.push(carry);
    }

    /// The sum rounded to a number, and the remainder: together they have a relative error below 2⁻¹⁰⁰.
    pub(super) fn parts(&self) -> (f64, f64) {
        // The sum of no terms is −0.
        let high = self.0.iter().sum::<f64>() + 0.0;
        let mut rest = self.clone();
        rest.add(-high);
        (high, rest.0.iter().sum())
    }
}

/// a + b rounded, and its rounding error; exact if nothing overflows (D. E. Knuth, *The Art of Computer Programming*,
/// volume 2, 4.2.2).
pub(super) fn sum(a: f64, b: f64) -> [f64; 2] {
    let sum = a + b;
    let of_b = sum - a;
    [sum, (a - (sum - of_b)) + (b - of_b)]
}

/// a·b rounded, and its rounding error; exact if nothing underflows.
pub(super) fn product(a: f64, b: f64) -> [f64; 2] {
    let product = a * b;
    [product, a.mul_add(b, -product)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost() {
        let tiny = 2_f64.powi(-1000);
        assert_eq!(Exact::of([1e300, 1.0, tiny, -1e300]).parts(), (1.0, tiny));
        assert_eq!(Exact::of([1e300, tiny, -1e300, -tiny]).parts(), (0.0, 0.0));
        assert_eq!(Exact::of([]).parts(), (0.0, 0.0));
        let thirds = Exact::of([0.1; 10]);
        assert_eq!(thirds.parts().0, 1.0, "the sum of ten times the f64 0.1 is nearest to 1");
        assert_eq!(thirds.parts().1, 5.551_115_123_125_783e-17, "which is 2⁻⁵⁴ above it");
    }

    #[test]
    fn a_sum_and_its_error_are_exact() {
        let (large, small) = (2_f64.powi(60), 1.0 + 2_f64.powi(-30));
        for [a, b] in [[large, small], [small, large], [-large, small]] {
            let [high, low] = sum(a, b);
            assert_eq!((high, low), (a + b, small), "{a} + {b}");
        }
    }

    #[test]
    fn a_product_and_its_error_are_exact() {
        let x = 1.0 + 2_f64.powi(-30);
        assert_eq!(product(x, x), [1.0 + 2_f64.powi(-29), 2_f64.powi(-60)]);
    }
}
