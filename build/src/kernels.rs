//! Splits the PTX that rustc wrote into kernels.

use std::collections::BTreeMap;

/// What begins a kernel in PTX.
const ENTRY: &str = ".visible .entry ";

/// The PTX of one family for one architecture: the name of each kernel and its text, complete without the others.
pub type Kernels = BTreeMap<String, String>;

/// Splits the PTX that rustc wrote. What stands outside the kernels goes before each of them, without comments.
///
/// The labels of a kernel count the functions before it; they lose that number, so that a kernel's text does not depend
/// on its neighbours.
pub fn split(text: &str) -> Kernels {
    let (mut prelude, mut kernels) = (String::new(), Kernels::new());
    let mut open: Option<(&str, String)> = None;
    for line in text.split_inclusive('\n') {
        if let Some(rest) = line.strip_prefix(ENTRY) {
            open = rest.split('(').next().map(|name| (name, String::new()));
        }
        match &mut open {
            Some((name, body)) => {
                body.push_str(&without_function_number(line));
                // An entry ends at the brace that begins a line.
                if line.starts_with('}') {
                    kernels.insert((*name).to_owned(), std::mem::take(body));
                    open = None;
                }
            }
            None if line.trim_start().starts_with("//") || line.trim().is_empty() => {}
            None => prelude.push_str(line),
        }
    }
    for body in kernels.values_mut() {
        body.insert_str(0, &prelude);
    }
    kernels
}

/// The opposite of [`split`]: one text for ptxas and for readers.
pub fn join(kernels: &Kernels) -> String {
    let mut text = String::new();
    for kernel in kernels.values() {
        let start = if text.is_empty() { 0 } else { kernel.find(ENTRY).unwrap_or(0) };
        text.push_str(&kernel[start..]);
    }
    text
}

/// `$L__BB12_3` is label 3 of function 12.
fn without_function_number(line: &str) -> String {
    const LABEL: &str = "$L__BB";
    let mut parts = line.split(LABEL);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(LABEL);
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Kernels, join, split};

    const TEXT: &str = "// by rustc\n.version 7.0\n.target sm_80\n\n\t// .globl\tb\n.extern .shared .b8 memory[];\n\n\
        .visible .entry b(\n\t.param .u32 p\n)\n// warpwright.kernel b\n{\n$L__BB0_1:\n\tbra \t$L__BB0_1;\n}\n\
        \t// .globl\ta\n.visible .entry a()\n{\n\t@%p1 bra \t$L__BB1_2;\n$L__BB1_2:\n\tret;\n}\n";

    #[test]
    fn each_kernel_is_complete_and_does_not_depend_on_its_place() {
        let kernels = split(TEXT);
        let prelude = ".version 7.0\n.target sm_80\n.extern .shared .b8 memory[];\n";
        let a = ".visible .entry a()\n{\n\t@%p1 bra \t$L__BB_2;\n$L__BB_2:\n\tret;\n}\n";
        let b = ".visible .entry b(\n\t.param .u32 p\n)\n// warpwright.kernel b\n{\n$L__BB_1:\n\tbra \t$L__BB_1;\n}\n";
        let expected: Kernels =
            [("a", a), ("b", b)].map(|(name, entry)| (name.to_owned(), prelude.to_owned() + entry)).into();
        assert_eq!(kernels, expected);
        assert_eq!(join(&kernels), [prelude, a, b].concat());
        assert_eq!(split(&join(&kernels)), kernels);
    }
}
