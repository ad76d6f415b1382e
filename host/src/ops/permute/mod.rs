//! Permutation of axes, and copies between strided tensors.

mod dim_list;
mod plan;
mod strategy;
mod tile_nd;

use gpu::transpose::strided::{self, reciprocals};
use simt::element::Element;

use self::dim_list::Dim;
use self::plan::{Part, Plan, Work};
pub(super) use self::strategy::is_short;
use super::move_kernels::{MoveKernels, by_size};
use super::{on, shape};
use crate::device::Device;
use crate::error::Result;
use crate::launch::Launch;
use crate::memory::{Tensor, TensorView, TensorViewMut, UntypedTensor, UntypedTensorMut};
use crate::stream::Stream;

impl Device {
    /// A copy of `a` with its axes in another order in memory: axis k of the result is axis `axes[k]` of `a`. Elements
    /// may have any type; their bits do not change.
    ///
    /// ```
    /// use warpwright::{Device, Tensor};
    /// let device = Device::simulator();
    /// let images = Tensor::from_buffer(device.upload(&[0_u8; 2 * 3 * 4 * 5])?, &[2, 3, 4, 5])?; // N C H W
    /// let images = device.permute(&images, &[0, 2, 3, 1])?;
    /// assert_eq!(images.shape(), [2, 4, 5, 3]); // N H W C
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// `axes` does not name each axis once; as [`Device::alloc`] and [`Device::launch`].
    pub fn permute<'a, T: Element>(&self, a: impl Into<TensorView<'a, T>>, axes: &[usize]) -> Result<Tensor<T>> {
        let a = a.into();
        let permuted = a.axes().permuted("permute", axes)?;
        let mut b = Tensor::alloc(self, self.queue(), "permute", permuted.shape())?;
        run(self, None, "permute", (a.untyped(), axes), b.view_mut().untyped())?;
        Ok(b)
    }

    /// [`Device::permute`] into `b`, which may have any strides.
    ///
    /// # Errors
    /// `axes` does not name each axis once, or the shape of `b` is not the permuted one; as [`Device::launch`].
    pub fn permute_into<'a, 'b, T: Element>(
        &self,
        a: impl Into<TensorView<'a, T>>,
        axes: &[usize],
        b: impl Into<TensorViewMut<'b, T>>,
    ) -> Result<()> {
        run(self, None, "permute_into", (a.into().untyped(), axes), b.into().untyped())
    }
}

impl Stream {
    /// [`Device::permute_into`] as work of this stream.
    ///
    /// # Errors
    /// As [`Device::permute_into`].
    pub fn permute_into<'a, 'b, T: Element>(
        &self,
        a: impl Into<TensorView<'a, T>>,
        axes: &[usize],
        b: impl Into<TensorViewMut<'b, T>>,
    ) -> Result<()> {
        run(self.device(), Some(self), "permute_into", (a.into().untyped(), axes), b.into().untyped())
    }
}

impl<T: Element> TensorViewMut<'_, T> {
    /// Overwrites the elements with those of a tensor of the same shape on the same device; both may have any strides.
    ///
    /// # Errors
    /// `source` has another shape, or is on another device; as [`Device::launch`].
    pub fn copy_from<'s>(&mut self, source: impl Into<TensorView<'s, T>>) -> Result<()>
    where
        T: 's,
    {
        let (source, identity) = (source.into(), [0, 1, 2, 3, 4, 5]);
        let axes = &identity[..source.shape().len()];
        run(self.device(), None, "copy_from", (source.untyped(), axes), self.view_mut().untyped())
    }
}

/// `b` = `a` with its axes in the order `axes`; elements of both have the same size.
pub(super) fn run(
    device: &Device,
    stream: Option<&Stream>,
    call: &str,
    (a, axes): (UntypedTensor<'_>, &[usize]),
    mut b: UntypedTensorMut<'_>,
) -> Result<()> {
    let (from, to) = (a.axes().permuted(call, axes)?, b.axes());
    if from.shape() != to.shape() {
        let (expected, found) = (format!("the permuted shape of a, {:?}", from.shape()), format!("{:?}", to.shape()));
        let argument = if call == "copy_from" { "source" } else { "b" };
        return Err(shape(call, argument, &expected, &found, "pass tensors of the same shape"));
    }
    device.check_same(a.device(), call, "a")?;
    device.check_same(b.device(), call, "b")?;
    stream.map_or(Ok(()), |stream| device.check_same(stream.device(), call, "stream"))?;
    if to.is_empty() {
        return Ok(());
    }
    let axes = from.shape().iter().zip(from.strides()).zip(to.strides());
    let dims = axes.map(|((&extent, &a), &b)| Dim { extent, a, b });
    let plan = Plan::of(device, dims, a.element_bytes(), [a.address(), b.address()]);
    plan.parts.iter().try_for_each(|part| by_size!(plan.size, U => part.run::<U>(device, stream, &a, &mut b)))
}

impl Part {
    /// Queues the work; `U` is an element of the plan's size.
    fn run<U: MoveKernels>(
        &self,
        device: &Device,
        stream: Option<&Stream>,
        a: &UntypedTensor<'_>,
        b: &mut UntypedTensorMut<'_>,
    ) -> Result<()> {
        let Self { start, len, strides, .. } = *self;
        let (from, to) = (a.range::<U>(start[0], len[0]), b.range_mut::<U>(start[1], len[1]));
        match self.work {
            Work::Copy => {
                let queue = stream.map_or_else(|| device.queue(), Stream::queue);
                let (memory, source) = (to.allocation().memory(), from.allocation().memory());
                memory.copy(queue, to.view().region(), source, from.region())?;
            }
            Work::Tiles2d { grid: [x, y], extents } => {
                let launch = on(stream, Launch::grid((x, y)));
                device.launch(&U::PERMUTE, launch, (from, to, extents, strides.0, strides.1))?;
            }
            Work::TilesNd { tile, blocks } => {
                let launch = on(stream, Launch::grid((blocks, 1)));
                device.launch(&U::PERMUTE_ND, launch, tile.arguments(from, to, strides))?;
            }
            Work::Elements { count, extents } => {
                let arguments = (from, to, count, extents, reciprocals(extents), strides.0, strides.1);
                device.launch(&U::COPY_STRIDED, on(stream, Launch::grid(strided::grid(count))), arguments)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{ArgumentRule, Error};

    /// Also by copies that are no launch, which would check it.
    #[test]
    fn a_stream_of_another_device_is_refused() {
        let (device, stream) = (Device::simulator(), Device::simulator().stream().unwrap());
        let a = device.upload(&[1_u32; 6]).unwrap();
        for axes in [[0, 1], [1, 0]] {
            let mut b = device.upload(&[7_u32; 6]).unwrap();
            let from = a.view().as_tensor(&[2, 3]).unwrap();
            let to = b.view_mut().as_tensor(&axes.map(|axis| [2, 3][axis])).unwrap();
            let (from, to) = (from.untyped(), to.untyped());
            let refused = run(&device, Some(&stream), "permute_into", (from, &axes), to).unwrap_err();
            let Error::Argument(bad) = &refused else { panic!("{refused}") };
            assert_eq!((bad.rule, bad.argument.as_str()), (ArgumentRule::Device, "stream"), "{refused}");
            assert_eq!(b.download().unwrap(), [7; 6]);
        }
    }
}
