//! Borrowed tensors.

use std::fmt;
use std::marker::PhantomData;

use simt::element::Element;

use super::axes::Axes;
use super::{Allocation, BufferView, BufferViewMut, Matrix, MatrixView, MatrixViewMut, Tensor};
use crate::device::Device;
use crate::error::Result;

/// Elements of a buffer with up to six axes, borrowed for reading: element (i, j, …) lies at i·s₀ + j·s₁ + … from the first,
/// where the strides s may be any numbers.
#[derive(Clone, Copy)]
pub struct TensorView<'a, T: Element> {
    allocation: &'a Allocation,
    offset: usize,
    axes: Axes,
    elements: PhantomData<&'a T>,
}

/// A [`TensorView`] for writing: no two of its elements share memory.
pub struct TensorViewMut<'a, T: Element> {
    allocation: &'a Allocation,
    offset: usize,
    axes: Axes,
    elements: PhantomData<&'a mut T>,
}

macro_rules! common {
    ($view:ident) => {
        impl<'a, T: Element> $view<'a, T> {
            /// Axes that were checked against the allocation.
            pub(super) fn new(allocation: &'a Allocation, offset: usize, axes: Axes) -> Self {
                Self { allocation, offset, axes, elements: PhantomData }
            }

            pub(crate) fn allocation(&self) -> &'a Allocation {
                self.allocation
            }

            /// Extents of the axes, of which the last varies fastest in memory unless the strides say otherwise.
            pub fn shape(&self) -> &[usize] {
                self.axes.shape()
            }

            /// Elements between neighbours along each axis.
            pub fn strides(&self) -> &[usize] {
                self.axes.strides()
            }

            /// Number of elements.
            pub fn len(&self) -> usize {
                // That it can be counted was checked.
                self.axes.len().unwrap_or(usize::MAX)
            }

            /// Whether there is no element.
            pub fn is_empty(&self) -> bool {
                self.axes.is_empty()
            }

            /// The device that owns the memory.
            pub fn device(&self) -> &'a Device {
                self.allocation.device()
            }

            /// The same elements with their axes in another order: axis k of the result is axis `axes[k]`. Nothing is copied;
            /// [`Device::permute`] brings the elements into that order in memory, too.
            ///
            /// # Errors
            /// `axes` does not name each axis once.
            pub fn permuted(self, axes: &[usize]) -> Result<Self> {
                Ok(Self::new(self.allocation, self.offset, self.axes.permuted("permuted", axes)?))
            }
        }

        impl<T: Element> fmt::Debug for $view<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($view), "<{}>({})"), std::any::type_name::<T>(), self.axes)
            }
        }
    };
}
common!(TensorView);
common!(TensorViewMut);

impl<'a, T: Element> TensorView<'a, T> {
    pub(crate) fn axes(&self) -> &Axes {
        &self.axes
    }

    /// Address of the first element, on the machine that runs the kernels.
    pub(crate) fn address(&self) -> usize {
        self.allocation.memory().base().addr() + self.offset * size_of::<T>()
    }

    /// `len` elements of another type from the `offset`th of them on, where the tensor starts at a multiple of one. They lie
    /// within what the tensor spans.
    pub(crate) fn bits<U: Element>(&self, offset: usize, len: usize) -> BufferView<'a, U> {
        debug_assert!((offset + len) * size_of::<U>() <= self.axes.span().unwrap_or(0) * size_of::<T>());
        BufferView::new(self.allocation, self.offset * size_of::<T>() / size_of::<U>() + offset, len)
    }
}

impl<T: Element> TensorViewMut<'_, T> {
    /// The same elements, for reading.
    pub fn view(&self) -> TensorView<'_, T> {
        TensorView::new(self.allocation, self.offset, self.axes)
    }

    /// The same elements, for writing, for a shorter time.
    pub fn view_mut(&mut self) -> TensorViewMut<'_, T> {
        TensorViewMut::new(self.allocation, self.offset, self.axes)
    }

    /// [`TensorView::bits`], for writing.
    pub(crate) fn bits_mut<U: Element>(&mut self, offset: usize, len: usize) -> BufferViewMut<'_, U> {
        debug_assert!((offset + len) * size_of::<U>() <= self.axes.span().unwrap_or(0) * size_of::<T>());
        BufferViewMut::new(self.allocation, self.offset * size_of::<T>() / size_of::<U>() + offset, len)
    }

    /// Overwrites the elements with those of a tensor of the same shape, whatever the strides of either, on the device.
    ///
    /// # Errors
    /// `source` has another shape, or is on another device; as [`Device::launch`].
    pub fn copy_from<'s>(&mut self, source: impl Into<TensorView<'s, T>>) -> Result<()>
    where
        T: 's,
    {
        crate::ops::copy_tensor(source.into(), self.view_mut())
    }
}

