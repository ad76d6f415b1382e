//! Host data that can be copied to a device.

use std::borrow::Cow;

use ndarray::{ArrayBase, Data, Dimension, Ix1, Ix2};
use simt::element::Element;

use super::{Buffer, Matrix};
use crate::device::Device;
use crate::error::{Error, Result};

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// Data on the host that [`Device::upload`] takes: `&[T]`, `&[T; N]`, `&Vec<T>` and one-dimensional `ndarray` arrays
/// become a [`Buffer`], two-dimensional ones a [`Matrix`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be copied to a device",
    label = "not data for a device",
    note = "pass `&[T]`, `&[T; N]`, `&Vec<T>`, or a reference to an `ndarray` array of one or two dimensions",
    note = "elements are u8 to u64, i8 to i64, f16, bf16, f32, f64, and `simt::element::Vector`s of them"
)]
pub trait HostData: Sealed {
    /// Its type on the device.
    type OnDevice;

    /// Copies it to the device.
    #[doc(hidden)]
    fn upload_to(self, device: &Device) -> Result<Self::OnDevice>;
}

impl<T: Element> Sealed for &[T] {}
impl<T: Element> HostData for &[T] {
    type OnDevice = Buffer<T>;

    fn upload_to(self, device: &Device) -> Result<Buffer<T>> {
        let mut buffer = Buffer::alloc(device, self.len(), Some(device.queue()))?;
        buffer.write(self)?;
        Ok(buffer)
    }
}

impl<T: Element, const N: usize> Sealed for &[T; N] {}
impl<T: Element, const N: usize> HostData for &[T; N] {
    type OnDevice = Buffer<T>;

    fn upload_to(self, device: &Device) -> Result<Buffer<T>> {
        self.as_slice().upload_to(device)
    }
}

impl<T: Element> Sealed for &Vec<T> {}
impl<T: Element> HostData for &Vec<T> {
    type OnDevice = Buffer<T>;

    fn upload_to(self, device: &Device) -> Result<Buffer<T>> {
        self.as_slice().upload_to(device)
    }
}

impl<T: Element, S: Data<Elem = T>> Sealed for &ArrayBase<S, Ix1> {}
impl<T: Element, S: Data<Elem = T>> HostData for &ArrayBase<S, Ix1> {
    type OnDevice = Buffer<T>;

    fn upload_to(self, device: &Device) -> Result<Buffer<T>> {
        elements_in_order(self)?.upload_to(device)
    }
}

impl<T: Element, S: Data<Elem = T>> Sealed for &ArrayBase<S, Ix2> {}
impl<T: Element, S: Data<Elem = T>> HostData for &ArrayBase<S, Ix2> {
    type OnDevice = Matrix<T>;

    fn upload_to(self, device: &Device) -> Result<Matrix<T>> {
        device.upload_matrix(&elements_in_order(self)?, self.nrows(), self.ncols())
    }
}

/// The elements, the last axis fastest: a copy unless they lie so in memory.
///
/// # Errors
/// [`Error::OutOfMemory`]: an array can have more elements than memory, all of them one number.
pub(super) fn elements_in_order<T: Element, S: Data<Elem = T>, D: Dimension>(
    array: &ArrayBase<S, D>,
) -> Result<Cow<'_, [T]>> {
    if let Some(elements) = array.as_slice() {
        return Ok(Cow::Borrowed(elements));
    }
    let mut elements = Vec::new();
    elements.try_reserve_exact(array.len()).map_err(|error| Error::OutOfMemory {
        device: "the host".to_owned(),
        bytes: array.len().saturating_mul(size_of::<T>()),
        available: error.to_string(),
    })?;
    elements.extend(array.iter().copied());
    Ok(Cow::Owned(elements))
}
