//! The kernels.
//!
//! Compiled twice from this one source: for `nvptx64` every kernel becomes a PTX entry, on the host every kernel is a
//! [`simt::Kernel`] constant that the host crate launches and the simulator runs.
//!
//! Kernels come in *families*, one module, one cargo feature and one PTX file each; the PTX build enables one family's
//! feature at a time.
//! The build list is `[package.metadata.ptx]` in Cargo.toml; [`FAMILIES`] has the same families with their kernels, for
//! hosts. To add a kernel: a file in its family's folder, and its name in the family's `KERNELS`.
#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx, asm_experimental_arch))]

#[cfg(not(target_arch = "nvptx64"))]
use std::collections::HashMap;
#[cfg(not(target_arch = "nvptx64"))]
use std::sync::LazyLock;

#[cfg(feature = "elementwise")]
pub mod elementwise;
#[cfg(any(
    feature = "gemm",
    feature = "gemm_grouped",
    feature = "gemm_mma",
    feature = "gemm_mma_f64",
    feature = "gemm_sm90",
    feature = "gemm_small",
    feature = "tutorial_sm90"
))]
#[cfg_attr(
    not(any(
        feature = "gemm",
        feature = "gemm_grouped",
        feature = "gemm_mma",
        feature = "gemm_mma_f64",
        feature = "gemm_sm90",
        feature = "gemm_small"
    )),
    allow(dead_code, unused_imports, unused_macros, reason = "the tutorial uses the state of a pipeline alone")
)]
pub mod gemm;
#[cfg(any(feature = "tutorial", feature = "tutorial_sm90", feature = "instructions", feature = "instructions_sm90"))]
pub mod lab;
#[cfg(feature = "reduce")]
#[cfg_attr(all(target_arch = "nvptx64", feature = "algebra"), allow(dead_code, unused_macros, unused_imports))]
pub mod reduce;
#[cfg(feature = "transpose")]
pub mod transpose;
#[allow(unused_macros, reason = "some families unroll no loop")]
mod unroll;

/// Kernels that are compiled to one PTX file.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// Its name, which is that of the file and of the cargo feature.
    pub name: &'static str,
    /// The one architecture that it is compiled for, where its instructions exist on no other. `None`: `sm_80`, whose
    /// PTX later GPUs run, too, and others where their code differs.
    pub arch: Option<&'static str>,
    /// Its kernels.
    pub kernels: &'static [&'static simt::KernelInfo],
}

#[cfg(not(target_arch = "nvptx64"))]
impl Family {
    #[allow(dead_code, reason = "without features there is no family")]
    const fn new(name: &'static str, kernels: &'static [&'static simt::KernelInfo]) -> Self {
        Self { name, arch: None, kernels }
    }
}

/// The family of a kernel of this crate; none for any other, also one of the same name.
#[cfg(not(target_arch = "nvptx64"))]
pub fn family_of(kernel: &simt::KernelInfo) -> Option<&'static Family> {
    // A launch asks once, a plan once for each kernel that it considers.
    static BY_NAME: LazyLock<HashMap<&'static str, (&'static simt::KernelInfo, &'static Family)>> =
        LazyLock::new(|| {
            let kernels = |family: &'static Family| family.kernels.iter().map(move |&own| (own.name, (own, family)));
            FAMILIES.iter().flat_map(kernels).collect()
        });
    let &(own, family) = BY_NAME.get(kernel.name)?;
    (core::ptr::eq(own, kernel) || own == kernel).then_some(family)
}

