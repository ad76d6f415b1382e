//! What users do with the crates in projects of their own ([`Outside`]): embed the operations, write kernels, begin a
//! project.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use super::outside::Outside;
use crate::process;
use crate::workspace::Workspace;

/// tests/embedding uses the operations, and is built with and without the feature `cuda`; whether it works.
pub(super) fn check(workspace: &Workspace) -> Result<bool> {
    let outside = Outside::new(workspace)?;
    let project = outside.copy("tests/embedding", 1)?;
    let mut passed = true;
    for cuda in [&[][..], &["--features=cuda"]] {
        passed &= succeeds(outside.cargo(&project).arg("build").args(cuda))?;
        passed &= succeeds(outside.cargo(&project).args(["run", "--quiet"]).args(cuda))?;
    }
    Ok(passed && starts_without_driver(&outside.target().join("debug/embedding"))?)
}

/// examples/own-kernels has kernels of its own, whose PTX its build script makes where there is a nightly, and is built
/// with `cuda`; without it, the projects that `cargo warpwright new` makes. Whether all of them work.
pub(super) fn check_own_kernels(workspace: &Workspace) -> Result<bool> {
    let outside = Outside::new(workspace)?;
    let project = outside.copy("examples/own-kernels", 2)?;
    let mut passed = succeeds(outside.cargo(&project).args(["test", "--quiet", "--features=cuda"]))?;
    passed &= succeeds(outside.cargo(&project).args(["run", "--quiet", "--features=cuda"]))?;
    passed &= starts_without_driver(&outside.target().join("debug/own-kernels"))?;
    for (name, workspace) in [("one-crate", false), ("two-crates", true)] {
        let project = outside.create(name, workspace)?;
        passed &= succeeds(outside.cargo(&project).args(["fmt", "--all", "--check"]))?;
        let tests = process::capture(outside.cargo(&project).args(["test", "--workspace"]))?;
        ensure!(tests.matches("2 passed").count() == 2, "{name} should have two programs of two tests:\n{tests}");
        let run = process::capture(outside.cargo(&project).args(["run", "--quiet"]))?;
        let expected = "3 · 1 + 2 = 5, 0 + 1 + … + 9999 = 49995000";
        ensure!(run.contains(expected), "{name} should print `{expected}`:\n{run}");
    }
    Ok(passed)
}

fn succeeds(command: &mut Command) -> Result<bool> {
    println!("{}", process::line(command));
    process::succeeds(command)
}

/// Built with `cuda`, a program must start on a machine without the driver.
fn starts_without_driver(program: &Path) -> Result<bool> {
    // The shared libraries that it is linked to, as the dynamic linker of Linux lists them.
    let libraries = process::capture(Command::new(program).env("LD_TRACE_LOADED_OBJECTS", "1"))?;
    if libraries.contains("libcuda") {
        println!("error: {} is linked to the driver:\n{libraries}", program.display());
    }
    Ok(!libraries.contains("libcuda"))
}
