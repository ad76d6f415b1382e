//! Comparison of results with references.

use std::{error, fmt};

/// The expected result of an operation: for each element its value, and the error bound of a correct result.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The values, row-major.
    pub value: Vec<f64>,
    /// For each element the largest error that rounding can cause; infinite if overflow makes any result possible.
    pub bound: Vec<f64>,
}

/// The worst element of a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// Largest ratio of error to bound. 0: every element is exact. At most 1: every error is within its bound.
    /// Infinite: an error with the bound 0, or a NaN or infinity on one side only.
    pub worst: f64,
    /// Index of that element.
    pub index: usize,
    /// Its value in the result.
    pub got: f32,
    /// Its value in the reference.
    pub expected: f64,
    /// Elements compared.
    pub count: usize,
}

impl Verdict {
    /// Whether every error is within its bound.
    pub fn passes(&self) -> bool {
        self.worst <= 1.0
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { worst, index, got, expected, count } = self;
        if *count == 0 {
            return write!(f, "nothing to compare");
        }
        write!(
            f,
            "worst error over bound {worst:.3e} at element {index} of {count}: got {got:e}, expected {expected:e}"
        )
    }
}

impl Reference {
    /// A reference with the bound 0: any error is infinite. Unlike [`same_bits`] it accepts any NaN for a NaN (those of
    /// a GPU have other payload bits than those of the CPU), and −0 for 0.
    pub fn exact(values: impl IntoIterator<Item = f32>) -> Self {
        let value: Vec<f64> = values.into_iter().map(f64::from).collect();
        Self { bound: vec![0.0; value.len()], value }
    }

    /// Compares a result, element by element, with the reference.
    ///
    /// An element passes if its error is at most the bound; a NaN must be a NaN, an infinity the same infinity.
    ///
    /// # Errors
    /// The lengths differ.
    pub fn check<'a>(&self, got: impl IntoIterator<Item = &'a f32>) -> Result<Verdict, Mismatch> {
        let expected = self.value.len();
        let mut verdict = Verdict { worst: 0.0, index: 0, got: 0.0, expected: 0.0, count: 0 };
        let mut got = got.into_iter();
        for (index, (&value, &bound)) in self.value.iter().zip(&self.bound).enumerate() {
            let Some(&got) = got.next() else {
                return Err(Mismatch::Length { expected, got: index });
            };
            let ratio = error_over_bound(got, value, bound);
            // If all elements are exact, the verdict has the first one.
            if index == 0 || ratio > verdict.worst {
                verdict = Verdict { worst: ratio, index, got, expected: value, count: 0 };
            }
        }
        let more = got.count();
        if more > 0 {
            return Err(Mismatch::Length { expected, got: expected + more });
        }
        verdict.count = expected;
        Ok(verdict)
    }
}

fn error_over_bound(got: f32, value: f64, bound: f64) -> f64 {
    let got = f64::from(got);
    if got == value || (got.is_nan() && value.is_nan()) {
        return 0.0;
    }
    if bound == f64::INFINITY {
        return 0.0;
    }
    let error = (got - value).abs();
    // A NaN or an infinity on one side only, or an error with the bound 0.
    if !error.is_finite() || bound == 0.0 || bound.is_nan() {
        return f64::INFINITY;
    }
    error / bound
}

/// How a result differs from the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Mismatch {
    /// The lengths differ.
    Length {
        /// Elements of the reference.
        expected: usize,
        /// Elements of the result.
        got: usize,
    },
    /// Bits differ.
    Bits {
        /// The first element that differs.
        index: usize,
        /// Its value in the reference.
        expected: f32,
        /// Its value in the result.
        got: f32,
        /// Number of elements that differ.
        count: usize,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { expected, got } => write!(f, "expected {expected} elements, got {got}"),
            Self::Bits { index, expected, got, count } => write!(
                f,
                "element {index}: expected {expected:e} (bits {:#010x}), got {got:e} (bits {:#010x}); {count} elements \
                 differ",
                expected.to_bits(),
                got.to_bits()
            ),
        }
    }
}

impl error::Error for Mismatch {}

