//! Permutation of dimensions, and copies between strides.

mod boxes;
mod plan;

use gpu::transpose::permute::{self as tiled, DIMS};
use gpu::transpose::permute_nd;
use gpu::transpose::strided::{self, reciprocals};
use simt::Kernel;
use simt::element::{Element, Vec4};
use simt::global::{VecMut, VecRef};

use super::shape;
use crate::device::Device;
use crate::error::Result;
use crate::launch::Launch;
use crate::memory::{Region, Tensor, TensorView, TensorViewMut};
use crate::stream::Stream;
use boxes::TmaTensor;
pub(super) use plan::is_short;
use plan::{Dim, Plan, Strategy, cut};

impl Device {
    /// The elements of `a` with their axes in another order, in memory, too: axis k of the result is axis `axes[k]` of `a`.
    /// Bits are moved as they are; elements may have any type.
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
        let mut b = Tensor::alloc(self, "permute", permuted.shape())?;
        run(self, None, "permute", (a, axes), b.view_mut())?;
        Ok(b)
    }

    /// [`Device::permute`] to memory of the caller's, whatever its strides.
    ///
    /// # Errors
    /// `axes` does not name each axis once, or `b` has not the permuted shape; as [`Device::launch`].
    pub fn permute_into<'a, 'b, T: Element>(
        &self,
        a: impl Into<TensorView<'a, T>>,
        axes: &[usize],
        b: impl Into<TensorViewMut<'b, T>>,
    ) -> Result<()> {
        run(self, None, "permute_into", (a.into(), axes), b.into())
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
        run(self.device(), Some(self), "permute_into", (a.into(), axes), b.into())
    }
}

/// `b` = `a`, whatever the strides of either.
pub(crate) fn copy_tensor<T: Element>(a: TensorView<'_, T>, b: TensorViewMut<'_, T>) -> Result<()> {
    let same = [0, 1, 2, 3, 4, 5];
    run(b.device(), None, "copy_from", (a, &same[..a.shape().len()]), b)
}

