//! Lets programs with the feature `cuda` link without a CUDA toolkit, and the crate know whether it is optimised.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(optimised)");
    if env::var("OPT_LEVEL").is_ok_and(|level| level != "0") {
        println!("cargo::rustc-cfg=optimised");
    }
    if env::var_os("CARGO_FEATURE_CUDA").is_some() {
        provide_libcuda();
    }
}

/// Puts an empty `libcuda.a` on the linker's search path. `cust`'s build script puts `-lcuda` on the link line, but the
/// crate defines the driver's functions itself (src/cuda/driver/): it must link where there is no such library.
fn provide_libcuda() {
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let archive = folder.join("libcuda.a");
    // The signature of an archive, and no members.
    fs::write(&archive, b"!<arch>\n").unwrap_or_else(|error| panic!("cannot write {}: {error}", archive.display()));
    println!("cargo::rustc-link-search=native={}", folder.display());
}
