//! Sends a message with values to the host: see [`crate::report::value`].
//!
//! It reads `core::fmt::Arguments` by its layout, for which there is no interface: `warpwright-build` compares the
//! source of `core` with the one that this was written for.

use core::fmt::Arguments;

use super::opaque;
use crate::report::value::{COUNT, DYNAMIC, MARK, MESSAGE, STRING, UNKNOWN};

/// What `Arguments` is, if it is no literal: a template and the address of its first argument.
#[derive(Clone, Copy)]
#[repr(C)]
struct Words {
    template: *const u8,
    arguments: *const Argument,
}

/// An argument, or a width or precision, whose address is null.
#[derive(Clone, Copy)]
#[repr(C)]
struct Argument {
    value: *const u8,
    number: u64,
}

/// Host memory that is filled byte by byte.
struct Room {
    to: *mut u8,
    bytes: u32,
    filled: u32,
}

impl Room {
    #[inline(always)]
    fn push(&mut self, byte: u8) {
        if self.filled < self.bytes {
            // SAFETY: inside the room.
            unsafe { self.to.add(self.filled as usize).write_volatile(byte) };
            self.filled += 1;
        }
    }

    #[inline(always)]
    fn push_u16(&mut self, number: u16) {
        self.push(number as u8);
        self.push((number >> 8) as u8);
    }

    /// # Safety
    /// There are `bytes` bytes from `from` on.
    #[cold]
    #[inline(never)]
    unsafe fn copy(&mut self, from: *const u8, bytes: u32) {
        let (bytes, mut i) = (bytes.min(self.bytes - self.filled), 0);
        while i < bytes {
            // SAFETY: the caller's promise.
            self.push(unsafe { *from.add(i as usize) });
            // An unrolled loop would take 40 registers.
            i = opaque(i + 1);
        }
    }
}

/// Copies a text into `bytes` bytes of host memory and cuts it off where they end; the bytes that were copied.
///
/// # Safety
/// `to` has this room, and only this thread accesses it.
#[cold]
#[inline(never)]
pub(super) unsafe fn send_text(text: &str, to: *mut u8, bytes: u32) -> u32 {
    let mut room = Room { to, bytes, filled: 0 };
    // SAFETY: the text has this length.
    unsafe { room.copy(text.as_ptr(), text.len() as u32) };
    room.filled
}

/// Sends a message that is no literal; the bytes that were sent. Likewise cut off.
///
/// # Safety
/// As for [`send_text`].
#[cold]
#[inline(never)]
pub(super) unsafe fn send(message: Arguments<'_>, to: *mut u8, bytes: u32) -> u32 {
    let mut room = Room { to, bytes, filled: 0 };
    // SAFETY: `warpwright-build` sets the cfg only if `core` has this layout.
    let mut next: Option<Words> = Some(unsafe { core::mem::transmute::<Arguments<'_>, Words>(message) });
    let mut outer = true;
    while let Some(words) = next.take() {
        // SAFETY: the words are those of a message.
        let count = unsafe { send_template(&mut room, words.template) };
        for i in 0..count {
            // SAFETY: the template has this many arguments.
            let inner = unsafe { send_argument(&mut room, *words.arguments.add(i as usize)) };
            if outer && inner.is_some() {
                next = inner;
            }
        }
        outer = false;
    }
    room.filled
}

/// Sends a template; the number of its arguments.
///
/// # Safety
/// It is the template of a message.
#[cold]
#[inline(never)]
unsafe fn send_template(room: &mut Room, template: *const u8) -> u32 {
    let (mut at, mut count, mut argument) = (template, 0, 0);
    loop {
        // SAFETY: a template ends with a zero, which is not passed over.
        let byte = unsafe { *at };
        let follow = match byte {
            0 => 0,
            1..0x80 => u32::from(byte),
            // SAFETY: as above.
            0x80 => 2 + u32::from(unsafe { u16_at(at.add(1)) }),
            _ => {
                let mut follow = 4 * u32::from(byte & 1);
                for bit in [2, 4] {
                    if byte & bit != 0 {
                        if byte & bit << 3 != 0 {
                            // SAFETY: the first byte says that two bytes follow.
                            count = count.max(u32::from(unsafe { u16_at(at.add(1 + follow as usize)) }) + 1);
                        }
                        follow += 2;
                    }
                }
                if byte & 8 != 0 {
                    // SAFETY: as above.
                    argument = u32::from(unsafe { u16_at(at.add(1 + follow as usize)) });
                    follow += 2;
                }
                argument += 1;
                count = count.max(argument);
                follow
            }
        };
        // SAFETY: as above.
        unsafe { room.copy(at, 1 + follow) };
        if byte == 0 {
            return count;
        }
        // SAFETY: as above.
        at = unsafe { at.add(1 + follow as usize) };
    }
}

/// # Safety
/// There are two bytes.
#[inline(always)]
unsafe fn u16_at(at: *const u8) -> u16 {
    // SAFETY: the caller's promise.
    unsafe { at.cast::<u16>().read_unaligned() }
}

/// Sends a value; the message that it is, if it is one.
///
/// # Safety
/// It is an argument of a message.
#[cold]
#[inline(never)]
unsafe fn send_argument(room: &mut Room, argument: Argument) -> Option<Words> {
    let Argument { mut value, mut number } = argument;
    if value.is_null() {
        room.push_u16(COUNT);
        room.push_u16(number as u16);
        return None;
    }
    let size = loop {
        if number >> 32 != MARK || number as u16 == UNKNOWN {
            room.push_u16(UNKNOWN);
            return None;
        }
        for _ in 0..number >> 24 & 0xff {
            // SAFETY: the number says that the value is a reference.
            value = unsafe { *value.cast::<*const u8>() };
        }
        let size = number >> 16 & 0xff;
        if size != DYNAMIC {
            break size;
        }
        // SAFETY: the number says that the value is a trait object.
        (value, number) = unsafe {
            let [object, table] = *value.cast::<[*const u8; 2]>();
            (object, *table.cast::<u64>().add(3))
        };
    };
    room.push_u16(number as u16);
    if size == MESSAGE {
        // SAFETY: the number says so, and the layout is known.
        let message = unsafe { &*value.cast::<Arguments<'_>>() };
        let Some(literal) = message.as_str() else {
            room.push(1);
            // SAFETY: as in `send`.
            return Some(unsafe { core::mem::transmute::<Arguments<'_>, Words>(*message) });
        };
        room.push(0);
        // SAFETY: the text has this length.
        unsafe { send_string(room, literal.as_ptr(), literal.len()) };
    } else if size == STRING {
        // SAFETY: the number says that the value is a string.
        unsafe {
            let (text, bytes) = (*value.cast::<*const u8>(), *value.cast::<usize>().add(1));
            send_string(room, text, bytes);
        }
    } else {
        // SAFETY: the number says its size.
        unsafe { room.copy(value, size as u32) };
    }
    None
}

/// # Safety
/// The text has this length.
#[inline(always)]
unsafe fn send_string(room: &mut Room, text: *const u8, bytes: usize) {
    let bytes = bytes.min(0xffff) as u32;
    room.push_u16(bytes as u16);
    // SAFETY: the caller's promise.
    unsafe { room.copy(text, bytes) };
}
