//! What to do about errors of rustc that have their reason in how kernels are compiled.

use std::collections::BTreeSet;

/// Names of `std`'s prelude and macros that kernels do not have.
const STD: [&str; 12] = [
    "`std`",
    "`alloc`",
    "macro `println`",
    "macro `print`",
    "macro `eprintln`",
    "macro `dbg`",
    "macro `vec`",
    "macro `format`",
    "type `Vec`",
    "type `String`",
    "type `Box`",
    "`Vec`",
];

/// The remedies for what rustc says, one paragraph each. `dependencies` are those of the user's package.
pub(crate) fn remedies(messages: &str, dependencies: &BTreeSet<String>) -> Vec<String> {
    let mut remedies = Vec::new();
    let errors: Vec<&str> = messages.lines().filter(|line| line.starts_with("error")).collect();
    let missing = |line: &&&str| {
        ["can't find crate", "cannot find", "unresolved", "undeclared"].iter().any(|text| line.contains(text))
    };
    if errors.iter().filter(missing).any(|line| STD.iter().any(|name| line.contains(name))) {
        remedies.push(
            "kernels are compiled without `std`: put host code into src/main.rs or another crate, or behind \
             `#[cfg(not(target_arch = \"nvptx64\"))]`"
                .to_owned(),
        );
    }
    if errors.iter().any(|line| line.contains("cannot find macro `println`")) {
        remedies.push("a kernel prints lines by the macro of `simt`: `use warpwright::println;`".to_owned());
    }
    let mut methods = BTreeSet::new();
    for line in &errors {
        let Some((_, rest)) = line.split_once("no method named `") else { continue };
        let Some((method, rest)) = rest.split_once('`') else { continue };
        if let Some(ty) = ["f32", "f64", "{float}"].iter().find(|ty| rest.contains(&format!("`{ty}`"))) {
            methods.insert(format!("`{}::{method}`", if *ty == "{float}" { "f32" } else { ty }));
        }
    }
    if !methods.is_empty() {
        let methods: Vec<String> = methods.into_iter().collect();
        remedies.push(format!(
            "{} needs the C library, which a GPU does not have; use a function of `simt::math`, or a kernel-dependency \
             such as `libm`",
            methods.join(", ")
        ));
    }
    for line in messages.lines().filter(|line| line.contains("symbol `") && line.contains("already defined")) {
        let name = line.split('`').nth(1).unwrap_or_default();
        let remedy = format!(
            "two kernels are named `{name}`; a kernel's name is that of its PTX entry, whatever its module: rename one"
        );
        if !remedies.contains(&remedy) {
            remedies.push(remedy);
        }
    }
    if errors.iter().any(|line| line.contains("`#[panic_handler]` function required")) {
        remedies.push(
            "the library uses nothing of `warpwright`, so it has no kernel: move the functions with `#[kernel]` there, \
             or name their file, KernelBuilder::new(\"src/kernels.rs\")"
                .to_owned(),
        );
    }
    let unlisted = dependencies.iter().filter(|name| !matches!(name.as_str(), "warpwright" | "simt"));
    for name in unlisted {
        let quoted = format!("`{name}`");
        if errors.iter().filter(missing).any(|line| line.contains(&quoted)) {
            remedies.push(format!(
                "the kernels' PTX is compiled with `warpwright` alone; if `{name}` needs no `std`, list it in \
                 Cargo.toml: [package.metadata.warpwright] kernel-dependencies = [\"{name}\"]; else put the code that \
                 uses it behind `#[cfg(not(target_arch = \"nvptx64\"))]`"
            ));
        }
    }
    remedies
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::remedies;

    fn all(messages: &str) -> String {
        remedies(messages, &BTreeSet::from(["rand".to_owned(), "warpwright".to_owned()])).join("\n")
    }

    #[test]
    fn each_remedy_names_what_is_wrong() {
        for (messages, expected) in [
            ("error[E0433]: cannot find `std` in the crate root", "without `std`"),
            ("error[E0433]: failed to resolve: use of unresolved module or unlinked crate `std`", "without `std`"),
            ("error: cannot find macro `println` in this scope", "without `std`"),
            ("error: cannot find macro `println` in this scope", "`use warpwright::println;`"),
            ("error[E0599]: no method named `exp` found for type `f32` in the current scope", "`f32::exp` needs"),
            ("error: symbol `scale` is already defined", "two kernels are named `scale`"),
            ("error: `#[panic_handler]` function required, but not found", "it has no kernel"),
            ("error[E0432]: unresolved import `rand`", "kernel-dependencies = [\"rand\"]"),
        ] {
            assert!(all(messages).contains(expected), "{messages}: {}", all(messages));
        }
    }

    #[test]
    fn other_errors_have_none() {
        assert_eq!(all("error[E0308]: mismatched types"), "");
        assert_eq!(all("warning: cannot find `std`"), "");
    }
}
