//! The PTX build list: `[package.metadata.ptx]` of gpu/Cargo.toml, one entry for each kernel family.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use crate::workspace::Workspace;

/// Where the list is.
pub(crate) const FILE: &str = "gpu/Cargo.toml";

/// The oldest architecture that kernels are written for.
const PORTABLE: &str = "sm_80";

fn portable() -> Vec<String> {
    vec![PORTABLE.to_owned()]
}

/// Kernels that are compiled to one PTX file per architecture. The family's name is that of the file and of the
/// feature.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Family {
    /// Where its source is, below gpu/src: `gemm`, `lab/tutorial`.
    pub(crate) module: String,
    /// The architectures that it is compiled for. Where the list names none, [`PORTABLE`]: every later GPU runs that
    /// PTX, and PTX made for one of them would be the same.
    #[serde(default = "portable")]
    pub(crate) archs: Vec<String>,
    /// Whether its kernels are not embedded in the product: its PTX is in host/ptx/lab.
    #[serde(default)]
    pub(crate) lab: bool,
    /// Families whose modules it uses code of, besides those that its feature switches on.
    #[serde(default)]
    pub(crate) uses: Vec<String>,
}

/// The build list and the features of the crate.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Families {
    /// By name.
    pub(crate) list: BTreeMap<String, Family>,
    features: BTreeMap<String, Vec<String>>,
}

impl Families {
    /// Reads the build list of the checkout.
    pub(crate) fn load(workspace: &Workspace) -> Result<Self> {
        let text = fs::read_to_string(workspace.root().join(FILE)).with_context(|| format!("cannot read {FILE}"))?;
        Self::parse(&text).with_context(|| format!("the build list in {FILE} is malformed"))
    }

    pub(crate) fn parse(text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Manifest {
            package: Package,
            #[serde(default)]
            features: BTreeMap<String, Vec<String>>,
        }
        #[derive(Deserialize)]
        struct Package {
            metadata: Metadata,
        }
        #[derive(Deserialize)]
        struct Metadata {
            ptx: BTreeMap<String, Family>,
        }
        let Manifest { package, features } = toml::from_str(text)?;
        let list = package.metadata.ptx;
        for (name, family) in &list {
            if !features.contains_key(name) {
                bail!("{name} has no feature of its name");
            }
            if let Some(bad) = family.archs.iter().find(|name| !is_arch(name)) {
                bail!("{name} is for {bad:?}; an architecture is sm_80, sm_90a and so on");
            }
            if let Some(unknown) = family.uses.iter().find(|used| !list.contains_key(*used)) {
                bail!("{name} uses {unknown}, which is no family");
            }
        }
        Ok(Self { list, features })
    }

    /// All architectures that some family is compiled for.
    pub(crate) fn archs(&self) -> BTreeSet<&str> {
        self.list.values().flat_map(|family| &family.archs).map(String::as_str).collect()
    }

    /// Whether `family` is compiled for `arch`.
    pub(crate) fn is_listed(&self, family: &str, arch: &str) -> bool {
        self.list.get(family).is_some_and(|family| family.archs.iter().any(|listed| listed == arch))
    }

    /// Their names, for messages.
    pub(crate) fn names(&self) -> String {
        self.list.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
    }

    /// Whether the PTX of `family` depends on `file`: all but the modules of families that it does not use.
    pub(crate) fn depends_on(&self, family: &str, file: &Path) -> bool {
        self.owner(file).is_none_or(|owner| self.used_by(family).contains(owner))
    }

    /// The family whose module holds `file`, such as `gpu/src/gemm/tiled.rs`: of nested modules the innermost.
    fn owner(&self, file: &Path) -> Option<&str> {
        let holding = self.list.iter().filter(|(_, family)| is_in_module(file, &family.module));
        holding.max_by_key(|(_, family)| family.module.len()).map(|(name, _)| name.as_str())
    }

