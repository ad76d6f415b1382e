//! Views as the copy engine sees them: tensors that are cut into boxes.

use std::fmt;
use std::marker::PhantomData;

use simt::element::Element;
use simt::tma::Swizzle;
use simulator::TensorMap;

use super::{Allocation, MatrixView, MatrixViewMut, TensorView, TensorViewMut};
use crate::error::{ArgumentRule, BadArgument, Result};

/// A tensor that a kernel loads box by box: the argument for a parameter `&TensorMap<T>`.
///
/// ```
/// use warpwright::{Device, ndarray::Array2, simt::tma::Swizzle};
///
/// let device = Device::simulator();
/// let a = device.upload(&Array2::<f32>::zeros((100, 64)))?;
/// let boxes = a.view().tma(8, 32, Swizzle::B128)?;
/// // The last row of boxes lies partly outside: what is loaded from there is zero.
/// assert_eq!(boxes.box_bytes(), 8 * 32 * 4);
/// # Ok::<(), warpwright::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct TmaTensor<'a, T: Element> {
    allocation: &'a Allocation,
    map: TensorMap,
    words: [u64; 16],
    elements: PhantomData<&'a T>,
}

/// A tensor that a kernel loads and stores box by box: the argument for a parameter `&TensorMapMut<T>`.
pub struct TmaTensorMut<'a, T: Element> {
    boxes: TmaTensor<'a, T>,
    elements: PhantomData<&'a mut T>,
}

/// Dimensions that loads and stores have words for.
const RANKS: std::ops::RangeInclusive<usize> = 2..=3;

impl<'a, T: Element> TmaTensor<'a, T> {
    pub(crate) const WRITE: bool = false;

    /// TmaTensor of `shape` elements, of a tensor with these extents and strides (in elements); outermost dimension first.
    fn new(
        allocation: &'a Allocation,
        base: u64,
        extents: &[usize],
        strides: &[usize],
        shape: &[u32],
        swizzle: Swizzle,
    ) -> Result<Self> {
        const {
            assert!(size_of::<T>() <= 8, "the copy engine moves elements of at most 8 bytes");
        }
        let element = size_of::<T>() as u64;
        check_shape(extents, strides, shape)?;
        let mut map = TensorMap {
            base,
            tag: 0,
            element: element as u32,
            rank: extents.len() as u32,
            extents: [1; 5],
            strides: [0; 5],
            boxes: [1; 5],
            swizzle: swizzle as u32,
            tf32: false,
        };
        let dimensions = extents.iter().zip(strides).zip(shape).rev();
        for (i, ((&extent, &stride), &along)) in dimensions.enumerate() {
            // Where there is no neighbour the stride is nobody's, and the driver wants one that steps over what lies within.
            let stride = match i {
                1.. if extent == 1 => (map.extents[i - 1] * map.strides[i - 1]).next_multiple_of(16),
                _ => (stride as u64).saturating_mul(element),
            };
            (map.extents[i], map.strides[i], map.boxes[i]) = (extent as u64, stride, along);
        }
        check_memory(&map)?;
        check_box(&map, swizzle)?;
        let words = allocation.device().backend().tensor_map(&map)?;
        Ok(Self { allocation, map, words, elements: PhantomData })
    }

    /// Bytes of a box in shared memory, which are what its mbarrier has to expect.
    #[must_use]
    pub fn box_bytes(&self) -> usize {
        self.map.box_bytes() as usize
    }

    pub(crate) fn allocation(&self) -> &'a Allocation {
        self.allocation
    }

    pub(crate) fn words(&self) -> [u64; 16] {
        self.words
    }
}

impl TmaTensor<'_, f32> {
    /// The same boxes, whose elements are rounded to `tf32` as they are loaded: to 10 bits of mantissa, to the nearest, ties
    /// to even. Tensor cores cut off what they do not take, which costs 2.6 times the error.
    ///
    /// # Errors
    /// The driver refuses.
    pub fn rounded_to_tf32(self) -> Result<Self> {
        let map = TensorMap { tf32: true, ..self.map };
        Ok(Self { map, words: self.allocation.device().backend().tensor_map(&map)?, ..self })
    }
}

impl<'a, T: Element> TmaTensorMut<'a, T> {
    pub(crate) const WRITE: bool = true;

