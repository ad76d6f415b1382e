//! Reductions of the segments of a vector.

mod segment_kernels;

pub use segment_kernels::{Offset, SegmentReduction};

use gpu::reduce::segments::plan::Plan;
use simt::element::Element;

use self::segment_kernels::Segments;
use super::axis::LinesWorkspace;
use crate::device::Device;
use crate::error::{ArgumentRule, BadArgument, Result};
use crate::launch::{Fields, Launch};
use crate::memory::{Buffer, BufferView, BufferViewMut};
use crate::ops::on;
use crate::stream::Stream;

/// Maximum number of segments: kernels count them in 32 bits, and round up.
const MOST_SEGMENTS: usize = u32::MAX as usize - (1 << 12);

/// The number of segments for a number of offsets.
fn count(call: &str, offsets: usize) -> Result<usize> {
    if (1..=MOST_SEGMENTS + 1).contains(&offsets) {
        return Ok(offsets - 1);
    }
    Err(BadArgument::new(ArgumentRule::Length, call, "offsets")
        .expected(format_args!("1 to {} offsets, one more than there are segments", MOST_SEGMENTS + 1))
        .found(offsets)
        .remedy("segment s has the elements from offsets[s] to offsets[s + 1] - 1")
        .into())
}

/// Refuses offsets that decrease, or are past the end of `n` elements.
fn check(call: &str, offsets: &[impl Offset], n: usize) -> Result<()> {
    let bad = |at: usize, expected: String, found: u64| {
        Err(BadArgument::new(ArgumentRule::Range, call, "offsets")
            .expected(expected)
            .found(format_args!("{found} at index {at}"))
            .remedy("segment s has the elements from offsets[s] to offsets[s + 1] - 1")
            .into())
    };
    let mut before = 0;
    for (at, &offset) in offsets.iter().enumerate() {
        let offset = offset.into();
        if offset < before {
            return bad(at, format!("non-decreasing offsets, here at least {before}"), offset);
        }
        if offset > n as u64 {
            return bad(at, format!("offsets of at most {n}, the length of x"), offset);
        }
        before = offset;
    }
    Ok(())
}

/// The depth of the reduction tree of `segments` segments of `n` elements in all, of `bytes` bytes each, for the bounds
/// of [`crate::reference`].
pub fn segments_depth(n: usize, segments: usize, bytes: usize) -> u64 {
    Plan::new(n as u64, segments as u32).depth(16 / bytes as u64)
}

