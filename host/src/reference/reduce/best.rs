//! Minimum, maximum, and where they are.

use std::cmp::Ordering;

/// What a NaN is worth in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nan {
    /// It wins.
    Propagate,
    /// It never wins.
    Ignore,
}

/// The first index of the best element by `wish` ([`Ordering::Greater`]: the greatest): one element after the other.
///
/// ```
/// use std::cmp::Ordering::{Greater, Less};
/// use warpwright::reference::reduce::{Nan, best};
/// let x = [1.0, f64::NAN, 7.0, 7.0, f64::NAN];
/// assert_eq!(best(&x, Greater, Nan::Propagate), Some(1));
/// assert_eq!((best(&x, Greater, Nan::Ignore), best(&x, Less, Nan::Ignore)), (Some(2), Some(0)));
/// assert_eq!((best(&x[..0], Less, Nan::Propagate), best(&x[1..2], Less, Nan::Ignore)), (None, None));
/// ```
pub fn best<T: PartialOrd>(x: &[T], wish: Ordering, nan: Nan) -> Option<usize> {
    let is_nan = |x: &T| x.partial_cmp(x).is_none();
    if nan == Nan::Propagate
        && let Some(first) = x.iter().position(is_nan)
    {
        return Some(first);
    }
    let mut best: Option<usize> = None;
    for i in (0..x.len()).filter(|&i| !is_nan(&x[i])) {
        if best.is_none_or(|best| x[i].partial_cmp(&x[best]) == Some(wish)) {
            best = Some(i);
        }
    }
    best
}
