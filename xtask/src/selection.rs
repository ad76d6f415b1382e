//! Which PTX a command is about: that of one kernel family for one architecture, and so on.

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::archives;
use crate::families::{FILE, Families, Family};
use crate::workspace::{ARCHS, Workspace};

/// `--arch` and `--family`, shared by `build` and `audit`.
#[derive(clap::Args)]
pub(crate) struct Selection {
    /// Architectures, such as `sm_80,sm_90a`.
    #[arg(long, value_delimiter = ',', value_parser = arch, default_values = ARCHS)]
    arch: Vec<String>,
    /// Kernel families, such as `gemm,reduce`; all where none is named.
    #[arg(long, value_delimiter = ',')]
    family: Vec<String>,
}

/// The PTX of one family for one architecture: what one run of rustc writes.
#[derive(Clone)]
pub(crate) struct PtxFile {
    /// The family whose kernels it holds.
    pub(crate) family: String,
    /// Whether its kernels are used by this repository alone.
    pub(crate) is_lab: bool,
    /// `sm_80`.
    pub(crate) arch: String,
}

impl Selection {
    /// What is meant where neither option is given: all that is committed.
    pub(crate) fn everything() -> Self {
        Self { arch: ARCHS.iter().map(ToString::to_string).collect(), family: Vec::new() }
    }

    /// The files meant. A family that is tied to one architecture has a file for that one alone.
    pub(crate) fn files(&self, workspace: &Workspace) -> Result<Vec<PtxFile>> {
        self.files_of(&Families::load(workspace)?)
    }

    fn files_of(&self, families: &Families) -> Result<Vec<PtxFile>> {
        if let Some(unknown) = self.family.iter().find(|name| !families.list.contains_key(*name)) {
            bail!("--family {unknown}: no such family; {FILE} lists {}", families.names());
        }
        let selected = families.list.iter().filter(|(name, _)| self.family.is_empty() || self.family.contains(name));
        let files = selected.flat_map(|(name, family)| {
            let archs = self.arch.iter().filter(|arch| family.arch.as_ref().is_none_or(|only| only == *arch));
            archs.map(|arch| PtxFile::new(name, family, arch))
        });
        Ok(files.collect())
    }
}

impl PtxFile {
    fn new(name: &str, family: &Family, arch: &str) -> Self {
        Self { family: name.to_owned(), is_lab: family.lab, arch: arch.to_owned() }
    }

    /// `gemm.sm_80`
    pub(crate) fn name(&self) -> String {
        format!("{}.{}", self.family, self.arch)
    }

    /// The archive that holds it, with the family's PTX for other architectures.
    pub(crate) fn archive(&self, workspace: &Workspace) -> PathBuf {
        let folder = workspace.ptx_dir().join(if self.is_lab { "lab" } else { "" });
        folder.join(format!("{}{}", self.family, archives::SUFFIX))
    }
}

/// `sm_` and digits, then perhaps `a` or `f`: what rustc's `-C target-cpu` takes for nvptx64.
fn arch(text: &str) -> Result<String, String> {
    let digits = text.strip_prefix("sm_").map(|rest| rest.strip_suffix(['a', 'f']).unwrap_or(rest));
    match digits {
        Some(digits) if !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit()) => Ok(text.to_owned()),
        _ => Err("expected an architecture such as sm_80 or sm_90a".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Selection, arch};
    use crate::families::Families;

    #[test]
    fn a_family_may_have_one_architecture() {
        let families = Families::parse(
            "[features]\na = []\nb = []\n\
            [package.metadata.ptx]\na = { module = \"a\" }\nb = { module = \"b\", arch = \"sm_90a\", lab = true }\n",
        )
        .unwrap();
        let files = |selection: Selection| -> Vec<(String, bool)> {
            let files = selection.files_of(&families).unwrap();
            files.iter().map(|file| (file.name(), file.is_lab)).collect()
        };
        let all = [("a.sm_80", false), ("a.sm_90a", false), ("b.sm_90a", true)];
        assert_eq!(files(Selection::everything()), all.map(|(name, is_lab)| (name.to_owned(), is_lab)));
        let only = Selection { family: vec!["b".into()], ..Selection::everything() };
        assert_eq!(files(only), [("b.sm_90a".to_owned(), true)]);
        let unknown = Selection { family: vec!["c".into()], ..Selection::everything() };
        assert!(unknown.files_of(&families).err().unwrap().to_string().contains("gpu/Cargo.toml lists a, b"));
    }

    #[test]
    fn architectures_are_checked() {
        for good in ["sm_80", "sm_90a", "sm_120f"] {
            assert_eq!(arch(good).as_deref(), Ok(good));
        }
        for bad in ["90a", "sm_", "sm_a", "sm_9 0", "sm_90b", "../sm_80"] {
            assert!(arch(bad).is_err(), "{bad}");
        }
    }
}
