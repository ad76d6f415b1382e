//! `cargo xtask terms`: searches the text files that git tracks for words that are not used here, and for lines wider
//! than 120 columns.
//!
//! `terms.toml` lists the words and, for each, the field's term to write instead.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

use crate::process;
use crate::workspace::Workspace;

const LIST: &str = include_str!("terms.toml");

/// Endings of the files that are searched.
const SEARCHED: &[&str] = &["rs", "md", "toml", "sh", "py"];

/// Widest line of Rust and of prose.
const COLUMNS: usize = 120;

/// Prints every finding; exit code 1 where there is one.
pub(crate) fn command(workspace: &Workspace) -> Result<ExitCode> {
    Ok(if check(workspace)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints every finding; whether there is none.
pub(crate) fn check(workspace: &Workspace) -> Result<bool> {
    let rules = Rules::parse(LIST).context("xtask/src/terms/terms.toml is malformed")?;
    let mut git = Command::new("git");
    let list = process::capture(git.current_dir(workspace.root()).args(["ls-files", "-z"]))?;
    let mut files = 0;
    let mut findings = Vec::new();
    for path in list.split('\0').filter(|path| rules.searches(path)) {
        // A file that is deleted and not yet committed is listed.
        let Ok(text) = fs::read_to_string(workspace.root().join(path)) else { continue };
        files += 1;
        findings.extend(rules.find(path, &text));
    }
    for finding in &findings {
        println!("{finding}");
    }
    println!("terms: {} in {files} files", crate::audit::count(findings.len(), "finding"));
    Ok(findings.is_empty())
}

/// `terms.toml`, with its expressions compiled.
struct Rules {
    skip: Vec<String>,
    wide: Vec<String>,
    /// Matches where one of `terms` does: one search for the many lines that have none.
    any: Regex,
    terms: Vec<(Regex, String)>,
}

impl Rules {
    fn parse(text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            skip: Vec<String>,
            wide: Vec<String>,
            terms: BTreeMap<String, String>,
        }
        let File { skip, wide, terms } = toml::from_str(text)?;
        let compile = |pattern: &str| RegexBuilder::new(pattern).unicode(false).build();
        let any = terms.keys().map(|old| format!("(?:{old})")).collect::<Vec<_>>().join("|");
        let terms = terms.into_iter().map(|(old, new)| Ok((compile(&old)?, new))).collect::<Result<_>>()?;
        Ok(Self { skip, wide, any: compile(&any)?, terms })
    }

    fn searches(&self, path: &str) -> bool {
        SEARCHED.contains(&extension(path)) && !self.skip.iter().any(|skip| matches(skip, path))
    }

    /// `path:line: …` for each term and each line that is too wide.
    fn find(&self, path: &str, text: &str) -> Vec<String> {
        let mut findings = Vec::new();
        let may_be_wide = self.wide.iter().any(|wide| matches(wide, path));
        let mut in_code = false;
        for (number, line) in (1..).zip(text.lines()) {
            let terms = if self.any.is_match(line.as_bytes()) { self.terms.as_slice() } else { &[] };
            for (old, new) in terms {
                if let Some(found) = old.find(line.as_bytes()) {
                    let found = &line[found.range()];
                    findings.push(format!("{path}:{number}: `{found}`: write {new}"));
                }
            }
            in_code ^= line.trim_start().starts_with("```");
            let columns = line.chars().count();
            if columns > COLUMNS && !may_be_wide && is_wrappable(path, line, in_code) {
                findings.push(format!("{path}:{number}: {columns} columns: at most {COLUMNS}"));
            }
        }
        findings
    }
}

/// Whether a line can be broken: all Rust but an address can, and prose outside of tables, code and links.
fn is_wrappable(path: &str, line: &str, in_code: bool) -> bool {
    if extension(path) == "md" {
        let line = line.trim_start();
        return !in_code && !line.starts_with(['|', '<', '[', '!']) && !line.contains("](");
    }
    extension(path) == "rs" && !line.contains("https://")
}

/// What follows the last `.` of a path.
fn extension(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// Whether `path` is `pattern`, in which a `*` stands for any text.
fn matches(pattern: &str, path: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == path,
        Some((before, after)) => {
            let rest = path.strip_prefix(before);
            rest.is_some_and(|rest| (0..=rest.len()).any(|at| rest.is_char_boundary(at) && matches(after, &rest[at..])))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LIST, Rules, matches};

    fn rules() -> Rules {
        Rules::parse(LIST).unwrap()
    }

    #[test]
    fn a_forbidden_term_is_named_with_its_place_and_its_replacement() {
        let found = rules().find("a/b.rs", "fn f() {}\n// compared with the oracle\n");
        assert_eq!(found, ["a/b.rs:2: `oracle`: write reference"]);
        let text =
            "The copy engine loads a tile.\nA contender.\nMends it.\nastray\nself.multiprocessors\nx_multiprocessors";
        let found = rules().find("README.md", text);
        let lines: Vec<_> = found.iter().filter_map(|finding| finding.split(':').nth(1)).collect();
        assert_eq!(lines, ["1", "2", "3", "4", "5", "6"], "{found:?}");
    }

    #[test]
    fn ordinary_words_and_names_of_others_are_left_alone() {
        for line in [
            "in this way, two ways to store",
            "a box of the tensor map, strategy.boxed()",
            "recommended and amended",
            "CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT of a streaming multiprocessor",
            "bandwidth; a share of work; it is their turn",
            "the newest search engine",
            "sandwich, dishwasher",
        ] {
            assert_eq!(rules().find("a.md", line), [""; 0], "{line}");
        }
    }

    #[test]
    fn wide_lines_are_found_where_they_can_be_broken() {
        let wide = "x ".repeat(61);
        let count = |path: &str, text: &str| rules().find(path, text).len();
        assert_eq!(count("a.rs", &wide), 1);
        assert_eq!(count("a.rs", &format!("// {wide}")), 1);
        assert_eq!(count("a.rs", &format!("    \"{wide}\",")), 1, "a message");
        assert_eq!(count("a.rs", &"é".repeat(120)), 0, "columns, not bytes");
        assert_eq!(count("a.rs", &format!("// <https://example.org/{}>", "x".repeat(120))), 0);
        assert_eq!(count("bench/src/counters/ncu.rs", &wide), 0);
        assert_eq!(count("a.toml", &wide), 0);
        assert_eq!(count("a.md", &wide), 1);
        for text in [format!("| {wide} |"), format!("```\n{wide}\n```"), format!("see [this](docs/a.md) {wide}")] {
            assert_eq!(count("a.md", &text), 0, "{text}");
        }
        assert_eq!(count("a.md", &format!("```\ncode\n```\n{wide}")), 1);
    }

    #[test]
    fn text_files_are_searched_except_those_of_the_list() {
        for (path, yes) in [
            ("README.md", true),
            ("xtask/src/bundle/run.sh", true),
            ("bench/peers/torch_bench.py", true),
            ("bench/peers/cub.cu", false),
            ("docs/lab/gemm.md", false),
            ("CHANGELOG.md", false),
            ("xtask/src/terms/terms.toml", false),
        ] {
            assert_eq!(rules().searches(path), yes, "{path}");
        }
    }

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, path, yes) in [
            ("docs/lab/*", "docs/lab/a/b.md", true),
            ("docs/*.jsonl", "docs/a.json", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c", false),
            ("a", "a/b", false),
        ] {
            assert_eq!(matches(pattern, path), yes, "{pattern} {path}");
        }
    }
}
