//! Element-wise addition, and the operands of element-wise operations.

use gpu::ladder::vector_add::{BLOCK, vector_add};

use super::shape;
use crate::device::Device;
use crate::error::Result;
use crate::launch::Launch;
use crate::memory::{Buffer, BufferView, Layout, Matrix, MatrixView};

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// A vector or a matrix of `f32`, borrowed for reading: `&Buffer`, `BufferView`, `&Matrix` or `MatrixView`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand of this operation",
    label = "neither vector nor matrix of `f32`",
    note = "pass `&Buffer<f32>`, `BufferView<f32>`, `&Matrix<f32>` or `MatrixView<f32>`"
)]
pub trait Operand<'a>: Sealed + Copy {
    /// What holds a result of the same shape.
    type Owned;

    /// The elements one after the other, copied if there are gaps between them.
    #[doc(hidden)]
    fn contiguous(self) -> Result<Contiguous<'a>>;

    /// Rows and columns; a vector is one row.
    #[doc(hidden)]
    fn shape(self) -> (usize, usize);

    /// The elements of `buffer` in this shape.
    #[doc(hidden)]
    fn own(self, buffer: Buffer<f32>) -> Result<Self::Owned>;
}

/// Elements without gaps, borrowed or a copy.
#[doc(hidden)]
pub enum Contiguous<'a> {
    Borrowed(BufferView<'a, f32>),
    Copied(Buffer<f32>),
}

impl Contiguous<'_> {
    pub(super) fn view(&self) -> BufferView<'_, f32> {
        match self {
            Self::Borrowed(view) => *view,
            Self::Copied(buffer) => buffer.view(),
        }
    }
}

impl Sealed for BufferView<'_, f32> {}
impl<'a> Operand<'a> for BufferView<'a, f32> {
    type Owned = Buffer<f32>;

    fn contiguous(self) -> Result<Contiguous<'a>> {
        Ok(Contiguous::Borrowed(self))
    }

    fn shape(self) -> (usize, usize) {
        (1, self.len())
    }

    fn own(self, buffer: Buffer<f32>) -> Result<Buffer<f32>> {
        Ok(buffer)
    }
}

impl Sealed for MatrixView<'_, f32> {}
impl<'a> Operand<'a> for MatrixView<'a, f32> {
    type Owned = Matrix<f32>;

    fn contiguous(self) -> Result<Contiguous<'a>> {
        match self.as_contiguous() {
            Some(view) => Ok(Contiguous::Borrowed(view)),
            None => Ok(Contiguous::Copied(self.to_contiguous()?.into_buffer())),
        }
    }

    fn shape(self) -> (usize, usize) {
        (self.rows(), self.cols())
    }

    fn own(self, buffer: Buffer<f32>) -> Result<Matrix<f32>> {
        Matrix::from_buffer(buffer, Layout::contiguous(self.rows(), self.cols()))
    }
}

/// Operands by reference: what their view is.
macro_rules! by_reference {
    ($($owner:ident => $view:ident => $owned:ty;)+) => {$(
        impl Sealed for &$owner<f32> {}
        impl<'a> Operand<'a> for &'a $owner<f32> {
            type Owned = $owned;

            fn contiguous(self) -> Result<Contiguous<'a>> {
                $view::from(self).contiguous()
            }

            fn shape(self) -> (usize, usize) {
                $view::from(self).shape()
            }

            fn own(self, buffer: Buffer<f32>) -> Result<$owned> {
                $view::from(self).own(buffer)
            }
        }
    )+};
}
by_reference! {
    Buffer => BufferView => Buffer<f32>;
    Matrix => MatrixView => Matrix<f32>;
}

impl Device {
    /// x + y in `f32`, element by element: two vectors of one length, or two matrices of one shape.
    ///
    /// A matrix with gaps between its rows is copied without them first.
    ///
    /// ```
    /// let device = warpwright::Device::simulator();
    /// let (x, y) = (device.upload(&[1.0_f32, 2.0])?, device.upload(&[10.0_f32, 20.0])?);
    /// assert_eq!(device.add(&x, &y)?.download()?, [11.0, 22.0]);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// The shapes differ; as [`Device::alloc`] and [`Device::launch`].
    pub fn add<'a, X, Y>(&self, x: X, y: Y) -> Result<X::Owned>
    where
        X: Operand<'a>,
        Y: Operand<'a, Owned = X::Owned>,
    {
        if x.shape() != y.shape() {
            let words = |(rows, cols): (usize, usize)| format!("{rows} x {cols}");
            let remedy = "both operands of an addition have one shape (a vector counts as one row)";
            let expected = format!("{}, the shape of x", words(x.shape()));
            return Err(shape("add", "y", &expected, &words(y.shape()), remedy));
        }
        let (left, right) = (x.contiguous()?, y.contiguous()?);
        let n = left.view().len();
        let mut z = self.alloc(n)?;
        if n > 0 {
            self.launch(&vector_add, Launch::cover(n, BLOCK), (left.view(), right.view(), &mut z))?;
        }
        x.own(z)
    }
}
