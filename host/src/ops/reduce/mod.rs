//! Reductions of whole vectors and matrices to one number.
//!
//! Named methods such as [`Device::sum`] wait for the result; [`Device::reduce_into`] leaves it on the device, with no
//! allocation, no waiting and a single launch, for use on a stream or in a CUDA graph. The result for each element
//! type:
//!
//! | reduction | `f32` `f16` `bf16` | `f64` | `i32` `u32` | `i64` `u64` | empty input |
//! |---|---|---|---|---|---|
//! | [`Sum`] | `f32`, added in `f64` | `f64`, compensated | 64 bits, wrapping | 64 bits, wrapping | 0 |
//! | [`PlainSum`] | `f32` only, added in `f32` | – | – | – | 0 |
//! | [`NanSum`] | `f32`, NaNs as 0 | `f64` | – | – | 0 |
//! | [`SumOfSquares`] | `f32`, added in `f64` | `f64`, compensated | `u64`, wrapping | `u64`, wrapping | 0 |
//! | [`Product`] | `f32`, multiplied in `f64` | `f64` | 64 bits, wrapping | 64 bits, wrapping | 1 |
//! | [`Norm`] | `f32`, added in `f64` | `f64`, scaled | – | – | 0 |
//! | [`Mean`] | `f32`, added in `f64` | `f64`, compensated | `f64` | – | an error |
//! | [`Variance`] | `f32`, in `f64` | `f64` | – | – | an error |
//! | [`Max`], [`Min`] | the type | `f64` | the type | the type | an error |
//! | [`NanMax`], [`NanMin`] | the type | `f64` | – | – | an error |
//! | [`ArgMax`], [`ArgMin`] | `u64` | `u64` | `u64` | `u64` | an error |
//! | [`NanArgMax`], [`NanArgMin`] | `u64` | `u64` | – | – | an error |
//! | [`CountNonzero`], [`Any`], [`All`] | `u64`; also of `u8` | `u64` | `u64` | `u64` | 0, 0, 1 |
//!
//! [`Device::reduce_axis`] does all but [`PlainSum`] along an axis of a tensor, [`Device::reduce_segments`] on the
//! segments of a vector.
//!
//! The order of merges depends on the number of elements and on how the first is aligned to 16 bytes, not on the
//! device: the result has the same bits everywhere, run after run.

mod axis;
mod dot;
mod named;
mod reductions;
mod scratch;
mod segments;
mod task;
mod workspace;

pub use axis::{AxisReduction, LinesWorkspace, axis_depth};
pub use dot::Dot;
pub use gpu::reduce::whole::depth::{dot_depth, reduction_depth};
pub use reductions::{
    All, Any, ArgMax, ArgMin, CountNonzero, Max, Mean, Min, NanArgMax, NanArgMin, NanMax, NanMin, NanSum, Norm,
    PlainSum, Product, Reduction, Sum, SumOfSquares, Variance,
};
pub use segments::{Offset, SegmentReduction, segments_depth};
pub use workspace::Workspace;

use simt::element::Element;

use self::scratch::Scratch;
use self::task::Task;
use super::operand::Operand;
use crate::device::Device;
use crate::error::{ArgumentRule, BadArgument, Result};
use crate::memory::{BufferView, BufferViewMut};
use crate::stream::Stream;

/// Refuses an output that does not have one element.
fn one_element(call: &str, found: usize) -> Result<()> {
    if found == 1 {
        return Ok(());
    }
    Err(BadArgument::new(ArgumentRule::Length, call, "out")
        .expected("one element")
        .found(found)
        .remedy("take a slice of one element, as out.slice_mut(i..i + 1)")
        .into())
}

impl Device {
    /// Reduces all elements of a vector or matrix to one number and waits for it.
    ///
    /// A matrix whose rows are not contiguous is copied first.
    ///
    /// ```
    /// use warpwright::reduce::{Max, Variance};
    /// let device = warpwright::Device::simulator();
    /// let x = device.upload(&[2.0_f64, -1.0, 5.0])?;
    /// assert_eq!(device.reduce(Max, &x)?, 5.0);
    /// assert_eq!(device.reduce(Variance { ddof: 1 }, &x)?, 9.0);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`crate::Error::Argument`]: too few elements for the reduction to be defined.
    /// - As [`Device::alloc`] and [`Device::launch`]; [`crate::Error::DeviceLost`] if work before it failed.
    pub fn reduce<'a, R, X>(&self, reduction: R, x: X) -> Result<R::Output>
    where
        X: Operand<'a>,
        R: Reduction<X::Element>,
    {
        let contiguous = x.contiguous()?;
        let x = contiguous.view();
        reduction.check(x.len())?;
        let mut scratch = Scratch::take(self)?;
        let (workspace, out) = (scratch.workspace.view_mut(), scratch.out.view_mut());
        reduction.launch(Task { device: self, stream: None, x, workspace, out })?;
        scratch.finish()
    }

    /// Queues a reduction of the elements of `x` to the one element of `out`: one launch, no allocation, no waiting.
    ///
    /// It runs on `stream`, by default on the device's default stream. It can be captured in a CUDA graph once any
    /// reduction has loaded the kernels.
    ///
    /// ```
    /// use warpwright::reduce::{Min, Sum, Workspace};
    /// let device = warpwright::Device::simulator();
    /// let (stream, mut workspace) = (device.stream()?, Workspace::new(&device)?);
    /// let x = device.upload(&[3_i32, -4, 5])?;
    /// let (mut sum, mut least) = (device.alloc::<i64>(1)?, device.alloc::<i32>(1)?);
    /// device.reduce_into(Sum, &x, &mut sum, &mut workspace, Some(&stream))?;
    /// device.reduce_into(Min, &x, &mut least, &mut workspace, Some(&stream))?;
    /// assert_eq!((sum.download()?, least.download()?), (vec![4], vec![-4]));
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::reduce`] except allocation; `out` does not have one element; the stream or any memory belongs to
    /// another device.
    pub fn reduce_into<'x, 'o, T: Element, R: Reduction<T>>(
        &self,
        reduction: R,
        x: impl Into<BufferView<'x, T>>,
        out: impl Into<BufferViewMut<'o, R::Output>>,
        workspace: &mut Workspace,
        stream: Option<&Stream>,
    ) -> Result<()> {
        let (x, out) = (x.into(), out.into());
        reduction.check(x.len())?;
        one_element("reduce_into", out.len())?;
        reduction.launch(Task { device: self, stream, x, workspace: workspace.view_mut(), out })
    }
}
