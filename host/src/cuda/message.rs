//! Messages that kernels send as a template and values (`simt::report::value`), formatted as `format!` does.

use half::{bf16, f16};
use simt::report::value::{COUNT, UNKNOWN};

/// In place of what the message lacks: a value of a type that the host does not know, or what had no room.
pub(super) const MISSING: &str = "…";

/// The text of a message; never fails, whatever the bytes are.
pub(super) fn text(bytes: &[u8]) -> String {
    message(&mut Reader(bytes), true)
}

fn message(reader: &mut Reader<'_>, outer: bool) -> String {
    let template = Template::read(reader);
    let mut values: Vec<Value<'_>> = (0..template.arguments).map_while(|_| Value::read(reader)).collect();
    if let Some(within) = values.iter_mut().find(|value| matches!(value, Value::Message))
        && outer
    {
        *within = Value::Text(0, message(reader, false).into());
    }
    let mut out = String::new();
    for part in &template.parts {
        match part {
            Part::Literal(text) => out += &String::from_utf8_lossy(text),
            Part::Placeholder(placeholder) => out += &placeholder.text(&values),
        }
    }
    if !template.complete {
        out += MISSING;
    }
    out
}

/// Bytes not yet read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    /// The next `N` bytes.
    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn number(&mut self) -> Option<u16> {
        self.bytes().map(u16::from_le_bytes)
    }

    /// A text with its length; what there is of it.
    fn text(&mut self) -> Option<String> {
        let bytes = usize::from(self.number()?);
        let there = self.take(bytes.min(self.0.len()))?;
        let text = String::from_utf8_lossy(there).into_owned();
        Some(if there.len() < bytes { text + MISSING } else { text })
    }
}

/// A template: the comment on `core::fmt::Arguments` describes its bytes.
struct Template<'a> {
    parts: Vec<Part<'a>>,
    arguments: usize,
    complete: bool,
}

enum Part<'a> {
    Literal(&'a [u8]),
    Placeholder(Placeholder),
}

/// `{:>+8.3}`.
struct Placeholder {
    argument: usize,
    /// The bits of `core::fmt::FormattingOptions`.
    flags: u32,
    width: Size,
    precision: Size,
}

#[derive(Clone, Copy)]
enum Size {
    Number(u16),
    Argument(usize),
}

impl<'a> Template<'a> {
    fn read(reader: &mut Reader<'a>) -> Self {
        let mut template = Self { parts: Vec::new(), arguments: 0, complete: false };
        while let Some([first]) = reader.bytes() {
            let part = match first {
                0 => {
                    template.complete = true;
                    break;
                }
                1..0x80 => reader.take(first.into()).map(Part::Literal),
                0x80 => reader.number().and_then(|bytes| reader.take(bytes.into())).map(Part::Literal),
                _ => template.placeholder(first, reader).map(Part::Placeholder),
            };
            let Some(part) = part else { break };
            template.parts.push(part);
        }
        template
    }

    fn placeholder(&mut self, first: u8, reader: &mut Reader<'_>) -> Option<Placeholder> {
        /// A blank as the fill, no alignment.
        const DEFAULT: u32 = 0x6000_0020;
        let has = |bit: u8| first & bit != 0;
        let last = self.parts.iter().rev().find_map(|part| match part {
            Part::Literal(_) => None,
            Part::Placeholder(placeholder) => Some(placeholder.argument),
        });
        let flags = if has(1) { u32::from_le_bytes(reader.bytes()?) } else { DEFAULT };
        let mut size = |present: u8, from_argument: u8| {
            let number = if has(present) { reader.number()? } else { 0 };
            Some(if has(from_argument) { Size::Argument(number.into()) } else { Size::Number(number) })
        };
        let (width, precision) = (size(2, 16)?, size(4, 32)?);
        let argument = if has(8) { reader.number()?.into() } else { last.map_or(0, |last| last + 1) };
        for used in [Size::Argument(argument), width, precision] {
            if let Size::Argument(at) = used {
                self.arguments = self.arguments.max(at + 1);
            }
        }
        Some(Placeholder { argument, flags, width, precision })
    }
}

/// An argument.
enum Value<'a> {
    Unknown,
    Count(u16),
    /// A message, whose bytes follow later.
    Message,
    Text(u16, std::borrow::Cow<'a, str>),
    /// Style, type and bytes of something else.
    Plain(u16, u16, [u8; 16]),
}

