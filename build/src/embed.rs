//! What a build script leaves for `#[kernel]`: for each kernel an archive of its PTX for all architectures,
//! `NAME.ptx.lz`, and the place of its source, `NAME.at`, by which `#[kernel]` tells it from another function of the
//! same name.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::builder::Kernel;

/// Writes the files of `kernels` into `folder`, and removes all others.
pub(crate) fn write(folder: &Path, kernels: &[Kernel]) -> Result<()> {
    if folder.is_dir() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut by_name: BTreeMap<&str, Vec<&Kernel>> = BTreeMap::new();
    for kernel in kernels {
        by_name.entry(&kernel.name).or_default().push(kernel);
    }
    for (name, kernels) in by_name {
        let texts: Vec<_> =
            kernels.iter().map(|kernel| ptx_archive::Kernel { name, arch: &kernel.arch, text: &kernel.ptx }).collect();
        let put = |suffix: &str, bytes: &[u8]| {
            let path = folder.join(format!("{name}.{suffix}"));
            fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))
        };
        put("ptx.lz", &ptx_archive::write("kernels of a build script", &texts))?;
        put("at", kernels[0].at.as_bytes())?;
    }
    Ok(())
}
