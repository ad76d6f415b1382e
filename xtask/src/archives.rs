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

/// What an archive's name ends with.
pub(crate) const SUFFIX: &str = ".ptx.lz";

/// What begins a kernel in PTX.
const ENTRY: &str = ".visible .entry ";

/// The PTX of one family for one architecture: the name of each kernel and its text, complete without the others.
pub(crate) type Kernels = BTreeMap<String, String>;

/// Splits the PTX that rustc wrote. What stands outside the kernels goes before each of them, without comments.
///
/// The labels of a kernel count the functions before it; they lose that number, so that a kernel's text does not depend
/// on its neighbours.
pub(crate) fn split(text: &str) -> Kernels {
    let (mut prelude, mut kernels) = (String::new(), Kernels::new());
    let mut open: Option<(&str, String)> = None;
    for line in text.split_inclusive('\n') {
        if let Some(rest) = line.strip_prefix(ENTRY) {
            open = rest.split('(').next().map(|name| (name, String::new()));
        }
        match &mut open {
            Some((name, body)) => {
                body.push_str(&without_function_number(line));
                // An entry ends at the brace that begins a line.
                if line.starts_with('}') {
                    kernels.insert((*name).to_owned(), std::mem::take(body));
                    open = None;
                }
            }
            None if line.trim_start().starts_with("//") || line.trim().is_empty() => {}
            None => prelude.push_str(line),
        }
    }
    for body in kernels.values_mut() {
        body.insert_str(0, &prelude);
    }
    kernels
}

/// The opposite of [`split`]: one text for ptxas and for readers.
pub(crate) fn join(kernels: &Kernels) -> String {
    let mut text = String::new();
    for kernel in kernels.values() {
        let start = if text.is_empty() { 0 } else { kernel.find(ENTRY).unwrap_or(0) };
        text.push_str(&kernel[start..]);
    }
    text
}

/// `$L__BB12_3` is label 3 of function 12.
fn without_function_number(line: &str) -> String {
    const LABEL: &str = "$L__BB";
    let mut parts = line.split(LABEL);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(LABEL);
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out
}

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

    use super::{Kernels, join, read, split, write};

    const TEXT: &str = "// by rustc\n.version 7.0\n.target sm_80\n\n\t// .globl\tb\n.extern .shared .b8 memory[];\n\n\
        .visible .entry b(\n\t.param .u32 p\n)\n// warpwright.kernel b\n{\n$L__BB0_1:\n\tbra \t$L__BB0_1;\n}\n\
        \t// .globl\ta\n.visible .entry a()\n{\n\t@%p1 bra \t$L__BB1_2;\n$L__BB1_2:\n\tret;\n}\n";

    #[test]
    fn each_kernel_is_complete_and_does_not_depend_on_its_place() {
        let kernels = split(TEXT);
        let prelude = ".version 7.0\n.target sm_80\n.extern .shared .b8 memory[];\n";
        let a = ".visible .entry a()\n{\n\t@%p1 bra \t$L__BB_2;\n$L__BB_2:\n\tret;\n}\n";
        let b = ".visible .entry b(\n\t.param .u32 p\n)\n// warpwright.kernel b\n{\n$L__BB_1:\n\tbra \t$L__BB_1;\n}\n";
        let expected: Kernels =
            [("a", a), ("b", b)].map(|(name, entry)| (name.to_owned(), prelude.to_owned() + entry)).into();
        assert_eq!(kernels, expected);
        assert_eq!(join(&kernels), [prelude, a, b].concat());
        assert_eq!(split(&join(&kernels)), kernels);
    }

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
