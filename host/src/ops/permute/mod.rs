//! Permutation of axes, and copies between strided tensors.

mod dim_list;
mod strategy;
mod tile_nd;

use gpu::transpose::permute as tiles_2d;
use gpu::transpose::strided::{self, reciprocals};
use simt::element::Element;

use self::dim_list::{Dim, array, split, strides};
pub(super) use self::strategy::is_short;
use self::strategy::{Plan, Strategy};
use self::tile_nd::TileNd;
use super::move_kernels::{MoveKernels, by_size};
use super::{on, shape};
use crate::device::Device;
use crate::error::Result;
use crate::launch::Launch;
use crate::memory::{BufferView, BufferViewMut, Tensor, TensorView, TensorViewMut, UntypedTensor, UntypedTensorMut};
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
    let dims = axes.map(|((&extent, &a), &b)| Dim { extent, a, b }).collect();
    let plan = Plan::new(dims, a.element_bytes(), [a.address(), b.address()]);
    by_size!(plan.size, U => plan.run::<U>(device, stream, &a, &mut b))
}

impl Plan {
    /// Queues the planned work; `U` is an element of the plan's size.
    fn run<U: MoveKernels>(
        &self,
        device: &Device,
        stream: Option<&Stream>,
        a: &UntypedTensor<'_>,
        b: &mut UntypedTensorMut<'_>,
    ) -> Result<()> {
        let limits = device.limits().grid;
        match self.strategy {
            Strategy::Contiguous => {
                let len = self.dims.first().map_or(1, |dim| dim.extent);
                let (from, to) = (a.range::<U>(0, len), b.range_mut::<U>(0, len));
                let queue = stream.map_or_else(|| device.queue(), Stream::queue);
                to.allocation().memory().copy(queue, to.view().region(), from.allocation().memory(), from.region())
            }
            Strategy::Tiles2d => {
                let grid = |dims: &[Dim]| {
                    let fits = dims.iter().all(|dim| u32::try_from(dim.extent).is_ok());
                    let grid = tiles_2d::grid(self.size, array(dims, 1, |dim| dim.extent as u32));
                    (fits && grid[0] <= u64::from(limits[0]) && grid[1] <= u64::from(limits[1])).then_some(grid)
                };
                split(&self.dims, (0, 0), &|dims| grid(dims).is_some(), &mut |dims, start| {
                    let (from, to) = spans(dims, start, a, b);
                    let [x, y] = grid(dims).unwrap_or_default().map(|extent| extent as u32);
                    let strides = strides(dims);
                    let extents = array(dims, 1, |dim| dim.extent as u32);
                    let launch = on(stream, Launch::grid((x, y)));
                    device.launch(&U::PERMUTE, launch, (from, to, extents, strides.0, strides.1))?;
                    Ok(())
                })
            }
            Strategy::TilesNd => {
                let address = b.address();
                let tile = |dims: &[Dim], aligned| {
                    let tile = TileNd::new(dims, self.size, aligned)?;
                    Some((tile, tile.blocks()?))
                };
                let fits = |dims: &[Dim]| tile(dims, false).is_some() && tile(dims, true).is_some();
                split(&self.dims, (0, 0), &fits, &mut |dims, start| {
                    let aligned = (address + start.1 * self.size).is_multiple_of(4);
                    let (tile, blocks) = tile(dims, aligned).expect("the part fits");
                    let (from, to) = spans(dims, start, a, b);
                    let launch = on(stream, Launch::grid((blocks, 1)));
                    device.launch(&U::PERMUTE_ND, launch, tile.arguments(from, to, dims))?;
                    Ok(())
                })
            }
            Strategy::Elements => {
                let count = |dims: &[Dim]| dims.iter().map(|dim| dim.extent).try_fold(1, usize::checked_mul);
                let fits = |dims: &[Dim]| count(dims).is_some_and(|count| count <= strided::MOST as usize);
                split(&self.dims, (0, 0), &fits, &mut |dims, start| {
                    let (from, to) = spans(dims, start, a, b);
                    let count = count(dims).unwrap_or(0) as u32;
                    let strides = strides(dims);
                    let extents = array(dims, 1, |dim| dim.extent as u32);
                    let arguments = (from, to, count, extents, reciprocals(extents), strides.0, strides.1);
                    device.launch(&U::COPY_STRIDED, on(stream, Launch::grid(strided::grid(count))), arguments)?;
                    Ok(())
                })
            }
        }
    }
}

/// The elements from the first to the last, in A and in B.
fn spans<'a, 'b, U: Element>(
    dims: &[Dim],
    start: (usize, usize),
    a: &UntypedTensor<'a>,
    b: &'b mut UntypedTensorMut<'_>,
) -> (BufferView<'a, U>, BufferViewMut<'b, U>) {
    let len = |stride: fn(&Dim) -> usize| 1 + dims.iter().map(|dim| (dim.extent - 1) * stride(dim)).sum::<usize>();
    (a.range(start.0, len(|dim| dim.a)), b.range_mut(start.1, len(|dim| dim.b)))
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
