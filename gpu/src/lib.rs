//! The kernels.
//!
//! Compiled twice from this one source: for `nvptx64` every kernel becomes a PTX entry, on the host every kernel is a
//! [`simt::Kernel`] constant that the host crate launches and the simulator runs.
//!
//! Kernels come in *families*, one module and one PTX file each ([`FAMILIES`]); the PTX build enables one family's
//! feature at a time. To add a kernel: a file in its family's folder, and its name in the family's `KERNELS`.
#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx, asm_experimental_arch))]

#[cfg(any(not(target_arch = "nvptx64"), feature = "elementwise"))]
pub mod elementwise;
#[cfg(any(not(target_arch = "nvptx64"), feature = "gemm", feature = "tensor", feature = "hopper", feature = "skinny"))]
pub mod gemm;
#[cfg(any(not(target_arch = "nvptx64"), feature = "hopper"))]
pub mod hopper;
#[cfg(any(feature = "tutorial", feature = "instructions", feature = "instructions_sm90"))]
pub mod lab;
#[cfg(any(not(target_arch = "nvptx64"), feature = "reduce"))]
#[cfg_attr(all(target_arch = "nvptx64", feature = "algebra"), allow(dead_code, unused_macros, unused_imports))]
pub mod reduce;
#[cfg(any(not(target_arch = "nvptx64"), feature = "skinny"))]
pub mod skinny;
#[cfg(any(not(target_arch = "nvptx64"), feature = "tensor"))]
pub mod tensor;
#[cfg(any(not(target_arch = "nvptx64"), feature = "transpose"))]
pub mod transpose;
#[allow(unused_macros, reason = "some families unroll no loop")]
mod unroll;

/// Kernels that are compiled to one PTX file.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// Its name, which is that of the file and of the cargo feature.
    pub name: &'static str,
    /// Where its source is, below `gpu/src`.
    pub module: &'static str,
    /// The one architecture that it is compiled for, where its instructions exist on no other.
    pub arch: Option<&'static str>,
    /// Its kernels.
    pub kernels: &'static [&'static simt::KernelInfo],
}

#[cfg(not(target_arch = "nvptx64"))]
impl Family {
    const fn new(name: &'static str, kernels: &'static [&'static simt::KernelInfo]) -> Self {
        Self { name, module: name, arch: None, kernels }
    }
}

/// The family of a kernel of this crate; none for any other, also one of the same name.
#[cfg(not(target_arch = "nvptx64"))]
pub fn family_of(kernel: &simt::KernelInfo) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.kernels.iter().any(|&own| core::ptr::eq(own, kernel) || own == kernel))
}

/// The build list: every kernel, by family.
#[cfg(not(target_arch = "nvptx64"))]
pub const FAMILIES: &[Family] = &[
    Family::new("elementwise", elementwise::KERNELS),
    Family::new("gemm", gemm::KERNELS),
    Family::new("tensor", tensor::KERNELS),
    Family::new("reduce", reduce::KERNELS),
    Family { module: "reduce/rows", ..Family::new("reduce_rows", reduce::rows::KERNELS) },
    Family { module: "reduce/columns", ..Family::new("reduce_columns", reduce::columns::KERNELS) },
    Family { module: "reduce/segments", ..Family::new("reduce_segments", reduce::segments::KERNELS) },
    Family::new("transpose", transpose::KERNELS),
    Family { arch: Some("sm_90a"), ..Family::new("hopper", hopper::KERNELS) },
    Family::new("skinny", skinny::KERNELS),
    #[cfg(feature = "tutorial")]
    Family { module: "lab/tutorial", ..Family::new("tutorial", lab::tutorial::KERNELS) },
    #[cfg(feature = "instructions")]
    Family { module: "lab/instructions", ..Family::new("instructions", lab::instructions::KERNELS) },
    #[cfg(feature = "instructions_sm90")]
    Family {
        module: "lab/instructions_sm90",
        arch: Some("sm_90a"),
        ..Family::new("instructions_sm90", lab::instructions_sm90::KERNELS)
    },
];

#[cfg(test)]
mod tests {
    use super::FAMILIES;

    /// The family whose module is the innermost one around a kernel.
    fn family_around(path: &str) -> Option<&'static str> {
        FAMILIES
            .iter()
            .filter(|family| path.starts_with(&format!("gpu::{}::", family.module.replace('/', "::"))))
            .max_by_key(|family| family.module.len())
            .map(|family| family.name)
    }

    #[test]
    fn a_kernel_is_listed_in_the_family_of_its_module() {
        for family in FAMILIES {
            for kernel in family.kernels {
                assert_eq!(family_around(kernel.path), Some(family.name), "{} is in {}", kernel.name, kernel.path);
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
