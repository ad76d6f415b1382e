//! Numbers in place of the functions that format values.
//!
//! A message such as `panic!("n is {n}")` is compiled to a template, and for each value its address and the address of
//! a function that formats it. On a GPU that function is never called: the host formats the values (`simt::report`). A
//! number in place of its address says which type the value has and how it is written, and the function, with all of
//! `core::fmt` that it calls, is left out: a kernel that can reach a call through a pointer takes 48 registers or more,
//! and all 255 if one of the functions formats `f32`.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::kernels;

/// The upper half of each number, by which the device tells it from an address.
const MARK: u64 = 0x5752_4d54;

/// Type, its number, and its bytes in memory; from 0x20 on, what stands there in place of bytes (`simt::report`).
const TYPES: [(&str, u64, u64); 23] = [
    ("u8", 1, 1),
    ("i8", 2, 1),
    ("u16", 3, 2),
    ("i16", 4, 2),
    ("u32", 5, 4),
    ("i32", 6, 4),
    ("u64", 7, 8),
    ("i64", 8, 8),
    ("usize", 7, 8),
    ("isize", 8, 8),
    ("u128", 9, 16),
    ("i128", 10, 16),
    ("f32", 11, 4),
    ("f64", 12, 8),
    ("bool", 13, 1),
    ("char", 14, 4),
    ("half::binary16::f16", 15, 2),
    ("half::bfloat::bf16", 16, 2),
    ("&str", 17, 0x20),
    ("core::fmt::Arguments", 18, 0x21),
    ("&dyn core::fmt::Debug", 19, 0x22),
    ("&dyn core::fmt::Display", 19, 0x22),
    ("()", 20, 0),
];

/// The traits of `core::fmt`; the number of each is its place.
const STYLES: [&str; 8] = ["Display", "Debug", "LowerHex", "UpperHex", "Octal", "Binary", "LowerExp", "UpperExp"];

/// PTX with these numbers. Where a kernel still calls a function through a pointer, which may be one of these, the PTX
/// stays as it is; the device then tells the host of no value.
pub(crate) fn numbered(text: &str) -> Cow<'_, str> {
    let mut numbers = HashMap::new();
    for name in kernels::words(text).filter(|word| word.starts_with("_R")) {
        if !numbers.contains_key(name) {
            let number = number(&format!("{:#}", rustc_demangle::demangle(name)));
            numbers.insert(name, number);
        }
    }
    numbers.retain(|_, number| number.is_some());
    if numbers.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut header = false;
    for line in text.split_inclusive('\n') {
        header |= line.contains(".func ") || line.contains(".entry ");
        if header || line.trim_start().starts_with("call") {
            out.push_str(line);
            header &= !(line.starts_with('{') || line.trim_end().ends_with([';', '{']));
        } else {
            push_replaced(&mut out, line, &numbers);
        }
    }
    let calls_pointers = kernels::split(&out).values().any(|kernel| kernel.contains(".callprototype"));
    if calls_pointers { Cow::Borrowed(text) } else { Cow::Owned(out) }
}

/// Adds a line with numbers in place of the names.
fn push_replaced(out: &mut String, line: &str, numbers: &HashMap<&str, Option<u64>>) {
    let mut rest = line;
    for word in kernels::words(line) {
        if let Some(Some(number)) = numbers.get(word) {
            let at = word.as_ptr().addr() - rest.as_ptr().addr();
            out.push_str(&rest[..at]);
            out.push_str(&number.to_string());
            rest = &rest[at + word.len()..];
        }
    }
    out.push_str(rest);
}

