//! Views as TMA tensor maps: tensors that a kernel copies box by box.

use std::fmt;
use std::marker::PhantomData;
use std::sync::OnceLock;

use simt::element::Element;
use simt::tma::Swizzle;
use simulator::TensorMap;

use super::{Allocation, Axes, BufferView, BufferViewMut, MatrixView, MatrixViewMut, TensorView, TensorViewMut};
use crate::backend::Backend;
use crate::error::{ArgumentRule, BadArgument, Result};

/// A tensor that a kernel loads by TMA, box by box: the argument for a parameter `&TensorMap<T>`.
///
/// ```
/// use warpwright::{Device, ndarray::Array2, simt::tma::Swizzle};
///
/// let device = Device::simulator();
/// let a = device.upload(&Array2::<f32>::zeros((100, 64)))?;
/// let tensor = a.view().tma(8, 32, Swizzle::B128)?;
/// // The last row of boxes is partly out of bounds: zeros are loaded there.
/// assert_eq!(tensor.box_bytes(), 8 * 32 * 4);
/// # Ok::<(), warpwright::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct TmaTensor<'a, T: Element> {
    allocation: &'a Allocation,
    map: TensorMap,
    elements: PhantomData<&'a T>,
}

/// A tensor that a kernel loads and stores by TMA, box by box: the argument for a parameter `&TensorMapMut<T>`.
pub struct TmaTensorMut<'a, T: Element> {
    tensor: TmaTensor<'a, T>,
    elements: PhantomData<&'a mut T>,
}

/// A tensor and its boxes as TMA takes them, wherever in memory the tensor begins: checked and encoded once for many
/// launches.
#[derive(Debug)]
pub(crate) struct TmaShape {
    /// With 0 in place of the address and of the tag.
    map: TensorMap,
    /// Elements from the first to the last one in memory.
    span: usize,
    encoded: EncodedMap,
}

/// A tensor map as a GPU takes it, and the address of its first element; empty before the first launch.
pub(crate) type EncodedMap = OnceLock<(u64, [u64; 16])>;

/// A [`TmaShape`] to which TMA may store: no two elements share memory, and it writes nothing but elements.
#[derive(Debug)]
pub(crate) struct TmaShapeMut(TmaShape);

/// A [`TmaTensor`] of a shape that is kept for many launches.
pub(crate) struct KeptTensor<'a, T: Element> {
    allocation: &'a Allocation,
    address: usize,
    shape: &'a TmaShape,
    elements: PhantomData<&'a T>,
}

/// A [`TmaTensorMut`] of a shape that is kept for many launches.
pub(crate) struct KeptTensorMut<'a, T: Element> {
    tensor: KeptTensor<'a, T>,
    elements: PhantomData<&'a mut T>,
}

/// Ranks for which the crate `simt` has loads and stores.
const RANKS: std::ops::RangeInclusive<usize> = 2..=3;

impl TmaShape {
    /// A tensor with these axes, of elements of so many bytes, in boxes of `shape` elements; outermost dimension first.
    pub(crate) fn new(element_bytes: usize, axes: &Axes, shape: &[u32], swizzle: Swizzle) -> Result<Self> {
        let (extents, strides) = (axes.shape(), axes.strides());
        check_shape(extents, strides, shape)?;
        let element = element_bytes as u64;
        let mut map = TensorMap {
            base: 0,
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
        for (i, ((&extent, &stride), &box_extent)) in dimensions.enumerate() {
            // With an extent of 1 the stride is unused and may be any number, but the driver requires one that exceeds
            // the inner dimensions.
            let stride = match i {
                0 => element,
                1.. if extent == 1 => {
                    let inner = map.extents[i - 1].saturating_mul(map.strides[i - 1]);
                    inner.checked_next_multiple_of(16).unwrap_or(u64::MAX)
                }
                _ => (stride as u64).saturating_mul(element),
            };
            (map.extents[i], map.strides[i], map.boxes[i]) = (extent as u64, stride, box_extent);
        }
        check_strides(&map)?;
        check_box(&map, swizzle)?;
        // More elements than the address space has are in no view.
        Ok(Self { map, span: axes.span().unwrap_or(usize::MAX), encoded: EncodedMap::new() })
    }

    /// The same tensor, with elements rounded to tf32 on load: see [`TmaTensor::rounded_to_tf32`].
    pub(crate) fn rounded_to_tf32(self) -> Self {
        Self { map: TensorMap { tf32: true, ..self.map }, encoded: EncodedMap::new(), ..self }
    }

    /// Elements from the first to the last one in memory.
    pub(crate) fn span(&self) -> usize {
        self.span
    }

    /// The tensor that begins with the first of these elements.
    pub(crate) fn of<'a, T: Element>(&'a self, elements: BufferView<'a, T>) -> Result<KeptTensor<'a, T>> {
        self.among(elements.allocation(), elements.address().addr(), elements.len())
    }

    /// The tensor that begins with the first of `len` elements at this address, in `allocation`.
    fn among<'a, T: Element>(
        &'a self,
        allocation: &'a Allocation,
        address: usize,
        len: usize,
    ) -> Result<KeptTensor<'a, T>> {
        assert_eq!(self.map.element as usize, size_of::<T>(), "the shape is of elements of this size");
        if len < self.span {
            return Err(bad(ArgumentRule::Length, "self")
                .expected(format_args!("at least {} elements", self.span))
                .found(len)
                .remedy("use a longer buffer, smaller extents or smaller strides")
                .into());
        }
        check_start::<T>(address)?;
        Ok(KeptTensor { allocation, address, shape: self, elements: PhantomData })
    }

    /// The tensor that begins at this address, in `allocation`, where it ends, too.
    fn begin<'a, T: Element>(&self, allocation: &'a Allocation, address: usize) -> Result<TmaTensor<'a, T>> {
        check_start::<T>(address)?;
        Ok(TmaTensor { allocation, map: TensorMap { base: address as u64, ..self.map }, elements: PhantomData })
    }
}

