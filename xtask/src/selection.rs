//! Which PTX files a command is about: one per kernel family and architecture.

use std::path::PathBuf;

use anyhow::{Result, bail};
use simt::KernelInfo;

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

/// One PTX file.
#[derive(Clone)]
pub(crate) struct PtxFile {
    /// The family whose kernels it holds.
    pub(crate) family: &'static str,
    /// Those kernels.
    pub(crate) kernels: &'static [&'static KernelInfo],
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

    /// The files meant. Families that have no kernel yet have no file; those tied to one architecture have one for it alone.
    pub(crate) fn files(&self) -> Result<Vec<PtxFile>> {
        let known: Vec<&str> = gpu::FAMILIES.iter().map(|family| family.name).collect();
        if let Some(unknown) = self.family.iter().find(|name| !known.contains(&name.as_str())) {
            bail!("--family {unknown}: no such family; gpu::FAMILIES has {}", known.join(", "));
        }
        let wanted = |name: &str| self.family.is_empty() || self.family.iter().any(|family| family == name);
        let families = gpu::FAMILIES.iter().filter(|family| wanted(family.name) && !family.kernels.is_empty());
        let files = families.flat_map(|family| {
            let archs = self.arch.iter().filter(move |arch| is_for(family, arch));
            archs.map(move |arch| PtxFile::new(family, arch))
        });
        Ok(files.collect())
    }
}

impl PtxFile {
    fn new(family: &gpu::Family, arch: &str) -> Self {
        let is_lab = family.module.starts_with("lab/");
        Self { family: family.name, kernels: family.kernels, is_lab, arch: arch.to_owned() }
    }

    /// `gemm.sm_80.ptx`
    pub(crate) fn name(&self) -> String {
        format!("{}.{}.ptx", self.family, self.arch)
    }

    /// Where the committed file is.
    pub(crate) fn committed(&self, workspace: &Workspace) -> PathBuf {
        workspace.ptx_dir().join(if self.is_lab { "lab" } else { "" }).join(self.name())
    }
}

/// Whether there is PTX of `family` for `arch`.
fn is_for(family: &gpu::Family, arch: &str) -> bool {
    family.arch.is_none_or(|only| only == arch)
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
    use super::{arch, is_for};

    #[test]
    fn a_family_may_have_one_architecture() {
        let family = |name| gpu::FAMILIES.iter().find(|family| family.name == name).unwrap();
        assert!(is_for(family("gemm"), "sm_80") && is_for(family("hopper"), "sm_90a"));
        assert!(!is_for(family("hopper"), "sm_80"));
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
