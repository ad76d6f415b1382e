//! The PTX in this build, and its selection for a device.
//!
//! It is embedded as one archive per kernel family ([`ptx_archive`]): a program carries 2.6 MB for 33 MB of text, and
//! decodes half a megabyte for a kernel that it launches.

use std::sync::LazyLock;

use ptx_archive::Archive;
use simt::{KernelInfo, KernelPtx};

use crate::families::family_of;

/// Embeds the archives of kernel families, each line those of a cargo feature and their folder: the names, and the
/// archives with their tables of contents read.
macro_rules! embed {
    ($($feature:literal, $folder:literal: $($family:ident),*;)*) => {
        static EMBEDDED: LazyLock<Vec<(&str, Archive<'_>)>> = LazyLock::new(|| {
            Vec::from([$($(
                #[cfg(feature = $feature)]
                (stringify!($family), open(include_bytes!(concat!($folder, stringify!($family), ".ptx.lz")))),
            )*)*])
        });
    };
}

embed! {
    "elementwise", "../../ptx/": elementwise;
    "kernels-gemm", "../../ptx/": gemm;
    "gemm", "../../ptx/": gemm_grouped, gemm_mma, gemm_mma_f64, gemm_small, gemm_sm90;
    "kernels-reduce", "../../ptx/": reduce;
    "reduce", "../../ptx/": reduce_columns, reduce_rows, reduce_segments;
    "transpose", "../../ptx/": transpose;
    "lab", "../../ptx/lab/": instructions, instructions_sm90, tutorial, tutorial_sm90;
}

/// Opens an archive. The tests below read every one; a program with one that was damaged later is told at the launch
/// that it has no PTX of the kernel.
fn open(file: &'static [u8]) -> Archive<'static> {
    Archive::open(file).unwrap_or_default()
}

/// The archive of a family; `None` for a family that is not in this build.
fn archive(family: &str) -> Option<&'static Archive<'static>> {
    EMBEDDED.iter().find(|(name, _)| *name == family).map(|(_, archive)| archive)
}

/// Where the PTX of a kernel is in this build.
pub(super) enum Built {
    /// A family of the crate `gpu`.
    Family(&'static str),
    /// What the build script of the kernel's package made.
    Own(Archive<'static>),
}

impl Built {
    /// That of the kernel `info`, if it has any.
    pub(super) fn of(info: &KernelInfo) -> Option<Self> {
        match info.ptx {
            KernelPtx::Archive(bytes) => Some(Self::Own(open(bytes))),
            _ => family_of(info).map(|family| Self::Family(family.name)),
        }
    }

    /// The architectures of the PTX, such as `sm_90a`.
    pub(super) fn archs(&self) -> Vec<&str> {
        match self {
            Self::Family(family) => archs(family),
            Self::Own(archive) => archive.kernels().map(|(_, arch)| arch).collect(),
        }
    }

    /// The PTX of `kernel` for one architecture: a text of its own, so that the driver compiles nothing else.
    pub(super) fn text(&self, kernel: &str, arch: &str) -> Option<String> {
        let archive = match self {
            Self::Family(family) => archive(family)?,
            Self::Own(archive) => archive,
        };
        let decode = || archive.text(kernel, arch).ok().flatten();
        #[cfg(test)]
        if let Self::Family(family) = self {
            return tests::decoded_once([family, kernel, arch], decode);
        }
        decode()
    }
}

/// The architectures for which there is PTX of a family, such as `sm_90a`.
pub(super) fn archs(family: &str) -> Vec<&'static str> {
    let mut archs: Vec<_> = archive(family).into_iter().flat_map(Archive::kernels).map(|(_, arch)| arch).collect();
    archs.sort_unstable();
    archs.dedup();
    archs
}

/// Every text of a family, with the names of its kernel and architecture.
#[cfg(test)]
pub(super) fn texts(family: &str) -> Vec<(&'static str, &'static str, String)> {
    archive(family).map(|archive| archive.texts().unwrap()).unwrap_or_default()
}

/// The PTX of `kernel` in this build: for each architecture its name, as `sm_90a`, and a text with this kernel alone.
/// Empty for kernels outside the crate `gpu` whose package has no build script that makes PTX.
///
/// ```
/// let kernel = gpu::gemm::tiled::matmul_tiled.info();
/// for (arch, text) in warpwright::embedded_ptx(kernel) {
///     assert!(text.contains(&format!(".target {arch}")) && text.contains(".entry matmul_tiled("));
///     assert_eq!(text.matches(".entry").count(), 1);
/// }
/// ```
pub fn embedded_ptx(kernel: &KernelInfo) -> impl Iterator<Item = (String, String)> + use<> {
    let built = Built::of(kernel);
    let texts = built.iter().flat_map(|built| {
        let archs = built.archs().into_iter();
        archs.filter_map(|arch| Some((arch.to_owned(), built.text(kernel.name, arch)?)))
    });
    texts.collect::<Vec<_>>().into_iter()
}

/// The best of `archs` for a device: the highest architecture that it runs, preferably with a suffix.
pub(super) fn best<'a>(archs: &[&'a str], capability: (u32, u32)) -> Option<&'a str> {
    archs
        .iter()
        .filter_map(|&arch| Some((Architecture::parse(arch)?, arch)))
        .filter(|(architecture, _)| architecture.runs_on(capability))
        .max_by_key(|(architecture, _)| (architecture.capability, architecture.reach))
        .map(|(_, arch)| arch)
}

