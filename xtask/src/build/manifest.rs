//! host/ptx/MANIFEST.json: which rustc made the PTX of each family and architecture from which sources, and a hash of
//! each kernel.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use super::sources;
use crate::archives::{self, Kernels};
use crate::families::Families;
use crate::selection::PtxFile;
use crate::workspace::Workspace;

/// The file, in the folder of the PTX.
pub(super) const NAME: &str = "MANIFEST.json";

/// The whole record.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    /// By family and architecture, as `gemm.sm_80`.
    pub(crate) files: BTreeMap<String, Entry>,
}

/// How the PTX of one family for one architecture was made.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// The module of `gpu`.
    pub(crate) family: String,
    /// The architecture it is for.
    pub(crate) arch: String,
    /// Release, commit, date and LLVM of the rustc.
    pub(crate) rustc: String,
    /// SHA-256 over the sources.
    pub(crate) sources: String,
    /// The first 16 digits of the SHA-256 of each kernel's text.
    pub(crate) kernels: BTreeMap<String, String>,
}

/// The hashes for [`Entry::kernels`].
pub(super) fn hashes(kernels: &Kernels) -> BTreeMap<String, String> {
    let digits = |text: &String| sources::of_bytes(text.as_bytes())[..16].to_owned();
    kernels.iter().map(|(name, text)| (name.clone(), digits(text))).collect()
}

/// How the committed PTX stands to the sources.
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

    /// Drops the entries of families and architectures that are in the build list no more; whether there were any.
    pub(crate) fn forget_unlisted(&mut self, families: &Families) -> bool {
        let before = self.files.len();
        self.files.retain(|_, entry| families.is_listed(&entry.family, &entry.arch));
        self.files.len() < before
    }

    /// Whether the committed PTX of `file` is what this record says, made from `sources`.
    pub(crate) fn state(&self, workspace: &Workspace, file: &PtxFile, sources: &str) -> State {
        let name = file.name();
        let kernels = match archives::read_file(workspace, file) {
            Ok(kernels) if kernels.is_empty() => return State::Stale(format!("{name} is missing")),
            Ok(kernels) => kernels,
            Err(error) => return State::Stale(format!("{name} cannot be read: {error:#}")),
        };
        match self.files.get(&name) {
            None => State::Stale(format!("{name} is not in MANIFEST.json")),
            Some(entry) if entry.kernels != hashes(&kernels) => {
                State::Stale(format!("{name} is not the PTX that MANIFEST.json records"))
            }
            Some(entry) if entry.sources != sources => State::Stale(format!("{name} was made from other sources")),
            Some(_) => State::Fresh,
        }
    }
}

fn path(workspace: &Workspace) -> PathBuf {
    workspace.ptx_dir().join(NAME)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Entry, Manifest, State, hashes};
    use crate::archives::{self, split};
    use crate::families::Families;
    use crate::selection::PtxFile;
    use crate::workspace::Workspace;

    #[test]
    fn ptx_is_fresh_only_if_it_is_the_recorded_one_from_these_sources() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::made_up(dir.path());
        let file = PtxFile { family: "gemm".into(), is_lab: false, arch: "sm_80".into(), also_for: Vec::new() };
        let mut manifest = Manifest::load(&workspace).unwrap();
        let stale = |manifest: &Manifest, sources: &str| match manifest.state(&workspace, &file, sources) {
            State::Stale(reason) => reason,
            State::Fresh => String::new(),
        };

        assert_eq!(stale(&manifest, "now"), "gemm.sm_80 is missing");
        fs::create_dir_all(workspace.ptx_dir()).unwrap();
        let kernels = split(".target sm_80\n.visible .entry k()\n{\n}\n");
        let commit = |kernels| {
            let archs = [("sm_80".to_owned(), kernels)].into();
            archives::write(&file.archive(&workspace), "gemm", &archs).unwrap();
        };
        commit(kernels.clone());
        assert_eq!(stale(&manifest, "now"), "gemm.sm_80 is not in MANIFEST.json");
        let entry = Entry {
            family: "gemm".into(),
            arch: "sm_80".into(),
            rustc: "rustc".into(),
            sources: "now".into(),
            kernels: hashes(&kernels),
        };
        manifest.files.insert(file.name(), entry);
        manifest.save(&workspace).unwrap();
        let manifest = Manifest::load(&workspace).unwrap();
        assert_eq!(stale(&manifest, "now"), "");
        assert_eq!(stale(&manifest, "later"), "gemm.sm_80 was made from other sources");
        commit(split(".target sm_80\n.visible .entry k()\n{\n\tret;\n}\n"));
        assert_eq!(stale(&manifest, "now"), "gemm.sm_80 is not the PTX that MANIFEST.json records");
        fs::write(file.archive(&workspace), "edited").unwrap();
        assert!(stale(&manifest, "now").starts_with("gemm.sm_80 cannot be read: "));
    }

    #[test]
    fn entries_are_dropped_with_the_lines_of_the_list() {
        let families = Families::parse("[features]\na = []\n[package.metadata.ptx]\na = { module = \"a\" }\n").unwrap();
        let mut manifest = Manifest::default();
        for (family, arch) in [("a", "sm_80"), ("a", "sm_90a"), ("gone", "sm_80")] {
            let (text, kernels) = (String::new, std::collections::BTreeMap::new());
            let entry = Entry { family: family.into(), arch: arch.into(), rustc: text(), sources: text(), kernels };
            manifest.files.insert(format!("{family}.{arch}"), entry);
        }
        assert!(manifest.forget_unlisted(&families));
        assert_eq!(manifest.files.keys().collect::<Vec<_>>(), ["a.sm_80"]);
        assert!(!manifest.forget_unlisted(&families));
    }
}
