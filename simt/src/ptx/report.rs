//! Writes a report of a panic: see [`crate::report`].

use core::cell::UnsafeCell;
use core::fmt::Arguments;
use core::panic::{Location, PanicInfo, PanicMessage};
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};

use super::message::{self, send_text};
use crate::report::{FILE_BYTES, KIND_READ, KIND_TEXT, KIND_VALUES, KIND_WRITE, Report, TEXT_BYTES, WRITTEN};
use crate::thread;

/// Where the report is, and who writes it.
#[repr(C)]
struct Variable {
    /// Address in host memory, set by the host; 0 for none.
    address: UnsafeCell<u64>,
    /// 0, then [`WRITING`], then [`DONE`].
    state: AtomicU32,
}

// SAFETY: the device only reads the address.
unsafe impl Sync for Variable {}

/// One thread writes the report.
const WRITING: u32 = 1;
/// It is written.
const DONE: u32 = 2;

#[allow(non_upper_case_globals, reason = "the host looks for this name in the PTX")]
static warpwright_panic_report: Variable = Variable { address: UnsafeCell::new(0), state: AtomicU32::new(0) };

/// Begins a report. The first thread of the module gets it; every other ends with the kernel. Out of line, as all of
/// this, so that a kernel pays for a call only.
#[cold]
#[inline(never)]
fn begin(location: &Location<'_>, kind: u32) -> *mut Report {
    let variable = &warpwright_panic_report;
    // SAFETY: nobody writes it while a kernel runs; volatile because the host does before.
    let address = unsafe { ptr::read_volatile(variable.address.get()) };
    if address == 0 {
        trap();
    }
    if variable.state.compare_exchange(0, WRITING, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        // A trap ends the whole grid: not before the report is written.
        while variable.state.load(Ordering::Acquire) != DONE {
            thread::nanosleep(1000);
        }
        trap();
    }
    let report = ptr::with_exposed_provenance_mut::<Report>(address as usize);
    let (block, thread) = (thread::block_idx(), thread::thread_idx());
    // SAFETY: the host has reserved a `Report` there, which only this thread writes.
    unsafe {
        (&raw mut (*report).kind).write_volatile(kind);
        (&raw mut (*report).line).write_volatile(location.line());
        (&raw mut (*report).column).write_volatile(location.column());
        (&raw mut (*report).block).write_volatile([block.x, block.y, block.z]);
        (&raw mut (*report).thread).write_volatile([thread.x, thread.y, thread.z]);
        let bytes = send_text(location.file(), (&raw mut (*report).file).cast(), FILE_BYTES as u32);
        (&raw mut (*report).file_bytes).write_volatile(bytes);
    }
    report
}

/// Ends a report and the kernel.
///
/// # Safety
/// `report` is from [`begin`].
#[cold]
#[inline(never)]
unsafe fn end(report: *mut Report) -> ! {
    thread::system_fence();
    // SAFETY: the caller's promise.
    unsafe { (&raw mut (*report).state).write_volatile(WRITTEN) };
    thread::system_fence();
    warpwright_panic_report.state.store(DONE, Ordering::Release);
    trap()
}

fn trap() -> ! {
    // SAFETY: ends the kernel.
    unsafe { core::arch::nvptx::trap() }
}

/// The message, for which there is no interface.
fn arguments<'a>(info: &PanicInfo<'a>) -> Arguments<'a> {
    // SAFETY: with `warpwright_values` this is what the message is.
    unsafe { *core::mem::transmute::<PanicMessage<'_>, &Arguments<'a>>(info.message()) }
}

/// Handles a panic.
pub(super) fn panic(info: &PanicInfo<'_>) -> ! {
    let here = Location::caller();
    let report = begin(info.location().unwrap_or(here), KIND_TEXT);
    // SAFETY: the report is this thread's.
    unsafe {
        let text = (&raw mut (*report).text).cast();
        let bytes = match info.message().as_str() {
            Some(literal) => message::send_text(literal, text, TEXT_BYTES as u32),
            None => {
                (&raw mut (*report).kind).write_volatile(KIND_VALUES);
                // A message of `core` that this was not written for is not read.
                if cfg!(warpwright_values) { message::send(arguments(info), text, TEXT_BYTES as u32) } else { 0 }
            }
        };
        (&raw mut (*report).text_bytes).write_volatile(bytes);
        end(report)
    }
}

/// Handles an access outside a view.
#[inline(always)]
#[track_caller]
pub(super) fn outside<const D: usize>(write: bool, index: [u64; D], extent: [u64; D]) -> ! {
    let at = |numbers: [u64; D], i: usize| if i < D { numbers[i] } else { 0 };
    outside_at(Location::caller(), write, D as u32, at(index, 0), at(index, 1), at(extent, 0), at(extent, 1))
}

/// [`outside`], out of line. Scalars, because an array would be passed in local memory.
#[cold]
#[inline(never)]
fn outside_at(
    location: &Location<'_>,
    write: bool,
    dimensions: u32,
    index0: u64,
    index1: u64,
    extent0: u64,
    extent1: u64,
) -> ! {
    let report = begin(location, if write { KIND_WRITE } else { KIND_READ });
    // SAFETY: the report is this thread's.
    unsafe {
        (&raw mut (*report).dimensions).write_volatile(dimensions);
        (&raw mut (*report).index).write_volatile([index0, index1]);
        (&raw mut (*report).extent).write_volatile([extent0, extent1]);
        end(report)
    }
}
