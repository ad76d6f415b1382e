//! The operands of element-wise operations and of reductions.

use simt::element::Element;

use crate::error::Result;
use crate::memory::{Buffer, BufferView, Layout, Matrix, MatrixView};

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// A vector or a matrix, borrowed for reading: `&Buffer`, `BufferView`, `&Matrix` or `MatrixView`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operand of this operation",
    label = "neither a vector nor a matrix",
    note = "pass `&Buffer<T>`, `BufferView<T>`, `&Matrix<T>` or `MatrixView<T>`"
)]
pub trait Operand<'a>: Sealed + Copy {
    /// The element type.
    type Element: Element;

    /// The owner of a result of the same shape.
    type Owned;

    /// The elements contiguously, copied if they have gaps.
    #[doc(hidden)]
    fn contiguous(self) -> Result<Contiguous<'a, Self::Element>>;

    /// Rows and columns; a vector is one row.
    #[doc(hidden)]
    fn shape(self) -> (usize, usize);

    /// The elements of `buffer` in this shape.
    #[doc(hidden)]
    fn own(self, buffer: Buffer<Self::Element>) -> Result<Self::Owned>;
}

/// Contiguous elements, borrowed or copied.
#[doc(hidden)]
pub enum Contiguous<'a, T: Element> {
    Borrowed(BufferView<'a, T>),
    Copied(Buffer<T>),
}

impl<T: Element> Contiguous<'_, T> {
    pub(super) fn view(&self) -> BufferView<'_, T> {
        match self {
            Self::Borrowed(view) => *view,
            Self::Copied(buffer) => buffer.view(),
        }
    }
}

impl<T: Element> Sealed for BufferView<'_, T> {}
impl<'a, T: Element> Operand<'a> for BufferView<'a, T> {
    type Element = T;
    type Owned = Buffer<T>;

    fn contiguous(self) -> Result<Contiguous<'a, T>> {
        Ok(Contiguous::Borrowed(self))
    }

    fn shape(self) -> (usize, usize) {
        (1, self.len())
    }

    fn own(self, buffer: Buffer<T>) -> Result<Buffer<T>> {
        Ok(buffer)
    }
}

impl<T: Element> Sealed for MatrixView<'_, T> {}
impl<'a, T: Element> Operand<'a> for MatrixView<'a, T> {
    type Element = T;
    type Owned = Matrix<T>;

    fn contiguous(self) -> Result<Contiguous<'a, T>> {
        match self.as_contiguous() {
            Some(view) => Ok(Contiguous::Borrowed(view)),
            None => Ok(Contiguous::Copied(self.to_contiguous()?.into_buffer())),
        }
    }

    fn shape(self) -> (usize, usize) {
        (self.rows(), self.cols())
    }

    fn own(self, buffer: Buffer<T>) -> Result<Matrix<T>> {
        Matrix::from_buffer(buffer, Layout::contiguous(self.rows(), self.cols()))
    }
}

/// References to owners are operands as their views.
macro_rules! by_reference {
    ($($owner:ident => $view:ident => $owned:ty;)+) => {$(
        impl<T: Element> Sealed for &$owner<T> {}
        impl<'a, T: Element> Operand<'a> for &'a $owner<T> {
            type Element = T;
            type Owned = $owned;

            fn contiguous(self) -> Result<Contiguous<'a, T>> {
                $view::from(self).contiguous()
            }

            fn shape(self) -> (usize, usize) {
                $view::from(self).shape()
            }

            fn own(self, buffer: Buffer<T>) -> Result<$owned> {
                $view::from(self).own(buffer)
            }
        }
    )+};
}
by_reference! {
    Buffer => BufferView => Buffer<T>;
    Matrix => MatrixView => Matrix<T>;
}
