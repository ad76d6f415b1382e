//! Sends messages by the code of the kernels and formats them by the code of the host, in one program for the host.
//! The layout of messages is that of the toolchain for kernels, which compiles it.

#![allow(dead_code)]

extern crate self as half;
extern crate self as simt;

use std::fmt::{self, Arguments, Binary, Debug, Display, Formatter, LowerExp, LowerHex, UpperHex};
use std::hint::black_box;
use std::mem::transmute;

#[path = "../../../simt/src/report.rs"]
pub mod report;

#[path = "../../../simt/src/ptx/message.rs"]
mod of_kernels;

#[path = "../../../host/src/cuda/message.rs"]
mod of_host;

fn opaque(x: u32) -> u32 {
    black_box(x)
}

/// Numbers of 16 bits, which this program has not.
#[allow(non_camel_case_types)]
pub struct f16;
#[allow(non_camel_case_types)]
pub struct bf16;

macro_rules! unused {
    ($($t:ty)*) => {$(
        impl $t {
            fn from_bits(_: u16) -> Self { Self }
            fn to_f32(self) -> f32 { 0.0 }
        }
    )*};
}
unused!(f16 bf16);

type Format = fn(*const (), &mut Formatter<'_>) -> fmt::Result;

/// The address of a function that formats, and its number.
macro_rules! numbers {
    ($($t:ty as $style:ident: $low:literal)*) => {
        [$((
            <$t as $style>::fmt as fn(&$t, &mut Formatter<'_>) -> fmt::Result as usize,
            0x5752_4d54_u64 << 32 | $low,
        )),*]
    };
}

/// Sends a message with `count` arguments after putting numbers in place of addresses, as `warpwright-build` does, and
/// formats it.
fn round_trip(message: Arguments<'_>, count: usize, room: usize) -> String {
    let numbers: Vec<(usize, u64)> = numbers! {
        u8 as Display: 0x0001_0001
        i32 as Display: 0x0004_0006
        i32 as Debug: 0x0004_0106
        i8 as LowerHex: 0x0001_0202
        u32 as UpperHex: 0x0004_0305
        u64 as Binary: 0x0008_0507
        u16 as Display: 0x0002_0003
        i16 as Debug: 0x0002_0104
        u32 as Display: 0x0004_0005
        u64 as Display: 0x0008_0007
        i64 as Display: 0x0008_0008
        i128 as Display: 0x0010_000a
        f64 as Display: 0x0008_000c
        u128 as Display: 0x0010_0009
        usize as Display: 0x0008_0007
        &'static u32 as Debug: 0x0104_0105
        f32 as Display: 0x0004_000b
        f32 as Debug: 0x0004_010b
        f64 as LowerExp: 0x0008_060c
        bool as Display: 0x0001_000d
        char as Debug: 0x0004_010e
        &'static str as Display: 0x0020_0011
        &'static &'static str as Debug: 0x0120_0111
        Arguments<'static> as Display: 0x0021_0012
    }
    .into();
    // SAFETY: the layout that `simt::ptx::message` relies on.
    let [template, arguments] = unsafe { transmute::<Arguments<'_>, [usize; 2]>(message) };
    let mut copied: Vec<[u64; 2]> = Vec::new();
    for i in 0..count {
        // SAFETY: the caller says how many there are.
        let [value, formatter] = unsafe { *(arguments as *const [u64; 2]).add(i) };
        let number = numbers.iter().find(|(address, _)| *address as u64 == formatter).map(|(_, number)| *number);
        copied.push([value, if value == 0 { formatter } else { number.unwrap_or(formatter) }]);
    }
    // SAFETY: as above; the copy lives until the end of the function.
    let message = unsafe { transmute::<[usize; 2], Arguments<'_>>([template, copied.as_ptr() as usize]) };
    let mut bytes = vec![0; room];
    // SAFETY: the room is this thread's.
    let sent = unsafe { of_kernels::send(message, bytes.as_mut_ptr(), room as u32) };
    of_host::text(&bytes[..sent as usize])
}

/// What arrives, and what `format!` gives.
macro_rules! check {
    ($count:literal: $($message:tt)*) => {{
        let (found, expected) = (round_trip(format_args!($($message)*), $count, 640), format!($($message)*));
        assert_eq!(found, expected, "{}", stringify!($($message)*));
    }};
}

fn main() {
    let (n, i, x, y) = (black_box(7_u8), black_box(-7_i32), black_box(1.25_f32), black_box(1234.5_f64));
    let (small, word, long, wide) = (black_box(-1_i8), black_box(0xabc_u32), black_box(5_u64), black_box(u128::MAX));
    let (text, size, yes, letter) = (black_box("ab\"c"), black_box(9_usize), black_box(true), black_box('ß'));
    check!(1: "n = {n}");
    check!(3: "{i} and {n}, {i:?}", i = i, n = n);
    check!(1: "{n:>5}|");
    check!(1: "{n:<5}|{n:^5}|{n:*^7}|{n:05}|{n:+}");
    check!(2: "{small:x} {word:#X}");
    check!(2: "{long:#010b} {wide}");
    check!(2: "{x} {y:e}");
    check!(1: "{x:.1} {x:8.3} {x:+08.2} {x:-^9.0}");
    check!(2: "{x:5.2} {y:5.2} {y:12.4} {y}");
    check!(3: "{:>9}|{:<9}|{:x}", black_box(40_000_u16), black_box(-30_000_i64), black_box(-5_i8));
    check!(3: "{} {:?} {}", black_box(u32::MAX), black_box(i16::MIN), black_box(i128::MIN));
    check!(2: "{:5} {:?}", black_box(u64::MAX), letter);
    check!(2: "{x:.size$}");
    check!(2: "{n:size$}|");
    check!(2: "{yes} {letter:?}");
    check!(1: "{text} {text:>8} {text:.2}");
    check!(1: "{:?}", &text);
    check!(1: "{:?}", &word);
    check!(1: "{}{{}}", n);
    // A piece of more than 127 bytes, and arguments by place.
    check!(2: "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\
               0123456789012345678901234567890123456789 {1} {0} {1}", n, i);
    // A type that has no number, and a message without room.
    assert_eq!(round_trip(format_args!("{:?} {n}", Some(n)), 2, 640), "… 7");
    assert_eq!(round_trip(format_args!("{n} and more"), 1, 6), "……");
    println!("passed");
}