    /// `family`, the families that it uses, and those that its feature switches on.
    fn used_by(&self, family: &str) -> BTreeSet<&str> {
        let mut used = BTreeSet::new();
        let mut pending = vec![family];
        while let Some(name) = pending.pop() {
            let Some((name, features)) = self.features.get_key_value(name) else { continue };
            if used.insert(name.as_str()) {
                pending.extend(features.iter().map(String::as_str));
                pending.extend(self.list.get(name).into_iter().flat_map(|family| &family.uses).map(String::as_str));
            }
        }
        used
    }
}

/// Whether it is `sm_` and digits, then perhaps `a` or `f`: what rustc's `-C target-cpu` takes for nvptx64.
fn is_arch(text: &str) -> bool {
    let digits = text.strip_prefix("sm_").map(|rest| rest.strip_suffix(['a', 'f']).unwrap_or(rest));
    digits.is_some_and(|digits| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit()))
}

/// Whether `file` is the source of `module` of gpu or lies in its folder.
fn is_in_module(file: &Path, module: &str) -> bool {
    let Ok(rest) = file.strip_prefix("gpu/src") else { return false };
    rest.starts_with(module) || rest == Path::new(&format!("{module}.rs"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Families, is_arch, is_in_module};

    const TEXT: &str = r#"
        [package.metadata.ptx]
        plain = { module = "matmul" }
        fast = { module = "matmul/sm90", archs = ["sm_90a"], uses = ["plain"] }
        sums = { module = "sums" }
        rows = { module = "sums/rows" }
        first = { module = "lab/first", lab = true }
        [features]
        plain = []
        fast = []
        sums = []
        rows = ["sums", "shared"]
        shared = []
        first = []
    "#;

    #[test]
    fn a_family_is_its_folder_or_its_file() {
        for (file, yes) in [
            ("gpu/src/gemm/tiled.rs", true),
            ("gpu/src/gemm.rs", true),
            ("gpu/src/gemm_common.rs", false),
            ("gpu/src/lib.rs", false),
            ("simt/src/gemm/x.rs", false),
        ] {
            assert_eq!(is_in_module(Path::new(file), "gemm"), yes, "{file}");
        }
    }

    #[test]
    fn a_family_depends_on_what_it_uses_and_on_what_belongs_to_none() {
        let families = Families::parse(TEXT).unwrap();
        for (file, expected) in [
            ("gpu/src/lib.rs", "fast first plain rows sums"),
            ("simt/src/matmul/x.rs", "fast first plain rows sums"),
            ("gpu/src/lab/mod.rs", "fast first plain rows sums"),
            ("gpu/src/matmul/tile.rs", "fast plain"),
            ("gpu/src/matmul/sm90/tile.rs", "fast"),
            ("gpu/src/matmul/sm90.rs", "fast"),
            ("gpu/src/sums/mod.rs", "rows sums"),
            ("gpu/src/sums/rows/mod.rs", "rows"),
            ("gpu/src/lab/first/mod.rs", "first"),
        ] {
            let depends = families.list.keys().filter(|family| families.depends_on(family, Path::new(file)));
            assert_eq!(depends.map(String::as_str).collect::<Vec<_>>().join(" "), expected, "{file}");
        }
    }

    #[test]
    fn architectures_are_checked() {
        for good in ["sm_80", "sm_90a", "sm_120f"] {
            assert!(is_arch(good), "{good}");
        }
        for bad in ["90a", "sm_", "sm_a", "sm_9 0", "sm_90b", "../sm_80"] {
            assert!(!is_arch(bad), "{bad}");
        }
    }

    #[test]
    fn a_list_that_names_what_is_not_there_is_refused() {
        for (from, to, expected) in [
            ("first = []", "", "first has no feature"),
            ("uses = [\"plain\"]", "uses = [\"gone\"]", "fast uses gone"),
            ("lab = true", "laboratory = true", "laboratory"),
            ("[\"sm_90a\"]", "[\"../sm_90\"]", "fast is for \"../sm_90\""),
        ] {
            let error = format!("{:#}", Families::parse(&TEXT.replace(from, to)).unwrap_err());
            assert!(error.contains(expected), "{error}");
        }
    }
}
