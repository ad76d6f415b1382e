//! host/ptx/MANIFEST.json: which rustc made each PTX file from which sources.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use super::sources;
use crate::selection::PtxFile;
use crate::workspace::Workspace;

/// The whole record.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    /// By file name.
    pub(crate) files: BTreeMap<String, Entry>,
}

/// How one file was made.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// The module of `gpu`.
    pub(crate) family: String,
    /// The architecture it is for.
    pub(crate) arch: String,
    /// Release, commit, date and LLVM of the rustc.
    pub(crate) rustc: String,
    /// SHA-256 of the file.
    pub(crate) sha256: String,
    /// SHA-256 over the sources.
    pub(crate) sources: String,
}

/// How a committed file stands to the sources.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Made from these sources.
    Fresh,
    /// Not so; the text says why.
    Stale(String),
}

impl Manifest {
    /// Reads the record; an empty one where there is none.
    pub(crate) fn load(workspace: &Workspace) -> Result<Self> {
        let path = path(workspace);
        if !path.is_file() {
            return Ok(Self::default());
        }
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text)
            .with_context(|| format!("{} is malformed; delete it and run `cargo xtask build`", path.display()))
    }

    /// Writes the record.
    pub(crate) fn save(&self, workspace: &Workspace) -> Result<()> {
        let path = path(workspace);
        let text = serde_json::to_string_pretty(self)? + "\n";
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Drops the entries of files that are gone; whether there were any.
    pub(crate) fn forget_deleted(&mut self, workspace: &Workspace) -> bool {
        let before = self.files.len();
        self.files.retain(|name, _| workspace.ptx_dirs().iter().any(|folder| folder.join(name).is_file()));
        self.files.len() < before
    }

    /// Whether the committed `file` is what this record says, made from `sources`.
    pub(crate) fn state(&self, workspace: &Workspace, file: &PtxFile, sources: &str) -> State {
        let name = file.name();
        let Ok(bytes) = fs::read(file.committed(workspace)) else {
            return State::Stale(format!("{name} is missing"));
        };
        match self.files.get(&name) {
            None => State::Stale(format!("{name} is not in MANIFEST.json")),
            Some(entry) if entry.sha256 != sources::of_bytes(&bytes) => {
                State::Stale(format!("{name} is not the file that MANIFEST.json records"))
            }
            Some(entry) if entry.sources != sources => State::Stale(format!("{name} was made from other sources")),
            Some(_) => State::Fresh,
        }
    }
}

fn path(workspace: &Workspace) -> PathBuf {
    workspace.ptx_dir().join("MANIFEST.json")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Entry, Manifest, State, sources};
    use crate::selection::PtxFile;
    use crate::workspace::Workspace;

    #[test]
    fn a_file_is_fresh_only_if_it_is_the_recorded_one_from_these_sources() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::made_up(dir.path());
        let file = PtxFile { family: "gemm".into(), is_lab: false, arch: "sm_80".into() };
        let mut manifest = Manifest::load(&workspace).unwrap();
        let stale = |manifest: &Manifest, sources: &str| match manifest.state(&workspace, &file, sources) {
            State::Stale(reason) => reason,
            State::Fresh => String::new(),
        };

        assert_eq!(stale(&manifest, "now"), "gemm.sm_80.ptx is missing");
        fs::create_dir_all(workspace.ptx_dir()).unwrap();
        fs::write(file.committed(&workspace), "ptx").unwrap();
        assert_eq!(stale(&manifest, "now"), "gemm.sm_80.ptx is not in MANIFEST.json");
        let entry = Entry {
            family: "gemm".into(),
            arch: "sm_80".into(),
            rustc: "rustc".into(),
            sha256: sources::of_bytes(b"ptx"),
            sources: "now".into(),
        };
        manifest.files.insert(file.name(), entry);
        manifest.save(&workspace).unwrap();
        let manifest = Manifest::load(&workspace).unwrap();
        assert_eq!(stale(&manifest, "now"), "");
        assert_eq!(stale(&manifest, "later"), "gemm.sm_80.ptx was made from other sources");
        fs::write(file.committed(&workspace), "edited").unwrap();
        assert_eq!(stale(&manifest, "now"), "gemm.sm_80.ptx is not the file that MANIFEST.json records");
    }

    #[test]
    fn entries_are_dropped_with_their_files_of_either_folder() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::made_up(dir.path());
        let mut manifest = Manifest::default();
        for (folder, name) in workspace.ptx_dirs().iter().zip(["here.sm_80.ptx", "lab.sm_80.ptx"]) {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join(name), "ptx").unwrap();
        }
        for name in ["here.sm_80.ptx", "lab.sm_80.ptx", "gone.sm_80.ptx"] {
            let text = String::new;
            let entry = Entry { family: text(), arch: text(), rustc: text(), sha256: text(), sources: text() };
            manifest.files.insert(name.into(), entry);
        }
        assert!(manifest.forget_deleted(&workspace));
        assert_eq!(manifest.files.keys().collect::<Vec<_>>(), ["here.sm_80.ptx", "lab.sm_80.ptx"]);
        assert!(!manifest.forget_deleted(&workspace));
    }
}
