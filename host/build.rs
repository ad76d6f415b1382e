//! Lists the PTX files in `ptx/` for `include_str!`: the crate embeds what is there, `<family>.<arch>.ptx`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let folder = Path::new(&env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("ptx");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .map(|entries| entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect())
        .unwrap_or_default();
    // The same text whatever order the file system lists them in.
    files.sort();
    let mut text = String::from("/// Every PTX file of this build.\npub(super) const BUILT: &[Built] = &[\n");
    for file in files {
        let Some((family, arch)) = file
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.strip_suffix(".ptx"))
            .and_then(|stem| stem.split_once('.'))
        else {
            continue;
        };
        println!("cargo::rerun-if-changed={}", file.display());
        writeln!(
            text,
            "    Built {{ family: {family:?}, arch: {arch:?}, text: include_str!({:?}) }},",
            file.display().to_string()
        )
        .expect("writing to a string");
    }
    text.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("ptx.rs");
    fs::write(&out, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", out.display()));
}
