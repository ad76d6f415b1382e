//! Thread-local variables that accesses of kernels look at.

use std::thread::LocalKey;

/// [`LocalKey::with`] of a variable without a destructor. That function is compiled into one codegen unit of a crate,
/// and called from others; this one is inlined.
#[inline(always)]
pub(crate) fn with<T, R>(key: &'static LocalKey<T>, use_it: impl FnOnce(&T) -> R) -> R {
    let Ok(result) = key.try_with(use_it) else { unreachable!("a variable without a destructor is always there") };
    result
}
