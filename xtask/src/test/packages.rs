//! The crates as crates.io would get them: `cargo package` of all that are published, unpacked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use crate::process;
use crate::workspace::Workspace;

/// Bytes of a package, at most: crates.io refuses larger ones.
const LIMIT: u64 = 10_000_000;
/// Those of `warpwright`, which has the PTX.
const LIMIT_WITH_PTX: u64 = 4_000_000;
/// What each package has besides its sources.
const TEXTS: [&str; 3] = ["README.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// A package, unpacked.
pub(super) struct Package {
    pub(super) name: String,
    pub(super) folder: PathBuf,
    /// What is wrong with it.
    pub(super) faults: Vec<String>,
}

/// A crate of the workspace.
#[derive(Deserialize)]
struct Member {
    name: String,
    version: String,
    /// The registries that it may go to: none with `publish = false`.
    publish: Option<Vec<String>>,
}

/// Makes and unpacks the packages of all published crates.
pub(super) fn unpack(workspace: &Workspace) -> Result<Vec<Package>> {
    let (published, private): (Vec<_>, Vec<_>) =
        members(workspace)?.into_iter().partition(|member| member.publish.as_ref().is_none_or(|to| !to.is_empty()));
    // Without a network if everything has been downloaded before, as the lockfile names it.
    if !package(workspace, &private, &["--offline"])? && !package(workspace, &private, &[])? {
        bail!("cargo package failed");
    }
    let folder = folder(workspace);
    fs::create_dir_all(&folder)?;
    published.iter().map(|member| unpack_one(workspace, &folder, member)).collect()
}

/// Where they are.
pub(super) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target().join("embedding/packages")
}

fn members(workspace: &Workspace) -> Result<Vec<Member>> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Member>,
    }
    let json = process::capture(workspace.cargo().args(["metadata", "--no-deps", "--format-version=1"]))?;
    let Metadata { packages } = serde_json::from_str(&json).context("cargo metadata gave JSON of an unknown form")?;
    Ok(packages)
}

/// Packages all crates but these; whether that succeeded. They are not built here: the embedding crate is built from
/// them.
fn package(workspace: &Workspace, without: &[Member], options: &[&str]) -> Result<bool> {
    let mut cargo = workspace.cargo();
    cargo.args(["package", "--quiet", "--workspace", "--no-verify", "--allow-dirty"]).args(options);
    cargo.args(without.iter().flat_map(|member| ["--exclude", &member.name]));
    println!("{}", process::line(&cargo));
    process::succeeds(&mut cargo)
}

fn unpack_one(workspace: &Workspace, folder: &Path, member: &Member) -> Result<Package> {
    let name = format!("{}-{}", member.name, member.version);
    let file = format!("{name}.crate");
    let (made, known) = (workspace.target().join("package").join(&file), folder.join(&file));
    let bytes = fs::read(&made).with_context(|| format!("cannot read {}", made.display()))?;
    let unpacked = folder.join(&name);
    // One that has not changed is not built again.
    if fs::read(&known).ok().as_deref() != Some(&bytes) || !unpacked.is_dir() {
        if unpacked.is_dir() {
            fs::remove_dir_all(&unpacked)?;
        }
        // With the present time on the files: that of the archive is always the same, and cargo compares it.
        process::capture(Command::new("tar").arg("-xzmf").arg(&made).arg("-C").arg(folder))?;
        fs::write(&known, &bytes)?;
    }
    let limit = if member.name == "warpwright" { LIMIT_WITH_PTX } else { LIMIT };
    let faults = faults(bytes.len() as u64, limit, |text| unpacked.join(text).is_file());
    println!("{file}: {:.2} MB of at most {:.0}", bytes.len() as f64 / 1e6, limit as f64 / 1e6);
    Ok(Package { name: member.name.clone(), folder: unpacked, faults })
}

/// What is wrong with a package of so many bytes.
fn faults(bytes: u64, limit: u64, has: impl Fn(&str) -> bool) -> Vec<String> {
    let size = (bytes > limit).then(|| format!("{bytes} bytes, at most {limit}"));
    let missing = TEXTS.iter().filter(|text| !has(text)).map(|text| format!("{text} is missing"));
    size.into_iter().chain(missing).collect()
}

#[cfg(test)]
mod tests {
    use super::{LIMIT, faults};

    #[test]
    fn a_package_is_small_and_has_its_texts() {
        assert!(faults(LIMIT, LIMIT, |_| true).is_empty());
        assert_eq!(faults(LIMIT + 1, LIMIT, |_| true), ["10000001 bytes, at most 10000000"]);
        assert_eq!(faults(1, LIMIT, |text| text != "LICENSE-MIT"), ["LICENSE-MIT is missing"]);
    }
}
