//! What the compiler says where a kernel or a layout is written wrongly. `TRYBUILD=overwrite` renews the texts.

#[test]
fn wrong_kernels_and_layouts() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
