//! Vectors of elements in device memory.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use simt::element::Element;

use super::span::Span;
use super::view_pair::views_of;
use super::{Allocation, BufferView, BufferViewMut};
use crate::backend::{Memory, Queue};
use crate::device::Device;
use crate::error::Result;

/// `len` elements in the memory of a device.
pub struct Buffer<T: Element> {
    allocation: Allocation,
    len: usize,
    elements: PhantomData<T>,
}

impl<T: Element> Buffer<T> {
    /// `len` elements, for use on `queue` first, or on any.
    pub(crate) fn alloc(device: &Device, len: usize, queue: Option<&Queue>) -> Result<Self> {
        Ok(Self { allocation: Allocation::new::<T>(device, len, queue)?, len, elements: PhantomData })
    }

    /// A buffer in `memory`.
    ///
    /// # Safety
    /// The memory belongs to `device`, has at least `len` elements, and on the simulator was made for elements of this
    /// size.
    pub(crate) unsafe fn from_memory(device: &Device, memory: Memory, len: usize) -> Self {
        Self { allocation: Allocation::of_memory(device, memory), len, elements: PhantomData }
    }

    /// The memory, which does not keep the device open.
    pub(crate) fn into_memory(self) -> Memory {
        self.allocation.into_memory()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device that owns the memory.
    pub fn device(&self) -> &Device {
        self.allocation.device()
    }

    /// All elements, for reading.
    pub fn view(&self) -> BufferView<'_, T> {
        BufferView::new(&self.allocation, Span { offset: 0, len: self.len })
    }

    /// All elements, for writing.
    pub fn view_mut(&mut self) -> BufferViewMut<'_, T> {
        BufferViewMut::new(&self.allocation, Span { offset: 0, len: self.len })
    }

    /// The elements of `range`, for reading.
    ///
    /// # Errors
    /// The range does not lie within the buffer.
    pub fn slice(&self, range: Range<usize>) -> Result<BufferView<'_, T>> {
        self.view().slice(range)
    }

    /// The elements of `range`, for writing.
    ///
    /// # Errors
    /// The range does not lie within the buffer.
    pub fn slice_mut(&mut self, range: Range<usize>) -> Result<BufferViewMut<'_, T>> {
        self.view_mut().slice(range)
    }

    /// Copies all elements to the host, after all work that writes them.
    ///
    /// # Errors
    /// [`crate::Error::DeviceLost`] if that work failed.
    /// On the simulator: [`crate::Error::Argument`] if nothing has written some of the elements, see
    /// [`BufferViewMut::assume_init`](crate::BufferViewMut::assume_init).
    pub fn download(&self) -> Result<Vec<T>> {
        self.view().download()
    }

    /// Overwrites all elements with host data.
    ///
    /// # Errors
    /// `data` has another length.
    pub fn write(&mut self, data: &[T]) -> Result<()> {
        self.view_mut().write(data)
    }
}

views_of! { Buffer => BufferView, BufferViewMut; }

impl<T: Element> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer<{}>({} elements on {})", std::any::type_name::<T>(), self.len, self.device().name())
    }
}
