//! The compiler's messages for wrong kernels and layouts, and for launches that do not match their kernel: those of the
//! pinned toolchain. `TRYBUILD=overwrite cargo test -p warpwright-compile-fail` rewrites the expected texts.

use std::env;

#[test]
fn what_is_wrong_does_not_compile() {
    // Those of trybuild for the cases. For their dependencies it has them without the last one, after which cargo would
    // compile all dependencies a second time.
    let flags = ["--cfg", "trybuild", "--verbose", "-A", "dead_code", "--diagnostic-width=140"];
    // SAFETY: this is the only test of the program, and no other thread reads or writes the environment.
    unsafe { env::set_var("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}")) };
    let cases = trybuild::TestCases::new();
    cases.compile_fail("kernels/*.rs");
    cases.compile_fail("launches/*.rs");
}
