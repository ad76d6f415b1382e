//! Borrowed vectors.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use simt::element::Element;

use super::layout::check_range;
use super::span::Span;
use super::untyped::Untyped;
use super::view_pair::view_pair;
use super::{Allocation, bytes};
use crate::contract::Region;
use crate::device::Device;
use crate::error::{ArgumentRule, BadArgument, Result};

view_pair! {
    /// Elements of a buffer, borrowed for reading.
    BufferView;
    /// Elements of a buffer, borrowed for writing.
    BufferViewMut;
    span: Span
}

/// A [`BufferView`] without the type of its elements.
pub(crate) type UntypedBuffer<'a> = Untyped<'a, Span>;

impl<'a> UntypedBuffer<'a> {
    /// `len` elements of a type from the `offset`th on. The view starts at a multiple of their size, and they lie
    /// within it.
    pub(crate) fn range<U: Element>(&self, offset: usize, len: usize) -> BufferView<'a, U> {
        BufferView::new(self.allocation(), self.place().cast::<U>(self.element_bytes(), offset, len))
    }
}

/// Methods of both views.
macro_rules! common {
    ($View:ident) => {
        impl<'a, T: Element> $View<'a, T> {
            /// Number of elements.
            pub fn len(&self) -> usize {
                self.span.len
            }

            /// Whether there is no element.
            pub fn is_empty(&self) -> bool {
                self.span.len == 0
            }

            /// The first element's index in the allocation.
            pub(super) fn offset(&self) -> usize {
                self.span.offset
            }

            /// The elements of `range`, counted from the start of this view.
            ///
            /// # Errors
            /// The range does not lie within the view.
            pub fn slice(self, range: Range<usize>) -> Result<Self> {
                check_range("slice", "range", &range, self.len())?;
                let span = Span { offset: self.span.offset + range.start, len: range.len() };
                Ok(Self::new(self.allocation, span))
            }

            /// The same bytes as elements of another type of the same size: any bytes are a valid element.
            pub(crate) fn cast<U: Element>(self) -> $View<'a, U> {
                const { assert!(size_of::<T>() == size_of::<U>(), "elements of one size") };
                $View::new(self.allocation, self.span)
            }

            /// No elements, as the argument for an optional parameter of a kernel.
            pub(crate) fn empty<U: Element>(&self) -> $View<'a, U> {
                $View::new(self.allocation, Span { offset: 0, len: 0 })
            }
        }
    };
}
common!(BufferView);
common!(BufferViewMut);

impl<'a, T: Element> BufferView<'a, T> {
    /// Address of the first element, in the address space of the kernels, for other CUDA libraries: on a GPU a
    /// `CUdeviceptr`, which the host cannot read. [`Stream::as_raw`](crate::Stream::as_raw) states the rules for its
    /// use.
    pub fn device_ptr(&self) -> *const T {
        self.address()
    }

    /// Address of the first element, in the address space of the kernels.
    pub(crate) fn address(&self) -> *const T {
        self.allocation.memory().base().cast::<T>().wrapping_add(self.span.offset)
    }

    /// The same elements without their type.
    pub(crate) fn untyped(self) -> UntypedBuffer<'a> {
        Untyped::new::<T>(self.allocation, self.span)
    }

    /// As [`UntypedBuffer::range`].
    pub(crate) fn cast_range<U: Element>(&self, offset: usize, len: usize) -> BufferView<'a, U> {
        self.untyped().range(offset, len)
    }

    pub(crate) fn region(&self) -> Region {
        Region::bytes(self.span.offset * size_of::<T>(), self.span.len * size_of::<T>())
    }

    /// The same bytes as 4-byte words; each element has one or more.
    pub(crate) fn into_u32_words(self) -> BufferView<'a, u32> {
        let words = const {
            assert!(size_of::<T>() >= 4, "elements of whole words");
            size_of::<T>() / 4
        };
        let Span { offset, len } = self.span;
        BufferView::new(self.allocation, Span { offset: offset * words, len: len * words })
    }

    /// Copies the elements to the host, after all work that writes them.
    ///
    /// # Errors
    /// [`crate::Error::DeviceLost`] if that work failed.
    /// On the simulator: [`crate::Error::Argument`] if nothing has written some of the elements, see
    /// [`BufferViewMut::assume_init`](crate::BufferViewMut::assume_init).
    pub fn download(self) -> Result<Vec<T>> {
        let mut elements = bytes::zeros(self.len())?;
        self.download_into(&mut elements)?;
        Ok(elements)
    }

    /// Copies the elements to `out`, after all work that writes them.
    ///
    /// # Errors
    /// `out` has another length; [`crate::Error::DeviceLost`] if that work failed.
    pub fn download_into(self, out: &mut [T]) -> Result<()> {
        check_len("download_into", "out", self.len(), out.len())?;
        let memory = self.allocation.memory();
        memory.read(self.device().queue(), &self.region(), bytes::of_mut(out))
    }
}