impl Value<'_> {
    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let number = reader.number()?;
        let (style, ty) = (number >> 8, number & 0xff);
        Some(match (number, ty) {
            (UNKNOWN, _) => Self::Unknown,
            (COUNT, _) => Self::Count(reader.number()?),
            (_, 17) => Self::Text(style, reader.text()?.into()),
            (_, 18) if reader.bytes()? == [0] => Self::Text(0, reader.text()?.into()),
            (_, 18) => Self::Message,
            _ => {
                let size = match ty {
                    1 | 2 | 13 => 1,
                    3 | 4 | 15 | 16 => 2,
                    5 | 6 | 11 | 14 => 4,
                    7 | 8 | 12 => 8,
                    9 | 10 => 16,
                    20 => 0,
                    // Of an unknown size: so are the values behind it.
                    _ => return None,
                };
                let mut bytes = [0; 16];
                bytes[..size].copy_from_slice(reader.take(size)?);
                Self::Plain(style, ty, bytes)
            }
        })
    }
}

/// What a placeholder says.
#[derive(Clone, Copy)]
struct Options {
    plus: bool,
    alternate: bool,
    /// Width, if zeros are to fill it.
    zeros: Option<usize>,
    precision: Option<usize>,
}

/// `format!` with the options and `$kind`: `x`, `?`, `e` …
macro_rules! formatted {
    ($options:expr, $value:expr, $kind:literal) => {{
        let Options { plus, alternate, zeros, precision } = $options;
        let (value, width, places) = ($value, zeros.unwrap_or(0), precision.unwrap_or(0));
        match (plus, alternate, zeros.is_some(), precision.is_some()) {
            (false, false, false, false) => format!(concat!("{:", $kind, "}"), value),
            (false, false, false, true) => format!(concat!("{:.1$", $kind, "}"), value, places),
            (false, false, true, false) => format!(concat!("{:01$", $kind, "}"), value, width),
            (false, false, true, true) => format!(concat!("{:01$.2$", $kind, "}"), value, width, places),
            (false, true, false, false) => format!(concat!("{:#", $kind, "}"), value),
            (false, true, false, true) => format!(concat!("{:#.1$", $kind, "}"), value, places),
            (false, true, true, false) => format!(concat!("{:#01$", $kind, "}"), value, width),
            (false, true, true, true) => format!(concat!("{:#01$.2$", $kind, "}"), value, width, places),
            (true, false, false, false) => format!(concat!("{:+", $kind, "}"), value),
            (true, false, false, true) => format!(concat!("{:+.1$", $kind, "}"), value, places),
            (true, false, true, false) => format!(concat!("{:+01$", $kind, "}"), value, width),
            (true, false, true, true) => format!(concat!("{:+01$.2$", $kind, "}"), value, width, places),
            (true, true, false, false) => format!(concat!("{:+#", $kind, "}"), value),
            (true, true, false, true) => format!(concat!("{:+#.1$", $kind, "}"), value, places),
            (true, true, true, false) => format!(concat!("{:+#01$", $kind, "}"), value, width),
            (true, true, true, true) => format!(concat!("{:+#01$.2$", $kind, "}"), value, width, places),
        }
    }};
}

/// The styles, in the order of `STYLES` in warpwright-build's `formatters.rs`, as the types; 0 is `Display`.
mod style {
    pub(super) const DEBUG: u16 = 1;
    pub(super) const LOWER_HEX: u16 = 2;
    pub(super) const UPPER_HEX: u16 = 3;
    pub(super) const OCTAL: u16 = 4;
    pub(super) const BINARY: u16 = 5;
    pub(super) const LOWER_EXP: u16 = 6;
    pub(super) const UPPER_EXP: u16 = 7;
}

impl Placeholder {
    fn has(&self, bit: u32) -> bool {
        self.flags >> bit & 1 != 0
    }

