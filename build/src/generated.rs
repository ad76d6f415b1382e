//! The package that is compiled for the GPU: its library is the user's file with the kernels, and it depends on nothing
//! but what kernels use. So the user's package may depend on crates that need `std`, and its build script does not run
//! itself.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::package::{Package, SIMT};

/// What `warpwright` is for the GPU: of its names those that kernels use.
const WARPWRIGHT: &str = "#![no_std]
pub use half;
pub use ::simt::element::Element;
pub use ::simt::println;
pub use ::simt::through_warpwright::{self as simt, prelude};
";

/// Writes the package into `folder`. `root` is the file with the kernels, `crate_name` the name of the crate.
pub(crate) fn write(folder: &Path, package: &Package, crate_name: &str, root: &Path) -> Result<()> {
    let mut manifest = String::from("# Written by warpwright-build.\n");
    writeln!(manifest, "[package]\nname = {:?}\nversion = \"0.0.0\"", format!("{}-kernels", package.name))?;
    writeln!(manifest, "edition = {:?}\n", package.edition)?;
    writeln!(manifest, "[lib]\nname = {crate_name:?}\npath = {}\n\n[dependencies]", quoted(root))?;
    for (name, source) in &package.uses {
        writeln!(manifest, "{name} = {{ {source} }}")?;
    }
    if let Some(name) = &package.warpwright {
        writeln!(manifest, "{name} = {{ package = \"warpwright\", path = \"warpwright\" }}")?;
        let simt = package.uses.values().find(|source| source.contains(&format!("\"{SIMT}\"")));
        let simt = simt.context("the kernels use simt")?;
        let half = package.half.as_ref().context("simt uses half")?;
        let shim = format!(
            "# Written by warpwright-build.\n[package]\nname = \"warpwright\"\nversion = \"0.0.0\"\nedition = \
             \"2024\"\n\n[dependencies]\nhalf = {{ {half}, default-features = false }}\nsimt = {{ {simt} }}\n"
        );
        update(&folder.join("warpwright/Cargo.toml"), &shim)?;
        update(&folder.join("warpwright/src/lib.rs"), WARPWRIGHT)?;
    }
    manifest += "\n[workspace]\n";
    if !package.patches.is_empty() {
        manifest += "\n[patch.crates-io]\n";
    }
    for (name, folder) in &package.patches {
        writeln!(manifest, "{name} = {{ path = {} }}", quoted(folder))?;
    }
    let lock = fs::read_to_string(&package.lock).unwrap_or_default();
    // Cargo leaves out what this package does not need: the user's file is copied again only when that has changed.
    let copied = folder.join("user.lock");
    let same = fs::read_to_string(&copied).is_ok_and(|copied| copied == lock);
    if !same || update(&folder.join("Cargo.toml"), &manifest)? {
        update(&folder.join("Cargo.toml"), &manifest)?;
        update(&copied, &lock)?;
        update(&folder.join("Cargo.lock"), &lock)?;
    }
    Ok(())
}

/// A path as a string of TOML.
pub(crate) fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.display().to_string().replace('\\', "\\\\").replace('"', "\\\""))
}

/// Writes a file that has other contents; whether it had.
fn update(path: &Path, text: &str) -> Result<bool> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(false);
    }
    let folder: PathBuf = path.parent().map(Path::to_owned).unwrap_or_default();
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(true)
}