/// Compares bits: for copies, and for data whose sums are exact in any order.
///
/// ```
/// use warpwright::{Device, reference};
///
/// fn copies(device: &Device) -> Result<(), warpwright::Error> {
///     let x = device.upload(&[1.0_f32, 2.0])?;
///     reference::same_bits(&[1.0, 2.0], &x.download()?)?;
///     Ok(())
/// }
/// copies(&Device::simulator())?;
/// # Ok::<(), warpwright::Error>(())
/// ```
///
/// # Errors
/// The lengths or any bits differ.
pub fn same_bits<'a>(
    expected: impl IntoIterator<Item = &'a f32>,
    got: impl IntoIterator<Item = &'a f32>,
) -> Result<(), Mismatch> {
    let (mut expected, mut got) = (expected.into_iter(), got.into_iter());
    let mut first = None;
    let mut count = 0;
    let mut index = 0;
    loop {
        match (expected.next(), got.next()) {
            (Some(&e), Some(&g)) => {
                if e.to_bits() != g.to_bits() {
                    first.get_or_insert((index, e, g));
                    count += 1;
                }
            }
            (None, None) => break,
            (e, g) => {
                let left = index + usize::from(e.is_some()) + expected.count();
                return Err(Mismatch::Length { expected: left, got: index + usize::from(g.is_some()) + got.count() });
            }
        }
        index += 1;
    }
    match first {
        None => Ok(()),
        Some((index, expected, got)) => Err(Mismatch::Bits { index, expected, got, count }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(value: f64, bound: f64) -> Reference {
        Reference { value: vec![value], bound: vec![bound] }
    }

    #[test]
    fn ratio_is_error_over_bound() {
        assert_eq!(one(1.0, 0.5).check(&[1.25]).unwrap().worst, 0.5);
        assert_eq!(one(1.0, 0.0).check(&[1.0]).unwrap().worst, 0.0);
        assert_eq!(one(1.0, 0.0).check(&[1.5]).unwrap().worst, f64::INFINITY);
    }

    #[test]
    fn nan_and_infinity_must_match() {
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        assert!(one(f64::NAN, f64::NAN).check(&[nan]).unwrap().passes());
        assert!(!one(f64::NAN, f64::NAN).check(&[1.0]).unwrap().passes());
        assert!(!one(1.0, 0.5).check(&[nan]).unwrap().passes());
        assert!(one(f64::INFINITY, 0.0).check(&[inf]).unwrap().passes());
        assert!(!one(f64::INFINITY, 0.0).check(&[-inf]).unwrap().passes());
        assert!(!one(1.0, 1.0).check(&[inf]).unwrap().passes());
    }

    #[test]
    fn an_exact_reference_allows_no_error_and_any_nan() {
        let reference = Reference::exact([1.5, f32::NAN, 0.0]);
        assert_eq!(reference.check(&[1.5, f32::from_bits(0x7fff_ffff), -0.0]).unwrap().worst, 0.0);
        assert_eq!(reference.check(&[1.5, f32::NAN, f32::from_bits(1)]).unwrap().index, 2);
    }

    #[test]
    fn the_verdict_has_the_worst_element() {
        let reference = Reference { value: vec![1.0, 2.0, 3.0], bound: vec![1.0; 3] };
        let verdict = reference.check(&[1.5, 4.0, 2.0]).unwrap();
        assert_eq!((verdict.worst, verdict.index, verdict.got, verdict.count), (2.0, 1, 4.0, 3));
        assert!(!verdict.passes());
    }

    #[test]
    fn lengths_must_agree() {
        let reference = one(1.0, 1.0);
        assert_eq!(reference.check(&[]), Err(Mismatch::Length { expected: 1, got: 0 }));
        assert_eq!(reference.check(&[1.0, 2.0]), Err(Mismatch::Length { expected: 1, got: 2 }));
        assert_eq!(same_bits(&[1.0], &[]), Err(Mismatch::Length { expected: 1, got: 0 }));
        assert_eq!(same_bits(&[1.0], &[1.0, 2.0, 3.0]), Err(Mismatch::Length { expected: 1, got: 3 }));
    }

    #[test]
    fn zeros_of_different_sign_differ_in_bits() {
        assert_eq!(same_bits(&[1.0, 0.0], &[1.0, 0.0]), Ok(()));
        let mismatch = same_bits(&[1.0, 0.0, 2.0], &[1.0, -0.0, 3.0]).unwrap_err();
        assert!(matches!(mismatch, Mismatch::Bits { index: 1, count: 2, .. }), "{mismatch}");
    }
}
