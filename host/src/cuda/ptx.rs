//! The PTX in this build, and the choice among it.

use simt::KernelInfo;

/// One PTX file of `host/ptx/`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Built {
    /// What is before the architecture in the file's name, as `gemm`.
    name: &'static str,
    /// Architecture, as `sm_90a`.
    pub(super) arch: &'static str,
    /// Its kernels.
    kernels: &'static [&'static str],
    /// The text.
    pub(super) text: &'static str,
}

// `BUILT: &[Built]`, written by the build script from the files.
include!(concat!(env!("OUT_DIR"), "/ptx.rs"));

/// The PTX of this build that holds `kernel`: for each architecture its name, as `sm_90a`, and the text of the file, which
/// is that of the kernel's whole family. None for kernels outside the crate `gpu`.
///
/// ```
/// let kernel = gpu::gemm::tiled::matmul_tiled.info();
/// for (arch, text) in warpwright::embedded_ptx(kernel) {
///     assert!(text.contains(&format!(".target {arch}")) && text.contains(".entry matmul_tiled("));
/// }
/// ```
pub fn embedded_ptx(kernel: &KernelInfo) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
    let name = gpu::family_of(kernel).map(|_| kernel.name);
    let has = move |built: &&Built| name.is_some_and(|name| built.kernels.contains(&name));
    BUILT.iter().filter(has).map(|built| (built.arch, built.text))
}

/// The files of a family.
pub(super) fn built(family: &str) -> Vec<&'static Built> {
    BUILT.iter().filter(|built| built.name == family).collect()
}

/// The best of `built` for a device: the highest architecture that it runs, the one with a suffix before the one without.
pub(super) fn best<'a>(built: &[&'a Built], capability: (u32, u32)) -> Option<&'a Built> {
    built
        .iter()
        .filter_map(|&built| Some((Architecture::parse(built.arch)?, built)))
        .filter(|(architecture, _)| architecture.runs_on(capability))
        .max_by_key(|(architecture, _)| (architecture.capability, architecture.reach))
        .map(|(_, built)| built)
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
    use super::*;

    fn choice(architectures: &[&'static str], capability: (u32, u32)) -> Option<&'static str> {
        let built: Vec<Built> =
            architectures.iter().map(|arch| Built { name: "f", arch, kernels: &[], text: "" }).collect();
        best(&built.iter().collect::<Vec<_>>(), capability).map(|built| built.arch)
    }

    #[test]
    fn the_highest_architecture_that_runs_is_taken() {
        let built = ["sm_80", "sm_90", "sm_90a"];
        for (capability, expected) in [
            ((7, 5), None),
            ((8, 0), Some("sm_80")),
            ((8, 9), Some("sm_80")),
            ((9, 0), Some("sm_90a")),
            // The suffix `a` promises nothing to later devices.
            ((10, 0), Some("sm_90")),
            ((12, 0), Some("sm_90")),
        ] {
            assert_eq!(choice(&built, capability), expected, "capability {capability:?}");
        }
        assert_eq!(choice(&["sm_90a"], (10, 0)), None);
        assert_eq!(choice(&["sm_80", "sm_100f"], (10, 3)), Some("sm_100f"));
        assert_eq!(choice(&["sm_80", "sm_100f"], (12, 0)), Some("sm_80"));
        assert_eq!(choice(&["compute_80"], (8, 0)), None, "no name of a target");
    }

    #[test]
    fn every_file_of_this_build_has_a_known_name() {
        for built in BUILT {
            assert!(Architecture::parse(built.arch).is_some(), "{}.{}.ptx", built.name, built.arch);
            assert!(gpu::FAMILIES.iter().any(|family| family.name == built.name), "{}.{}.ptx", built.name, built.arch);
            assert!(built.text.contains(&format!(".target {}", built.arch)), "{}.{}.ptx", built.name, built.arch);
        }
    }

    #[test]
    fn the_entries_of_every_file_are_the_kernels_of_its_family() {
        for family in gpu::FAMILIES {
            let mut listed: Vec<&str> = family.kernels.iter().map(|kernel| kernel.name).collect();
            listed.sort_unstable();
            let files = built(family.name);
            assert!(!files.is_empty(), "no PTX of {} is embedded; `cargo xtask build` writes it", family.name);
            for file in files {
                let mut entries = file.kernels.to_vec();
                entries.sort_unstable();
                let name = format!("{}.{}.ptx", file.name, file.arch);
                let unlisted: Vec<_> = entries.iter().filter(|entry| !listed.contains(entry)).collect();
                assert!(
                    unlisted.is_empty(),
                    "{name} has entries that KERNELS of {} does not list: {unlisted:?}",
                    family.name
                );
                let missing: Vec<_> = listed.iter().filter(|kernel| !entries.contains(kernel)).collect();
                assert!(missing.is_empty(), "KERNELS of {} lists kernels that {name} lacks: {missing:?}", family.name);
                assert_eq!(entries, listed, "{name}");
            }
        }
    }
}
