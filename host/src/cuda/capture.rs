//! What a thread may do while one of its streams is being captured in a graph.

use cust::sys;

use super::driver::{self, Failure};

/// While it exists, this thread may wait for the device, query it or allocate memory, although one of its streams is
/// being captured.
pub(super) struct Relaxed {
    before: sys::CUstreamCaptureMode,
}

impl Relaxed {
    pub(super) fn begin() -> Result<Self, Failure> {
        let mut before = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: `before` holds the new mode and receives the previous one.
        driver::check("cuThreadExchangeStreamCaptureMode", unsafe {
            sys::cuThreadExchangeStreamCaptureMode(&raw mut before)
        })?;
        Ok(Self { before })
    }
}

impl Drop for Relaxed {
    fn drop(&mut self) {
        // SAFETY: as in `begin`. There is no handling of a failure.
        let _ = unsafe { sys::cuThreadExchangeStreamCaptureMode(&raw mut self.before) };
    }
}
