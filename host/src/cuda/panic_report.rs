//! Reports of panics: host memory that kernels write before they end with a trap. `simt::report` has the layout.

use std::ffi::CString;
use std::sync::OnceLock;

use cust::sys;
use simt::report::{FILE_BYTES, KIND_READ, KIND_TEXT, KIND_VALUES, KIND_WRITE, Report, TEXT_BYTES, WRITTEN};

use super::driver::Failure;
use super::message;
use super::module_variable::{self, HostMemory};
use crate::error::KernelPanic;

/// The report of a device, which all its modules share: the first panic ends the context. Unused by modules whose
/// kernels have no panic.
#[derive(Default)]
pub(super) struct PanicReport(OnceLock<HostMemory<Report>>);

impl PanicReport {
    /// Gives `variable` of a module the address of the report, whose memory the first module with panics allocates.
    pub(super) fn connect(&self, module: sys::CUmodule, variable: &CString) -> Result<(), Failure> {
        if self.0.get().is_none() {
            // Another thread may be first; then this memory is freed.
            let _ = self.0.set(HostMemory::new()?);
        }
        let Some(memory) = self.0.get() else { return Ok(()) };
        module_variable::set(module, variable, [memory.address().expose_provenance() as u64])
    }

    /// What a kernel has reported, if one has.
    pub(super) fn read(&self) -> Option<KernelPanic> {
        let at = self.0.get()?.address();
        // SAFETY: the memory has room for a report, and every value of its bytes is valid. Kernels write `state` last.
        let report = unsafe {
            if (&raw const (*at).state).read_volatile() != WRITTEN {
                return None;
            }
            at.read_volatile()
        };
        Some(decode(&report))
    }

    /// Frees the memory: with the context current, and no kernel running.
    pub(super) fn free(&mut self) {
        if let Some(memory) = self.0.take() {
            memory.free();
        }
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
        (KIND_VALUES, _) if report.text_bytes == 0 => "a message with values, which were not sent".to_owned(),
        (KIND_VALUES, _) => message::text(&report.text[..(report.text_bytes as usize).min(TEXT_BYTES)]),
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
        let values = message(&|report| {
            let sent = b"\x04n = \xc0\0\x05\0\x07\0\0\0";
            (report.kind, report.text_bytes) = (KIND_VALUES, sent.len() as u32);
            report.text[..sent.len()].copy_from_slice(sent);
        });
        assert_eq!(values, "n = 7");
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
