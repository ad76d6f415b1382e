//! Finding `libcuda` and filling the slots.

use std::env;
use std::ffi::{CStr, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use libloading::Library;

use super::{forward, trampoline};

/// The driver library's name, under which the dynamic linker knows it.
const LIBRARY: &str = "libcuda.so.1";

/// Names another driver library: a path, or a name for the dynamic linker.
pub(crate) const LIBRARY_VARIABLE: &str = "WARPWRIGHT_LIBCUDA";

/// Where a forwarding function finds its target. Zero until the driver is loaded.
pub(super) type Slot = AtomicPtr<c_void>;

/// One function: its C name, its slot, and what the slot holds where the driver lacks the function.
pub(super) struct Function {
    pub(super) name: &'static CStr,
    pub(super) slot: &'static Slot,
    pub(super) missing: Option<extern "C" fn() -> i32>,
}

/// Why there is no driver.
#[derive(Clone, Debug)]
pub(crate) struct NotLoaded {
    /// The library asked for.
    pub(crate) library: String,
    /// What the dynamic linker says.
    pub(crate) reason: String,
}

static LOADED: OnceLock<Result<(), NotLoaded>> = OnceLock::new();

/// Loads the driver and fills the slots, once per process. The library stays loaded until the process ends.
///
/// # Errors
/// The library is not there or cannot be loaded; the same answer every time.
pub(crate) fn load() -> Result<(), NotLoaded> {
    LOADED.get_or_init(open).clone()
}

fn open() -> Result<(), NotLoaded> {
    let name = env::var(LIBRARY_VARIABLE).unwrap_or_else(|_| LIBRARY.into());
    // SAFETY: loading runs the library's initialisers: those of the NVIDIA driver, or of the library that the user
    // named in its place. They have no precondition on this process.
    let library = unsafe { Library::new(&name) }
        .map_err(|error| NotLoaded { library: name.clone(), reason: describe(&error) })?;
    fill(|symbol| {
        // SAFETY: the symbol is only read as an address here; whoever calls through it states the signature.
        unsafe { library.get::<*mut c_void>(symbol.to_bytes_with_nul()) }.ok().map(|address| *address)
    });
    // Slots point into it from now on.
    std::mem::forget(library);
    Ok(())
}

/// The dynamic linker's sentence, which `libloading` keeps in the source of its error.
fn describe(error: &libloading::Error) -> String {
    match error {
        libloading::Error::DlOpen { desc } => format!("{desc:?}").trim_matches('"').to_owned(),
        other => other.to_string(),
    }
}

/// Fills each slot with what `find` gives for its function.
fn fill(find: impl Fn(&CStr) -> Option<*mut c_void>) {
    for function in forward::FUNCTIONS.iter().chain(trampoline::FUNCTIONS) {
        let missing = function.missing.map_or(std::ptr::null_mut(), |function| function as *mut c_void);
        let address = find(function.name).filter(|address| !address.is_null()).unwrap_or(missing);
        // Release, against the Acquire load of a forward: whoever sees the address sees the library loaded.
        function.slot.store(address, Ordering::Release);
    }
}

/// Takes the functions that `find` gives for the driver's, for tests without one. False if a driver is loaded already.
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