/// The number of `<&u32 as core::fmt::LowerHex>::fmt`; of a type that the host does not know, the number without a
/// type. `None` for any other function.
fn number(name: &str) -> Option<u64> {
    let (ty, style) = name.strip_prefix('<')?.strip_suffix(">::fmt")?.rsplit_once(" as core::fmt::")?;
    let style = STYLES.iter().position(|known| *known == style).map(|at| at as u64);
    let known = |ty: &str| TYPES.iter().find(|(known, ..)| *known == ty).map(|(_, ty, size)| (*ty, *size));
    // A reference is formatted as what it points to.
    let (mut ty, mut references) = (ty, 0);
    let found = loop {
        match (known(ty), ty.strip_prefix('&')) {
            (Some(found), _) => break Some(found),
            (None, Some(target)) if references < 15 => {
                (ty, references) = (target.trim_start_matches("mut "), references + 1);
            }
            (None, _) => break None,
        }
    };
    let low = found.zip(style).map_or(0, |((ty, size), style)| references << 24 | size << 16 | style << 8 | ty);
    Some(MARK << 32 | low)
}

#[cfg(test)]
mod tests {
    use super::{number, numbered};

    #[test]
    fn a_number_says_type_size_style_and_references() {
        let low = |name: &str| number(name).map(|number| number & 0xffff_ffff);
        for (name, expected) in [
            ("<u32 as core::fmt::Display>::fmt", Some(0x0004_0005)),
            ("<&&f64 as core::fmt::Debug>::fmt", Some(0x0208_010c)),
            ("<&mut i8 as core::fmt::LowerHex>::fmt", Some(0x0101_0202)),
            ("<&str as core::fmt::Display>::fmt", Some(0x0020_0011)),
            ("<&&str as core::fmt::Display>::fmt", Some(0x0120_0011)),
            ("<&dyn core::fmt::Debug as core::fmt::Debug>::fmt", Some(0x0022_0113)),
            ("<core::fmt::Arguments as core::fmt::Display>::fmt", Some(0x0021_0012)),
            ("<demo::Point as core::fmt::Debug>::fmt", Some(0)),
            ("<*const u8 as core::fmt::Pointer>::fmt", Some(0)),
            ("<core::fmt::Formatter>::pad", None),
            ("core::fmt::write", None),
        ] {
            assert_eq!(low(name), expected, "{name}");
        }
        assert_eq!(number("<u32 as core::fmt::Display>::fmt").unwrap() >> 32, 0x5752_4d54);
    }

    const SYMBOL: &str = "_RNvXsi_NtNtNtCsdGTeb0q3mbZ_4core3fmt3num3impjNtB9_7Display3fmt";

    fn text(call: &str) -> String {
        format!(
            ".version 7.0\n.func {SYMBOL}\n(\n\t.param .b64 {SYMBOL}_param_0\n)\n;\n.global .align 8 .u64 table[4] = \
             {{0, 8, 8, {SYMBOL}}};\n.func {SYMBOL}(\n\t.param .b64 {SYMBOL}_param_0\n)\n{{\n\tld.param.b64 %rd1, \
             [{SYMBOL}_param_0];\n\tprototype_1 : .callprototype ()_ ();\n}}\n.visible .entry k()\n{{\n\tmov.b64 \
             \t%rd10, {SYMBOL};\n\tmov.b64 %rd11, table;\n{call}\tret;\n}}\n"
        )
    }

    #[test]
    fn addresses_become_numbers_and_the_functions_are_not_used() {
        let number = 0x5752_4d54_0008_0007_u64.to_string();
        let text = text("");
        let kernel = &crate::kernels::split(&numbered(&text))["k"];
        assert!(kernel.contains(&format!("mov.b64 \t%rd10, {number};")), "{kernel}");
        assert!(kernel.contains(&format!("{{0, 8, 8, {number}}};")), "{kernel}");
        assert!(!kernel.contains("_R"), "{kernel}");
    }

    #[test]
    fn kernels_that_call_through_pointers_stay_as_they_are() {
        for call in [&format!("\tcall.uni {SYMBOL}, (p);\n"), "\tprototype_2 : .callprototype ()_ ();\n"] {
            let text = text(call);
            assert_eq!(numbered(&text), text);
        }
    }
}