/// `b` = `a` with its axes in the order `axes`.
pub(super) fn run<T: Element>(
    device: &Device,
    stream: Option<&Stream>,
    call: &str,
    (a, axes): (TensorView<'_, T>, &[usize]),
    mut b: TensorViewMut<'_, T>,
) -> Result<()> {
    let from = *a.axes();
    let from = from.permuted(call, axes)?;
    if from.shape() != b.shape() {
        let (expected, found) = (format!("the shape {:?} that a then has", from.shape()), format!("{:?}", b.shape()));
        let argument = if call == "copy_from" { "source" } else { "b" };
        return Err(shape(call, argument, &expected, &found, "give both sides one shape"));
    }
    device.check_same(a.device(), call, "a")?;
    device.check_same(b.device(), call, "b")?;
    if b.is_empty() {
        return Ok(());
    }
    let along = from.shape().iter().zip(from.strides()).zip(b.strides());
    let dims = along.map(|((&extent, &a), &b)| Dim { extent, a, b }).collect();
    let plan = Plan::new(dims, size_of::<T>(), [a.address(), b.view().address()]);
    match plan.size {
        1 => plan.run::<T, u8>(
            device,
            stream,
            &a,
            &mut b,
            (&tiled::permute_b8, &permute_nd::permute_nd_b8, &strided::copy_strided_b8),
        ),
        2 => plan.run::<T, u16>(
            device,
            stream,
            &a,
            &mut b,
            (&tiled::permute_b16, &permute_nd::permute_nd_b16, &strided::copy_strided_b16),
        ),
        4 => plan.run::<T, f32>(
            device,
            stream,
            &a,
            &mut b,
            (&tiled::permute_b32, &permute_nd::permute_nd_b32, &strided::copy_strided_b32),
        ),
        8 => plan.run::<T, u64>(
            device,
            stream,
            &a,
            &mut b,
            (&tiled::permute_b64, &permute_nd::permute_nd_b64, &strided::copy_strided_b64),
        ),
        _ => plan.run::<T, Vec4<u32>>(
            device,
            stream,
            &a,
            &mut b,
            (&tiled::permute_b128, &permute_nd::permute_nd_b128, &strided::copy_strided_b128),
        ),
    }
}

type Strides = [u64; DIMS];
type Extents = [u32; DIMS];
/// The kernel that takes tiles.
type Tiled<U> = Kernel<(VecRef<'static, U>, VecMut<'static, U>, Extents, Strides, Strides)>;
/// What the kernel that takes boxes is told, of inputs `A` and outputs `B`.
type Arguments<A, B> = (
    A,
    B,
    Extents,
    Extents,
    Extents,
    [u32; 2 * DIMS],
    Strides,
    Strides,
    Extents,
    [u32; 2],
    [u32; permute_nd::SIDE],
    [u32; permute_nd::SIDE],
);
/// The kernel that takes boxes.
type Boxed<U> = Kernel<Arguments<VecRef<'static, U>, VecMut<'static, U>>>;
/// The kernel that takes elements.
type Strided<U> = Kernel<(VecRef<'static, U>, VecMut<'static, U>, u32, Extents, [u32; 2 * DIMS], Strides, Strides)>;

impl Plan {
    /// Does what is planned, elements seen as `U`, of the plan's size.
    fn run<T: Element, U: Element>(
        &self,
        device: &Device,
        stream: Option<&Stream>,
        a: &TensorView<'_, T>,
        b: &mut TensorViewMut<'_, T>,
        (tiles, boxes, elements): (&Tiled<U>, &Boxed<U>, &Strided<U>),
    ) -> Result<()> {
        let on = |launch: Launch<'static>| match stream {
            Some(stream) => launch.stream(stream),
            None => launch,
        };
        let limits = device.limits().grid;
        match self.strategy {
            Strategy::Contiguous => {
                let len = self.dims.first().map_or(1, |dim| dim.extent);
                let (from, to) = (a.bits::<U>(0, len), b.bits_mut::<U>(0, len));
                let queue = stream.map_or_else(|| device.queue(), Stream::queue);
                let (source, region): (_, Region) = (from.allocation().memory(), from.region());
                to.allocation().memory().copy(queue, to.view().region(), source, region)
            }
            Strategy::Tiles => {
                let grid = |dims: &[Dim]| {
                    let fits = dims.iter().all(|dim| u32::try_from(dim.extent).is_ok());
                    let grid = tiled::grid(self.size, array(dims, 1, |dim| dim.extent as u32));
                    (fits && grid[0] <= u64::from(limits[0]) && grid[1] <= u64::from(limits[1])).then_some(grid)
                };
                cut(&self.dims, (0, 0), &|dims| grid(dims).is_some(), &mut |dims, start| {
                    let (from, to) = span(dims, start, a, b);
                    let [x, y] = grid(dims).unwrap_or_default().map(|extent| extent as u32);
                    let strides = strides(dims);
                    let extents = array(dims, 1, |dim| dim.extent as u32);
                    device.launch(tiles, on(Launch::grid((x, y))), (from, to, extents, strides.0, strides.1))?;
                    Ok(())
                })
            }
            Strategy::TmaTensor => {
                let address = b.view().address();
                let of = |dims: &[Dim], aligned| {
                    let task = TmaTensor::of(dims, self.size, aligned)?;
                    Some((task, task.blocks()?))
                };
                let fits = |dims: &[Dim]| of(dims, false).is_some() && of(dims, true).is_some();
                cut(&self.dims, (0, 0), &fits, &mut |dims, start| {
                    let aligned = (address + start.1 * self.size).is_multiple_of(4);
                    let (task, blocks) = of(dims, aligned).expect("as it fits");
                    let (from, to) = span(dims, start, a, b);
                    let arguments = arguments(from, to, dims, task);
                    device.launch(boxes, on(Launch::grid((blocks, 1))), arguments)?;
                    Ok(())
                })
            }
            Strategy::Elements => {
                let count = |dims: &[Dim]| dims.iter().map(|dim| dim.extent).try_fold(1, usize::checked_mul);
                let fits = |dims: &[Dim]| count(dims).is_some_and(|count| count <= strided::MOST as usize);
                cut(&self.dims, (0, 0), &fits, &mut |dims, start| {
                    let (from, to) = span(dims, start, a, b);
                    let count = count(dims).unwrap_or(0) as u32;
                    let strides = strides(dims);
                    let extents = array(dims, 1, |dim| dim.extent as u32);
                    let arguments = (from, to, count, extents, reciprocals(extents), strides.0, strides.1);
                    device.launch(elements, on(Launch::grid(strided::grid(count))), arguments)?;
                    Ok(())
                })
            }
        }
    }
}

/// One number for each dimension of a kernel, `fill` where there is none.
fn array<N: Copy>(dims: &[Dim], fill: N, number: impl Fn(&Dim) -> N) -> [N; DIMS] {
    std::array::from_fn(|dim| dims.get(dim).map_or(fill, &number))
}

fn strides(dims: &[Dim]) -> (Strides, Strides) {
    (array(dims, 0, |dim| dim.a as u64), array(dims, 0, |dim| dim.b as u64))
}

/// The arguments of the kernel that takes boxes.
fn arguments<A, B>(from: A, to: B, dims: &[Dim], task: TmaTensor) -> Arguments<A, B> {
    let TmaTensor { extents, shape, counts, reciprocals, places, tuning, read, write } = task;
    let (a, b) = strides(dims);
    (from, to, extents, shape, counts, reciprocals, a, b, places, tuning, read, write)
}

/// The elements from the first to the last on either side.
fn span<'a, 'b, T: Element, U: Element>(
    dims: &[Dim],
    start: (usize, usize),
    a: &TensorView<'a, T>,
    b: &'b mut TensorViewMut<'_, T>,
) -> (crate::memory::BufferView<'a, U>, crate::memory::BufferViewMut<'b, U>) {
    let len = |stride: fn(&Dim) -> usize| 1 + dims.iter().map(|dim| (dim.extent - 1) * stride(dim)).sum::<usize>();
    (a.bits(start.0, len(|dim| dim.a)), b.bits_mut(start.1, len(|dim| dim.b)))
}
