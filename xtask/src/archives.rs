//! `host/ptx/*.ptx.lz`: the committed PTX, one archive per kernel family with its kernels for every architecture.
//!
//! `xz -dc host/ptx/gemm.ptx.lz` prints one; MANIFEST.json has the hash of each kernel, so that a diff names
//! what changed.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context as _, Result};
use ptx_archive::{Archive, Kernel};

use crate::selection::PtxFile;
use crate::workspace::Workspace;

pub(crate) use warpwright_build::kernels::{Kernels, join, split};

/// What an archive's name ends with.
pub(crate) const SUFFIX: &str = ".ptx.lz";

/// The committed PTX of a family for each architecture; none where there is no archive.
pub(crate) fn read(path: &Path) -> Result<BTreeMap<String, Kernels>> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
        bytes => bytes.with_context(|| format!("cannot read {}", path.display()))?,
    };
    let read = || -> std::io::Result<BTreeMap<String, Kernels>> {
        let archive = Archive::open(&bytes)?;
        let mut archs: BTreeMap<String, Kernels> = BTreeMap::new();
        for (name, arch, text) in archive.texts()? {
            archs.entry(arch.to_owned()).or_default().insert(name.to_owned(), text);
        }
        Ok(archs)
    };
    read().with_context(|| format!("{}: delete it and run `cargo xtask build`", path.display()))
}

/// The committed PTX of one family for one architecture; empty where there is none.
pub(crate) fn read_file(workspace: &Workspace, file: &PtxFile) -> Result<Kernels> {
    Ok(read(&file.archive(workspace))?.remove(&file.arch).unwrap_or_default())
}

/// Writes an archive.
pub(crate) fn write(path: &Path, family: &str, archs: &BTreeMap<String, Kernels>) -> Result<()> {
    let mut kernels: Vec<Kernel<'_>> = archs
        .iter()
        .flat_map(|(arch, kernels)| kernels.iter().map(move |(name, text)| Kernel { name, arch, text }))
        .collect();
    // Names end with what changes the code most (tile, operation), and begin with what they share: read backwards,
    // neighbours are alike.
    kernels.sort_by_cached_key(|kernel| (kernel.name.split('_').rev().collect::<Vec<_>>(), kernel.arch));
    let title = format!("Warpwright {family} kernels: written by `cargo xtask build` from gpu/, never by hand.");
    fs::write(path, ptx_archive::write(&title, &kernels)).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{read, split, write};

    const TEXT: &str = "// by rustc\n.version 7.0\n.target sm_80\n\n\t// .globl\tb\n.extern .shared .b8 memory[];\n\n\
        .visible .entry b(\n\t.param .u32 p\n)\n// warpwright.kernel b\n{\n$L__BB0_1:\n\tbra \t$L__BB0_1;\n}\n\
        \t// .globl\ta\n.visible .entry a()\n{\n\t@%p1 bra \t$L__BB1_2;\n$L__BB1_2:\n\tret;\n}\n";

    #[test]
    fn an_archive_holds_every_architecture_of_its_family() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("gemm.ptx.lz");
        assert!(read(&path).unwrap().is_empty());
        let archs = BTreeMap::from([("sm_80".to_owned(), split(TEXT)), ("sm_90a".to_owned(), split(TEXT))]);
        write(&path, "gemm", &archs).unwrap();
        assert_eq!(read(&path).unwrap(), archs);
        let first = std::fs::read(&path).unwrap();
        write(&path, "gemm", &archs).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), first, "the same texts give the same bytes");
        std::fs::write(&path, &first[..first.len() - 1]).unwrap();
        let error = format!("{:#}", read(&path).unwrap_err());
        assert!(
            error.contains("gemm.ptx.lz: delete it and run `cargo xtask build`: the PTX archive is damaged"),
            "{error}"
        );
    }
}
