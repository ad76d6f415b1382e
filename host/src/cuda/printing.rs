//! Lines that kernels print: host memory in which they leave them. `simt::report::print` has the layout.

use std::ffi::CString;
use std::sync::atomic::{Ordering, fence};
use std::sync::{Mutex, OnceLock, PoisonError};

use cust::sys;
use simt::report::print::{Buffer, Counters, SLOTS, Slot, TEXT_BYTES};
use simt::report::{KIND_TEXT, KIND_VALUES};

use super::driver::{self, Failure};
use super::message;
use super::module_variable::{self, HostMemory};
use crate::printer::Printer;

/// The lines of a device, which all its modules share. Unused by modules whose kernels print nothing.
#[derive(Default)]
pub(super) struct Lines {
    memory: OnceLock<Memory>,
    printer: Printer,
}

struct Memory {
    buffer: HostMemory<Buffer>,
    /// The address of [`Counters`] in device memory.
    counters: sys::CUdeviceptr,
    seen: Mutex<Seen>,
}

/// Lines that the host has read, and lost ones that it has told of.
#[derive(Default)]
struct Seen {
    read: u32,
    lost: u32,
}

impl Lines {
    pub(super) fn printer(&self) -> &Printer {
        &self.printer
    }

    /// Gives `variable` of a module the addresses of buffer and counters, which the first module that prints allocates.
    pub(super) fn connect(&self, module: sys::CUmodule, variable: &CString) -> Result<(), Failure> {
        if self.memory.get().is_none() {
            // Another thread may be first; then this memory is of no use.
            if let Err(second) = self.memory.set(Memory::new()?) {
                second.free();
            }
        }
        let Some(memory) = self.memory.get() else { return Ok(()) };
        let buffer = memory.buffer.address().expose_provenance() as u64;
        module_variable::set(module, variable, [buffer, memory.counters])
    }

    /// Prints what kernels have left: with the context current.
    pub(super) fn print(&self) {
        let Some(memory) = self.memory.get() else { return };
        // The lock is not held while lines are printed: the program's own code may do that.
        let (lines, lost) = memory.take();
        for line in lines {
            self.printer.print(&line);
        }
        if lost > 0 {
            let (verb, lines) = if lost == 1 { ("was", "line") } else { ("were", "lines") };
            self.printer.print(&format!(
                "warpwright: {lost} more {lines} of kernels {verb} lost: a GPU keeps {SLOTS} until the host waits for \
                 it"
            ));
        }
    }

    /// Frees the memory: with the context current, and no kernel running.
    pub(super) fn free(&mut self) {
        if let Some(memory) = self.memory.take() {
            memory.free();
        }
    }

    /// Never frees the memory: without its context the driver does not.
    pub(super) fn leak(&mut self) {
        std::mem::forget(self.memory.take());
    }
}

impl Memory {
    fn new() -> Result<Self, Failure> {
        let (buffer, zeros) = (HostMemory::new()?, Counters::default());
        let mut counters = 0;
        // SAFETY: the result is writable.
        driver::check("cuMemAlloc_v2", unsafe { sys::cuMemAlloc_v2(&raw mut counters, size_of::<Counters>()) })?;
        let memory = Self { buffer, counters, seen: Mutex::default() };
        // SAFETY: there is room for the counters.
        let cleared = driver::check("cuMemcpyHtoD_v2", unsafe {
            sys::cuMemcpyHtoD_v2(counters, (&raw const zeros).cast(), size_of::<Counters>())
        });
        match cleared {
            Ok(()) => Ok(memory),
            Err(failure) => {
                memory.free();
                Err(failure)
            }
        }
    }

    fn free(self) {
        // SAFETY: freed once, here. There is no handling of a failure.
        let _ = unsafe { sys::cuMemFree_v2(self.counters) };
        self.buffer.free();
    }

    /// The lines that are complete, in order, and how many have been lost since the last call.
    fn take(&self) -> (Vec<String>, u32) {
        let (mut seen, buffer) = (self.seen.lock().unwrap_or_else(PoisonError::into_inner), self.buffer.address());
        let mut lines = Vec::new();
        // At most as many as there are slots, while kernels print on.
        for _ in 0..SLOTS {
            // SAFETY: the memory is a buffer, and every value of its bytes is valid. Kernels write `sequence` last.
            let slot = unsafe {
                let slot = (&raw const (*buffer).slots).cast::<Slot>().add(seen.read as usize % SLOTS);
                if (&raw const (*slot).sequence).read_volatile() != seen.read.wrapping_add(1) {
                    break;
                }
                fence(Ordering::Acquire);
                slot.read_volatile()
            };
            seen.read = seen.read.wrapping_add(1);
            lines.push(line(&slot));
        }
        fence(Ordering::Release);
        // SAFETY: as above; kernels read this number, and write 1 to `full`.
        let full = unsafe {
            (&raw mut (*buffer).read).write_volatile(seen.read);
            let full = &raw mut (*buffer).full;
            full.read_volatile() != 0 && {
                full.write_volatile(0);
                true
            }
        };
        (lines, if full { self.lost(&mut seen) } else { 0 })
    }

    /// Lines that have been lost since the last call. After a failure of a kernel nobody knows.
    fn lost(&self, seen: &mut Seen) -> u32 {
        let mut counters = Counters::default();
        // SAFETY: both sides have this size.
        let read = driver::check("cuMemcpyDtoH_v2", unsafe {
            sys::cuMemcpyDtoH_v2((&raw mut counters).cast(), self.counters, size_of::<Counters>())
        });
        let before = seen.lost;
        seen.lost = read.map_or(before, |()| counters.lost.into_inner());
        seen.lost.wrapping_sub(before)
    }
}

/// A line for people.
fn line(slot: &Slot) -> String {
    let bytes = slot.bytes as usize;
    let sent = &slot.text[..bytes.min(TEXT_BYTES)];
    match slot.kind {
        KIND_TEXT if bytes > TEXT_BYTES => String::from_utf8_lossy(sent).into_owned() + message::MISSING,
        KIND_TEXT => String::from_utf8_lossy(sent).into_owned(),
        KIND_VALUES if bytes == 0 => "a line with values, which were not sent".to_owned(),
        _ => message::text(sent),
    }
}
