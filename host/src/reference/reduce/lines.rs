//! The lines and segments whose elements a reduction combines to one result.

/// The lines of a tensor along `axis`, in the order of their results: element (i, j, …) is element i·s₀ + j·s₁ + … of
/// `x`.
///
/// ```
/// use warpwright::reference::reduce::lines;
/// let x = [1, 2, 3, 4, 5, 6];
/// assert_eq!(lines(&x, &[2, 3], &[3, 1], 0), [[1, 4], [2, 5], [3, 6]]);
/// assert_eq!(lines(&x, &[3, 2], &[1, 3], 0), [[1, 2, 3], [4, 5, 6]]);
/// ```
///
/// # Panics
/// No such axis or element, or not one stride for each extent.
pub fn lines<T: Copy>(x: &[T], shape: &[usize], strides: &[usize], axis: usize) -> Vec<Vec<T>> {
    assert_eq!(shape.len(), strides.len(), "a stride for each extent");
    let count = shape.iter().enumerate().filter(|&(other, _)| other != axis).map(|(_, extent)| extent).product();
    let start = |number: usize| {
        let (mut rest, mut start) = (number, 0);
        for other in (0..shape.len()).rev().filter(|&other| other != axis) {
            start += rest % shape[other] * strides[other];
            rest /= shape[other];
        }
        start
    };
    let line = |number| {
        let start = start(number);
        (0..shape[axis]).map(|i| x[start + i * strides[axis]]).collect()
    };
    (0..count).map(line).collect()
}

/// The segments between neighbouring offsets.
///
/// # Panics
/// Offsets decrease, or are past the end.
pub fn segments<'a, T>(x: &'a [T], offsets: &[u64]) -> Vec<&'a [T]> {
    offsets.windows(2).map(|pair| &x[pair[0] as usize..pair[1] as usize]).collect()
}
