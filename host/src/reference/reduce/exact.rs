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
        let mut carry = value;
        let mut kept = 0;
        for i in 0..self.0.len() {
            let term = self.0[i];
            let sum = carry + term;
            let of_term = sum - carry;
            let lost = (carry - (sum - of_term)) + (term - of_term);
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
        let high: f64 = self.0.iter().sum();
        let mut rest = self.clone();
        rest.add(-high);
        (high, rest.0.iter().sum())
    }
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
    fn a_product_and_its_error_are_exact() {
        let x = 1.0 + 2_f64.powi(-30);
        assert_eq!(product(x, x), [1.0 + 2_f64.powi(-29), 2_f64.powi(-60)]);
    }
}
