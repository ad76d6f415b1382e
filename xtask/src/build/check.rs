//! `cargo xtask build --check`: whether the committed PTX is what the sources give.
//!
//! With the rustc that made a file, the file is built again and compared byte by byte. With another rustc, or none, the
//! hash of the sources in MANIFEST.json is compared: it tells a stale file, but not an edit of rustc's output.

use std::fs;

use anyhow::Result;

use super::manifest::{Manifest, State};
use super::{compile_all, sources};
use crate::families::Families;
use crate::selection::PtxFile;
use crate::toolchain::Nightly;
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
    faults.extend(strays(workspace, &manifest)?);
    if faults.is_empty() {
        match Nightly::find(workspace) {
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
        println!("{PTX_DIR}: {} files are what the sources give", files.len());
    } else {
        println!("`cargo xtask build` writes the PTX again; commit {PTX_DIR} with the kernels");
    }
    Ok(faults.is_empty())
}

/// PTX in the folder that the manifest does not know, or that no family makes any more.
fn strays(workspace: &Workspace, manifest: &Manifest) -> Result<Vec<String>> {
    let families = Families::load(workspace)?;
    let made = |name: &String| manifest.files.get(name).is_some_and(|entry| families.list.contains_key(&entry.family));
    let entries =
        workspace.ptx_dirs().into_iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    let entries = entries.map(|entry| entry.path());
    let ptx = entries.filter(|path| path.extension().is_some_and(|extension| extension == "ptx"));
    let names = ptx.filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    let mut strays: Vec<_> = names.filter(|name| !made(name)).collect();
    strays.sort();
    Ok(strays.into_iter().map(|name| format!("{name} is made by no kernel family; delete it")).collect())
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
    let texts = compile_all(workspace, nightly, &ours)?;
    let mut faults = Vec::new();
    for (file, text) in ours.iter().zip(texts) {
        let committed = fs::read_to_string(file.committed(workspace)).unwrap_or_default();
        if let Some(line) = first_difference(&committed, &text) {
            faults.push(format!("{} is not what the sources give, first at line {line}", file.name()));
        }
    }
    Ok(faults)
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
    use super::first_difference;

    #[test]
    fn a_difference_is_found_in_the_middle_and_at_the_end() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("a\n", "a\nb\n"), Some(2));
        assert_eq!(first_difference("a\n", "a"), Some(2));
    }
}