impl<T: Element> BufferViewMut<'_, T> {
    /// As [`BufferView::device_ptr`], to be written through.
    pub fn device_ptr(&mut self) -> *mut T {
        self.view().address().cast_mut()
    }

    /// The elements before `middle`, and those from there on.
    ///
    /// Work on the two halves keeps the order of the calls even on different streams: the order is tracked for whole
    /// buffers.
    ///
    /// # Errors
    /// `middle` is past the end.
    pub fn split_at(self, middle: usize) -> Result<(Self, Self)> {
        check_range("split_at", "middle", &(middle..self.len()), self.len())?;
        let Span { offset, len } = self.span;
        let before = Self::new(self.allocation, Span { offset, len: middle });
        Ok((before, Self::new(self.allocation, Span { offset: offset + middle, len: len - middle })))
    }

    /// Overwrites the elements with host data.
    ///
    /// # Errors
    /// `data` has another length.
    pub fn write(&mut self, data: &[T]) -> Result<()> {
        check_len("write", "data", self.len(), data.len())?;
        let memory = self.allocation.memory();
        memory.write(self.device().queue(), &self.view().region(), bytes::of(data))
    }

    /// Sets the elements to zero.
    ///
    /// # Errors
    /// A driver call fails.
    pub fn zero(&mut self) -> Result<()> {
        self.allocation.memory().zero(self.device().queue(), &self.view().region())
    }

    /// The elements count as written, whatever they are: for memory whose content does not matter, or that other code
    /// than this crate's writes. Only on the simulator does it make a difference: there a kernel that reads an element
    /// that nothing has written is reported, and downloads of such elements fail.
    ///
    /// ```
    /// let device = warpwright::Device::simulator();
    /// let mut x = device.alloc::<u32>(100)?;
    /// assert!(x.download().is_err());
    /// x.view_mut().assume_init();
    /// assert_eq!(x.download()?.len(), 100);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    pub fn assume_init(&mut self) {
        self.allocation.memory().assume_init(&self.view().region());
    }

    /// Overwrites the elements with those of `source`, on the device.
    ///
    /// # Errors
    /// `source` has another length, or is on another device.
    pub fn copy_from<'s>(&mut self, source: impl Into<BufferView<'s, T>>) -> Result<()>
    where
        T: 's,
    {
        let source = source.into();
        check_len("copy_from", "source", self.len(), source.len())?;
        self.device().check_same(source.device(), "copy_from", "source")?;
        let memory = self.allocation.memory();
        memory.copy(self.device().queue(), self.view().region(), source.allocation.memory(), source.region())
    }
}

/// Refuses data of another length.
pub(super) fn check_len(call: &str, argument: &str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(BadArgument::new(ArgumentRule::Length, call, argument)
        .expected(format_args!("{expected} elements"))
        .found(found)
        .remedy("take a slice of the longer one, so that both have the same length")
        .into())
}

impl<'a, T: Element> BufferViewMut<'a, T> {
    /// The first `len` elements of another type. The view starts at a multiple of their size, and they lie within it.
    pub(crate) fn cast_start<U: Element>(self, len: usize) -> BufferViewMut<'a, U> {
        BufferViewMut::new(self.allocation, self.span.cast::<U>(size_of::<T>(), 0, len))
    }

    /// The same bytes as elements of a type whose size divides that of these: any bytes are a valid element.
    pub(crate) fn divided<U: Element>(self) -> BufferViewMut<'a, U> {
        const { assert!(size_of::<T>().is_multiple_of(size_of::<U>()), "elements of a divisor's size") };
        let times = size_of::<T>() / size_of::<U>();
        let len = self.len() * times;
        self.cast_start(len)
    }

    /// The same bytes, which start at a multiple of 8, as 8-byte words; an incomplete last word is left out.
    pub(crate) fn into_u64_words(self) -> BufferViewMut<'a, u64> {
        const { assert!(size_of::<T>() == 4, "two elements to a word") }
        let len = self.len() / 2;
        self.cast_start(len)
    }
}