/// A PTX target.
struct Architecture {
    capability: (u32, u32),
    reach: Reach,
}

/// Which devices run a PTX target (PTX ISA, `.target`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// Every device of this capability or a later one.
    Later,
    /// Suffix `f`: devices of the same family, that is the same major number, and this minor number or a later one.
    Family,
    /// Suffix `a`: devices of this very capability.
    Exact,
}

impl Architecture {
    /// Parses `sm_80`, `sm_90a`, `sm_120f`.
    fn parse(name: &str) -> Option<Self> {
        let number = name.strip_prefix("sm_")?;
        let (digits, reach) = match number.strip_suffix(['a', 'f']) {
            None => (number, Reach::Later),
            Some(digits) if number.ends_with('f') => (digits, Reach::Family),
            Some(digits) => (digits, Reach::Exact),
        };
        let number: u32 = digits.parse().ok()?;
        Some(Self { capability: (number / 10, number % 10), reach })
    }

    fn runs_on(&self, device: (u32, u32)) -> bool {
        match self.reach {
            Reach::Later => device >= self.capability,
            Reach::Family => device.0 == self.capability.0 && device.1 >= self.capability.1,
            Reach::Exact => device == self.capability,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::{Mutex, PoisonError};

    use super::*;
    use crate::families::FAMILIES;

    /// The text of this family, kernel and architecture, decoded once: tests load the same kernel hundreds of times.
    pub(super) fn decoded_once(key: [&str; 3], decode: impl FnOnce() -> Option<String>) -> Option<String> {
        static DECODED: Mutex<BTreeMap<[String; 3], Option<String>>> = Mutex::new(BTreeMap::new());
        let mut decoded = DECODED.lock().unwrap_or_else(PoisonError::into_inner);
        decoded.entry(key.map(str::to_owned)).or_insert_with(decode).clone()
    }

    #[test]
    fn the_highest_architecture_that_runs_is_selected() {
        let built = ["sm_80", "sm_90", "sm_90a"];
        for (capability, expected) in [
            ((7, 5), None),
            ((8, 0), Some("sm_80")),
            ((8, 9), Some("sm_80")),
            ((9, 0), Some("sm_90a")),
            // Targets with the suffix `a` do not run on later devices.
            ((10, 0), Some("sm_90")),
            ((12, 0), Some("sm_90")),
        ] {
            assert_eq!(best(&built, capability), expected, "capability {capability:?}");
        }
        assert_eq!(best(&["sm_90a"], (10, 0)), None);
        assert_eq!(best(&["sm_80", "sm_100f"], (10, 3)), Some("sm_100f"));
        assert_eq!(best(&["sm_80", "sm_100f"], (12, 0)), Some("sm_80"));
        assert_eq!(best(&["compute_80"], (8, 0)), None, "not a PTX target");
    }

    #[test]
    fn every_family_is_embedded_with_all_its_kernels() {
        let mut families: Vec<_> = FAMILIES.iter().map(|family| family.name).collect();
        let mut embedded: Vec<_> = EMBEDDED.iter().map(|(family, _)| *family).collect();
        families.sort_unstable();
        embedded.sort_unstable();
        assert_eq!(embedded, families, "the list above and gpu::FAMILIES differ");
        for family in FAMILIES {
            let mut listed: Vec<&str> = family.kernels.iter().map(|kernel| kernel.name).collect();
            listed.sort_unstable();
            let archs = archs(family.name);
            assert!(!archs.is_empty(), "no PTX of {} is embedded; `cargo xtask build` writes it", family.name);
            for arch in archs {
                assert!(Architecture::parse(arch).is_some(), "{}, {arch}", family.name);
                let kernels = archive(family.name).unwrap().kernels();
                let mut entries: Vec<&str> = kernels.filter(|(_, of)| *of == arch).map(|(kernel, _)| kernel).collect();
                entries.sort_unstable();
                assert_eq!(entries, listed, "entries of {}.{arch} and KERNELS of the family", family.name);
            }
        }
    }

    #[test]
    fn the_ptx_of_a_kernel_is_complete_and_has_no_other() {
        for (family, archive) in EMBEDDED.iter() {
            for (kernel, arch, text) in archive.texts().unwrap() {
                let name = format!("{kernel}, {family}.{arch}");
                assert!(text.starts_with(".version ") && text.ends_with("}\n"), "{name}");
                assert!(text.contains(&format!(".target {arch}\n")), "{name}");
                assert_eq!(text.matches(".entry ").count(), 1, "{name}");
                assert!(text.contains(&format!(".visible .entry {kernel}(")), "{name}");
                assert_eq!(text.matches('{').count(), text.matches('}').count(), "{name}");
                // What it uses beyond itself is declared before it.
                let (before, entry) = text.split_once(".visible .entry ").expect(&name);
                let uses_shared = entry.contains("gpu_launch_sized_workgroup_mem");
                assert!(!uses_shared || before.contains("gpu_launch_sized_workgroup_mem[]"), "{name}");
                assert!(!text.contains("call"), "{name} needs more than its entry");
                // Tables of constants come with their numbers.
                let mut tables = before.lines().filter(|line| line.contains(".global ."));
                assert!(tables.all(|line| line.starts_with(".global .align ") && line.contains(" = {")), "{name}");
            }
        }
    }
}
