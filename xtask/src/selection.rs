//! Which PTX a command is about: that of one kernel family for one architecture, and so on.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::archives;
use crate::families::{FILE, Families, Family};
use crate::workspace::Workspace;

/// `--arch` and `--family`, shared by `build` and `audit`.
#[derive(clap::Args, Default)]
pub(crate) struct Selection {
    /// Architectures, such as `sm_80,sm_90a`; all where none is named.
    #[arg(long, value_delimiter = ',')]
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
    /// Other architectures that run it, since the family has nothing else for them.
    pub(crate) also_for: Vec<String>,
}

impl Selection {
    /// What is meant where neither option is given: all that is committed.
    pub(crate) fn everything() -> Self {
        Self::default()
    }

    /// The files meant: those of the families for the architectures that they are compiled for.
    pub(crate) fn files(&self, workspace: &Workspace) -> Result<Vec<PtxFile>> {
        self.files_of(&Families::load(workspace)?)
    }

    fn files_of(&self, families: &Families) -> Result<Vec<PtxFile>> {
        let archs = families.archs();
        if let Some(unknown) = self.family.iter().find(|name| !families.list.contains_key(*name)) {
            bail!("--family {unknown}: no such family; {FILE} lists {}", families.names());
        }
        if let Some(unknown) = self.arch.iter().find(|arch| !archs.contains(arch.as_str())) {
            let archs = archs.into_iter().collect::<Vec<_>>().join(", ");
            bail!("--arch {unknown}: no family is compiled for it; {FILE} lists {archs}");
        }
        let is_selected = |names: &[String], name: &String| names.is_empty() || names.contains(name);
        let selected = families.list.iter().filter(|(name, _)| is_selected(&self.family, name));
        let files = selected.flat_map(|(name, family)| {
            let selected = family.archs.iter().filter(|arch| is_selected(&self.arch, arch));
            selected.map(|arch| PtxFile::new(name, family, arch, &archs))
        });
        Ok(files.collect())
    }
}

impl PtxFile {
    fn new(name: &str, family: &Family, arch: &str, archs: &BTreeSet<&str>) -> Self {
        // PTX for an architecture with a suffix runs on no other.
        let is_portable = arch.ends_with(|last: char| last.is_ascii_digit());
        let also_for = archs.iter().filter(|&&other| is_portable && family.archs.iter().all(|own| own != other));
        let also_for = also_for.map(ToString::to_string).collect();
        Self { family: name.to_owned(), is_lab: family.lab, arch: arch.to_owned(), also_for }
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

#[cfg(test)]
mod tests {
    use super::{PtxFile, Selection};
    use crate::families::Families;

    #[test]
    fn a_family_has_the_architectures_of_the_list() {
        let families = Families::parse(
            "[features]\na = []\nb = []\nc = []\n[package.metadata.ptx]\n\
            a = { module = \"a\" }\n\
            b = { module = \"b\", archs = [\"sm_90a\"], lab = true }\n\
            c = { module = \"c\", archs = [\"sm_80\", \"sm_90a\"] }\n",
        )
        .unwrap();
        let select = |family: &[&str], arch: &[&str]| {
            let [family, arch] = [family, arch].map(|names| names.iter().map(ToString::to_string).collect());
            Selection { arch, family }.files_of(&families)
        };
        let names = |family: &[&str], arch: &[&str]| -> Vec<String> {
            select(family, arch).unwrap().iter().map(PtxFile::name).collect()
        };
        let all = select(&[], &[]).unwrap();
        let of = |file: &PtxFile| (file.name(), file.is_lab, file.also_for.join(" "));
        let expected =
            [("a.sm_80", false, "sm_90a"), ("b.sm_90a", true, ""), ("c.sm_80", false, ""), ("c.sm_90a", false, "")];
        let expected = expected.map(|(name, is_lab, also_for)| (name.to_owned(), is_lab, also_for.to_owned()));
        assert_eq!(all.iter().map(of).collect::<Vec<_>>(), expected);
        assert_eq!(names(&["b"], &[]), ["b.sm_90a"]);
        assert_eq!(names(&[], &["sm_80"]), ["a.sm_80", "c.sm_80"]);
        let refused = |family: &[&str], arch: &[&str]| select(family, arch).err().unwrap().to_string();
        assert!(refused(&["d"], &[]).contains("gpu/Cargo.toml lists a, b, c"));
        assert!(refused(&[], &["sm_75"]).contains("gpu/Cargo.toml lists sm_80, sm_90a"));
    }
}