impl TmaShapeMut {
    /// As [`TmaShape::new`].
    pub(crate) fn new(element_bytes: usize, axes: &Axes, shape: &[u32], swizzle: Swizzle) -> Result<Self> {
        let shape = TmaShape::new(element_bytes, axes, shape, swizzle)?;
        check_rows(&shape.map)?;
        axes.check_distinct(CALL)?;
        Ok(Self(shape))
    }

    /// The tensor that begins with the first of these elements.
    #[allow(clippy::needless_pass_by_value, reason = "the tensor has the exclusive borrow from now on")]
    pub(crate) fn of<'a, T: Element>(&'a self, elements: BufferViewMut<'a, T>) -> Result<KeptTensorMut<'a, T>> {
        let tensor = self.0.among(elements.allocation(), elements.view().address().addr(), elements.len())?;
        Ok(KeptTensorMut { tensor, elements: PhantomData })
    }

    /// [`Self::of`], and the elements as they are, whose size is a multiple of the tensor's: two arguments of one
    /// launch, for a kernel that writes some elements by TMA and some by threads.
    pub(crate) fn within<'s, 'a: 's, T: Element, U: Element>(
        &'s self,
        mut elements: BufferViewMut<'a, U>,
    ) -> Result<(BufferViewMut<'a, U>, KeptTensorMut<'s, T>)> {
        let allocation = elements.allocation();
        let parts = elements.view_mut().divided::<T>();
        let tensor = self.0.among(allocation, parts.view().address().addr(), parts.len())?;
        Ok((elements, KeptTensorMut { tensor, elements: PhantomData }))
    }
}

impl<'a, T: Element> TmaTensor<'a, T> {
    pub(crate) const WRITE: bool = false;

    /// Bytes of a box in shared memory, the transaction count for its mbarrier.
    #[must_use]
    pub fn box_bytes(&self) -> usize {
        self.map.box_bytes() as usize
    }

    pub(crate) fn allocation(&self) -> &'a Allocation {
        self.allocation
    }

    /// Its words as a kernel's argument, with memory of this tag.
    pub(crate) fn encode(&self, backend: &Backend, tag: u32) -> Result<[u64; 16]> {
        backend.tensor_map(&TensorMap { tag, ..self.map })
    }
}

impl TmaTensor<'_, f32> {
    /// The same tensor, with elements rounded to `tf32` on load: to 10 bits of mantissa, to nearest, ties to even.
    /// Without it tensor cores truncate, which has 2.6 times the error.
    #[must_use]
    pub fn rounded_to_tf32(self) -> Self {
        Self { map: TensorMap { tf32: true, ..self.map }, ..self }
    }
}

impl<'a, T: Element> TmaTensorMut<'a, T> {
    pub(crate) const WRITE: bool = true;

    /// Bytes of a box in shared memory.
    #[must_use]
    pub fn box_bytes(&self) -> usize {
        self.tensor.box_bytes()
    }

    pub(crate) fn allocation(&self) -> &'a Allocation {
        self.tensor.allocation
    }

    pub(crate) fn encode(&self, backend: &Backend, tag: u32) -> Result<[u64; 16]> {
        self.tensor.encode(backend, tag)
    }
}

impl<'a, T: Element> KeptTensor<'a, T> {
    pub(crate) const WRITE: bool = false;

