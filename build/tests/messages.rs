//! What a kernel sends of a panic's message, and what the host makes of it, with the `core` of the toolchain for
//! kernels: no GPU takes part. A machine without a nightly says so and ends.

use std::path::Path;
use std::process::Command;

use warpwright_build::toolchain::{CHANNEL, Nightly};

#[test]
fn a_message_arrives_as_format_writes_it() {
    let nightly = match Nightly::find(CHANNEL) {
        Ok(nightly) => nightly,
        Err(error) => return eprintln!("not run: {error:#}"),
    };
    let folder = tempfile::tempdir().unwrap();
    let (source, program) =
        (Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/round_trip.rs"), folder.path().join("round_trip"));
    let mut rustc = nightly.rustc();
    rustc.args(["--edition=2024", "-Ccodegen-units=1", "--cap-lints=allow"]).arg(&source).arg("-o").arg(&program);
    let output = rustc.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = Command::new(&program).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("passed"), "{said}{}", String::from_utf8_lossy(&output.stderr));
}
