//! Status codes of the driver: kept per thread and checked.

use std::cell::Cell;
use std::ffi::c_void;

use cust::error::CudaError;
use cust::sys::CUresult;

/// A handle of the driver: context, module, function, stream, event.
pub(crate) type Handle = *mut c_void;

/// The driver's status codes that this crate distinguishes.
pub(crate) mod codes {
    pub(crate) const OUT_OF_MEMORY: i32 = 2;
    pub(crate) const NO_DEVICE: i32 = 100;
    pub(crate) const NO_BINARY_FOR_GPU: i32 = 209;
    pub(crate) const INVALID_PTX: i32 = 218;
    pub(crate) const UNSUPPORTED_PTX_VERSION: i32 = 222;
    pub(crate) const NOT_FOUND: i32 = 500;
    pub(crate) const NOT_READY: i32 = 600;
    pub(crate) const NOT_SUPPORTED: i32 = 801;
    pub(crate) const UNKNOWN: i32 = 999;

    /// Codes after which the context refuses all further work (CUDA driver API, `CUresult`: "the process must be
    /// terminated and relaunched", or the context destroyed): uncorrectable memory and link errors, a destroyed
    /// context, and every failure of a running kernel.
    pub(crate) const STICKY: &[i32] = &[4, 214, 220, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721];

    /// Codes that `cust` lists in its enum, ascending.
    pub(super) const LISTED: &[i32] = &[
        0, 1, 2, 3, 4, 5, 6, 7, 8, 34, 100, 101, 102, 200, 201, 202, 205, 206, 207, 208, 209, 210, 211, 212, 213, 214,
        215, 216, 217, 218, 219, 220, 221, 222, 223, 224, 300, 301, 302, 303, 304, 400, 401, 500, 600, 700, 701, 702,
        703, 704, 705, 708, 709, 710, 711, 712, 713, 714, 715, 716, 717, 718, 719, 720, 800, 801, 802, 803, 804, 805,
        806, 807, 808, 809, 900, 901, 902, 903, 904, 905, 906, 907, 908, 909, 910, 911, 999,
    ];
}

thread_local! {
    /// The last code other than success that a driver call returned on this thread, before [`record`] changed it.
    static LAST: Cell<i32> = const { Cell::new(0) };
}

/// Keeps `code` for the error message; returns the code that `cust` may see.
pub(super) fn record(code: i32) -> i32 {
    if code == 0 {
        return 0;
    }
    LAST.set(code);
    if codes::LISTED.binary_search(&code).is_ok() { code } else { codes::UNKNOWN }
}

/// A driver call that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The C function.
    pub(crate) call: &'static str,
    /// The driver's status code.
    pub(crate) code: i32,
}

impl Failure {
    /// Whether the context refuses all further work.
    pub(crate) fn is_sticky(&self) -> bool {
        codes::STICKY.contains(&self.code)
    }
}

/// Converts the status that a call of this crate's own returned into a result.
pub(super) fn result(call: &'static str, code: i32) -> Result<(), Failure> {
    if code == 0 { Ok(()) } else { Err(Failure { call, code }) }
}

/// Converts the status of a call made through `cust::sys` into a result.
pub(crate) fn check(call: &'static str, status: CUresult) -> Result<(), Failure> {
    if status == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(Failure { call, code: LAST.get() }) }
}

/// Converts the result of a call made through `cust`'s own types, with the code that the driver returned.
pub(crate) fn check_cust<T>(call: &'static str, result: Result<T, CudaError>) -> Result<T, Failure> {
    result.map_err(|error| Failure {
        call,
        // Errors of cust itself (a size of zero) never reached the driver and have their own codes.
        code: if (error as u32) < 1000 { LAST.get() } else { error as i32 },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_codes_pass_and_others_become_unknown() {
        assert!(codes::LISTED.is_sorted(), "binary search needs order");
        assert_eq!(record(700), 700);
        assert_eq!(LAST.get(), 700);
        // 912 (CUDA_ERROR_INVALID_CLUSTER_SIZE) is younger than cust 0.3.2.
        assert_eq!(record(912), codes::UNKNOWN);
        assert_eq!(LAST.get(), 912, "the message shows the code the driver gave");
        assert_eq!(record(0), 0);
        assert_eq!(LAST.get(), 912, "success leaves the last failure alone");
    }
}
