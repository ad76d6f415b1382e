//! Lines of kernels, left by the test in place of a kernel.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use gpu::elementwise::add::add_f32;
use simt::report::print::{Buffer, Counters, SLOTS, Slot, TEXT_BYTES};
use simt::report::{KIND_TEXT, KIND_VALUES};

use super::{Character, add, device, mock, module, ptx};
use crate::Module;

/// The device's side of `println!`.
struct Kernel {
    buffer: *mut Buffer,
    counters: *mut Counters,
}

impl Kernel {
    /// Prints as `simt::ptx::print` does; the number of the line if there is a slot.
    fn print(&self, kind: u32, text: &[u8]) -> Option<u32> {
        // SAFETY: the host has reserved both, and uses them only while it waits for the device.
        let (buffer, counters) = unsafe { (&mut *self.buffer, &*self.counters) };
        if counters.taken.fetch_add(1, Ordering::Relaxed).wrapping_sub(buffer.read) >= SLOTS as u32 {
            counters.taken.fetch_sub(1, Ordering::Relaxed);
            counters.lost.fetch_add(1, Ordering::Relaxed);
            buffer.full = 1;
            return None;
        }
        let number = counters.next.fetch_add(1, Ordering::Relaxed);
        let (slot, sent) = (&mut buffer.slots[number as usize % SLOTS], text.len().min(TEXT_BYTES));
        slot.text[..sent].copy_from_slice(&text[..sent]);
        *slot = Slot { sequence: number + 1, kind, bytes: text.len() as u32, ..*slot };
        Some(number)
    }
}

#[test]
fn lines_are_printed_in_order_when_the_host_waits() {
    let device = device(mock::ordinal(Character::Printing));
    let lines = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&lines);
    device.on_print(move |line| kept.lock().unwrap().push(line.to_owned()));
    let printed = || std::mem::take(&mut *lines.lock().unwrap());

    let silent = module(&device);
    assert_eq!(mock::machine(mock::ordinal(Character::Printing)).lines, [0; 2], "a module without `println!`");
    let text = ptx(&[add_f32.info()]) + ".global .align 8 .b8 _RN4simt16warpwright_print[16] = {};\n";
    // SAFETY: the mock runs what the kernel computes.
    let modules = [(); 2].map(|()| unsafe { Module::from_ptx(&device, "prints", &text) }.unwrap());
    let [buffer, counters] = mock::machine(mock::ordinal(Character::Printing)).lines;
    let kernel = Kernel { buffer: buffer as *mut Buffer, counters: counters as *mut Counters };

    kernel.print(KIND_TEXT, b"first");
    kernel.print(KIND_VALUES, b"\x04n = \xc0\0\x05\0\x07\0\0\0");
    kernel.print(KIND_VALUES, b"");
    kernel.print(KIND_TEXT, &[b'x'; TEXT_BYTES + 1]);
    assert_eq!(printed(), [""; 0], "nobody has waited");
    let stream = device.default_stream();
    stream.synchronize().unwrap();
    let long = "x".repeat(TEXT_BYTES) + "…";
    assert_eq!(printed(), ["first", "n = 7", "a line with values, which were not sent", &long]);
    device.synchronize().unwrap();
    assert_eq!(printed(), [""; 0], "each line once");

    // A line that a running kernel has begun holds back those behind it.
    let unwritten = kernel.print(KIND_TEXT, b"begun").unwrap();
    // SAFETY: as in `print`.
    let sequence = unsafe { &raw mut (*kernel.buffer).slots[unwritten as usize % SLOTS].sequence };
    // SAFETY: as above.
    unsafe { sequence.write(0) };
    kernel.print(KIND_TEXT, b"behind");
    device.synchronize().unwrap();
    assert_eq!(printed(), [""; 0]);
    // SAFETY: as above.
    unsafe { sequence.write(unwritten + 1) };
    // A download waits, too.
    let x = device.upload(&[1.0_f32; 10]).unwrap();
    let mut y = device.alloc(10).unwrap();
    add(&stream, &modules[1], &x, &x, &mut y);
    add(&stream, &silent, &x, &x, &mut y);
    y.download().unwrap();
    assert_eq!(printed(), ["begun", "behind"]);

    // More than there is room for, around the end of the slots; then again.
    for _ in 0..2 {
        for i in 0..SLOTS + 3 {
            kernel.print(KIND_TEXT, i.to_string().as_bytes());
        }
        device.synchronize().unwrap();
        let mut expected: Vec<String> = (0..SLOTS).map(|i| i.to_string()).collect();
        expected
            .push("warpwright: 3 more lines of kernels were lost: a GPU keeps 2048 until the host waits for it".into());
        assert_eq!(printed(), expected);
    }
    kernel.print(KIND_TEXT, b"last");
    device.synchronize().unwrap();
    assert_eq!(printed(), ["last"]);
}