    pub(crate) fn allocation(&self) -> &'a Allocation {
        self.allocation
    }

    pub(crate) fn encode(&self, backend: &Backend, tag: u32) -> Result<[u64; 16]> {
        backend.kept_tensor_map(&self.shape.map, &self.shape.encoded, self.address, tag)
    }
}

impl<'a, T: Element> KeptTensorMut<'a, T> {
    pub(crate) const WRITE: bool = true;

    pub(crate) fn allocation(&self) -> &'a Allocation {
        self.tensor.allocation
    }

    pub(crate) fn encode(&self, backend: &Backend, tag: u32) -> Result<[u64; 16]> {
        self.tensor.encode(backend, tag)
    }
}

impl<'a, T: Element> MatrixView<'a, T> {
    /// The matrix in boxes of `rows` × `cols` elements, for a kernel that loads them by TMA.
    ///
    /// # Errors
    /// The matrix is empty; it or one of its rows does not start at a multiple of 16 bytes; the box has an extent of 0
    /// or above 256; the bytes of its rows are not a multiple of 16, or not the swizzle's span (TMA accepts shorter
    /// rows, but stores them with gaps that no intrinsic here addresses).
    pub fn tma(self, rows: u32, cols: u32, swizzle: Swizzle) -> Result<TmaTensor<'a, T>> {
        let axes = Axes::of_matrix(self.rows(), self.cols(), self.ld());
        TmaShape::new(size_of::<T>(), &axes, &[rows, cols], swizzle)?.begin(self.allocation(), self.address().addr())
    }
}

impl<'a, T: Element> MatrixViewMut<'a, T> {
    /// [`MatrixView::tma`], for a kernel that stores the boxes.
    ///
    /// # Errors
    /// As [`MatrixView::tma`]; the bytes of the matrix's rows are not a multiple of 16: TMA writes whole 16-byte
    /// vectors, and would write past the end of each row.
    pub fn tma(self, rows: u32, cols: u32, swizzle: Swizzle) -> Result<TmaTensorMut<'a, T>> {
        let axes = Axes::of_matrix(self.rows(), self.cols(), self.ld());
        let TmaShapeMut(shape) = TmaShapeMut::new(size_of::<T>(), &axes, &[rows, cols], swizzle)?;
        let tensor = shape.begin(self.allocation(), self.view().address().addr())?;
        Ok(TmaTensorMut { tensor, elements: PhantomData })
    }
}

impl<'a, T: Element> TensorView<'a, T> {
    /// The tensor in boxes of the extents `shape`, one for each axis, for a kernel that loads them by TMA. The tensor
    /// has two or three axes, the last one contiguous.
    ///
    /// # Errors
    /// Another number of axes, a stride other than 1 along the last one; else as [`MatrixView::tma`].
    pub fn tma(self, shape: &[u32], swizzle: Swizzle) -> Result<TmaTensor<'a, T>> {
        TmaShape::new(size_of::<T>(), self.axes(), shape, swizzle)?.begin(self.allocation(), self.address())
    }
}

impl<'a, T: Element> TensorViewMut<'a, T> {
    /// [`TensorView::tma`], for a kernel that stores the boxes.
    ///
    /// # Errors
    /// As [`TensorView::tma`]; the bytes of rows along the last axis are not a multiple of 16, as for
    /// [`MatrixViewMut::tma`].
    pub fn tma(self, shape: &[u32], swizzle: Swizzle) -> Result<TmaTensorMut<'a, T>> {
        let TmaShapeMut(of_tma) = TmaShapeMut::new(size_of::<T>(), self.view().axes(), shape, swizzle)?;
        let tensor = of_tma.begin(self.allocation(), self.view().address())?;
        Ok(TmaTensorMut { tensor, elements: PhantomData })
    }
}

/// The call that errors name.
const CALL: &str = "tma";

fn bad(rule: ArgumentRule, argument: &str) -> BadArgument {
    BadArgument::new(rule, CALL, argument)
}

