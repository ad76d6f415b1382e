//! Borrowed tensors.

use std::fmt;
use std::marker::PhantomData;

use simt::element::Element;

use super::axes::Axes;
use super::span::Span;
use super::untyped::{Untyped, UntypedMut};
use super::view_pair::view_pair;
use super::{
    Allocation, BufferView, BufferViewMut, Layout, MatrixView, MatrixViewMut, UntypedMatrix, UntypedMatrixMut,
};
use crate::device::Device;
use crate::error::Result;

/// Position and axes of a tensor: element (0, 0, …) is element `offset` of the allocation.
#[derive(Clone, Copy)]
pub(crate) struct TensorLayout {
    pub(super) offset: usize,
    pub(super) axes: Axes,
}

impl fmt::Display for TensorLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.axes.fmt(f)
    }
}

view_pair! {
    /// Elements of a buffer with up to six axes, borrowed for reading: element (i, j, …) lies at i·s₀ + j·s₁ + … from
    /// the first, with any strides s.
    TensorView;
    /// A [`TensorView`] for writing: no two of its elements share memory.
    TensorViewMut;
    layout: TensorLayout
}

/// A [`TensorView`] without the type of its elements.
pub(crate) type UntypedTensor<'a> = Untyped<'a, TensorLayout>;
/// A [`TensorViewMut`] without the type of its elements.
pub(crate) type UntypedTensorMut<'a> = UntypedMut<'a, TensorLayout>;

/// Methods of both views.
macro_rules! common {
    ($View:ident, $Untyped:ident) => {
        impl<'a, T: Element> $View<'a, T> {
            /// Extents of the axes, of which the last varies fastest in memory unless the strides say otherwise.
            pub fn shape(&self) -> &[usize] {
                self.layout.axes.shape()
            }

            /// Elements between neighbours along each axis.
            pub fn strides(&self) -> &[usize] {
                self.layout.axes.strides()
            }

            /// Number of elements.
            pub fn len(&self) -> usize {
                // The constructor checked that the product does not overflow.
                self.layout.axes.len().unwrap_or(usize::MAX)
            }

            /// Whether there is no element.
            pub fn is_empty(&self) -> bool {
                self.layout.axes.is_empty()
            }

            /// The same elements with their axes in another order: axis k of the result is axis `axes[k]`. Nothing is
            /// copied; [`Device::permute`] copies the elements into that order.
            ///
            /// # Errors
            /// `axes` does not name each axis once.
            pub fn permuted(self, axes: &[usize]) -> Result<Self> {
                let axes = self.layout.axes.permuted("permuted", axes)?;
                Ok(Self::new(self.allocation, TensorLayout { axes, ..self.layout }))
            }

            /// The same tensor without the type of its elements.
            pub(crate) fn untyped(self) -> $Untyped<'a, TensorLayout> {
                $Untyped::new::<T>(self.allocation, self.layout)
            }
        }

        impl $Untyped<'_, TensorLayout> {
            pub(crate) fn axes(&self) -> Axes {
                self.place().axes
            }

            /// Address of the first element, in the address space of the kernels.
            pub(crate) fn address(&self) -> usize {
                self.allocation().memory().base().addr() + self.place().offset * self.element_bytes()
            }

            /// `len` elements of type `U` from the `offset`th on, counted from the tensor's start, which is at a
            /// multiple of their size. They lie within the tensor's extent in memory.
            fn span<U: Element>(&self, offset: usize, len: usize) -> Span {
                let (place, size) = (self.place(), self.element_bytes());
                debug_assert!((offset + len) * size_of::<U>() <= place.axes.span().unwrap_or(0) * size);
                Span { offset: place.offset * size / size_of::<U>() + offset, len }
            }
        }
    };
}
common!(TensorView, Untyped);
common!(TensorViewMut, UntypedMut);

impl<'a> UntypedTensor<'a> {
    /// `len` elements of a type from the `offset`th on. The tensor starts at a multiple of their size, and they lie
    /// within its extent in memory.
    pub(crate) fn range<U: Element>(&self, offset: usize, len: usize) -> BufferView<'a, U> {
        BufferView::new(self.allocation(), self.span::<U>(offset, len))
    }
}