impl Device {
    /// Reduces each segment of `x` to one number: segment s has elements `offsets[s]` to `offsets[s + 1]` − 1. There is
    /// one offset (`u32` or `u64`) more than segments.
    ///
    /// Segments may have any lengths: the work is balanced by elements. An empty segment has the sum 0, the product 1,
    /// mean and variance NaN, as maximum −∞ or the smallest integer, as minimum +∞ or the largest, NaN if NaNs are
    /// ignored, and the index `u64::MAX`. Indices count from the start of their segment. The variance of at most `ddof`
    /// elements is divided by 0.
    ///
    /// Downloads the offsets to check them; [`Device::reduce_segments_into`] does not.
    ///
    /// ```
    /// use warpwright::reduce::{ArgMin, Mean, Sum};
    /// let device = warpwright::Device::simulator();
    /// let x = device.upload(&[3.0_f32, 1.0, 4.0, 1.0, 5.0])?;
    /// let offsets = device.upload(&[0_u32, 2, 2, 5])?;
    /// assert_eq!(device.reduce_segments(Sum, &x, &offsets)?.download()?, [4.0, 0.0, 10.0]);
    /// assert_eq!(device.reduce_segments(ArgMin, &x, &offsets)?.download()?, [1, u64::MAX, 1]);
    /// assert!(device.reduce_segments(Mean, &x, &offsets)?.download()?[1].is_nan());
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`crate::Error::Argument`]: no offset; offsets that decrease, or are past the end of `x`; 2³² segments or
    ///   more.
    /// - As [`Device::alloc`] and [`Device::launch`]; [`crate::Error::DeviceLost`] if earlier work failed.
    pub fn reduce_segments<'x, 'f, T: Element, R: SegmentReduction<T>, F: Offset>(
        &self,
        reduction: R,
        x: impl Into<BufferView<'x, T>>,
        offsets: impl Into<BufferView<'f, F>>,
    ) -> Result<Buffer<R::Output>> {
        let (x, offsets, call) = (x.into(), offsets.into(), "reduce_segments");
        let segments = count(call, offsets.len())?;
        check(call, &offsets.download()?, x.len())?;
        let mut out = self.alloc_on(self.queue(), segments)?;
        let bytes = self.reduce_segments_bytes(reduction, x, segments);
        let mut workspace = LinesWorkspace::new(self, bytes)?;
        self.queue_segments(call, reduction, (x, offsets), out.view_mut(), &mut workspace, None)?;
        Ok(out)
    }

    /// Bytes of the [`LinesWorkspace`] for a reduction of `segments` segments of `x`.
    pub fn reduce_segments_bytes<'x, T: Element, R: SegmentReduction<T>>(
        &self,
        _: R,
        x: impl Into<BufferView<'x, T>>,
        segments: usize,
    ) -> usize {
        8 * Plan::new(x.into().len() as u64, segments.clamp(1, MOST_SEGMENTS) as u32).workspace_words(R::STATE_WORDS)
    }

    /// [`Device::reduce_segments`] into `out`: one launch, no allocation, no waiting, for use on a stream or in a CUDA
    /// graph. Offsets are not checked: if they decrease or are past the end of `x`, results are unspecified, but
    /// nothing outside `x` is read and nothing outside `out` written.
    ///
    /// # Errors
    /// As [`Device::reduce_segments`] except allocation and the offsets' values; the length of `out` is not the number
    /// of segments, or the workspace is too small; the stream or any memory belongs to another device.
    pub fn reduce_segments_into<'x, 'f, 'o, T: Element, R: SegmentReduction<T>, F: Offset>(
        &self,
        reduction: R,
        x: impl Into<BufferView<'x, T>>,
        offsets: impl Into<BufferView<'f, F>>,
        out: impl Into<BufferViewMut<'o, R::Output>>,
        workspace: &mut LinesWorkspace,
        stream: Option<&Stream>,
    ) -> Result<()> {
        let memory = (x.into(), offsets.into());
        self.queue_segments("reduce_segments_into", reduction, memory, out.into(), workspace, stream)
    }

    fn queue_segments<T: Element, R: SegmentReduction<T>, F: Offset>(
        &self,
        call: &str,
        reduction: R,
        (x, offsets): (BufferView<'_, T>, BufferView<'_, F>),
        out: BufferViewMut<'_, R::Output>,
        workspace: &mut LinesWorkspace,
        stream: Option<&Stream>,
    ) -> Result<()> {
        let call = SegmentsCall {
            device: self,
            name: call,
            stream,
            state_words: R::STATE_WORDS,
            args: (R::PARAMETER_KIND, u32::from(size_of::<F>() == 8)),
            parameter: reduction.segment_parameter(),
            offsets: offsets.len(),
        };
        let memory = (x.cast::<R::Read>(), offsets.into_u32_words(), out.cast::<R::Written>());
        call.launch(&R::SEGMENTS, memory, workspace)
    }
}

/// One call of a reduction of segments.
struct SegmentsCall<'a> {
    device: &'a Device,
    /// Its name in error messages.
    name: &'a str,
    stream: Option<&'a Stream>,
    /// 8-byte words of a segment's state.
    state_words: usize,
    /// The kind of the kernel's parameter, and whether offsets have 64 bits.
    args: (u32, u32),
    parameter: u64,
    offsets: usize,
}

impl SegmentsCall<'_> {
    /// Launches a kernel, many reductions' own, with the elements, the words of the offsets, and the results.
    fn launch<T: Element, U: Element>(
        &self,
        kernel: &Segments<T, U>,
        (x, offsets, out): (BufferView<'_, T>, BufferView<'_, u32>, BufferViewMut<'_, U>),
        workspace: &mut LinesWorkspace,
    ) -> Result<()> {
        let Self { device, name, stream, state_words, args: (kind, wide), parameter, .. } = *self;
        let segments = count(name, self.offsets)?;
        if out.len() != segments {
            return Err(BadArgument::new(ArgumentRule::Length, name, "out")
                .expected(format_args!("{segments} elements, one for each segment"))
                .found(out.len())
                .remedy("pass a slice of that length; there is one offset more than segments")
                .into());
        }
        device.check_same(x.device(), name, "x")?;
        device.check_same(offsets.device(), name, "offsets")?;
        device.check_same(out.device(), name, "out")?;
        if segments == 0 {
            return Ok(());
        }
        let plan = Plan::new(x.len() as u64, segments as u32);
        let workspace = workspace.view_mut(name, plan.workspace_words(state_words))?;
        let arguments = (x, offsets, workspace, out, Fields((plan.items, kind, wide)), parameter);
        device.launch(kernel, on(stream, Launch::grid(plan.blocks)), arguments)?;
        Ok(())
    }
}
