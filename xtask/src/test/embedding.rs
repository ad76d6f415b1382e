//! The embedding test: an external crate that depends on `warpwright` by path builds and runs.
//!
//! tests/embedding/ is copied out of the checkout, so that no config file, toolchain file or workspace of this
//! repository is above it, and cargo starts without the environment that .cargo/config.toml gives us. It is built on
//! stable with and without the feature `cuda`, and run on the simulator.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::process;
use crate::workspace::Workspace;

/// Copies the crate out, builds and runs it; whether all of that succeeded.
pub(super) fn check(workspace: &Workspace) -> Result<bool> {
    let outside = tempfile::tempdir().context("cannot create a temporary folder")?;
    let folder = outside.path().join("embedding");
    ensure!(
        !folder.starts_with(workspace.root()),
        "{} is inside the checkout; set TMPDIR to another place",
        folder.display()
    );
    copy(&workspace.root().join("tests/embedding"), &folder)?;
    let manifest = folder.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).with_context(|| format!("cannot read {}", manifest.display()))?;
    fs::write(&manifest, point_to(&text, &workspace.root().join("host"))?)?;
    if !folder.join("Cargo.lock").is_file() {
        // The versions of the checkout: what is tested is the crate, not today's registry.
        fs::copy(workspace.root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    }
    let mut passed = true;
    for features in [&[][..], &["--features=cuda"]] {
        for verb in [&["build"][..], &["run", "--quiet"]] {
            let mut cargo = external_cargo(workspace, &folder);
            cargo.args(verb).args(features).env("WARPWRIGHT_DEVICE", "simulator");
            println!("{}", process::line(&cargo));
            passed &= process::succeeds(&mut cargo)?;
        }
    }
    // Built last with `cuda`: it must start on a machine without the driver.
    let libraries = shared_libraries(&target(workspace).join("debug/embedding"))?;
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

/// The manifest with the path of `warpwright` made absolute.
fn point_to(manifest: &str, host: &Path) -> Result<String> {
    let host = host.to_str().context("the path of the checkout is not UTF-8")?;
    let mut changed = 0;
    let lines = manifest.lines().map(|line| {
        let Some((before, rest)) = line.split_once("path = \"") else { return line.to_owned() };
        if !line.trim_start().starts_with("warpwright") {
            return line.to_owned();
        }
        changed += 1;
        let after = rest.split_once('"').map_or("", |(_, after)| after);
        format!("{before}path = \"{}\"{after}", host.replace('\\', "\\\\"))
    });
    let text = lines.collect::<Vec<_>>().join("\n") + "\n";
    ensure!(
        changed == 1,
        "tests/embedding/Cargo.toml should have one line `warpwright = {{ path = \"…\" }}`, it has {changed}"
    );
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
    use std::path::Path;

    use super::point_to;

    #[test]
    fn the_path_alone_is_changed() {
        let manifest = "[dependencies]\nwarpwright = { path = \"../../host\", default-features = false }\n";
        let expected = "[dependencies]\nwarpwright = { path = \"/w/host\", default-features = false }\n";
        assert_eq!(point_to(manifest, Path::new("/w/host")).unwrap(), expected);
    }

    #[test]
    fn a_manifest_without_the_dependency_is_refused() {
        assert!(point_to("[dependencies]\nother = { path = \"x\" }\n", Path::new("/w")).is_err());
    }
}
