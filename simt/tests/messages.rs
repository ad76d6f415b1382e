//! Compiler messages for wrong kernels and layouts. `TRYBUILD=overwrite` rewrites the expected texts.

#[test]
fn wrong_kernels_and_layouts() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
