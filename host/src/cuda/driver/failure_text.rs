//! The driver's name and text for a failure.

use std::ffi::{CStr, c_char};
use std::ptr;

use super::forward::typed;
use super::status::{Failure, codes};

impl Failure {
    /// The driver's name for the code, as `CUDA_ERROR_OUT_OF_MEMORY`.
    pub(crate) fn name(&self) -> String {
        // SAFETY: any status is allowed, and `text` is writable.
        let name = string(|text| unsafe { typed::cuGetErrorName(self.code, text) });
        name.unwrap_or_else(|| match self.code {
            codes::NO_DEVICE => "CUDA_ERROR_NO_DEVICE".into(),
            codes::NOT_SUPPORTED => "CUDA_ERROR_NOT_SUPPORTED".into(),
            _ => "unnamed".into(),
        })
    }

    /// The driver's text for the code.
    pub(crate) fn text(&self) -> String {
        // SAFETY: as in `name`.
        let text = string(|text| unsafe { typed::cuGetErrorString(self.code, text) });
        text.unwrap_or_else(|| "the driver has no text for this code".into())
    }
}

/// The C string that `call` stores; `None` if it fails or stores none.
fn string(call: impl FnOnce(*mut *const c_char) -> i32) -> Option<String> {
    let mut text: *const c_char = ptr::null();
    if call(&raw mut text) != 0 || text.is_null() {
        return None;
    }
    // SAFETY: on success the driver stored the address of a zero-terminated string of static lifetime.
    Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}