impl<'a, T: Element> BufferView<'a, T> {
    /// These elements with the axes `shape`, those of the last next to each other, without gaps.
    ///
    /// ```
    /// let device = warpwright::Device::simulator();
    /// let x = device.upload(&[0_i32; 30])?;
    /// let images = x.view().as_tensor(&[2, 3, 5])?;
    /// assert_eq!(images.strides(), [15, 5, 1]);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// More than six axes, or more elements than there are.
    pub fn as_tensor(self, shape: &[usize]) -> Result<TensorView<'a, T>> {
        self.with_axes("as_tensor", Axes::contiguous("as_tensor", shape)?)
    }

    /// These elements with the axes `shape` and any strides: several indices may name one element.
    ///
    /// # Errors
    /// As [`BufferView::as_tensor`]; not as many strides as axes.
    pub fn as_tensor_strided(self, shape: &[usize], strides: &[usize]) -> Result<TensorView<'a, T>> {
        self.with_axes("as_tensor_strided", Axes::strided("as_tensor_strided", shape, strides)?)
    }

    fn with_axes(self, call: &str, axes: Axes) -> Result<TensorView<'a, T>> {
        axes.check(call, self.len())?;
        Ok(TensorView::new(self.allocation(), self.start(), axes))
    }
}

impl<'a, T: Element> BufferViewMut<'a, T> {
    /// As [`BufferView::as_tensor`], for writing.
    ///
    /// # Errors
    /// As [`BufferView::as_tensor`].
    pub fn as_tensor(self, shape: &[usize]) -> Result<TensorViewMut<'a, T>> {
        self.with_axes("as_tensor", Axes::contiguous("as_tensor", shape)?)
    }

    /// As [`BufferView::as_tensor_strided`], for writing.
    ///
    /// # Errors
    /// As [`BufferView::as_tensor_strided`]; two indices name one element.
    pub fn as_tensor_strided(self, shape: &[usize], strides: &[usize]) -> Result<TensorViewMut<'a, T>> {
        self.with_axes("as_tensor_strided", Axes::strided("as_tensor_strided", shape, strides)?)
    }

    fn with_axes(self, call: &str, axes: Axes) -> Result<TensorViewMut<'a, T>> {
        axes.check(call, self.len())?;
        axes.check_distinct(call)?;
        Ok(TensorViewMut::new(self.allocation(), self.start(), axes))
    }
}

/// A matrix as a tensor of two axes; its layout was checked.
fn axes(layout: super::Layout) -> Axes {
    Axes::of_matrix(layout.rows, layout.cols, layout.ld)
}

impl<'a, T: Element> From<MatrixView<'a, T>> for TensorView<'a, T> {
    fn from(view: MatrixView<'a, T>) -> Self {
        Self::new(view.allocation(), view.layout().offset, axes(view.layout()))
    }
}

impl<'a, T: Element> From<MatrixViewMut<'a, T>> for TensorViewMut<'a, T> {
    fn from(view: MatrixViewMut<'a, T>) -> Self {
        Self::new(view.allocation(), view.layout().offset, axes(view.layout()))
    }
}

impl<'a, T: Element> From<&'a Matrix<T>> for TensorView<'a, T> {
    fn from(matrix: &'a Matrix<T>) -> Self {
        matrix.view().into()
    }
}

impl<'a, T: Element> From<&'a mut Matrix<T>> for TensorViewMut<'a, T> {
    fn from(matrix: &'a mut Matrix<T>) -> Self {
        matrix.view_mut().into()
    }
}

impl<'a, T: Element> From<&'a Tensor<T>> for TensorView<'a, T> {
    fn from(tensor: &'a Tensor<T>) -> Self {
        tensor.view()
    }
}

impl<'a, T: Element> From<&'a mut Tensor<T>> for TensorViewMut<'a, T> {
    fn from(tensor: &'a mut Tensor<T>) -> Self {
        tensor.view_mut()
    }
}

impl<'a, T: Element> From<&TensorView<'a, T>> for TensorView<'a, T> {
    fn from(view: &TensorView<'a, T>) -> Self {
        *view
    }
}

impl<'a, T: Element> From<&'a TensorViewMut<'_, T>> for TensorView<'a, T> {
    fn from(view: &'a TensorViewMut<'_, T>) -> Self {
        view.view()
    }
}

impl<'a, T: Element> From<&'a mut TensorViewMut<'_, T>> for TensorViewMut<'a, T> {
    fn from(view: &'a mut TensorViewMut<'_, T>) -> Self {
        view.view_mut()
    }
}
