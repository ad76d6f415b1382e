//! Slices of elements as bytes.

use simt::element::Element;

use crate::error::{Error, Result};

/// The bytes of `elements`.
pub(crate) fn of<T: Element>(elements: &[T]) -> &[u8] {
    // SAFETY: an element has no padding, so every byte of the slice is initialised; bytes have no alignment.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

/// The bytes of `elements`, for writing.
pub(crate) fn of_mut<T: Element>(elements: &mut [T]) -> &mut [u8] {
    // SAFETY: as in `of`; every bit pattern is a valid element.
    unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), size_of_val(elements)) }
}

/// The element whose bytes are all zero: 0 for every number.
fn zero<T: Element>() -> T {
    // SAFETY: every bit pattern is a valid element.
    unsafe { std::mem::zeroed() }
}

/// `len` zeros, or the error that the host has too little memory.
pub(crate) fn zeros<T: Element>(len: usize) -> Result<Vec<T>> {
    let mut elements = Vec::new();
    elements.try_reserve_exact(len).map_err(|error| Error::OutOfMemory {
        device: "the host".into(),
        bytes: len.saturating_mul(size_of::<T>()),
        available: error.to_string(),
    })?;
    elements.resize(len, zero());
    Ok(elements)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_the_elements() {
        let mut elements = [1_u16, 0x0203];
        assert_eq!(of(&elements), [1_u16.to_ne_bytes(), 0x0203_u16.to_ne_bytes()].concat());
        of_mut(&mut elements)[..2].copy_from_slice(&7_u16.to_ne_bytes());
        assert_eq!(elements, [7, 0x0203]);
        assert_eq!(zeros::<f64>(2).unwrap(), [0.0, 0.0]);
        assert!(zeros::<u8>(isize::MAX as usize).is_err());
    }
}
