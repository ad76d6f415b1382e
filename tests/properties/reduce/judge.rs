//! Compares the result of each line or segment with the reference.

use warpwright::reference::reduce::Scalar;

use super::case::{Bits, is_nan};
use super::values::{Real, wide};

/// Checks that there are as many results as lines.
fn counted<L, U>(what: &str, lines: &[L], got: &[U]) -> Result<(), String> {
    if got.len() == lines.len() {
        return Ok(());
    }
    Err(format!("{what}: {} results for {}", got.len(), lines.len()))
}

/// Checks that each result equals the expected one of its line.
pub(super) fn equal<T, L: AsRef<[T]>, U: Bits>(
    what: &str,
    lines: &[L],
    got: &[U],
    expected: &dyn Fn(&[T]) -> U,
) -> Result<(), String> {
    counted(what, lines, got)?;
    for (number, (line, &got)) in lines.iter().zip(got).enumerate() {
        let (expected, n) = (expected(line.as_ref()), line.as_ref().len());
        if got != expected && !(is_nan(got) && is_nan(expected)) {
            return Err(format!("{what}, number {number}, of {n} elements: {got:?} instead of {expected:?}"));
        }
    }
    Ok(())
}

/// The worst error over bound of all results.
pub(super) fn within<T: Real, L: AsRef<[T]>, U: Copy + Into<f64>>(
    what: &str,
    lines: &[L],
    got: &[U],
    expected: impl Fn(&[f64]) -> Scalar,
) -> Result<f64, String> {
    counted(what, lines, got)?;
    let mut worst = 0.0_f64;
    for (number, (line, &got)) in lines.iter().zip(got).enumerate() {
        let (scalar, got, n) = (expected(&wide(line.as_ref())), got.into(), line.as_ref().len());
        let ratio = scalar.error_over_bound(got);
        if ratio > 1.0 || ratio.is_nan() {
            return Err(format!(
                "{what}, number {number}, of {n} elements: {got:e}, error over bound {ratio:e} of {scalar:?}"
            ));
        }
        worst = worst.max(ratio);
    }
    Ok(worst)
}
