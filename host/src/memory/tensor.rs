//! Tensors in device memory.

use std::fmt;

use simt::element::Element;

use super::axes::Axes;
use super::tensor_view::TensorLayout;
use super::view_pair::views_of;
use super::{Buffer, Matrix, TensorView, TensorViewMut};
use crate::backend::Queue;
use crate::device::Device;
use crate::error::Result;

/// Elements with up to six axes in the memory of a device, contiguous, the last axis fastest.
pub struct Tensor<T: Element> {
    buffer: Buffer<T>,
    axes: Axes,
}

impl<T: Element> Tensor<T> {
    /// The first elements of `buffer` with the axes `shape`.
    ///
    /// ```
    /// use warpwright::{Device, Tensor};
    /// let device = Device::simulator();
    /// let pixels = Tensor::from_buffer(device.upload(&[1_u8, 2, 3, 4, 5, 6])?, &[2, 3])?; // 2 pixels of 3 colours
    /// assert_eq!(device.permute(&pixels, &[1, 0])?.download()?, [1, 4, 2, 5, 3, 6]); // 3 planes of 2
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// More than six axes, or more elements than the buffer has.
    pub fn from_buffer(buffer: Buffer<T>, shape: &[usize]) -> Result<Self> {
        let axes = Axes::contiguous("Tensor::from_buffer", shape)?;
        axes.check("Tensor::from_buffer", buffer.len())?;
        Ok(Self { buffer, axes })
    }

    /// An uninitialised tensor for the result of an operation on `queue`; see [`Device::alloc_on`].
    pub(crate) fn alloc(device: &Device, queue: &Queue, call: &str, shape: &[usize]) -> Result<Self> {
        let axes = Axes::contiguous(call, shape)?;
        // `Axes::contiguous` checked that the product does not overflow.
        Ok(Self { buffer: device.alloc_on(queue, axes.len().unwrap_or(usize::MAX))?, axes })
    }

    /// The buffer, including any further elements.
    pub fn into_buffer(self) -> Buffer<T> {
        self.buffer
    }

    /// Extents of the axes.
    pub fn shape(&self) -> &[usize] {
        self.axes.shape()
    }

    /// The device that owns the memory.
    pub fn device(&self) -> &Device {
        self.buffer.device()
    }

    /// The whole tensor, for reading.
    pub fn view(&self) -> TensorView<'_, T> {
        TensorView::new(self.buffer.view().allocation(), TensorLayout { offset: 0, axes: self.axes })
    }

    /// The whole tensor, for writing.
    pub fn view_mut(&mut self) -> TensorViewMut<'_, T> {
        TensorViewMut::new(self.buffer.view_mut().allocation(), TensorLayout { offset: 0, axes: self.axes })
    }

    /// Copies the elements to the host, the last index varying fastest, after all work that writes them.
    ///
    /// # Errors
    /// [`crate::Error::DeviceLost`] if that work failed.
    /// On the simulator: [`crate::Error::Argument`] if nothing has written some of the elements, see
    /// [`BufferViewMut::assume_init`](crate::BufferViewMut::assume_init).
    pub fn download(&self) -> Result<Vec<T>> {
        self.buffer.slice(0..self.axes.len().unwrap_or(0))?.download()
    }
}

views_of! {
    Tensor => TensorView, TensorViewMut;
    Matrix => TensorView, TensorViewMut;
}

impl<T: Element> fmt::Debug for Tensor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor<{}>({:?} on {})", std::any::type_name::<T>(), self.shape(), self.device().name())
    }
}
