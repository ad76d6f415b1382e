//! The workspace of reductions along an axis and of segments.

use std::fmt;

use gpu::reduce::along::TICKETS;

use crate::device::Device;
use crate::error::{ArgumentRule, BadArgument, Result};
use crate::memory::{Buffer, BufferViewMut};

/// Device memory for the partial results of blocks that share a line.
///
/// It can be reused after each reduction, for any reduction and shape for which it is large enough:
/// [`LinesWorkspace::BYTES`] are enough for most, and [`Device::reduce_axis_bytes`] returns the size for one.
/// Concurrent reductions need one workspace each; those on one stream can share one.
pub struct LinesWorkspace {
    words: Buffer<u64>,
}

impl LinesWorkspace {
    /// Bytes that are enough for every reduction along the last axis of a contiguous tensor.
    pub const BYTES: usize = 8 * (TICKETS + 3 * 8448);

    /// A workspace of at least `bytes` bytes on `device`.
    ///
    /// # Errors
    /// As [`Device::alloc`].
    pub fn new(device: &Device, bytes: usize) -> Result<Self> {
        Self::with_words(device, bytes.div_ceil(8))
    }

    pub(super) fn with_words(device: &Device, words: usize) -> Result<Self> {
        let mut words = device.alloc_on::<u64>(device.queue(), words)?;
        // Only the tickets: the rest is written before it is read.
        let tickets = words.len().min(TICKETS);
        if tickets > 0 {
            words.slice_mut(0..tickets)?.zero()?;
        }
        Ok(Self { words })
    }

    /// The device that owns the memory.
    pub fn device(&self) -> &Device {
        self.words.device()
    }

    /// Its memory, if it has at least `words` words.
    pub(in crate::ops::reduce) fn view_mut(&mut self, call: &str, words: usize) -> Result<BufferViewMut<'_, u64>> {
        if self.words.len() < words {
            return Err(BadArgument::new(ArgumentRule::Length, call, "workspace")
                .expected(format_args!("at least {} bytes", 8 * words))
                .found(8 * self.words.len())
                .remedy("create one with the size that Device::reduce_axis_bytes or reduce_segments_bytes returns")
                .into());
        }
        Ok(self.words.view_mut())
    }
}

impl fmt::Debug for LinesWorkspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LinesWorkspace({} bytes on {})", 8 * self.words.len(), self.device().name())
    }
}