/// Checks rank and extents, and that the last dimension is contiguous.
fn check_shape(extents: &[usize], strides: &[usize], shape: &[u32]) -> Result<()> {
    if !RANKS.contains(&extents.len()) || shape.len() != extents.len() {
        return Err(bad(ArgumentRule::Axes, "shape")
            .expected("two or three axes, and a box extent for each")
            .found(format_args!("a box of {shape:?} of a tensor of {extents:?}"))
            .remedy("merge axes, or pass one box extent for each axis")
            .into());
    }
    if extents.contains(&0) {
        return Err(bad(ArgumentRule::Elements, "self")
            .expected("at least one element")
            .found(format_args!("extents {extents:?}"))
            .remedy("skip the launch for empty input")
            .into());
    }
    match extents.iter().find(|&&extent| extent as u64 > 1 << 32) {
        Some(extent) => Err(bad(ArgumentRule::Extent, "self")
            .expected("at most 2^32 elements along each axis")
            .found(extent)
            .remedy("work on parts of the tensor")
            .into()),
        None if strides[strides.len() - 1] != 1 && extents[extents.len() - 1] > 1 => {
            Err(bad(ArgumentRule::TmaTensor, "self")
                .expected("a last axis with stride 1")
                .found(format_args!("strides {strides:?}"))
                .remedy("permute the axes so that the contiguous one is the last, or copy the tensor")
                .into())
        }
        None => Ok(()),
    }
}

/// Checks that TMA supports a tensor of elements `T` that starts at this address.
fn check_start<T: Element>(address: usize) -> Result<()> {
    const {
        assert!(size_of::<T>() <= 8, "TMA copies elements of at most 8 bytes");
    }
    if address.is_multiple_of(16) {
        return Ok(());
    }
    Err(bad(ArgumentRule::TmaTensor, "self")
        .expected("a first element at a multiple of 16 bytes")
        .found(format_args!("one {} bytes past such an address", address % 16))
        .remedy("start the view at such an element, or copy it with to_contiguous")
        .into())
}

/// Checks that TMA supports the strides.
fn check_strides(map: &TensorMap) -> Result<()> {
    let outer = &map.strides[1..map.rank as usize];
    match outer.iter().find(|stride| !stride.is_multiple_of(16) || **stride >= 1 << 40) {
        Some(stride) => Err(bad(ArgumentRule::TmaTensor, "self")
            .expected("rows that start at multiples of 16 bytes, less than 2^40 bytes apart")
            .found(format_args!("a stride of {stride} bytes"))
            .remedy("allocate the matrix with a leading dimension that is a multiple of 16 bytes")
            .into()),
        None => Ok(()),
    }
}

/// Checks the rows of a tensor that TMA stores to.
fn check_rows(map: &TensorMap) -> Result<()> {
    let row = map.extents[0] * u64::from(map.element);
    if row.is_multiple_of(16) {
        return Ok(());
    }
    Err(bad(ArgumentRule::TmaTensor, "self")
        .expected("rows of a multiple of 16 bytes, since TMA stores whole 16-byte vectors")
        .found(format_args!("{row} bytes"))
        .remedy("pad the rows, or store the matrix without TMA")
        .into())
}

/// Checks that TMA supports the box.
fn check_box(map: &TensorMap, swizzle: Swizzle) -> Result<()> {
    let boxes = &map.boxes[..map.rank as usize];
    if boxes.iter().any(|extent| !(1..=256).contains(extent)) {
        let shape: Vec<u32> = boxes.iter().rev().copied().collect();
        return Err(bad(ArgumentRule::TmaTensor, "shape")
            .expected("1 to 256 elements along each axis of the box")
            .found(format_args!("{shape:?}"))
            .remedy("use several smaller boxes")
            .into());
    }
    let row = map.boxes[0] * map.element;
    if !row.is_multiple_of(16) {
        return Err(bad(ArgumentRule::TmaTensor, "shape")
            .expected("box rows of a multiple of 16 bytes")
            .found(format_args!("{row} bytes"))
            .remedy("use a box with more columns: out-of-bounds elements are filled with zeros")
            .into());
    }
    match swizzle.span() {
        Some(span) if row != span => Err(bad(ArgumentRule::TmaTensor, "shape")
            .expected(format_args!("box rows of {span} bytes, the span of {swizzle:?}"))
            .found(format_args!("{row} bytes"))
            .remedy("use a box with rows of that length, or another swizzle")
            .into()),
        _ => Ok(()),
    }
}

fn describe(f: &mut fmt::Formatter<'_>, name: &str, element: &str, map: &TensorMap) -> fmt::Result {
    let rank = map.rank as usize;
    let outermost_first = |extents: &[u64]| extents.iter().rev().copied().collect::<Vec<_>>();
    let boxes: Vec<u64> = map.boxes[..rank].iter().map(|&extent| u64::from(extent)).collect();
    write!(f, "{name}<{element}>({:?} of {:?})", outermost_first(&boxes), outermost_first(&map.extents[..rank]))
}

impl<T: Element> fmt::Debug for TmaTensor<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe(f, "TmaTensor", std::any::type_name::<T>(), &self.map)
    }
}

impl<T: Element> fmt::Debug for TmaTensorMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe(f, "TmaTensorMut", std::any::type_name::<T>(), &self.tensor.map)
    }
}
