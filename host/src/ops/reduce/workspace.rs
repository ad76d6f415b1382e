//! What a reduction needs beside its result.

use std::fmt;

use gpu::reduce::whole::partition::WORKSPACE_WORDS;

use crate::device::Device;
use crate::error::Result;
use crate::memory::{Buffer, BufferViewMut};

/// Device memory in which the blocks of a reduction leave their states: about 25 KB, enough for every reduction of a whole
/// vector, of any length and type.
///
/// A reduction leaves it ready for the next. Reductions that run at the same time need one each; on one stream they share one.
pub struct Workspace {
    words: Buffer<u64>,
}

impl Workspace {
    /// Bytes of device memory that a workspace takes.
    pub const BYTES: usize = 8 * WORKSPACE_WORDS;

    /// A workspace on `device`.
    ///
    /// # Errors
    /// As [`Device::alloc`].
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self { words: device.alloc_zeros(WORKSPACE_WORDS)? })
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
