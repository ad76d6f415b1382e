//! The rules of the book's pages: every page is in the summary; includes and links to the repository lead somewhere;
//! Rust and output are included from files that a test compiles or compares.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// A link to a file of the repository begins with this: a rendered book is not beside the files.
pub(super) const REPOSITORY: &str = "https://github.com/warpwright/warpwright/blob/main/";

/// The pages, below the checkout.
const SOURCE: &str = "book/src";

/// Where Rust may be included from, and outputs: what a test compiles, runs or compares.
const TESTED: &[&str] = &[
    // The step `own kernels`.
    "examples/own-kernels/src/",
    "examples/own-kernels/tests/",
    "cli/templates/",
    // The step `listings`.
    "book/listings/",
];

/// The page with code for other systems, which nothing here compiles: `rust,ignore`.
const OTHER_SYSTEMS: &str = "comparison.md";

/// Everything in which the pages break a rule.
pub(super) fn findings(root: &Path) -> Result<Vec<String>> {
    let source = root.join(SOURCE);
    let mut pages = Vec::new();
    collect(&source, &mut pages)?;
    let summary = source.join("SUMMARY.md");
    let text = fs::read_to_string(&summary).with_context(|| format!("cannot read {}", summary.display()))?;
    let listed: BTreeSet<PathBuf> = links(&text).map(|link| source.join(link)).collect();
    let missing = listed.iter().filter(|page| !page.is_file());
    let mut findings: Vec<String> =
        missing.map(|page| format!("{SOURCE}/SUMMARY.md: there is no {}", page.display())).collect();
    for page in pages.iter().filter(|page| **page != summary) {
        let name = page.strip_prefix(root).unwrap_or(page).display().to_string();
        if !listed.contains(page) {
            findings.push(format!("{name}: is not in SUMMARY.md"));
        }
        let text = fs::read_to_string(page).with_context(|| format!("cannot read {name}"))?;
        findings.extend(Page { root, path: page, text: &text }.findings().iter().map(|at| format!("{name}:{at}")));
    }
    Ok(findings)
}

/// The Markdown files below `folder`.
fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found.sort();
    Ok(())
}

/// The targets of a page's links.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

struct Page<'a> {
    root: &'a Path,
    path: &'a Path,
    text: &'a str,
}

impl Page<'_> {
    /// What is wrong, each beginning with the number of its line.
    fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        // The language of the code block that a line is in.
        let mut block: Option<&str> = None;
        for (index, line) in self.text.lines().enumerate() {
            let found = if let Some(language) = line.strip_prefix("```") {
                block = if block.is_some() { None } else { Some(language) };
                self.language(language)
            } else if let Some(language) = block {
                self.in_block(language, line)
            } else {
                links(line).find_map(|link| self.link(link))
            };
            findings.extend(found.map(|finding| format!("{}: {finding}", index + 1)));
        }
        findings
    }

    /// Rust that is not compiled belongs to the page about other systems.
    fn language(&self, language: &str) -> Option<String> {
        let here = self.path.ends_with(OTHER_SYSTEMS);
        (language.starts_with("rust,") && !(here && language == "rust,ignore"))
            .then(|| format!("```{language}: Rust is included from a file that a test compiles, as ```rust"))
    }

    fn in_block(&self, language: &str, line: &str) -> Option<String> {
        let include = line.strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}"));
        match (language, include) {
            (_, Some(include)) => self.include(include),
            ("rust" | "text", None) => Some(format!("`{line}` stands in the page: include it from a tested file")),
            (_, None) => None,
        }
    }

    /// `path` or `path:anchor`, relative to the page.
    fn include(&self, include: &str) -> Option<String> {
        let (file, anchor) = include.split_once(':').map_or((include, None), |(file, anchor)| (file, Some(anchor)));
        let Ok(path) = self.path.with_file_name("").join(file).canonicalize() else {
            return Some(format!("there is no {file}"));
        };
        let root = self.root.canonicalize().unwrap_or_else(|_| self.root.to_owned());
        let path = path.strip_prefix(&root).unwrap_or(&path);
        if !TESTED.iter().any(|folder| path.starts_with(folder)) {
            return Some(format!("{} is in none of the tested folders: {}", path.display(), TESTED.join(", ")));
        }
        let text = fs::read_to_string(root.join(path)).unwrap_or_default();
        let has =
            |word: &str, name: &str| text.lines().any(|line| line.trim_end().ends_with(&format!("{word}: {name}")));
        let name = anchor.filter(|name| !(has("ANCHOR", name) && has("ANCHOR_END", name)));
        name.map(|name| format!("{} has no lines `ANCHOR: {name}` and `ANCHOR_END: {name}`", path.display()))
    }

    /// Relative links within the book are checked with those of all pages, by xtask/tests/documents.rs.
    fn link(&self, link: &str) -> Option<String> {
        let Some(target) = link.strip_prefix(REPOSITORY) else {
            let outside = !link.contains("://") && self.leaves(link);
            return outside.then(|| format!("{link} leaves the book, link to {REPOSITORY}…"));
        };
        let (file, fragment) = target.split_once('#').unwrap_or((target, ""));
        let path = self.root.join(file);
        if !path.exists() {
            return Some(format!("{link}: there is no {file}"));
        }
        let text = fs::read_to_string(path).unwrap_or_default();
        let mut headings = text.lines().filter(|line| line.starts_with('#'));
        let found = fragment.is_empty() || headings.any(|line| anchor(line.trim_start_matches('#')) == fragment);
        (!found).then(|| format!("{link}: {file} has no heading #{fragment}"))
    }

    /// Whether a relative link ends outside the folder of the pages.
    fn leaves(&self, link: &str) -> bool {
        let source = self.root.join(SOURCE);
        let mut depth = self.path.strip_prefix(&source).map_or(0, |path| path.components().count() as i64 - 1);
        link.split('/').any(|part| {
            depth += match part {
                ".." => -1,
                "." => 0,
                _ => 1,
            };
            depth < 0
        })
    }
}

