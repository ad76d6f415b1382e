//! The workspace of reductions to one number.

use std::fmt;

use gpu::reduce::whole::partition::WORKSPACE_WORDS;

use crate::device::Device;
use crate::error::Result;
use crate::memory::{Buffer, BufferViewMut};

/// Device memory for the partial results of the blocks of a reduction: about 25 KB, enough for every reduction of a
/// whole vector, of any length and type.
///
/// It can be reused after each reduction. Concurrent reductions need one workspace each; those on one stream can share
/// one.
pub struct Workspace {
    words: Buffer<u64>,
}

impl Workspace {
    /// Bytes of device memory of a workspace.
    pub const BYTES: usize = 8 * WORKSPACE_WORDS;

    /// A workspace on `device`.
    ///
    /// # Errors
    /// As [`Device::alloc`].
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self { words: device.alloc_zeros(WORKSPACE_WORDS)? })
    }

    /// The workspace in `words`, of [`WORKSPACE_WORDS`], which a workspace held before.
    pub(super) fn of(words: Buffer<u64>) -> Self {
        Self { words }
    }

    pub(super) fn into_words(self) -> Buffer<u64> {
        self.words
    }

    /// The device that owns the memory.
    pub fn device(&self) -> &Device {
        self.words.device()
    }

    pub(super) fn view_mut(&mut self) -> BufferViewMut<'_, u64> {
        self.words.view_mut()
    }
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Workspace({} bytes on {})", 8 * self.words.len(), self.device().name())
    }
}
