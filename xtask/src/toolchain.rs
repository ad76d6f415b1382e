//! Which nightly writes the PTX: `gpu/rust-toolchain.toml` names it.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use warpwright_build::toolchain::Nightly;

use crate::workspace::Workspace;

pub(crate) use warpwright_build::toolchain::install_command;

/// Names the toolchain that writes PTX, from the checkout.
pub(crate) const PTX_TOOLCHAIN: &str = "gpu/rust-toolchain.toml";

/// The toolchain to build PTX with, or an error that says which command installs it.
pub(crate) fn find(workspace: &Workspace) -> Result<Nightly> {
    Nightly::find(&channel(&workspace.root().join(PTX_TOOLCHAIN))?)
}

/// `toolchain.channel` of a toolchain file.
pub(crate) fn channel(path: &Path) -> Result<String> {
    #[derive(Deserialize)]
    struct File {
        toolchain: Toolchain,
    }
    #[derive(Deserialize)]
    struct Toolchain {
        channel: String,
    }
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let file: File = toml::from_str(&text).with_context(|| format!("{} is malformed", path.display()))?;
    Ok(file.toolchain.channel)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn users_are_told_to_install_the_nightly_of_this_repository() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(super::PTX_TOOLCHAIN);
        assert_eq!(super::channel(&file).unwrap(), warpwright_build::toolchain::CHANNEL);
    }
}