    /// Bytes of a box in shared memory.
    #[must_use]
    pub fn box_bytes(&self) -> usize {
        self.boxes.box_bytes()
    }

    pub(crate) fn allocation(&self) -> &'a Allocation {
        self.boxes.allocation
    }

    pub(crate) fn words(&self) -> [u64; 16] {
        self.boxes.words
    }
}

impl<'a, T: Element> MatrixView<'a, T> {
    /// The matrix in boxes of `rows` × `cols` elements, for a kernel that loads them.
    ///
    /// # Errors
    /// The matrix has no element; it does not start, or its rows do not, at a multiple of 16 bytes; the box has an extent
    /// of 0 or more than 256, its rows are no multiple of 16 bytes, or not as long as the swizzle's span (the copy engine
    /// takes shorter ones, and lays them down with gaps that no word here knows of); the driver refuses.
    pub fn tma(self, rows: u32, cols: u32, swizzle: Swizzle) -> Result<TmaTensor<'a, T>> {
        let (extents, strides) = ([self.rows(), self.cols()], [self.ld(), 1]);
        TmaTensor::new(self.allocation(), self.address().addr() as u64, &extents, &strides, &[rows, cols], swizzle)
    }
}

impl<'a, T: Element> MatrixViewMut<'a, T> {
    /// [`MatrixView::boxes`], for a kernel that stores them.
    ///
    /// # Errors
    /// As there; rows of the matrix are no multiple of 16 bytes: the copy engine writes whole pieces of 16 bytes, and would
    /// write beside the last element of each row.
    pub fn tma(self, rows: u32, cols: u32, swizzle: Swizzle) -> Result<TmaTensorMut<'a, T>> {
        let base = self.view().address().addr() as u64;
        let (extents, strides) = ([self.rows(), self.cols()], [self.ld(), 1]);
        let boxes = TmaTensor::new(self.allocation(), base, &extents, &strides, &[rows, cols], swizzle)?;
        check_rows(&boxes.map)?;
        Ok(TmaTensorMut { boxes, elements: PhantomData })
    }
}

impl<'a, T: Element> TensorView<'a, T> {
    /// The tensor in boxes of the extents `shape`, one for each axis, for a kernel that loads them. Two or three axes,
    /// the elements along the last next to each other.
    ///
    /// # Errors
    /// Another number of axes, a gap along the last; else as [`MatrixView::boxes`].
    pub fn tma(self, shape: &[u32], swizzle: Swizzle) -> Result<TmaTensor<'a, T>> {
        TmaTensor::new(self.allocation(), self.address() as u64, self.shape(), self.strides(), shape, swizzle)
    }
}

impl<'a, T: Element> TensorViewMut<'a, T> {
    /// [`TensorView::boxes`], for a kernel that stores them.
    ///
    /// # Errors
    /// As there; rows, along the last axis, are no multiple of 16 bytes, as for [`MatrixViewMut::boxes`].
    pub fn tma(self, shape: &[u32], swizzle: Swizzle) -> Result<TmaTensorMut<'a, T>> {
        let base = self.view().address() as u64;
        let boxes = TmaTensor::new(self.allocation(), base, self.shape(), self.strides(), shape, swizzle)?;
        check_rows(&boxes.map)?;
        Ok(TmaTensorMut { boxes, elements: PhantomData })
    }
}

fn bad(rule: ArgumentRule, argument: &str) -> BadArgument {
    BadArgument::new(rule, "boxes", argument)
}

/// As many dimensions as there are words for, elements in each, those of the last next to each other.
fn check_shape(extents: &[usize], strides: &[usize], shape: &[u32]) -> Result<()> {
    if !RANKS.contains(&extents.len()) || shape.len() != extents.len() {
        return Err(bad(ArgumentRule::Axes, "shape")
            .expected("two or three axes, and an extent of the box for each")
            .found(format_args!("a box of {shape:?} of a tensor of {extents:?}"))
            .remedy("join axes, or take one box of the shape for each axis")
            .into());
    }
    if extents.contains(&0) {
        return Err(bad(ArgumentRule::Elements, "self")
            .expected("at least one element")
            .found(format_args!("extents {extents:?}"))
            .remedy("there is nothing to copy: leave the launch out")
            .into());
    }
    match extents.iter().find(|&&extent| extent as u64 > 1 << 32) {
        Some(extent) => Err(bad(ArgumentRule::Extent, "self")
            .expected("at most 2^32 elements along each axis")
            .found(extent)
            .remedy("cut the tensor into parts")
            .into()),
        None if strides[strides.len() - 1] != 1 && extents[extents.len() - 1] > 1 => {
            Err(bad(ArgumentRule::TmaTensor, "self")
                .expected("elements of the last axis next to each other")
                .found(format_args!("strides {strides:?}"))
                .remedy("permute the axes so that the one without gaps comes last, or copy the tensor")
                .into())
        }
        None => Ok(()),
    }
}

