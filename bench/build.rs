//! Lists the kernels' source files for `include_str!`, so that `warpwright-tutorial --kernel` can show them where there
//! is no checkout.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let checkout = Path::new(&env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("..");
    let mut files = Vec::new();
    collect(&checkout.join("gpu/src"), &mut files);
    // The same text whatever order the file system lists them in.
    files.sort();
    let mut text = String::from("/// Path in the repository and text of every source file of the kernels.\n");
    text.push_str("const FILES: &[(&str, &str)] = &[\n");
    for file in files {
        let path = file.strip_prefix(&checkout).expect("it was found there").display().to_string().replace('\\', "/");
        writeln!(text, "    ({path:?}, include_str!({:?})),", file.display().to_string()).expect("writing to a string");
    }
    text.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("sources.rs");
    fs::write(&out, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", out.display()));
}

/// Every `.rs` file below `folder`. Folders are watched too: a new file is a change of one.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("cannot read {}: {error}", folder.display()));
    for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}
