//! Tells the crate whether it is optimised: only then are its functions `inline(always)`. In a debug build that would
//! double the code, and the time that it takes to compile.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(optimised)");
    if env::var("OPT_LEVEL").is_ok_and(|level| level != "0") {
        println!("cargo::rustc-cfg=optimised");
    }
}
