//! Reports of panics: host memory that kernels write before they end with a trap. `simt::report` has the layout.

use std::ffi::CString;
use std::sync::OnceLock;

use cust::memory::LockedBuffer;
use cust::sys;
use simt::report::{FILE_BYTES, KIND_READ, KIND_TEXT, KIND_WRITE, Report, TEXT_BYTES, VARIABLE, WRITTEN};

use super::driver::{self, Failure};
use crate::error::KernelPanic;

/// The report of a device, which all its modules share: the first panic ends the context. Unused by modules whose
/// kernels have no panic.
#[derive(Default)]
pub(super) struct PanicReport(OnceLock<Memory>);

/// Page-locked bytes with the address of a [`Report`]; the device has the same address for them.
struct Memory {
    bytes: LockedBuffer<u8>,
    report: *mut Report,
}

// SAFETY: owned host memory; the driver frees it from any thread.
unsafe impl Send for Memory {}
// SAFETY: accesses are volatile, of numbers whose every value is valid.
unsafe impl Sync for Memory {}

/// The variable of PTX that has panics: the first name in a `.global` line that contains [`VARIABLE`].
pub(super) fn variable(text: &str) -> Option<CString> {
    let mut lines = text.lines().filter(|line| line.contains(VARIABLE) && line.contains(".global"));
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let name = lines.next()?.split(|c| !is_part(c)).find(|word| word.contains(VARIABLE))?;
    CString::new(name).ok()
}

impl PanicReport {
    /// Gives `variable` of a module the address of the report.
    pub(super) fn connect(&self, module: sys::CUmodule, variable: &CString) -> Result<(), Failure> {
        let report = self.memory()?.report;
        let (mut at, mut bytes) = (0, 0);
        // SAFETY: the results are writable, the module is loaded, and the name ends with a zero.
        driver::check("cuModuleGetGlobal_v2", unsafe {
            sys::cuModuleGetGlobal_v2(&raw mut at, &raw mut bytes, module, variable.as_ptr())
        })?;
        let address = report.expose_provenance() as u64;
        if bytes < size_of_val(&address) {
            // A variable of another layout is left alone: its kernels trap without a report.
            return Ok(());
        }
        // SAFETY: the variable has room for the address.
        driver::check("cuMemcpyHtoD_v2", unsafe {
            sys::cuMemcpyHtoD_v2(at, (&raw const address).cast(), size_of_val(&address))
        })
    }

    /// The memory, allocated by the first module with panics.
    fn memory(&self) -> Result<&Memory, Failure> {
        if let Some(memory) = self.0.get() {
            return Ok(memory);
        }
        // Page-locked memory is aligned to a page; this does not rely on it.
        let room = size_of::<Report>() + align_of::<Report>();
        let mut bytes = driver::check_cust("cuMemAllocHost_v2", LockedBuffer::new(&0_u8, room))?;
        let start = bytes.as_mut_slice().as_mut_ptr();
        let report = start.wrapping_add(start.align_offset(align_of::<Report>())).cast();
        // Another thread may have been first; then this memory is freed.
        Ok(self.0.get_or_init(|| Memory { bytes, report }))
    }

    /// What a kernel has reported, if one has.
    pub(super) fn read(&self) -> Option<KernelPanic> {
        let memory = self.0.get()?;
        // SAFETY: the memory has room for a report, and every value of its bytes is valid. Kernels write `state` last.
        let report = unsafe {
            if (&raw const (*memory.report).state).read_volatile() != WRITTEN {
                return None;
            }
            memory.report.read_volatile()
        };
        Some(decode(&report))
    }

    /// Frees the memory: with the context current, and no kernel running.
    pub(super) fn free(&mut self) {
        drop(self.0.take().map(|memory| memory.bytes));
    }

    /// Never frees the memory: without its context the driver does not.
    pub(super) fn leak(&mut self) {
        std::mem::forget(self.0.take());
    }
}

/// A report for people.
fn decode(report: &Report) -> KernelPanic {
    let text =
        |bytes: &[u8], len: u32, most: usize| String::from_utf8_lossy(&bytes[..(len as usize).min(most)]).into_owned();
    let ([i, j], [m, n]) = (report.index, report.extent);
    let access = if report.kind == KIND_WRITE { "write" } else { "read" };
    let message = match (report.kind, report.dimensions) {
        (KIND_TEXT, _) => text(&report.text, report.text_bytes, TEXT_BYTES),
        (KIND_READ | KIND_WRITE, 1) => format!("{access} of element {i} of {m}"),
        (KIND_READ | KIND_WRITE, 2) => format!("{access} of element ({i}, {j}) of {m} × {n}"),
        (KIND_READ | KIND_WRITE, _) => format!("{access} outside a view"),
        _ => "a message of an unknown kind".to_owned(),
    };
    let file = text(&report.file, report.file_bytes, FILE_BYTES);
    // Without `-Zlocation-detail` the compiler leaves lines and files out.
    let place = (report.line != 0).then_some((file, report.line, report.column));
    KernelPanic { message, place, block: report.block, thread: report.thread }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn report() -> Report {
        let mut report = Report {
            state: WRITTEN,
            kind: KIND_TEXT,
            line: 12,
            column: 9,
            block: [3, 0, 1],
            thread: [31, 2, 0],
            file_bytes: 6,
            text_bytes: 5,
            dimensions: 0,
            unused: 0,
            index: [7, 8],
            extent: [5, 6],
            file: [0; FILE_BYTES],
            text: [0; TEXT_BYTES],
        };
        report.file[..6].copy_from_slice(b"lib.rs");
        report.text[..5].copy_from_slice(b"n > 0");
        report
    }

    #[test]
    fn the_variable_is_found_by_its_name() {
        let text = "// warpwright_panic_report\n\
                    .global .align 8 .b8 _RN4simt23warpwright_panic_report[16] = {};\n\
                    ld.volatile.global.b64 %rd1, [_RN4simt23warpwright_panic_report];\n";
        assert_eq!(variable(text).unwrap().to_str(), Ok("_RN4simt23warpwright_panic_report"));
        assert_eq!(variable("// warpwright_panic_report\n.entry f() {}"), None);
    }

    #[test]
    fn every_kind_of_report_has_a_text() {
        let message = |change: &dyn Fn(&mut Report)| {
            let mut report = report();
            change(&mut report);
            decode(&report).message
        };
        assert_eq!(message(&|_| ()), "n > 0");
        assert_eq!(message(&|report| (report.kind, report.dimensions) = (KIND_READ, 1)), "read of element 7 of 5");
        let two = message(&|report| (report.kind, report.dimensions) = (KIND_WRITE, 2));
        assert_eq!(two, "write of element (7, 8) of 5 × 6");
        // What no kernel writes, and memory that was overwritten, must not fail either.
        message(&|report| (report.kind, report.dimensions) = (KIND_WRITE, 77));
        message(&|report| report.kind = 99);
        let long = message(&|report| report.text_bytes = u32::MAX);
        assert_eq!(long.len(), TEXT_BYTES);
    }

    #[test]
    fn a_report_without_lines_has_no_place() {
        let mut report = report();
        report.line = 0;
        assert_eq!(
            decode(&report).to_string(),
            "a kernel panicked in block (3, 0, 1), thread (31, 2, 0): n > 0 (the PTX was compiled without lines)"
        );
    }
}
