//! The embedding tests: external crates that depend on `warpwright` build and run.
//!
//! They are built from the packages of the crates, as if they had come from crates.io: what a package lacks, is missing
//! here. Their folders are copied out of the checkout, so that no config file, toolchain file or workspace of this
//! repository is above them, and cargo starts without the environment that .cargo/config.toml gives us. They are built
//! on stable, and run on the simulator. tests/embedding uses the operations, and is built with and without the feature
//! `cuda`. examples/own-kernels has kernels of its own, whose PTX its build script makes where there is a nightly, and
//! is built with `cuda`; without it, the projects that `cargo warpwright new` makes are (cli/tests/new.rs).

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::packages::{self, Package};
use crate::process;
use crate::workspace::Workspace;

/// A crate outside the workspace.
struct Outside {
    /// Where it is in the checkout.
    folder: &'static str,
    /// Dependencies on crates of the checkout.
    dependencies: usize,
    /// What is done with it: arguments of cargo.
    steps: &'static [&'static [&'static str]],
    /// The program that is built last, with the feature `cuda`.
    program: &'static str,
}

/// Makes the packages, copies tests/embedding out, builds and runs it; whether all of that succeeded.
pub(super) fn check(workspace: &Workspace) -> Result<bool> {
    let steps: &[&[&str]] =
        &[&["build"], &["run", "--quiet"], &["build", "--features=cuda"], &["run", "--quiet", "--features=cuda"]];
    check_crate(workspace, &Outside { folder: "tests/embedding", dependencies: 1, steps, program: "embedding" })
}

/// The same of examples/own-kernels, and its tests.
pub(super) fn check_own_kernels(workspace: &Workspace) -> Result<bool> {
    let steps: &[&[&str]] = &[&["test", "--quiet", "--features=cuda"], &["run", "--quiet", "--features=cuda"]];
    let folder = "examples/own-kernels";
    check_crate(workspace, &Outside { folder, dependencies: 2, steps, program: "own-kernels" })
}

fn check_crate(workspace: &Workspace, of: &Outside) -> Result<bool> {
    let packages = packages::unpack(workspace)?;
    for (package, fault) in packages.iter().flat_map(|package| package.faults.iter().map(move |fault| (package, fault)))
    {
        println!("error: package {}: {fault}", package.name);
    }
    let outside = tempfile::tempdir().context("cannot create a temporary folder")?;
    let folder = outside.path().join(of.program);
    ensure!(
        !folder.starts_with(workspace.root()),
        "{} is inside the checkout; set TMPDIR to another place",
        folder.display()
    );
    copy(&workspace.root().join(of.folder), &folder)?;
    let manifest = folder.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).with_context(|| format!("cannot read {}", manifest.display()))?;
    fs::write(&manifest, published(&text, of.dependencies)? + &patch(&packages)?)?;
    // The versions of the checkout: what is tested is the crate, not today's registry.
    fs::copy(workspace.root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    // Resolves the packages without a network. If that fails, something has not been downloaded: the build does it.
    process::output(external_cargo(workspace, &folder).args(["update", "--workspace", "--offline"]))?;
    let mut passed = packages.iter().all(|package| package.faults.is_empty());
    for step in of.steps {
        let mut cargo = external_cargo(workspace, &folder);
        cargo.args(*step).env("WARPWRIGHT_DEVICE", "simulator");
        println!("{}", process::line(&cargo));
        passed &= process::succeeds(&mut cargo)?;
    }
    // Built last with `cuda`: it must start on a machine without the driver.
    let libraries = shared_libraries(&target(workspace).join("debug").join(of.program))?;
    if libraries.contains("libcuda") {
        println!("error: the program is linked to the driver:\n{libraries}");
        passed = false;
    }
    Ok(passed)
}

/// Cargo as another project starts it: with the toolchain of this one, but none of its other settings.
fn external_cargo(workspace: &Workspace, folder: &Path) -> Command {
    let toolchain = std::env::var_os("RUSTUP_TOOLCHAIN");
    let mut cargo = workspace.cargo();
    process::forget_toolchain(&mut cargo);
    cargo.current_dir(folder).env_remove("CUDA_LIBRARY_PATH");
    if let Some(toolchain) = toolchain {
        cargo.env("RUSTUP_TOOLCHAIN", toolchain);
    }
    // Kept between runs: the folder is new each time, what it depends on is not.
    cargo.env("CARGO_TARGET_DIR", target(workspace));
    cargo
}

/// Where the crate is built.
fn target(workspace: &Workspace) -> PathBuf {
    workspace.target().join("embedding")
}

/// The shared libraries that a program is linked to, as the dynamic linker of Linux lists them.
fn shared_libraries(program: &Path) -> Result<String> {
    process::capture(Command::new(program).env("LD_TRACE_LOADED_OBJECTS", "1"))
}

/// The manifest with the crates of the checkout, as many as `dependencies`, from crates.io instead of a path.
fn published(manifest: &str, dependencies: usize) -> Result<String> {
    let mut changed = 0;
    let lines = manifest.lines().map(|line| {
        let Some((before, rest)) = line.split_once("path = \"") else { return line.to_owned() };
        if !line.trim_start().starts_with("warpwright") {
            return line.to_owned();
        }
        changed += 1;
        let after = rest.split_once('"').map_or("", |(_, after)| after);
        format!("{before}version = \"{}\"{after}", env!("CARGO_PKG_VERSION"))
    });
    let text = lines.collect::<Vec<_>>().join("\n") + "\n";
    ensure!(
        changed == dependencies,
        "Cargo.toml should have lines `warpwright… = {{ path = \"…\" }}`: {dependencies}, it has {changed}"
    );
    Ok(text)
}

/// The lines of a manifest with which cargo takes the packages for those of crates.io.
fn patch(packages: &[Package]) -> Result<String> {
    let mut text = String::from("\n[patch.crates-io]\n");
    for Package { name, folder, .. } in packages {
        let folder = folder.to_str().context("the path of the target directory is not UTF-8")?;
        writeln!(text, "{name} = {{ path = {folder:?} }}")?;
    }
    Ok(text)
}

/// Copies a folder of sources; what cargo made in it stays behind.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))? {
        let entry = entry?;
        let (source, goal) = (entry.path(), to.join(entry.file_name()));
        if !source.is_dir() {
            fs::copy(&source, &goal).with_context(|| format!("cannot copy {}", source.display()))?;
        } else if entry.file_name() != "target" {
            copy(&source, &goal)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Package, patch, published};

    #[test]
    fn the_path_alone_is_changed() {
        let manifest = "[dependencies]\nwarpwright = { path = \"../../host\", default-features = false }\n";
        let expected = concat!(
            "[dependencies]\nwarpwright = { version = \"",
            env!("CARGO_PKG_VERSION"),
            "\", default-features = false }\n"
        );
        assert_eq!(published(manifest, 1).unwrap(), expected);
    }

    #[test]
    fn a_manifest_without_the_dependency_is_refused() {
        assert!(published("[dependencies]\nother = { path = \"x\" }\n", 1).is_err());
    }

    #[test]
    fn packages_replace_those_of_the_registry() {
        let package = Package { name: "a".into(), folder: "/w/a-0.1.0".into(), faults: Vec::new() };
        assert_eq!(patch(&[package]).unwrap(), "\n[patch.crates-io]\na = { path = \"/w/a-0.1.0\" }\n");
    }
}
