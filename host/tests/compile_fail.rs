//! The compiler's errors for launches that do not match their kernel. The messages in `compile_fail/` are those of the
//! pinned toolchain; `TRYBUILD=overwrite cargo test -p warpwright --test compile_fail` updates them.

#[test]
fn a_wrong_launch_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
