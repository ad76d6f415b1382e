//! `cargo xtask build --check`: whether the committed PTX is what the sources give.
//!
//! With the rustc that made it, it is built again and compared byte by byte. With another rustc, or none, the hash of
//! the sources in MANIFEST.json is compared: it tells stale PTX, but not an edit of rustc's output.

use std::collections::BTreeSet;
use std::fs;

use anyhow::Result;
use warpwright_build::toolchain::Nightly;

use super::manifest::{self, Manifest, State};
use super::{compile_all, sources};
use crate::archives::{self, Kernels};
use crate::families::{FILE, Families};
use crate::selection::PtxFile;
use crate::toolchain;
use crate::workspace::{PTX_DIR, Workspace};

/// Checks `files`, prints each fault and what could not be checked; whether there was no fault.
pub(super) fn check(workspace: &Workspace, files: &[PtxFile]) -> Result<bool> {
    let manifest = Manifest::load(workspace)?;
    let mut faults = Vec::new();
    for file in files {
        if let State::Stale(reason) = manifest.state(workspace, file, &sources::hash(workspace, &file.family)?) {
            faults.push(reason);
        }
    }
    faults.extend(strays(workspace)?);
    if faults.is_empty() {
        match toolchain::find(workspace) {
            Ok(nightly) => faults.extend(rebuild(workspace, &nightly, &manifest, files)?),
            Err(error) => {
                println!("not built again: {error:#}\nthe sources' hash in MANIFEST.json was compared instead");
            }
        }
    }
    for fault in &faults {
        println!("FAILED {PTX_DIR}: {fault}");
    }
    if faults.is_empty() {
        println!("{PTX_DIR}: {} sets of kernels are what the sources give", files.len());
    } else {
        println!("`cargo xtask build` writes the PTX again; commit {PTX_DIR} with the kernels");
    }
    Ok(faults.is_empty())
}

/// Archives that no family makes any more, and PTX in others for an architecture that the family is not compiled for.
fn strays(workspace: &Workspace) -> Result<Vec<String>> {
    let families = Families::load(workspace)?;
    let entries =
        workspace.ptx_dirs().into_iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    let mut strays = Vec::new();
    for path in entries.map(|entry| entry.path()).filter(|path| path.is_file()) {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name == manifest::NAME {
            continue;
        }
        match name.strip_suffix(archives::SUFFIX).and_then(|family| families.list.get(family)) {
            None => strays.push(format!("{name} is made by no kernel family; delete it")),
            Some(family) => {
                let unknown = archives::read(&path)?.into_keys().filter(|arch| !family.archs.contains(arch));
                strays.extend(unknown.map(|arch| format!("{name} has kernels for {arch}, which {FILE} does not list")));
            }
        }
    }
    strays.sort();
    Ok(strays)
}

/// Builds again what this rustc made, and compares.
fn rebuild(workspace: &Workspace, nightly: &Nightly, manifest: &Manifest, files: &[PtxFile]) -> Result<Vec<String>> {
    let made_by_us =
        |file: &&PtxFile| manifest.files.get(&file.name()).is_some_and(|entry| entry.rustc == nightly.stamp);
    let (ours, others): (Vec<_>, Vec<_>) = files.iter().partition(made_by_us);
    for file in others {
        let made = manifest.files.get(&file.name()).map_or("another rustc", |entry| entry.rustc.as_str());
        println!(
            "{} not built again: it was made by {made}, here is {}; the sources' hash was compared",
            file.name(),
            nightly.stamp
        );
    }
    let ours: Vec<PtxFile> = ours.into_iter().cloned().collect();
    let compiled = compile_all(workspace, nightly, &ours)?;
    let mut faults = Vec::new();
    for (file, kernels) in ours.iter().zip(compiled) {
        let committed = archives::read_file(workspace, file)?;
        faults.extend(differences(&committed, &kernels).map(|fault| format!("{}: {fault}", file.name())));
    }
    Ok(faults)
}

/// What is wrong with the `committed` kernels, one text each.
fn differences<'a>(committed: &'a Kernels, made: &'a Kernels) -> impl Iterator<Item = String> + use<'a> {
    let names: BTreeSet<&String> = committed.keys().chain(made.keys()).collect();
    names.into_iter().filter_map(|name| match (committed.get(name), made.get(name)) {
        (Some(committed), Some(made)) => {
            let line = first_difference(committed, made)?;
            Some(format!("`{name}` is not what the sources give, first at line {line}"))
        }
        (None, _) => Some(format!("`{name}` is missing")),
        (_, None) => Some(format!("`{name}` is not in the sources")),
    })
}

/// The first line, from 1, in which two texts differ.
fn first_difference(one: &str, other: &str) -> Option<usize> {
    if one == other {
        return None;
    }
    let same = one.lines().zip(other.lines()).take_while(|(one, other)| one == other).count();
    Some(same + 1)
}

#[cfg(test)]
mod tests {
    use super::{differences, first_difference};

    #[test]
    fn a_kernel_that_differs_is_named() {
        let kernels =
            |list: &[(&str, &str)]| list.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect();
        let committed = kernels(&[("a", "1\n2\n"), ("b", "1\n"), ("old", "1\n")]);
        let made = kernels(&[("a", "1\n3\n"), ("b", "1\n"), ("new", "1\n")]);
        assert_eq!(
            differences(&committed, &made).collect::<Vec<_>>(),
            ["`a` is not what the sources give, first at line 2", "`new` is missing", "`old` is not in the sources"]
        );
        assert_eq!(differences(&made, &made).count(), 0);
    }

    #[test]
    fn a_difference_is_found_in_the_middle_and_at_the_end() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("a\n", "a\nb\n"), Some(2));
        assert_eq!(first_difference("a\n", "a"), Some(2));
    }
}
