//! Where things are: the checkout, its target directory, and the folders the commands write to.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::process;

/// Folder of the committed PTX, relative to the checkout.
pub(crate) const PTX_DIR: &str = "host/ptx";

/// The checkout that `cargo xtask` runs in.
pub(crate) struct Workspace {
    root: PathBuf,
    target: PathBuf,
}

impl Workspace {
    /// Asks cargo, which honours `CARGO_TARGET_DIR` and every config file.
    pub(crate) fn find() -> Result<Self> {
        #[derive(Deserialize)]
        struct Metadata {
            workspace_root: PathBuf,
            target_directory: PathBuf,
        }
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let manifest = env::var_os("CARGO_MANIFEST_DIR").map_or(manifest, |dir| PathBuf::from(dir).join("Cargo.toml"));
        let json = process::capture(
            Command::new(cargo())
                .args(["metadata", "--no-deps", "--format-version=1", "--manifest-path"])
                .arg(&manifest),
        )?;
        let Metadata { workspace_root, target_directory } =
            serde_json::from_str(&json).context("cargo metadata gave JSON of an unknown form")?;
        Ok(Self { root: workspace_root, target: target_directory })
    }

    /// A checkout that a test made up.
    #[cfg(test)]
    pub(crate) fn made_up(root: &Path) -> Self {
        Self { root: root.to_owned(), target: root.join("target") }
    }

    /// The checkout.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Cargo's target directory.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Where `build` keeps what it can make again: core's source, private sysroots, the inner cargo's target directory.
    pub(crate) fn ptx_build_dir(&self) -> PathBuf {
        self.target.join("ptx")
    }

    /// Where CI installs ptxas with pip.
    pub(crate) fn venvs(&self) -> [PathBuf; 2] {
        [self.target.join("venv"), self.root.join("target/venv")]
    }

    /// The committed PTX.
    pub(crate) fn ptx_dir(&self) -> PathBuf {
        self.root.join(PTX_DIR)
    }

    /// The folders of committed PTX: that of the product's kernels and that of the lab's.
    pub(crate) fn ptx_dirs(&self) -> [PathBuf; 2] {
        [self.ptx_dir(), self.ptx_dir().join("lab")]
    }

    /// A command for the stable cargo that runs us, in the checkout.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = Command::new(cargo());
        command.current_dir(&self.root);
        // Set by cargo for *this* package: a nested cargo must not take them for the user's settings.
        process::forget_package(&mut command);
        command
    }
}

/// The cargo that started us, else the one on PATH.
fn cargo() -> PathBuf {
    env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
}