    fn text(&self, values: &[Value<'_>]) -> String {
        let size = |size: Size, present: bool| match size {
            _ if !present => None,
            Size::Number(number) => Some(usize::from(number)),
            Size::Argument(at) => match values.get(at) {
                Some(Value::Count(number)) => Some(usize::from(*number)),
                _ => None,
            },
        };
        let width = size(self.width, self.has(27));
        let options = Options {
            plus: self.has(21),
            alternate: self.has(23),
            zeros: width.filter(|_| self.has(24)),
            precision: size(self.precision, self.has(28)),
        };
        // `{:x?}`
        let hex = if self.has(25) {
            style::LOWER_HEX
        } else if self.has(26) {
            style::UPPER_HEX
        } else {
            style::DEBUG
        };
        let (text, number) = match values.get(self.argument) {
            None | Some(Value::Unknown | Value::Count(_) | Value::Message) => return MISSING.to_owned(),
            Some(Value::Text(style::DEBUG, text)) => (formatted!(options, &**text, "?"), false),
            Some(Value::Text(_, text)) => (formatted!(options, &**text, ""), false),
            Some(Value::Plain(style, ty, bytes)) => {
                let style = if *style == style::DEBUG { hex } else { *style };
                (plain(style, *ty, *bytes, options), !matches!(ty, 13 | 14 | 20))
            }
        };
        self.padded(&text, width.unwrap_or(0), number)
    }

    /// Fills up to `width`: numbers stand to the right, everything else to the left.
    fn padded(&self, text: &str, width: usize, number: bool) -> String {
        let missing = width.saturating_sub(text.chars().count());
        let before = match (self.flags >> 29 & 3, number) {
            (0, _) | (3, false) => 0,
            (2, _) => missing / 2,
            _ => missing,
        };
        let fill = char::from_u32(self.flags & 0x1f_ffff).unwrap_or(' ');
        let fill = |count: usize| std::iter::repeat_n(fill, count);
        fill(before).chain(text.chars()).chain(fill(missing - before)).collect()
    }
}

/// A value that is no text.
fn plain(style: u16, ty: u16, bytes: [u8; 16], options: Options) -> String {
    let unsigned = u128::from_le_bytes(bytes);
    let low = |count: usize| u64::from_le_bytes(bytes[..8].try_into().unwrap_or_default()) & (u64::MAX >> (64 - count));
    match ty {
        // Radices show the bits of negative numbers.
        1..=10 if (style::LOWER_HEX..=style::BINARY).contains(&style) => radix(style, unsigned, options),
        1 | 3 | 5 | 7 | 9 => decimal(style, unsigned, options),
        2 => decimal_signed(style, i128::from(low(8) as i8), options),
        4 => decimal_signed(style, i128::from(low(16) as i16), options),
        6 => decimal_signed(style, i128::from(low(32) as i32), options),
        8 => decimal_signed(style, i128::from(low(64) as i64), options),
        10 => decimal_signed(style, unsigned as i128, options),
        11 => single(style, f32::from_bits(low(32) as u32), options),
        12 => match style {
            0 => formatted!(options, f64::from_bits(low(64)), ""),
            style::LOWER_EXP => formatted!(options, f64::from_bits(low(64)), "e"),
            style::UPPER_EXP => formatted!(options, f64::from_bits(low(64)), "E"),
            _ => formatted!(options, f64::from_bits(low(64)), "?"),
        },
        13 => formatted!(options, low(8) != 0, ""),
        14 => {
            let character = char::from_u32(low(32) as u32).unwrap_or(char::REPLACEMENT_CHARACTER);
            if style == 0 { formatted!(options, character, "") } else { formatted!(options, character, "?") }
        }
        15 => single(style, f16::from_bits(low(16) as u16).to_f32(), options),
        16 => single(style, bf16::from_bits(low(16) as u16).to_f32(), options),
        20 => "()".to_owned(),
        _ => MISSING.to_owned(),
    }
}

fn radix(style: u16, value: u128, options: Options) -> String {
    match style {
        style::LOWER_HEX => formatted!(options, value, "x"),
        style::UPPER_HEX => formatted!(options, value, "X"),
        style::OCTAL => formatted!(options, value, "o"),
        _ => formatted!(options, value, "b"),
    }
}

fn decimal(style: u16, value: u128, options: Options) -> String {
    match style {
        style::LOWER_EXP => formatted!(options, value, "e"),
        style::UPPER_EXP => formatted!(options, value, "E"),
        _ => formatted!(options, value, ""),
    }
}

fn decimal_signed(style: u16, value: i128, options: Options) -> String {
    match style {
        style::LOWER_EXP => formatted!(options, value, "e"),
        style::UPPER_EXP => formatted!(options, value, "E"),
        _ => formatted!(options, value, ""),
    }
}

fn single(style: u16, value: f32, options: Options) -> String {
    match style {
        0 => formatted!(options, value, ""),
        style::LOWER_EXP => formatted!(options, value, "e"),
        style::UPPER_EXP => formatted!(options, value, "E"),
        _ => formatted!(options, value, "?"),
    }
}

#[cfg(test)]
mod tests {
    use super::text;

    /// The bytes of a value: its number, then these.
    fn value(style: u16, ty: u16, bytes: &[u8]) -> Vec<u8> {
        [&(style << 8 | ty).to_le_bytes()[..], bytes].concat()
    }

    fn string(style: u16, text: &str) -> Vec<u8> {
        value(style, 17, &[&(text.len() as u16).to_le_bytes()[..], text.as_bytes()].concat())
    }

