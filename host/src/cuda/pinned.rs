//! Page-locked host memory, which the device can access by DMA.

use std::mem;
use std::ptr::NonNull;
use std::sync::Arc;

use cust::memory::LockedBuffer;

use super::driver::{self, codes};
use super::primary::Primary;
use crate::error::{Error, Result};

/// Page-locked bytes, aligned to a page.
pub(crate) struct Pinned {
    /// `None` once it is freed or leaked.
    bytes: Option<LockedBuffer<u8>>,
    base: *mut u8,
    primary: Arc<Primary>,
}

// SAFETY: owned host memory; the driver frees it from any thread.
unsafe impl Send for Pinned {}
// SAFETY: `base` is only an address here; each access through it states why it is allowed.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// `len` bytes of zero.
    pub(super) fn new(primary: &Arc<Primary>, len: usize) -> Result<Self> {
        let allocated = primary.call(format_args!("allocating {len} bytes of page-locked host memory"), || {
            driver::check_cust("cuMemAllocHost_v2", LockedBuffer::new(&0_u8, len))
        });
        let mut bytes = allocated.map_err(|error| match error {
            Error::Driver(cause) if cause.code == codes::OUT_OF_MEMORY => Error::OutOfMemory {
                device: "the host".into(),
                bytes: len,
                available: format!("page-locked, {} returned {}", cause.call, cause.name),
            },
            other => other,
        })?;
        // The driver's memory is aligned to a page; a dangling address must be aligned for every element, too.
        let base =
            if len == 0 { NonNull::<u128>::dangling().as_ptr().cast() } else { bytes.as_mut_slice().as_mut_ptr() };
        Ok(Self { bytes: Some(bytes), base, primary: Arc::clone(primary) })
    }

    /// Never frees the memory, which the device may still access. The device can be closed nevertheless.
    pub(crate) fn leak(mut self) {
        mem::forget(self.bytes.take());
    }

    /// Address of the first byte, aligned for every element type; dangling if the memory is empty.
    pub(crate) fn base(&self) -> *mut u8 {
        self.base
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let Some(bytes) = self.bytes.take() else { return };
        match self.primary.enter_to_clean_up() {
            Some(_entered) => drop(bytes),
            // Without its context the driver does not free it.
            None => mem::forget(bytes),
        }
    }
}