/// The anchor that a renderer gives a heading: lower case, spaces as hyphens, no punctuation.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|&c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{REPOSITORY, findings};

    /// A checkout with these files.
    fn checkout(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn findings_of(page: &str) -> Vec<String> {
        let folder = checkout(&[
            ("book/src/SUMMARY.md", "- [A](a.md)\n"),
            ("book/src/a.md", page),
            ("book/listings/x.rs", "// ANCHOR: one\nfn f() {}\n// ANCHOR_END: one\n"),
            ("elsewhere.rs", ""),
            ("docs/b.md", "# Two words\n"),
        ]);
        findings(folder.path()).unwrap()
    }

    #[test]
    fn a_page_that_keeps_the_rules_has_no_finding() {
        let page = format!(
            "# A\n[b]({REPOSITORY}docs/b.md#two-words), [a](a.md), [c](https://c.org)\n\n\
            ```rust\n{{{{#include ../listings/x.rs:one}}}}\n```\n```sh\ncargo test\n```\n"
        );
        assert_eq!(findings_of(&page), Vec::<String>::new());
    }

    #[test]
    fn each_broken_rule_is_named_with_its_line() {
        let missing_page = format!("[b]({REPOSITORY}docs/c.md)\n");
        let missing_heading = format!("[b]({REPOSITORY}docs/b.md#three)\n");
        for (page, expected) in [
            ("\n```rust\nfn f() {}\n```\n", "book/src/a.md:3: `fn f() {}` stands in the page"),
            ("```text\nprinted\n```\n", "book/src/a.md:2: `printed` stands in the page"),
            ("```rust,ignore\n```\n", "book/src/a.md:1: ```rust,ignore: Rust is included"),
            ("```rust\n{{#include ../listings/y.rs}}\n```\n", "book/src/a.md:2: there is no ../listings/y.rs"),
            ("```rust\n{{#include ../listings/x.rs:two}}\n```\n", "has no lines `ANCHOR: two`"),
            ("```rust\n{{#include ../../elsewhere.rs}}\n```\n", "elsewhere.rs is in none of the tested folders"),
            (&missing_page, "there is no docs/c.md"),
            (&missing_heading, "docs/b.md has no heading #three"),
            ("[b](../../docs/b.md)\n", "../../docs/b.md leaves the book"),
        ] {
            let found = findings_of(page);
            assert!(found.len() == 1 && found[0].contains(expected), "{expected}: {found:?}");
        }
    }

    #[test]
    fn summary_and_pages_must_agree() {
        let folder = checkout(&[("book/src/SUMMARY.md", "- [A](a.md)\n"), ("book/src/b.md", "")]);
        let found = findings(folder.path()).unwrap();
        assert!(found.len() == 2 && found[0].contains("there is no") && found[1].contains("is not in SUMMARY.md"));
        assert!(Path::new(&found[0]).to_string_lossy().contains("a.md"), "{found:?}");
    }
}