    /// `{:FLAGS}` of one value, with `first` and `fields` as the compiler writes them.
    fn one(fields: &[u8], value: &[u8]) -> String {
        text(&[fields, &[0], value].concat())
    }

    #[test]
    fn values_are_formatted_as_on_the_host() {
        for (found, expected) in [
            (one(b"\xc0", &value(0, 5, &7_u32.to_le_bytes())), format!("{}", 7)),
            (one(b"\xc0", &value(0, 6, &(-7_i32).to_le_bytes())), format!("{}", -7)),
            (one(b"\xc0", &value(2, 2, &(-1_i8).to_le_bytes())), format!("{:x}", -1_i8)),
            (one(b"\xc1\x20\0\x80\x60", &value(2, 7, &255_u64.to_le_bytes())), format!("{:#x}", 255)),
            (one(b"\xc5\x20\0\0\x70\x03\0", &value(0, 11, &1.5_f32.to_le_bytes())), format!("{:.3}", 1.5)),
            (one(b"\xc0", &value(0, 11, &0.1_f32.to_le_bytes())), format!("{}", 0.1_f32)),
            (one(b"\xc0", &value(1, 12, &1.0_f64.to_le_bytes())), format!("{:?}", 1.0_f64)),
            (one(b"\xc0", &value(6, 12, &1234.5_f64.to_le_bytes())), format!("{:e}", 1234.5_f64)),
            (one(b"\xc0", &value(0, 13, &[1])), format!("{}", true)),
            (one(b"\xc0", &value(1, 14, &u32::from('ß').to_le_bytes())), format!("{:?}", 'ß')),
            (one(b"\xc0", &value(0, 16, &half::bf16::from_f32(1.5).to_bits().to_le_bytes())), "1.5".into()),
            (one(b"\xc0", &string(1, "a\"b")), format!("{:?}", "a\"b")),
            (one(b"\xc3\x20\0\0\x68\x05\0", &value(0, 5, &7_u32.to_le_bytes())), format!("{:5}", 7)),
            (one(b"\xc3\x20\0\0\x68\x05\0", &string(0, "ab")), format!("{:5}", "ab")),
            (one(b"\xc3*\0\0\x48\x05\0", &string(0, "ab")), format!("{:*^5}", "ab")),
            (one(b"\xc3\x20\0\0\x69\x05\0", &value(0, 6, &(-7_i32).to_le_bytes())), format!("{:05}", -7)),
            (one(b"\xc1\x20\0\0\x62", &value(1, 1, &[10])), format!("{:x?}", 10_u8)),
            (one(b"\xc1\x20\0\x20\x60", &value(0, 9, &1_u128.to_le_bytes())), format!("{:+}", 1)),
        ] {
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_width_may_be_an_argument_and_an_argument_may_be_used_twice() {
        // `{x:w$} {x}`: the compiler lists x and w once.
        let template = b"\xd3\x20\0\0\x68\x01\0\x01 \xc8\0\0\0";
        let count = [&[0xff, 0xff][..], &4_u16.to_le_bytes()].concat();
        assert_eq!(text(&[&template[..], &value(0, 5, &7_u32.to_le_bytes()), &count].concat()), "   7 7");
    }

    #[test]
    fn a_message_within_a_message_comes_last() {
        let seven = value(0, 5, &7_u32.to_le_bytes());
        let bytes = [b"\xc0\x02, \xc0\0", &value(0, 18, &[1])[..], &seven, b"\x02n=\xc0\0", &seven].concat();
        assert_eq!(text(&bytes), "n=7, 7");
        let literal = [b"\xc0\0", &value(0, 18, &[0, 2, 0])[..], b"ab"].concat();
        assert_eq!(text(&literal), "ab");
    }

    #[test]
    fn what_is_missing_is_shown_and_no_bytes_fail() {
        assert_eq!(one(b"\x02n=\xc0", &[0, 0]), "n=…");
        assert_eq!(one(b"\x02n=\xc0", &[]), "n=…");
        assert_eq!(text(b"\x09n="), "…");
        assert_eq!(one(b"\xc0", &string(0, "abcdef")[..6]), "ab…");
        let mut state = 1_u64;
        for _ in 0..20_000 {
            let bytes = std::array::from_fn::<u8, 24, _>(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                // Widths stay small.
                if state >> 63 == 0 { (state >> 56) as u8 & 3 } else { (state >> 56) as u8 | 0xc0 }
            });
            text(&bytes[..(state >> 40) as usize % 25]);
        }
    }
}
