//! The pages say what the tree says: the README's code is the code of the tree, links and paths lead somewhere, and
//! prose stays within 120 columns.

use std::fs;
use std::path::{Path, PathBuf};

/// Columns of a line of prose.
const COLUMNS: usize = 120;
/// Pages whose width is checked.
const PAGES: [&str; 8] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/gemm.md",
    "docs/lab/README.md",
    "tests/embedding/README.md",
    "examples/own-kernels/README.md",
];
/// Pages of which every path in backticks is checked.
const MAPS: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/gemm.md"];
/// Folders of the repository: a path in backticks begins with one of them.
const FOLDERS: [&str; 12] = [
    "gpu/",
    "simt/",
    "simulator/",
    "host/",
    "tests/",
    "bench/",
    "build/",
    "cli/",
    "examples/",
    "book/",
    "xtask/",
    "docs/",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the repository")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Fails with all `findings` at once.
fn none(findings: &[String], what: &str) {
    assert!(findings.is_empty(), "{} {what}:\n{}", findings.len(), findings.join("\n"));
}

/// The contents of the code blocks of `page` in this language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let open = format!("\n```{language}\n");
    let rest = page.split(open.as_str()).skip(1);
    rest.map(|rest| rest.split("\n```").next().expect("split yields at least one part")).collect()
}

/// Lines outside code blocks, each with its number from 1.
fn prose(page: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut code = false;
    page.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        (!code && !fence).then_some((index + 1, line))
    })
}

/// Files below `folder` with one of the `extensions`, relative to the root; without build outputs and hidden folders.
fn files(folder: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("a folder can be read to its end").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" {
                files(&path, extensions, found);
            }
        } else if path.extension().is_some_and(|extension| extensions.iter().any(|&wanted| extension == wanted)) {
            found.push(path.strip_prefix(root()).expect("it is below the root").to_owned());
        }
    }
}

/// The anchor that a renderer gives a heading: lower case, spaces as hyphens, no punctuation.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|&c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The text between each pair of backticks of a line.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

#[test]
fn the_readme_shows_the_kernel_of_the_tree() {
    let (source, readme) = (read("gpu/src/gemm/tiled.rs"), read("README.md"));
    let kernel = |text: &str| {
        let start = text.find("#[kernel(").expect("a kernel has its attribute");
        let end = start + text[start..].find("\n}").expect("a function ends at the left margin");
        let (attribute, function) = text[start..end].split_once("pub fn ").expect("a function follows the attribute");
        // Where the attribute's lines break is the README's own affair.
        (attribute.split_whitespace().collect::<String>().replace(",)]", ")]"), function.to_owned())
    };
    let blocks = blocks(&readme, "rust");
    let shown = blocks.iter().find(|block| block.contains("fn matmul_tiled")).expect("README.md shows matmul_tiled");
    assert_eq!(kernel(&format!("{shown}\n")), kernel(&source), "README.md, gpu/src/gemm/tiled.rs");
}

#[test]
fn the_readme_shows_the_first_example() {
    let (source, readme) = (read("host/examples/01_gemm.rs"), read("README.md"));
    let program = source.trim_start_matches("//! ").split_once("\n\n").expect("a comment and a program").1;
    assert!(
        blocks(&readme, "rust").contains(&program.trim_end()),
        "README.md does not show host/examples/01_gemm.rs, which is\n{program}"
    );
}

#[test]
fn the_profile_for_the_simulator_is_the_same_everywhere() {
    let profile = read("host/src/simulated/profile.toml");
    for path in [
        "README.md",
        "book/src/ci.md",
        "cli/templates/single/Cargo.toml.in",
        "cli/templates/workspace/Cargo.toml.in",
        "examples/own-kernels/Cargo.toml",
    ] {
        assert!(read(path).contains(&profile), "{path} does not have the lines of host/src/simulated/profile.toml");
    }
}

#[test]
fn links_lead_somewhere() {
    let mut pages = Vec::new();
    files(root(), &["md"], &mut pages);
    let mut broken = Vec::new();
    for path in &pages {
        let page = read(path.to_str().expect("paths are UTF-8"));
        for (number, line) in prose(&page) {
            for link in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                if link.contains("://") || link.starts_with("mailto:") {
                    continue;
                }
                let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
                let target = if file.is_empty() { path.clone() } else { path.with_file_name("").join(file) };
                let there = if fragment.is_empty() {
                    root().join(&target).exists()
                } else {
                    fs::read_to_string(root().join(&target)).is_ok_and(|text| {
                        prose(&text)
                            .any(|(_, line)| line.starts_with('#') && anchor(line.trim_start_matches('#')) == fragment)
                    })
                };
                if !there {
                    broken.push(format!("{}:{number}: {link}", path.display()));
                }
            }
        }
    }
    none(&broken, "links lead nowhere");
}

#[test]
fn pages_named_in_comments_exist() {
    let mut sources = Vec::new();
    files(root(), &["rs", "toml", "sh"], &mut sources);
    let mut missing = Vec::new();
    for path in &sources {
        let text = read(path.to_str().expect("paths are UTF-8"));
        let comment = |line: &str| line.trim_start().starts_with(['/', '#']) || line.contains(" // ");
        let comments = text.lines().enumerate().filter(|(_, line)| comment(line));
        for (index, line) in comments {
            for start in line.match_indices("docs/").map(|(start, _)| start) {
                let end = |c: char| !(c.is_ascii_alphanumeric() || "/._-".contains(c));
                let name = line[start..].split(end).next().map(|name| name.trim_end_matches('.'));
                let page = name.filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "md"));
                if let Some(page) = page.filter(|page| !root().join(page).exists()) {
                    missing.push(format!("{}:{}: {page}", path.display(), index + 1));
                }
            }
        }
    }
    none(&missing, "pages are named in comments and missing");
}

#[test]
fn paths_in_the_maps_exist() {
    let mut missing = Vec::new();
    for page in MAPS {
        for (number, line) in prose(&read(page)) {
            for path in quoted(line).filter(|path| FOLDERS.iter().any(|folder| path.starts_with(folder))) {
                // A pattern, as `host/ptx/*.ptx`, or a place to be filled in, as `gpu/src/<family>/`.
                let fixed = path.split(['*', '<', '{', ' ']).next().expect("split yields at least one part");
                let fixed =
                    if fixed.len() == path.len() { fixed } else { fixed.rsplit_once('/').map_or("", |at| at.0) };
                if !root().join(fixed).exists() {
                    missing.push(format!("{page}:{number}: {path}"));
                }
            }
        }
    }
    none(&missing, "paths do not exist");
}

#[test]
fn prose_stays_within_its_columns() {
    let mut wide = Vec::new();
    for page in PAGES {
        for (number, line) in prose(&read(page)) {
            let columns = line.chars().count();
            if columns > COLUMNS && !line.starts_with('|') {
                wide.push(format!("{page}:{number}: {columns} columns"));
            }
        }
    }
    none(&wide, "lines are too long");
}

#[test]
fn anchors_are_those_of_a_renderer() {
    assert_eq!(anchor("The map"), "the-map");
    assert_eq!(anchor(" `gemm_f32_…`: C = A·B, 2 × 3"), "gemm_f32_-c--ab-2--3");
}
