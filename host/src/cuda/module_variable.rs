//! Variables of modules that tell kernels where host memory is: for reports of panics, and for lines.

use std::ffi::CString;

use cust::memory::LockedBuffer;
use cust::sys;

use super::driver::{self, Failure};

/// The variable of PTX that has one: the first name in a `.global` line that contains `part`.
pub(super) fn find(text: &str, part: &str) -> Option<CString> {
    let mut lines = text.lines().filter(|line| line.contains(part) && line.contains(".global"));
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let name = lines.next()?.split(|c| !is_part(c)).find(|word| word.contains(part))?;
    CString::new(name).ok()
}

/// Writes addresses into a variable of a loaded module.
pub(super) fn set<const N: usize>(module: sys::CUmodule, variable: &CString, to: [u64; N]) -> Result<(), Failure> {
    let (mut at, mut bytes) = (0, 0);
    // SAFETY: the results are writable, the module is loaded, and the name ends with a zero.
    driver::check("cuModuleGetGlobal_v2", unsafe {
        sys::cuModuleGetGlobal_v2(&raw mut at, &raw mut bytes, module, variable.as_ptr())
    })?;
    if bytes < size_of_val(&to) {
        // A variable of another layout is left alone: its kernels do without.
        return Ok(());
    }
    // SAFETY: the variable has room for the addresses.
    driver::check("cuMemcpyHtoD_v2", unsafe { sys::cuMemcpyHtoD_v2(at, (&raw const to).cast(), size_of_val(&to)) })
}

/// A `T` of zeros in page-locked memory; the device has the same address for it.
pub(super) struct HostMemory<T> {
    bytes: LockedBuffer<u8>,
    at: *mut T,
}

// SAFETY: owned host memory; the driver frees it from any thread.
unsafe impl<T> Send for HostMemory<T> {}
// SAFETY: accesses are volatile, of numbers whose every value is valid.
unsafe impl<T> Sync for HostMemory<T> {}

impl<T> HostMemory<T> {
    /// `T` consists of numbers.
    pub(super) fn new() -> Result<Self, Failure> {
        // Page-locked memory is aligned to a page; this does not rely on it.
        let room = size_of::<T>() + align_of::<T>();
        let mut bytes = driver::check_cust("cuMemAllocHost_v2", LockedBuffer::new(&0_u8, room))?;
        let start = bytes.as_mut_slice().as_mut_ptr();
        let at = start.wrapping_add(start.align_offset(align_of::<T>())).cast();
        Ok(Self { bytes, at })
    }

    /// Its address, on the host and on the device.
    pub(super) fn address(&self) -> *mut T {
        self.at
    }

    /// Frees the memory: with the context current, and no kernel running.
    pub(super) fn free(self) {
        drop(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn the_variable_is_found_by_its_name() {
        let text = "// warpwright_panic_report\n\
                    .global .align 8 .b8 _RN4simt23warpwright_panic_report[16] = {};\n\
                    ld.volatile.global.b64 %rd1, [_RN4simt23warpwright_panic_report];\n";
        let name = find(text, "warpwright_panic_report").unwrap();
        assert_eq!(name.to_str(), Ok("_RN4simt23warpwright_panic_report"));
        assert_eq!(find("// warpwright_panic_report\n.entry f() {}", "warpwright_panic_report"), None);
    }
}