impl UntypedTensorMut<'_> {
    /// [`UntypedTensor::range`], for writing.
    pub(crate) fn range_mut<U: Element>(&mut self, offset: usize, len: usize) -> BufferViewMut<'_, U> {
        BufferViewMut::new(self.allocation(), self.span::<U>(offset, len))
    }
}

impl<'a, T: Element> TensorView<'a, T> {
    pub(crate) fn axes(&self) -> &Axes {
        &self.layout.axes
    }

    /// Address of the first element, in the address space of the kernels.
    pub(crate) fn address(&self) -> usize {
        self.untyped().address()
    }

    /// `len` elements of another type from the `offset`th on. The tensor starts at a multiple of their size, and they
    /// lie within its extent in memory.
    pub(crate) fn cast_range<U: Element>(&self, offset: usize, len: usize) -> BufferView<'a, U> {
        self.untyped().range(offset, len)
    }

    /// What is in memory from the first element to the last one.
    pub(crate) fn elements(&self) -> BufferView<'a, T> {
        self.cast_range(0, self.axes().span().unwrap_or(0))
    }
}

impl<T: Element> TensorViewMut<'_, T> {
    /// [`TensorView::cast_range`], for writing.
    pub(crate) fn cast_range_mut<U: Element>(&mut self, offset: usize, len: usize) -> BufferViewMut<'_, U> {
        let span = self.view_mut().untyped().span::<U>(offset, len);
        BufferViewMut::new(self.allocation, span)
    }
}

impl<'a, T: Element> BufferView<'a, T> {
    /// These elements with the axes `shape`, contiguous, the last axis fastest.
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
    /// More than six axes, or more elements than the view has.
    pub fn as_tensor(self, shape: &[usize]) -> Result<TensorView<'a, T>> {
        self.with_axes("as_tensor", Axes::contiguous("as_tensor", shape)?)
    }

    /// These elements with the axes `shape` and any strides: several indices may refer to one element.
    ///
    /// # Errors
    /// As [`BufferView::as_tensor`]; the number of strides is not the number of axes.
    pub fn as_tensor_strided(self, shape: &[usize], strides: &[usize]) -> Result<TensorView<'a, T>> {
        self.with_axes("as_tensor_strided", Axes::strided("as_tensor_strided", shape, strides)?)
    }

    fn with_axes(self, call: &str, axes: Axes) -> Result<TensorView<'a, T>> {
        axes.check(call, self.len())?;
        Ok(TensorView::new(self.allocation(), TensorLayout { offset: self.offset(), axes }))
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
    /// As [`BufferView::as_tensor_strided`]; two indices refer to one element.
    pub fn as_tensor_strided(self, shape: &[usize], strides: &[usize]) -> Result<TensorViewMut<'a, T>> {
        self.with_axes("as_tensor_strided", Axes::strided("as_tensor_strided", shape, strides)?)
    }

    fn with_axes(self, call: &str, axes: Axes) -> Result<TensorViewMut<'a, T>> {
        axes.check(call, self.len())?;
        axes.check_distinct(call)?;
        Ok(TensorViewMut::new(self.allocation(), TensorLayout { offset: self.offset(), axes }))
    }
}

/// A matrix as a tensor of two axes.
fn tensor_layout(matrix: Layout) -> TensorLayout {
    TensorLayout { offset: matrix.offset, axes: Axes::of_matrix(matrix.rows, matrix.cols, matrix.ld) }
}

impl<'a> From<UntypedMatrix<'a>> for UntypedTensor<'a> {
    fn from(matrix: UntypedMatrix<'a>) -> Self {
        matrix.map(tensor_layout)
    }
}

impl<'a> From<UntypedMatrixMut<'a>> for UntypedTensorMut<'a> {
    fn from(matrix: UntypedMatrixMut<'a>) -> Self {
        matrix.map(tensor_layout)
    }
}

impl<'a, T: Element> From<MatrixView<'a, T>> for TensorView<'a, T> {
    fn from(view: MatrixView<'a, T>) -> Self {
        Self::new(view.allocation(), tensor_layout(view.layout()))
    }
}

impl<'a, T: Element> From<MatrixViewMut<'a, T>> for TensorViewMut<'a, T> {
    fn from(view: MatrixViewMut<'a, T>) -> Self {
        Self::new(view.allocation(), tensor_layout(view.layout()))
    }
}
