//! The reference of intrinsics has a row for each public module of `simt`, with the first sentence of its
//! documentation.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::pages::REPOSITORY;

/// The page, below the checkout.
const PAGE: &str = "book/src/intrinsics.md";

/// Rows that the page lacks, and rows of the page that belong to no module.
pub(super) fn findings(root: &Path) -> Result<Vec<String>> {
    let page = fs::read_to_string(root.join(PAGE)).with_context(|| format!("cannot read {PAGE}"))?;
    let library = fs::read_to_string(root.join("simt/src/lib.rs")).context("cannot read simt/src/lib.rs")?;
    let expected = modules(&library).into_iter().map(|module| row(root, module)).collect::<Result<BTreeSet<_>>>()?;
    let shown: BTreeSet<String> = page.lines().filter(|line| line.starts_with("| [`")).map(str::to_owned).collect();
    let missing = expected.difference(&shown).map(|row| format!("{PAGE} lacks the row\n{row}"));
    let stale = shown.difference(&expected).map(|row| format!("{PAGE} has a row that no module of simt gives:\n{row}"));
    Ok(missing.chain(stale).collect())
}

/// The public modules that a library's source declares, without the hidden ones.
fn modules(library: &str) -> Vec<&str> {
    let mut hidden = false;
    let mut found = Vec::new();
    for line in library.lines() {
        if let Some(name) = line.strip_prefix("pub mod ").and_then(|rest| rest.strip_suffix(';')) {
            if !hidden {
                found.push(name);
            }
            hidden = false;
        } else {
            hidden = line == "#[doc(hidden)]";
        }
    }
    found
}

/// `| [module](its source) | the first sentence of its documentation |`
fn row(root: &Path, module: &str) -> Result<String> {
    let candidates = [format!("simt/src/{module}.rs"), format!("simt/src/{module}/mod.rs")];
    let file = candidates.iter().find(|file| root.join(file).exists());
    let file =
        file.with_context(|| format!("`simt::{module}` is in neither {} nor {}", candidates[0], candidates[1]))?;
    let source = fs::read_to_string(root.join(file)).with_context(|| format!("cannot read {file}"))?;
    Ok(format!("| [`{module}`]({REPOSITORY}{file}) | {} |", first_sentence(&source)))
}

/// The first sentence of a module's documentation, with the text of links alone.
fn first_sentence(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let paragraph = lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let sentence = paragraph.split_inclusive(". ").next().unwrap_or_default().trim();
    let (mut text, mut code, mut chars) = (String::new(), false, sentence.chars().peekable());
    while let Some(c) = chars.next() {
        code ^= c == '`';
        match c {
            '[' if !code => {}
            ']' if !code => {
                if chars.peek() == Some(&'(') {
                    chars.by_ref().find(|c| *c == ')');
                }
            }
            _ => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{first_sentence, modules};

    #[test]
    fn modules_are_the_public_ones_with_documentation() {
        let library = "mod a;\npub mod b;\n#[doc(hidden)]\npub mod c;\npub mod d;\n";
        assert_eq!(modules(library), ["b", "d"]);
    }

    #[test]
    fn the_first_sentence_may_have_several_lines_and_links() {
        let source = "//! Copies, as [`a`] and\n//! [b](crate::b) `#[do]`. More.\n//!\n//! Still more.\nfn f() {}\n";
        assert_eq!(first_sentence(source), "Copies, as `a` and b `#[do]`.");
    }
}