/// Start and strides as the copy engine takes them.
fn check_memory(map: &TensorMap) -> Result<()> {
    if !map.base.is_multiple_of(16) {
        return Err(bad(ArgumentRule::TmaTensor, "self")
            .expected("a first element at a multiple of 16 bytes")
            .found(format_args!("one {} bytes past such an address", map.base % 16))
            .remedy("begin the view at such an element, or copy it with to_contiguous")
            .into());
    }
    let outer = &map.strides[1..map.rank as usize];
    match outer.iter().find(|stride| !stride.is_multiple_of(16) || **stride >= 1 << 40) {
        Some(stride) => Err(bad(ArgumentRule::TmaTensor, "self")
            .expected("rows that begin at multiples of 16 bytes, less than 2^40 bytes apart")
            .found(format_args!("a stride of {stride} bytes"))
            .remedy("allocate the matrix with a leading dimension that is a multiple of 16 bytes")
            .into()),
        None => Ok(()),
    }
}

/// Rows of a tensor into which boxes are stored.
fn check_rows(map: &TensorMap) -> Result<()> {
    let row = map.extents[0] * u64::from(map.element);
    if row.is_multiple_of(16) {
        return Ok(());
    }
    Err(bad(ArgumentRule::TmaTensor, "self")
        .expected("rows of a multiple of 16 bytes, where boxes are stored: the copy engine writes whole pieces of 16")
        .found(format_args!("{row} bytes"))
        .remedy("make the rows longer, or write the matrix by threads")
        .into())
}

/// A box as the copy engine takes it.
fn check_box(map: &TensorMap, swizzle: Swizzle) -> Result<()> {
    let shape: Vec<u32> = map.boxes[..map.rank as usize].iter().rev().copied().collect();
    if shape.iter().any(|extent| !(1..=256).contains(extent)) {
        return Err(bad(ArgumentRule::TmaTensor, "shape")
            .expected("1 to 256 elements along each axis of the box")
            .found(format_args!("{shape:?}"))
            .remedy("take a smaller box, and several of them")
            .into());
    }
    let row = map.boxes[0] * map.element;
    if !row.is_multiple_of(16) {
        return Err(bad(ArgumentRule::TmaTensor, "shape")
            .expected("rows of the box that are a multiple of 16 bytes")
            .found(format_args!("{row} bytes"))
            .remedy("take a box with other columns: what lies outside the tensor is filled with zeros")
            .into());
    }
    match swizzle.span() {
        Some(span) if row != span => Err(bad(ArgumentRule::TmaTensor, "shape")
            .expected(format_args!("rows of the box of {span} bytes, the span of {swizzle:?}"))
            .found(format_args!("{row} bytes"))
            .remedy("take boxes of as many columns as the span holds, or another swizzle")
            .into()),
        _ => Ok(()),
    }
}

fn describe(f: &mut fmt::Formatter<'_>, name: &str, element: &str, map: &TensorMap) -> fmt::Result {
    let rank = map.rank as usize;
    let outward = |extents: &[u64]| extents.iter().rev().copied().collect::<Vec<_>>();
    let boxes: Vec<u64> = map.boxes[..rank].iter().map(|&extent| u64::from(extent)).collect();
    write!(f, "{name}<{element}>({:?} of {:?})", outward(&boxes), outward(&map.extents[..rank]))
}

impl<T: Element> fmt::Debug for TmaTensor<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe(f, "TmaTensor", std::any::type_name::<T>(), &self.map)
    }
}

impl<T: Element> fmt::Debug for TmaTensorMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe(f, "TmaTensorMut", std::any::type_name::<T>(), &self.boxes.map)
    }
}
