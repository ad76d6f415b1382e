//! Host memory for copies to and from a simulated device: ordinary memory, since these copies are synchronous.

use std::ptr::NonNull;

use crate::error::{Error, Result};

/// Zero-initialised bytes, aligned for every element type.
pub(crate) struct HostMemory {
    units: NonNull<[u128]>,
}

// SAFETY: owned memory; each access through `base` states why it is allowed.
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// At least `bytes` bytes.
    pub(crate) fn new(bytes: usize) -> Result<Self> {
        let mut units = Vec::new();
        let len = bytes.div_ceil(size_of::<u128>());
        units.try_reserve_exact(len).map_err(|error| Error::OutOfMemory {
            device: "the host".into(),
            bytes,
            available: error.to_string(),
        })?;
        units.resize(len, 0);
        Ok(Self { units: NonNull::from(Box::leak(units.into_boxed_slice())) })
    }

    /// Address of the first byte; dangling if the memory is empty.
    pub(crate) fn base(&self) -> *mut u8 {
        self.units.as_ptr().cast()
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        // SAFETY: leaked from a box in `new`, freed once, here.
        drop(unsafe { Box::from_raw(self.units.as_ptr()) });
    }
}