/// Every kernel, by family: the families whose features are on.
#[cfg(not(target_arch = "nvptx64"))]
pub const FAMILIES: &[Family] = &[
    #[cfg(feature = "elementwise")]
    Family::new("elementwise", elementwise::KERNELS),
    #[cfg(feature = "gemm")]
    Family::new("gemm", gemm::KERNELS),
    #[cfg(feature = "gemm_grouped")]
    Family { arch: Some("sm_90a"), ..Family::new("gemm_grouped", gemm::GROUPED) },
    #[cfg(feature = "gemm_mma")]
    Family::new("gemm_mma", gemm::MMA),
    #[cfg(feature = "gemm_mma_f64")]
    Family::new("gemm_mma_f64", gemm::MMA_F64),
    #[cfg(feature = "gemm_small")]
    Family::new("gemm_small", gemm::SMALL),
    #[cfg(feature = "gemm_sm90")]
    Family { arch: Some("sm_90a"), ..Family::new("gemm_sm90", gemm::SM90) },
    #[cfg(feature = "reduce")]
    Family::new("reduce", reduce::KERNELS),
    #[cfg(feature = "reduce_rows")]
    Family::new("reduce_rows", reduce::rows::KERNELS),
    #[cfg(feature = "reduce_columns")]
    Family::new("reduce_columns", reduce::columns::KERNELS),
    #[cfg(feature = "reduce_segments")]
    Family::new("reduce_segments", reduce::segments::KERNELS),
    #[cfg(feature = "transpose")]
    Family::new("transpose", transpose::KERNELS),
    #[cfg(feature = "tutorial")]
    Family::new("tutorial", lab::tutorial::KERNELS),
    #[cfg(feature = "tutorial_sm90")]
    Family { arch: Some("sm_90a"), ..Family::new("tutorial_sm90", lab::tutorial_sm90::KERNELS) },
    #[cfg(feature = "instructions")]
    Family::new("instructions", lab::instructions::KERNELS),
    #[cfg(feature = "instructions_sm90")]
    Family { arch: Some("sm_90a"), ..Family::new("instructions_sm90", lab::instructions_sm90::KERNELS) },
];

#[cfg(test)]
mod tests {
    use super::{FAMILIES, family_of};

    /// A line of `[package.metadata.ptx]` in Cargo.toml, such as `hopper = { module = "hopper", archs = ["sm_90a"] }`.
    struct Entry {
        name: &'static str,
        module: &'static str,
        arch: Option<&'static str>,
        is_lab: bool,
    }

    fn build_list() -> Vec<Entry> {
        let manifest = include_str!("../Cargo.toml");
        let (_, list) = manifest.split_once("\n[package.metadata.ptx]\n").expect("Cargo.toml has the build list");
        let lines = list.lines().take_while(|line| !line.starts_with('['));
        let entries = lines.filter_map(|line| line.split_once(" = {")).map(|(name, fields)| {
            let field = |key: &str| fields.split_once(&format!("{key} = \""))?.1.split('"').next();
            let module = field("module").expect("each family has a module");
            let archs =
                fields.split_once("archs = [").and_then(|(_, rest)| rest.split_once(']')).map(|(archs, _)| archs);
            let arch = archs.filter(|archs| !archs.contains("sm_80")).map(|archs| archs.trim_matches('"'));
            Entry { name, module, arch, is_lab: fields.contains("lab = true") }
        });
        entries.collect()
    }

    #[test]
    fn the_families_are_those_of_the_build_list() {
        let listed = build_list().into_iter().filter(|entry| cfg!(feature = "lab") || !entry.is_lab);
        let mut listed: Vec<_> = listed.map(|entry| (entry.name, entry.arch)).collect();
        let mut families: Vec<_> = FAMILIES.iter().map(|family| (family.name, family.arch)).collect();
        listed.sort_unstable();
        families.sort_unstable();
        assert_eq!(families, listed, "gpu::FAMILIES and [package.metadata.ptx] of gpu/Cargo.toml differ");
    }

    /// The family whose module is the innermost one around a kernel, or is the kernel's own.
    fn family_around(list: &[Entry], path: &str) -> Option<&'static str> {
        let path = format!("{path}::");
        list.iter()
            .filter(|entry| path.starts_with(&format!("gpu::{}::", entry.module.replace('/', "::"))))
            .max_by_key(|entry| entry.module.len())
            .map(|entry| entry.name)
    }

    #[test]
    fn a_kernel_is_listed_in_the_family_of_its_module() {
        let list = build_list();
        for family in FAMILIES {
            for kernel in family.kernels {
                assert_eq!(
                    family_around(&list, kernel.path),
                    Some(family.name),
                    "{} is in {}",
                    kernel.name,
                    kernel.path
                );
            }
        }
    }

    #[test]
    fn a_kernel_has_its_family_and_one_of_the_same_name_has_none() {
        for family in FAMILIES {
            for &kernel in family.kernels {
                assert_eq!(family_of(kernel).map(|found| found.name), Some(family.name), "{}", kernel.name);
                assert!(family_of(&simt::KernelInfo { path: "another::module", ..*kernel }).is_none());
            }
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> =
            FAMILIES.iter().flat_map(|family| family.kernels.iter().map(|kernel| kernel.name)).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "two kernels have the same name: {names:?}");
    }
}
