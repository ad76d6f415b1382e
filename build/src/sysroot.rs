//! A private sysroot that holds `core` for one architecture, compiled once.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use crate::aside;
use crate::compile::TARGET;
use crate::core_source::CoreSource;
use crate::process;
use crate::toolchain::Nightly;
use anyhow::{Result, bail};

/// `compiler_builtins` is where rustc looks for memcpy and the like; LLVM writes those in line for nvptx64.
const COMPILER_BUILTINS: &str = "#![feature(compiler_builtins)]\n#![compiler_builtins]\n#![no_std]\n";

/// Flags for both crates. `location-detail=none`: a panic on the GPU is a trap that prints nothing, and PTX without the
/// lines and paths of `core` is the same from every source and checkout.
const FLAGS: &[&str] = &[
    "--edition=2024",
    "--crate-type=rlib",
    "--cap-lints=allow",
    "-Cpanic=abort",
    "-Copt-level=3",
    // The kernels' crate is optimised with what it uses of `core` (fat LTO), so that needs bitcode and no machine code.
    "-Clinker-plugin-lto",
    "-Zforce-unstable-if-unmarked",
    "-Zlocation-detail=none",
];

/// The sysroot of `nightly`, `arch` and `source`, and whether it is there already.
pub fn path(cache: &Path, nightly: &Nightly, source: &CoreSource, arch: &str) -> (PathBuf, bool) {
    // rustc refuses to mix crates of two target-cpus, so each architecture has its own.
    let mut key = DefaultHasher::new();
    (nightly.verbose.as_str(), arch, source.kind.name(), COMPILER_BUILTINS, FLAGS).hash(&mut key);
    let path = cache.join("sysroot").join(format!("{arch}-{:016x}", key.finish()));
    let built = path.is_dir();
    (path, built)
}

/// Compiles `core` and an empty `compiler_builtins` into `sysroot`.
pub fn compile(nightly: &Nightly, source: &CoreSource, arch: &str, sysroot: &Path) -> Result<()> {
    aside::build(sysroot, |aside| {
        let libraries = aside.join("lib/rustlib").join(TARGET).join("lib");
        fs::create_dir_all(&libraries)?;
        let core = source.library.join("core/src/lib.rs");
        let builtins = aside.join("compiler_builtins.rs");
        fs::write(&builtins, COMPILER_BUILTINS)?;
        for (name, root) in [("core", &core), ("compiler_builtins", &builtins)] {
            let mut rustc = nightly.rustc();
            rustc.arg(format!("--crate-name={name}")).arg(root).args(FLAGS);
            rustc.arg(format!("--target={TARGET}")).arg(format!("-Ctarget-cpu={arch}"));
            rustc.arg("--remap-path-prefix").arg(remap(&source.library, &format!("/rustc/{}/library", nightly.commit)));
            rustc.arg("--sysroot").arg(aside).arg("--out-dir").arg(&libraries);
            let output = process::output(&mut rustc)?;
            if !output.status.success() {
                let errors = String::from_utf8_lossy(&output.stderr);
                bail!(
                    "{} cannot compile `{name}` for {arch} from {}:\n{errors}",
                    nightly.version,
                    source.library.display()
                );
            }
        }
        Ok(())
    })
}

/// `FROM=TO` for `--remap-path-prefix`.
pub fn remap(from: &Path, to: &str) -> std::ffi::OsString {
    let mut text = from.as_os_str().to_owned();
    text.push("=");
    text.push(to);
    text
}
