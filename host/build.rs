//! Embeds the PTX of the crate `gpu`: generates a table with the text and the kernel names of each file in `ptx/` and,
//! with the feature `lab`, in `ptx/lab/`.

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
    let mut text = String::from("/// Every PTX file of this build.\npub(super) const BUILT: &[Built] = &[\n");
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
        let kernels: Vec<&str> = ptx.lines().filter_map(entry).collect();
        let path = file.display().to_string();
        writeln!(
            text,
            "    Built {{ name: {name:?}, arch: {arch:?}, kernels: &{kernels:?}, text: include_str!({path:?}) }},"
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

/// The kernel whose entry starts on this line of PTX.
fn entry(line: &str) -> Option<&str> {
    line.strip_prefix(".visible .entry ")?.split('(').next()
}
