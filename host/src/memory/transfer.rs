//! Asynchronous copies, and the host memory for them.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use simt::element::Element;

use crate::backend::{HostMemory, Marker, Queue};
use crate::device::Device;
use crate::error::Result;

/// `len` elements of host memory for asynchronous copies; page-locked if the device is a GPU. Dereferences to a slice.
pub struct PinnedBuffer<T: Element> {
    memory: HostMemory,
    len: usize,
    device: Device,
    elements: PhantomData<T>,
}

impl<T: Element> PinnedBuffer<T> {
    pub(crate) fn new(device: &Device, len: usize) -> Result<Self> {
        let bytes = super::allocation::bytes_of::<T>("pinned", len)?;
        let memory = device.backend().host_memory(bytes)?;
        Ok(Self { memory, len, device: device.clone(), elements: PhantomData })
    }

    /// The device whose copies can use it.
    pub fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn memory(&self) -> &HostMemory {
        &self.memory
    }
}

impl<T: Element> Deref for PinnedBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the memory has `len` initialised elements, aligned for every element type; every bit pattern is
        // valid. No copy is in progress, or a `Transfer` would own this buffer.
        unsafe { std::slice::from_raw_parts(self.memory.base().cast(), self.len) }
    }
}

impl<T: Element> DerefMut for PinnedBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`; this buffer owns the memory exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.memory.base().cast(), self.len) }
    }
}

impl<T: Element + fmt::Debug> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// An asynchronous copy, which owns its host memory until it is done.
///
/// Dropping it waits for the copy; forgetting it leaks the memory, which is harmless.
#[must_use = "dropping a transfer waits for it; keep it, and get the host memory back with `wait`"]
pub struct Transfer<T: Element> {
    /// `None` once returned.
    buffer: Option<PinnedBuffer<T>>,
    marker: Marker,
}

impl<T: Element> Transfer<T> {
    /// Takes the buffer of a copy that was just queued on `queue`.
    pub(crate) fn new(buffer: PinnedBuffer<T>, queue: &Queue) -> Result<Self> {
        match queue.mark() {
            Ok(marker) => Ok(Self { buffer: Some(buffer), marker }),
            Err(error) => {
                release(buffer, queue.synchronize().is_ok());
                Err(error)
            }
        }
    }

    /// Whether the copy is done.
    ///
    /// # Errors
    /// [`crate::Error::DeviceLost`] if the work before it failed.
    pub fn is_done(&self) -> Result<bool> {
        self.marker.is_passed()
    }

    /// Waits for the copy and returns the host memory.
    ///
    /// # Errors
    /// [`crate::Error::DeviceLost`] if the work before it failed.
    pub fn wait(mut self) -> Result<PinnedBuffer<T>> {
        let waited = self.marker.synchronize();
        match (self.buffer.take(), waited) {
            (Some(buffer), Ok(())) => Ok(buffer),
            (Some(buffer), Err(error)) => {
                release(buffer, false);
                Err(error)
            }
            (None, _) => unreachable!("only `wait` and `drop` take the buffer, and both consume the transfer"),
        }
    }
}

impl<T: Element> Drop for Transfer<T> {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            release(buffer, self.marker.synchronize().is_ok());
        }
    }
}

impl<T: Element> fmt::Debug for Transfer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Transfer({} elements)", self.buffer.as_ref().map_or(0, |buffer| buffer.len))
    }
}

/// Frees the buffer if its copy is known to be done; else leaks it, because the device may still access it.
pub(crate) fn release<T: Element>(buffer: PinnedBuffer<T>, done: bool) {
    if done {
        drop(buffer);
    } else {
        buffer.memory.leak();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::bytes;

    #[test]
    fn pinned_memory_is_a_slice_of_zeros() {
        let device = Device::simulator();
        let mut pinned: PinnedBuffer<f64> = device.pinned(3).unwrap();
        assert_eq!(*pinned, [0.0; 3]);
        pinned[1] = 2.5;
        assert_eq!(bytes::of(&pinned[1..2]), 2.5_f64.to_ne_bytes());
        let empty: PinnedBuffer<u8> = device.pinned(0).unwrap();
        assert!(empty.is_empty());
    }
}
