//! Loads `libcuda` and fills the slots.

use std::env;
use std::ffi::{CStr, c_void};
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use libloading::Library;

use super::{slots, trampoline};

/// The driver library's name for the dynamic linker.
const LIBRARY: &str = "libcuda.so.1";

/// The environment variable for another driver library: a path, or a name for the dynamic linker.
pub(crate) const LIBRARY_VARIABLE: &str = "WARPWRIGHT_LIBCUDA";

/// Why the driver could not be loaded.
#[derive(Clone, Debug)]
pub(crate) struct NotLoaded {
    /// The requested library.
    pub(crate) library: String,
    /// The dynamic linker's message.
    pub(crate) reason: String,
}

static LOADED: OnceLock<Result<(), NotLoaded>> = OnceLock::new();

/// Loads the driver and fills the slots, once per process. The library stays loaded until the process ends.
///
/// # Errors
/// The library does not exist or cannot be loaded; the same error every time.
pub(crate) fn load() -> Result<(), NotLoaded> {
    LOADED.get_or_init(open).clone()
}

fn open() -> Result<(), NotLoaded> {
    let name = env::var(LIBRARY_VARIABLE).unwrap_or_else(|_| LIBRARY.into());
    // SAFETY: loading runs the library's initialisers: those of the NVIDIA driver, or of the library that the user
    // named instead. They have no precondition on this process.
    let library = unsafe { Library::new(&name) }
        .map_err(|error| NotLoaded { library: name.clone(), reason: describe(&error) })?;
    fill(|symbol| {
        // SAFETY: the symbol is only read as an address here; each call through it states the signature.
        unsafe { library.get::<*mut c_void>(symbol.to_bytes_with_nul()) }.ok().map(|address| *address)
    });
    // The slots point into the library from now on.
    std::mem::forget(library);
    Ok(())
}

/// The dynamic linker's message, which `libloading` keeps in the source of its error.
fn describe(error: &libloading::Error) -> String {
    match error {
        libloading::Error::DlOpen { desc } => format!("{desc:?}").trim_matches('"').to_owned(),
        other => other.to_string(),
    }
}

/// Fills each slot with the address that `find` returns for its function.
fn fill(find: impl Fn(&CStr) -> Option<*mut c_void>) {
    for function in slots::FUNCTIONS.iter().chain(trampoline::FUNCTIONS) {
        let missing = function.missing.map_or(std::ptr::null_mut(), |function| function as *mut c_void);
        let address = find(function.name).filter(|address| !address.is_null()).unwrap_or(missing);
        // Pairs with the Acquire load in `forward`: a thread that sees the address sees the library loaded.
        function.slot.store(address, Ordering::Release);
    }
}

/// Installs the functions that `find` returns in place of the driver's, for tests. False if a driver is loaded already.
#[cfg(test)]
pub(crate) fn install(find: impl Fn(&CStr) -> Option<*mut c_void>) -> bool {
    let mut installed = false;
    let _ = LOADED.get_or_init(|| {
        fill(find);
        installed = true;
        Ok(())
    });
    installed
}
