//! Borrowed matrices.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use ndarray::{Array2, ArrayView2};
use simt::element::Element;

use super::host_data::elements_in_order;
use super::layout::{check_range, layout_methods};
use super::span::Span;
use super::untyped::{Untyped, UntypedMut};
use super::view_pair::view_pair;
use super::{Allocation, BufferView, BufferViewMut, Layout, bytes};
use crate::contract::Region;
use crate::device::Device;
use crate::error::{ArgumentRule, BadArgument, Result};

view_pair! {
    /// A row-major matrix in a buffer, borrowed for reading.
    MatrixView;
    /// A row-major matrix in a buffer, borrowed for writing; the elements between its rows are not part of it.
    MatrixViewMut;
    layout: Layout
}

/// A [`MatrixView`] without the type of its elements.
pub(crate) type UntypedMatrix<'a> = Untyped<'a, Layout>;
/// A [`MatrixViewMut`] without the type of its elements.
pub(crate) type UntypedMatrixMut<'a> = UntypedMut<'a, Layout>;

/// Methods of both views.
macro_rules! common {
    ($View:ident, $BufferView:ident, $Untyped:ident) => {
        impl<'a, T: Element> $View<'a, T> {
            layout_methods!();

            /// The given rows and columns.
            ///
            /// # Errors
            /// A range does not lie within the matrix.
            pub fn block(self, rows: Range<usize>, cols: Range<usize>) -> Result<Self> {
                Ok(Self::new(self.allocation, self.layout.block(rows, cols)?))
            }

            /// The same matrix without the type of its elements.
            pub(crate) fn untyped(self) -> $Untyped<'a, Layout> {
                $Untyped::new::<T>(self.allocation, self.layout)
            }
        }

        impl<'a> $Untyped<'a, Layout> {
            /// As elements of a type of the same size: any bytes are a valid element.
            pub(crate) fn typed<T: Element>(self) -> $View<'a, T> {
                debug_assert_eq!(self.element_bytes(), size_of::<T>());
                $View::new(self.allocation(), self.place())
            }
        }

        impl<'a, T: Element> $BufferView<'a, T> {
            /// These elements as a matrix of the given layout, its offset counted from the start of this view.
            ///
            /// # Errors
            /// The layout does not fit: leading dimension below the columns, too few elements, an extent above
            /// `u32::MAX`.
            pub fn as_matrix(self, layout: Layout) -> Result<$View<'a, T>> {
                layout.check("as_matrix", self.len())?;
                Ok($View::new(self.allocation(), layout.offset(self.offset() + layout.offset)))
            }
        }
    };
}
common!(MatrixView, BufferView, Untyped);
common!(MatrixViewMut, BufferViewMut, UntypedMut);

impl<'a, T: Element> MatrixView<'a, T> {
    /// Address of element (0, 0), in the address space of the kernels.
    pub(crate) fn address(&self) -> *const T {
        self.allocation.memory().base().cast::<T>().wrapping_add(self.layout.offset)
    }

    pub(crate) fn region(&self) -> Region {
        let Layout { rows, cols, ld, offset } = self.layout;
        let size = size_of::<T>();
        if self.is_empty() { Region::bytes(0, 0) } else { Region::rows(offset * size, rows, cols * size, ld * size) }
    }

    /// The elements as a vector, if the rows are contiguous.
    pub fn as_contiguous(self) -> Option<BufferView<'a, T>> {
        let span = Span { offset: self.layout.offset, len: self.layout.rows * self.layout.cols };
        self.layout.is_contiguous().then(|| BufferView::new(self.allocation, span))
    }

    /// Copies the matrix to the host, after all work that writes it.
    ///
    /// # Errors
    /// [`crate::Error::DeviceLost`] if that work failed.
    /// On the simulator: [`crate::Error::Argument`] if nothing has written some of the elements, see
    /// [`BufferViewMut::assume_init`](crate::BufferViewMut::assume_init).
    pub fn download(self) -> Result<Array2<T>> {
        let (rows, cols) = (self.rows(), self.cols());
        let mut elements = bytes::zeros(rows * cols)?;
        let memory = self.allocation.memory();
        memory.read(self.device().queue(), &self.region(), bytes::of_mut(&mut elements))?;
        // The length fits the shape, so an error means that `ndarray` cannot hold the shape.
        Array2::from_shape_vec((rows, cols), elements).map_err(|error| {
            BadArgument::new(ArgumentRule::Extent, "download", "matrix")
                .expected("a shape that ndarray can hold")
                .found(format_args!("{rows} x {cols}: {error}"))
                .remedy("download parts of the matrix")
                .into()
        })
    }
}

impl<T: Element> MatrixViewMut<'_, T> {
    /// The rows before `row`, and those from there on.
    ///
    /// # Errors
    /// `row` is past the end.
    pub fn split_at_row(self, row: usize) -> Result<(Self, Self)> {
        check_range("split_at_row", "row", &(row..self.rows()), self.rows())?;
        let (rows, cols) = (self.rows(), self.cols());
        let above = Self::new(self.allocation, self.layout.block(0..row, 0..cols)?);
        Ok((above, Self::new(self.allocation, self.layout.block(row..rows, 0..cols)?)))
    }

    /// Overwrites the matrix with host data of the same shape.
    ///
    /// # Errors
    /// `data` has another shape.
    pub fn write(&mut self, data: ArrayView2<T>) -> Result<()> {
        self.check_shape("write", "data", data.nrows(), data.ncols())?;
        let elements = elements_in_order(&data)?;
        let memory = self.allocation.memory();
        memory.write(self.device().queue(), &self.view().region(), bytes::of(&elements))
    }

    /// The elements count as written: see
    /// [`BufferViewMut::assume_init`](crate::BufferViewMut::assume_init).
    pub fn assume_init(&mut self) {
        self.allocation.memory().assume_init(&self.view().region());
    }

    /// Sets the elements to zero; those between the rows do not change.
    ///
    /// # Errors
    /// A driver call fails.
    pub fn zero(&mut self) -> Result<()> {
        self.allocation.memory().zero(self.device().queue(), &self.view().region())
    }

    /// Overwrites the matrix with one of the same shape, on the device.
    ///
    /// # Errors
    /// `source` has another shape, or is on another device.
    pub fn copy_from<'s>(&mut self, source: impl Into<MatrixView<'s, T>>) -> Result<()>
    where
        T: 's,
    {
        let source = source.into();
        self.check_shape("copy_from", "source", source.rows(), source.cols())?;
        self.device().check_same(source.device(), "copy_from", "source")?;
        let memory = self.allocation.memory();
        memory.copy(self.device().queue(), self.view().region(), source.allocation.memory(), source.region())
    }

    fn check_shape(&self, call: &str, argument: &str, rows: usize, cols: usize) -> Result<()> {
        if (rows, cols) == (self.rows(), self.cols()) {
            return Ok(());
        }
        Err(BadArgument::new(ArgumentRule::Shape, call, argument)
            .expected(format_args!("{} x {}", self.rows(), self.cols()))
            .found(format_args!("{rows} x {cols}"))
            .remedy("take a block of the larger one, so that both have the same shape")
            .into())
    }
}
