//! Embeds the PTX of the crate `gpu`: generates a table of the files in `ptx/` and, with the feature `lab`, in
//! `ptx/lab/`: the text of each, and where the entry of each kernel lies in it.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let folder = Path::new(&env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("ptx");
    let mut files = ptx_files(&folder);
    if env::var_os("CARGO_FEATURE_LAB").is_some() {
        files.extend(ptx_files(&folder.join("lab")));
    }
    // The file system lists files in any order.
    files.sort();
    let mut text = String::from("/// Every PTX file of this build.\n");
    text.push_str("#[allow(clippy::unreadable_literal, reason = \"generated\")]\n");
    text.push_str("pub(super) const BUILT: &[Built] = &[\n");
    for file in files {
        let Some((name, arch)) = file
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.strip_suffix(".ptx"))
            .and_then(|stem| stem.split_once('.'))
        else {
            continue;
        };
        println!("cargo::rerun-if-changed={}", file.display());
        let ptx = fs::read_to_string(&file).unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()));
        let (prelude, kernels) = split(&ptx);
        let path = file.display().to_string();
        writeln!(
            text,
            "    Built {{ family: {name:?}, arch: {arch:?}, prelude: {prelude:?}, kernels: &{kernels:?}, \
             text: include_str!({path:?}) }},"
        )
        .expect("writing to a string");
    }
    text.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("ptx.rs");
    fs::write(&out, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", out.display()));
}

/// The files in a folder; none if it does not exist.
fn ptx_files(folder: &Path) -> Vec<PathBuf> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect()
}

/// What all kernels of a file need (version, target, declarations), and for each kernel its name and where its entry
/// begins and ends. An entry ends at the brace that begins a line.
fn split(ptx: &str) -> (String, Vec<(&str, usize, usize)>) {
    const ENTRY: &str = ".visible .entry ";
    let (mut prelude, mut kernels) = (String::new(), Vec::new());
    let mut open = None;
    let mut at = 0;
    for line in ptx.split_inclusive('\n') {
        let end = at + line.len();
        if let Some(rest) = line.strip_prefix(ENTRY) {
            open = rest.split('(').next().map(|name| (name, at));
        }
        match open {
            Some((name, start)) if line.starts_with('}') => {
                kernels.push((name, start, end));
                open = None;
            }
            None if !line.trim_start().starts_with("//") && !line.trim().is_empty() => prelude.push_str(line),
            _ => {}
        }
        at = end;
    }
    (prelude, kernels)
}
