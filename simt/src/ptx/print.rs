//! Leaves lines for the host: see [`crate::report::print`].

use core::cell::UnsafeCell;
use core::fmt::Arguments;
use core::ptr;
use core::sync::atomic::Ordering;

use super::message;
use crate::report::print::{Buffer, Counters, SLOTS, TEXT_BYTES};
use crate::report::{KIND_TEXT, KIND_VALUES};
use crate::thread;

/// The addresses of a [`Buffer`] and of [`Counters`], set by the host; 0 for none.
#[repr(C)]
struct Variable(UnsafeCell<[u64; 2]>);

// SAFETY: the device only reads it.
unsafe impl Sync for Variable {}

#[allow(non_upper_case_globals, reason = "the host looks for this name in the PTX")]
static warpwright_print: Variable = Variable(UnsafeCell::new([0; 2]));

/// Out of line, so that a kernel pays for a call only.
#[cold]
#[inline(never)]
pub(crate) fn line(message: Arguments<'_>) {
    // SAFETY: nobody writes it while a kernel runs; volatile because the host does before.
    let [buffer, counters] = unsafe { ptr::read_volatile(warpwright_print.0.get()) };
    if buffer == 0 {
        return;
    }
    let buffer = ptr::with_exposed_provenance_mut::<Buffer>(buffer as usize);
    // SAFETY: the host has reserved counters there, which only kernels access while they run.
    let counters = unsafe { &*ptr::with_exposed_provenance::<Counters>(counters as usize) };
    // Before the next line: `taken` is at least as large then.
    // SAFETY: the host has reserved a buffer there.
    let read = unsafe { (&raw const (*buffer).read).read_volatile() };
    if counters.taken.fetch_add(1, Ordering::Relaxed).wrapping_sub(read) >= SLOTS as u32 {
        counters.taken.fetch_sub(1, Ordering::Relaxed);
        counters.lost.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above; every writer writes the same.
        unsafe { (&raw mut (*buffer).full).write_volatile(1) };
        return;
    }
    let number = counters.next.fetch_add(1, Ordering::Relaxed);
    // The host has read what was in the slot before.
    thread::system_fence();
    // SAFETY: the slot is this thread's until the host has read it.
    unsafe {
        let slot = (&raw mut (*buffer).slots).cast::<crate::report::print::Slot>().add(number as usize % SLOTS);
        let text = (&raw mut (*slot).text).cast();
        let (kind, bytes) = match message.as_str() {
            // The host sees by the length what has no room.
            Some(literal) => {
                message::send_text(literal, text, TEXT_BYTES as u32);
                (KIND_TEXT, literal.len() as u32)
            }
            // A message of `core` that this was not written for is not read.
            None if cfg!(warpwright_values) => (KIND_VALUES, message::send(message, text, TEXT_BYTES as u32)),
            None => (KIND_VALUES, 0),
        };
        (&raw mut (*slot).kind).write_volatile(kind);
        (&raw mut (*slot).bytes).write_volatile(bytes);
        thread::system_fence();
        (&raw mut (*slot).sequence).write_volatile(number.wrapping_add(1));
    }
}
