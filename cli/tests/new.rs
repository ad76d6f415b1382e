//! Projects that `new` makes: formatted, built, tested and run as a user would, without a GPU.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn checkout() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Cargo in the project, with nothing that the checkout's configuration sets.
fn cargo(dir: &Path) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    warpwright_build::process::forget_package(&mut cargo);
    // Kept between runs: the project is new each time, what it depends on is not.
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("new");
    cargo.current_dir(dir).env("CARGO_TARGET_DIR", target).env("WARPWRIGHT_DEVICE", "simulator");
    cargo.env_remove("CUDA_LIBRARY_PATH");
    cargo
}

fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}:\n{text}");
    text
}

#[test]
fn both_layouts_are_formatted_build_pass_their_tests_and_run() {
    let folder = tempfile::tempdir().unwrap();
    for (name, options) in [("one-crate", &[][..]), ("zwei", &["--workspace"])] {
        let dir = folder.path().join(name);
        let mut new = Command::new(env!("CARGO_BIN_EXE_cargo-warpwright"));
        new.arg("warpwright").arg("new").arg(&dir).args(options).arg("--warpwright").arg(checkout());
        succeeds(&mut new);
        // The versions of the checkout, so that nothing is downloaded.
        fs::copy(checkout().join("Cargo.lock"), dir.join("Cargo.lock")).unwrap();
        succeeds(cargo(&dir).args(["fmt", "--all", "--check"]));
        let tests = succeeds(cargo(&dir).args(["test", "--workspace", "--offline"]));
        assert_eq!(tests.matches("2 passed").count(), 2, "{tests}");
        let run = succeeds(cargo(&dir).args(["run", "--quiet", "--offline"]));
        assert!(run.contains("3 · 1 + 2 = 5, 0 + 1 + … + 9999 = 49995000"), "{run}");
    }
}
