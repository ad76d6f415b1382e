//! Building the programs of a bundle, and asking cargo where it put them.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use crate::process;
use crate::workspace::Workspace;

/// An executable for the bundle.
#[derive(Debug, PartialEq)]
pub(super) struct Program {
    /// Folder of the bundle: bin, tests or bench.
    pub(super) folder: &'static str,
    /// Name there.
    pub(super) name: String,
    /// Where cargo put it.
    pub(super) file: PathBuf,
}

/// Builds, in release and with every feature, the tests of `tested` and the programs and benchmarks of `bench`.
pub(super) fn build(workspace: &Workspace, tested: &[&str], bench: &str) -> Result<Vec<Program>> {
    let mut tests = workspace.cargo();
    tests.args(["test", "--no-run", "--release", "--all-features"]);
    tests.args(tested.iter().map(|package| format!("--package={package}")));
    let mut bins = workspace.cargo();
    bins.args(["build", "--release", "--all-features", "--bins"]).arg(format!("--package={bench}"));
    let mut benches = workspace.cargo();
    benches.args(["bench", "--no-run", "--all-features", "--benches"]).arg(format!("--package={bench}"));
    let mut programs = Vec::new();
    for (folder, cargo) in [("tests", &mut tests), ("bin", &mut bins), ("bench", &mut benches)] {
        let built = artifacts(&json_messages(cargo)?)?;
        // `cargo bench` also builds what could hold a #[bench]: the library and the programs, as test harnesses.
        programs.extend(built.into_iter().filter(|program| program.folder == folder));
    }
    Ok(programs)
}

/// The package outside the workspace whose kernels are its own.
const EXAMPLE: &str = "examples/own-kernels";
/// Its test program.
pub(super) const EXAMPLE_TEST: &str = "own-kernels-properties";

/// Builds the program and the tests of [`EXAMPLE`], with the PTX of its kernels.
pub(super) fn build_example(workspace: &Workspace) -> Result<Vec<Program>> {
    let folder = workspace.root().join(EXAMPLE);
    if !folder.join("Cargo.lock").is_file() {
        // The versions of the checkout.
        fs::copy(workspace.root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    }
    let cargo = |arguments: &[&str]| {
        let mut cargo = workspace.cargo();
        cargo.args(arguments).args(["--release", "--features=cuda"]).arg("--manifest-path");
        cargo.arg(folder.join("Cargo.toml")).arg("--target-dir").arg(workspace.target().join("own-kernels"));
        cargo
    };
    let mut programs = artifacts(&json_messages(&mut cargo(&["test", "--no-run", "--test=properties"]))?)?;
    programs.retain(|program| program.folder == "tests");
    programs.extend(artifacts(&json_messages(&mut cargo(&["build", "--bins"]))?)?);
    Ok(programs)
}

/// Name of a test program: its package and its target.
pub(super) fn test_name(package: &str, target: &str) -> String {
    if package == target || package.replace('-', "_") == target {
        format!("{package}-unit")
    } else {
        format!("{package}-{target}")
    }
}

/// Runs cargo with its progress and diagnostics on our stderr and its messages caught.
fn json_messages(cargo: &mut Command) -> Result<String> {
    cargo.arg("--message-format=json-render-diagnostics").stdout(Stdio::piped()).stderr(Stdio::inherit());
    let output = cargo.output().with_context(|| format!("cannot start `{}`", process::line(cargo)))?;
    ensure!(output.status.success(), "`{}` failed", process::line(cargo));
    Ok(String::from_utf8(output.stdout)?)
}

/// The executables that cargo's messages name.
fn artifacts(messages: &str) -> Result<Vec<Program>> {
    #[derive(Deserialize)]
    struct Message {
        reason: String,
        package_id: Option<String>,
        target: Option<Target>,
        profile: Option<Profile>,
        executable: Option<PathBuf>,
    }
    #[derive(Deserialize)]
    struct Target {
        name: String,
        kind: Vec<String>,
    }
    #[derive(Deserialize)]
    struct Profile {
        test: bool,
    }
    let mut programs = Vec::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: Message = serde_json::from_str(line).with_context(|| format!("cargo printed `{line}`"))?;
        let Message {
            reason,
            package_id: Some(id),
            target: Some(target),
            profile: Some(profile),
            executable: Some(file),
        } = message
        else {
            continue;
        };
        if reason != "compiler-artifact" {
            continue;
        }
        let kind = |kind: &str| target.kind.iter().any(|own| own == kind);
        let (folder, name) = match profile.test {
            _ if kind("bench") => ("bench", target.name),
            true => ("tests", test_name(package_name(&id), &target.name)),
            false if kind("bin") => ("bin", target.name),
            false => continue,
        };
        programs.push(Program { folder, name, file });
    }
    Ok(programs)
}

/// `warpwright` of `path+file:///checkout/host#warpwright@0.1.0` and of `path+file:///checkout/warpwright#0.1.0`.
fn package_name(id: &str) -> &str {
    let (path, fragment) = id.split_once('#').unwrap_or((id, ""));
    fragment.split_once('@').map_or_else(|| path.rsplit('/').next().unwrap_or(path), |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Program, artifacts, package_name, test_name};

    #[test]
    fn executables_are_sorted_into_folders() {
        let messages = r#"
{"reason":"compiler-artifact","package_id":"path+file:///w/host#warpwright@0.1.0","target":{"kind":["lib"],"name":"warpwright"},"profile":{"test":false},"executable":null}
{"reason":"compiler-artifact","package_id":"path+file:///w/host#warpwright@0.1.0","target":{"kind":["lib"],"name":"warpwright"},"profile":{"test":true},"executable":"/t/warpwright-1"}
{"reason":"compiler-artifact","package_id":"path+file:///w/tests#warpwright-tests@0.1.0","target":{"kind":["test"],"name":"gemm"},"profile":{"test":true},"executable":"/t/gemm-2"}
{"reason":"compiler-artifact","package_id":"path+file:///w/bench#warpwright-bench@0.1.0","target":{"kind":["bin"],"name":"warpwright-run"},"profile":{"test":false},"executable":"/t/warpwright-run"}
{"reason":"compiler-artifact","package_id":"path+file:///w/bench#warpwright-bench@0.1.0","target":{"kind":["bin"],"name":"warpwright-run"},"profile":{"test":true},"executable":"/t/warpwright-run-3"}
{"reason":"compiler-artifact","package_id":"path+file:///w/bench#warpwright-bench@0.1.0","target":{"kind":["bench"],"name":"simulator"},"profile":{"test":true},"executable":"/t/simulator-4"}
{"reason":"build-finished","success":true}
"#;
        let program = |folder, name: &str, file: &str| Program { folder, name: name.into(), file: PathBuf::from(file) };
        let expected = [
            program("tests", "warpwright-unit", "/t/warpwright-1"),
            program("tests", "warpwright-tests-gemm", "/t/gemm-2"),
            program("bin", "warpwright-run", "/t/warpwright-run"),
            program("tests", "warpwright-bench-warpwright-run", "/t/warpwright-run-3"),
            program("bench", "simulator", "/t/simulator-4"),
        ];
        assert_eq!(artifacts(messages).unwrap(), expected);
    }

    #[test]
    fn both_forms_of_package_id_are_read() {
        assert_eq!(package_name("path+file:///w/host#warpwright@0.1.0"), "warpwright");
        assert_eq!(package_name("path+file:///w/warpwright#0.1.0"), "warpwright");
        assert_eq!(test_name("warpwright-tests", "warpwright_tests"), "warpwright-tests-unit");
    }
}
