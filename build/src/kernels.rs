//! Splits the PTX that rustc wrote into kernels.

use std::collections::{BTreeMap, HashMap, HashSet};

/// What begins a kernel in PTX.
const ENTRY: &str = ".visible .entry ";

/// The PTX of one family for one architecture: the name of each kernel and its text, complete without the others.
pub type Kernels = BTreeMap<String, String>;

/// Splits the PTX that rustc wrote. Before each kernel goes what it uses of the rest, without comments: directives of
/// the file, and those functions and variables that the kernel names, directly or through others.
///
/// The labels of a kernel count the functions before it; they lose that number, so that a kernel's text does not depend
/// on its neighbours.
pub fn split(text: &str) -> Kernels {
    let items = items(text);
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (i, item) in items.iter().enumerate() {
        if let Some(name) = item.name {
            by_name.entry(name).or_default().push(i);
        }
    }
    let kernels = items.iter().enumerate().filter(|(_, item)| item.kernel);
    let kernels = kernels.filter_map(|(i, item)| {
        let used = used(&items, &by_name, i);
        let kept = items.iter().enumerate().filter(|(j, item)| !item.kernel && (item.name.is_none() || used[*j]));
        let text: String = kept.map(|(_, item)| item.text.as_str()).collect();
        Some((item.name?.to_owned(), text + &item.text))
    });
    kernels.collect()
}

/// A kernel, a function, the declaration of one, a variable, or a directive without a name.
struct Item<'a> {
    name: Option<&'a str>,
    kernel: bool,
    text: String,
}

/// What stands in the file, in its order.
fn items(text: &str) -> Vec<Item<'_>> {
    let (mut items, mut open, mut has_body) = (Vec::new(), None::<(usize, String)>, false);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let begins = at;
        at += line.len();
        if open.is_none() && (line.trim_start().starts_with("//") || line.trim().is_empty()) {
            continue;
        }
        let (start, body) = open.get_or_insert_with(|| (begins, String::new()));
        body.push_str(&without_function_number(line));
        // A function ends at the brace that begins a line, its declaration and a variable at a semicolon.
        let words = text[*start..].lines().next().unwrap_or_default().split_ascii_whitespace();
        let function = words.clone().any(|word| word == ".func" || word == ".entry");
        let variable = words.clone().any(|word| word == ".global" || word == ".const");
        has_body |= line.starts_with('{');
        let ends = match (function, has_body) {
            (true, true) => line.starts_with('}'),
            (true, false) => line.trim_end().ends_with(';'),
            (false, _) => !variable || line.trim_end().ends_with(';'),
        };
        if ends && let Some((start, body)) = open.take() {
            has_body = false;
            let text = &text[start..at];
            let name = if function { function_name(text) } else { variable.then(|| variable_name(text)).flatten() };
            items.push(Item { name, kernel: text.starts_with(ENTRY), text: body });
        }
    }
    items
}

/// `NAME` of `.visible .entry NAME(…)`, `.func (.param .b32 r) NAME(…)`.
fn function_name(text: &str) -> Option<&str> {
    let after = [".entry", ".func"].iter().find_map(|word| text.split_once(word))?.1.trim_start();
    let after = after.strip_prefix('(').and_then(|result| result.split_once(')')).map_or(after, |(_, name)| name);
    words(after).next()
}

/// `NAME` of `.global .align 8 .u64 NAME[4] = {…};`.
fn variable_name(text: &str) -> Option<&str> {
    let declarator = text.split(['=', '[', ';']).next()?;
    words(declarator).last()
}

/// For each item whether item `from` names it, directly or through others.
fn used(items: &[Item<'_>], by_name: &HashMap<&str, Vec<usize>>, from: usize) -> Vec<bool> {
    let (mut used, mut queue) = (vec![false; items.len()], vec![from]);
    while let Some(i) = queue.pop() {
        for word in words(&items[i].text) {
            for &j in by_name.get(word).into_iter().flatten() {
                if !std::mem::replace(&mut used[j], true) {
                    queue.push(j);
                }
            }
        }
    }
    used
}

/// Names, numbers and the parts of directives.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%'))).filter(|word| !word.is_empty())
}

/// The opposite of [`split`]: one text for ptxas and for readers.
pub fn join(kernels: &Kernels) -> String {
    let (mut rest, mut entries, mut seen) = (String::new(), String::new(), HashSet::new());
    for item in kernels.values().flat_map(|text| items(text)) {
        if item.kernel {
            entries.push_str(&item.text);
        } else if !seen.contains(&item.text) {
            rest.push_str(&item.text);
            seen.insert(item.text);
        }
    }
    rest + &entries
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

    #[test]
    fn a_kernel_has_what_it_uses_and_nothing_else() {
        let text = ".version 7.0\n.func  (.param .b32 r) helper\n(\n\t.param .b64 p\n)\n;\n.func other()\n.noreturn;\n\
            .global .align 1 .b8 message[2] = {1, 2};\n.global .align 8 .u64 place[1] = {generic(message)};\n\
            .global .align 8 .b8 table[8];\n.func  (.param .b32 r) helper(\n\t.param .b64 p\n)\n{\n\tmov.b64 %rd1, \
            place;\n}\n.func other()\n.noreturn\n{\n\ttrap;\n}\n.visible .entry a()\n{\n\tcall.uni (r), helper, \
            (p);\n}\n.visible .entry b()\n{\n\tld.global.b8 %r1, [table+4];\n}\n";
        let kernels = split(text);
        let has =
            |name: &str| ["helper", "other", "message", "place", "table"].map(|item| kernels[name].contains(item));
        assert_eq!(has("a"), [true, false, true, true, false], "{}", kernels["a"]);
        assert_eq!(has("b"), [false, false, false, false, true], "{}", kernels["b"]);
        assert_eq!(kernels["a"].matches("helper").count(), 3, "declaration, definition and call");
    }
}
