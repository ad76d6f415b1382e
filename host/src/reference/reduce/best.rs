//! Minimum, maximum, and their indices.

use std::cmp::Ordering;

/// How comparisons treat a NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nan {
    /// A NaN is the result.
    Propagate,
    /// A NaN is never the result.
    Ignore,
}

/// The first index of the maximum (`order` is [`Ordering::Greater`]) or of the minimum ([`Ordering::Less`]).
///
/// ```
/// use std::cmp::Ordering::{Greater, Less};
/// use warpwright::reference::reduce::{Nan, best};
/// let x = [1.0, f64::NAN, 7.0, 7.0, f64::NAN];
/// assert_eq!(best(&x, Greater, Nan::Propagate), Some(1));
/// assert_eq!((best(&x, Greater, Nan::Ignore), best(&x, Less, Nan::Ignore)), (Some(2), Some(0)));
/// assert_eq!((best(&x[..0], Less, Nan::Propagate), best(&x[1..2], Less, Nan::Ignore)), (None, None));
/// ```
pub fn best<T: PartialOrd>(x: &[T], order: Ordering, nan: Nan) -> Option<usize> {
    let is_nan = |x: &T| x.partial_cmp(x).is_none();
    if nan == Nan::Propagate
        && let Some(first) = x.iter().position(is_nan)
    {
        return Some(first);
    }
    let mut best: Option<usize> = None;
    for i in (0..x.len()).filter(|&i| !is_nan(&x[i])) {
        if best.is_none_or(|best| x[i].partial_cmp(&x[best]) == Some(order)) {
            best = Some(i);
        }
    }
    best
}
