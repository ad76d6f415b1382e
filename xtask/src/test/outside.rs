//! Projects outside the checkout that depend on `warpwright`, as their users' machines have them.
//!
//! They are built from the packages of the crates, as if they had come from crates.io: what a package lacks, is missing
//! here. No config file, toolchain file or workspace of this repository is above them, and cargo starts without the
//! environment that .cargo/config.toml gives us. They are built on stable, and run on the simulator.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use cargo_warpwright::new;
use tempfile::TempDir;

use super::packages::{self, Package};
use crate::process;
use crate::workspace::Workspace;

/// A folder for projects, and the packages that they depend on.
pub(super) struct Outside<'w> {
    workspace: &'w Workspace,
    packages: Vec<Package>,
    folder: TempDir,
}

impl<'w> Outside<'w> {
    /// Makes the packages. An error where one of them is not as it should be.
    pub(super) fn new(workspace: &'w Workspace) -> Result<Self> {
        let packages = packages::unpack(workspace)?;
        let faults: Vec<String> = packages
            .iter()
            .flat_map(|package| package.faults.iter().map(|fault| format!("package {}: {fault}", package.name)))
            .collect();
        if !faults.is_empty() {
            bail!("{}", faults.join("\n"));
        }
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        ensure!(
            !folder.path().starts_with(workspace.root()),
            "{} is inside the checkout; set TMPDIR to another place",
            folder.path().display()
        );
        Ok(Self { workspace, packages, folder })
    }

    /// Copies a project of the checkout, which names the paths of so many of our crates.
    pub(super) fn copy(&self, project: &str, dependencies: usize) -> Result<PathBuf> {
        let folder = self.folder.path().join(project.replace('/', "-"));
        copy(&self.workspace.root().join(project), &folder)?;
        let manifest = folder.join("Cargo.toml");
        let text = fs::read_to_string(&manifest).with_context(|| format!("cannot read {}", manifest.display()))?;
        fs::write(&manifest, published(&text, dependencies)?)?;
        self.use_packages(&folder)?;
        Ok(folder)
    }

    /// A new project, in one package or, with `workspace`, in two.
    pub(super) fn create(&self, name: &str, workspace: bool) -> Result<PathBuf> {
        let folder = self.folder.path().join(name);
        new::command(&new::Args { dir: folder.clone(), workspace, warpwright: None }, None)?;
        self.use_packages(&folder)?;
        Ok(folder)
    }

    /// Has cargo take the packages for those of crates.io.
    fn use_packages(&self, project: &Path) -> Result<()> {
        let manifest = project.join("Cargo.toml");
        fs::write(&manifest, fs::read_to_string(&manifest)? + &patch(&self.packages)?)?;
        // The versions of the checkout: what is tested is the crate, not today's registry.
        fs::copy(self.workspace.root().join("Cargo.lock"), project.join("Cargo.lock"))?;
        // Resolves the packages without a network. If that fails, something has not been downloaded: the build does it.
        process::output(self.cargo(project).args(["update", "--workspace", "--offline"])).map(drop)
    }

    /// Cargo as another project starts it: with the toolchain of this one, but none of its other settings.
    pub(super) fn cargo(&self, project: &Path) -> Command {
        self.start(self.workspace.cargo(), project)
    }

    /// This program in the project, for `cargo warpwright`.
    pub(super) fn xtask(&self, project: &Path) -> Result<Command> {
        let this = env::current_exe().context("cannot find this program")?;
        Ok(self.start(Command::new(this), project))
    }

    fn start(&self, mut command: Command, project: &Path) -> Command {
        let toolchain = env::var_os("RUSTUP_TOOLCHAIN");
        process::forget_package(&mut command);
        process::forget_toolchain(&mut command);
        command.current_dir(project).env_remove("CUDA_LIBRARY_PATH").env_remove("MALLOC_CONF");
        command.env("WARPWRIGHT_DEVICE", "simulator").env("RUST_BACKTRACE", "0");
        if let Some(toolchain) = toolchain {
            command.env("RUSTUP_TOOLCHAIN", toolchain);
        }
        command.env("CARGO_TARGET_DIR", self.target());
        command
    }

    /// Where the projects are built. Kept between runs: a project is new each time, what it depends on is not.
    pub(super) fn target(&self) -> PathBuf {
        self.workspace.target().join("embedding")
    }

    /// Where the packages are.
    pub(super) fn packages(&self) -> PathBuf {
        packages::folder(self.workspace)
    }
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
