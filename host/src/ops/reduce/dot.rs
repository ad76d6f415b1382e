//! Dot products.

use gpu::reduce::whole::dots;
use half::{bf16, f16};
use simt::element::Element;

use super::one_element;
use super::scratch::Scratch;
use super::task::Task;
use super::workspace::Workspace;
use crate::device::Device;
use crate::error::Result;
use crate::memory::{BufferView, BufferViewMut};
use crate::ops::operand::Operand;
use crate::ops::same_shape;
use crate::stream::Stream;

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// Elements that have a kernel for dot products.
#[diagnostic::on_unimplemented(
    message = "there is no kernel for dot products of `{Self}`",
    note = "there are kernels for `f32`, `f16`, `bf16`, `f64`, `i32`, `u32`, `i64` and `u64`"
)]
pub trait Dot: Element + Sealed {
    /// The result: `f32` for `f32` and the 16-bit formats, `f64`, or 64 bits.
    type Output: Element;

    #[doc(hidden)]
    fn launch(task: Task<'_, Self, Self::Output>, y: BufferView<'_, Self>) -> Result<()>;
}

macro_rules! dots {
    ($($t:ty => $u:ty: $kernel:path;)+) => {$(
        impl Sealed for $t {}
        impl Dot for $t {
            type Output = $u;

            fn launch(task: Task<'_, $t, $u>, y: BufferView<'_, $t>) -> Result<()> {
                task.launch_of_two(&$kernel, y)
            }
        }
    )+};
}
dots! {
    f32 => f32: dots::reduce_dot_f32;
    f16 => f32: dots::reduce_dot_f16;
    bf16 => f32: dots::reduce_dot_bf16;
    f64 => f64: dots::reduce_dot_f64;
    i32 => i64: dots::reduce_dot_i32;
    u32 => u64: dots::reduce_dot_u32;
    i64 => i64: dots::reduce_dot_u64;
    u64 => u64: dots::reduce_dot_u64;
}

impl Device {
    /// Σ x·y: two vectors of one length, or two matrices of one shape. Waits for the result; 0 for empty input.
    ///
    /// Products of `f32`, `f16` and `bf16` are exact and added in `f64`, the sum is rounded to `f32` once; products of
    /// `f64` are added with compensation; integers wrap in 64 bits. If `x` and `y` are not equally aligned to 16 bytes,
    /// `y` is read element by element.
    ///
    /// ```
    /// let device = warpwright::Device::simulator();
    /// let (x, y) = (device.upload(&[1.0_f32, 2.0, 3.0])?, device.upload(&[4.0_f32, 5.0, 6.0])?);
    /// assert_eq!(device.dot(&x, &y)?, 32.0);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// The shapes differ; as [`Device::alloc`] and [`Device::launch`].
    pub fn dot<'a, X, Y>(&self, x: X, y: Y) -> Result<<X::Element as Dot>::Output>
    where
        X: Operand<'a>,
        Y: Operand<'a, Element = X::Element>,
        X::Element: Dot,
    {
        same_shape("dot", x.shape(), y.shape())?;
        let (x, y) = (x.contiguous()?, y.contiguous()?);
        let (x, y) = (x.view(), y.view());
        let mut scratch = Scratch::take(self)?;
        let (workspace, out) = (scratch.workspace.view_mut(), scratch.out.view_mut());
        X::Element::launch(Task { device: self, stream: None, x, workspace, out }, y)?;
        scratch.finish()
    }

    /// [`Device::dot`] into `out`, without waiting and allocation: see [`Device::reduce_into`].
    ///
    /// # Errors
    /// The lengths differ; `out` does not have one element; as [`Device::launch`].
    pub fn dot_into<'x, 'y, 'o, T: Dot>(
        &self,
        x: impl Into<BufferView<'x, T>>,
        y: impl Into<BufferView<'y, T>>,
        out: impl Into<BufferViewMut<'o, T::Output>>,
        workspace: &mut Workspace,
        stream: Option<&Stream>,
    ) -> Result<()> {
        let (x, y, out) = (x.into(), y.into(), out.into());
        same_shape("dot_into", (1, x.len()), (1, y.len()))?;
        one_element("dot_into", out.len())?;
        T::launch(Task { device: self, stream, x, workspace: workspace.view_mut(), out }, y)
    }
}
