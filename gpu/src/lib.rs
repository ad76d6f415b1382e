//! The kernels.
//!
//! Compiled twice from this one source: for `nvptx64` every kernel becomes a PTX entry, on the host every kernel is a
//! [`simt::Kernel`] constant that the host crate launches and the simulator runs.
//!
//! Kernels come in *families*, one module and one PTX file each ([`FAMILIES`]); the PTX build enables one family's
//! feature at a time. To add a kernel: a file in its family's folder, and its name in the family's `KERNELS`.
#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx, asm_experimental_arch))]

#[cfg(any(not(target_arch = "nvptx64"), feature = "gemm", feature = "tensor", feature = "hopper", feature = "skinny"))]
pub mod gemm;
#[cfg(any(not(target_arch = "nvptx64"), feature = "hopper"))]
pub mod hopper;
#[cfg(any(not(target_arch = "nvptx64"), feature = "ladder"))]
pub mod ladder;
#[cfg(any(not(target_arch = "nvptx64"), feature = "reduce"))]
#[cfg_attr(all(target_arch = "nvptx64", feature = "algebra"), allow(dead_code, unused_macros, unused_imports))]
pub mod reduce;
#[cfg(any(not(target_arch = "nvptx64"), feature = "reduce_columns"))]
pub mod reduce_columns;
#[cfg(any(not(target_arch = "nvptx64"), feature = "reduce_rows"))]
pub mod reduce_rows;
#[cfg(any(not(target_arch = "nvptx64"), feature = "reduce_segments"))]
pub mod reduce_segments;
#[cfg(any(not(target_arch = "nvptx64"), feature = "skinny"))]
pub mod skinny;
#[cfg(any(not(target_arch = "nvptx64"), feature = "tensor"))]
pub mod tensor;
#[cfg(any(not(target_arch = "nvptx64"), feature = "transpose"))]
pub mod transpose;
#[allow(unused_macros, reason = "the PTX of some families writes no loop out")]
mod unroll;

/// Every kernel, by family.
#[cfg(not(target_arch = "nvptx64"))]
pub const FAMILIES: &[(&str, &[&simt::KernelInfo])] = &[
    ("gemm", gemm::KERNELS),
    ("tensor", tensor::KERNELS),
    ("reduce", reduce::KERNELS),
    ("reduce_rows", reduce_rows::KERNELS),
    ("reduce_columns", reduce_columns::KERNELS),
    ("reduce_segments", reduce_segments::KERNELS),
    ("transpose", transpose::KERNELS),
    ("ladder", ladder::KERNELS),
    ("hopper", hopper::KERNELS),
    ("skinny", skinny::KERNELS),
];

/// The families whose words only one architecture has, with that architecture: there is no PTX of theirs for others.
#[cfg(not(target_arch = "nvptx64"))]
pub const TIED: &[(&str, &str)] = &[("hopper", "sm_90a")];

#[cfg(test)]
mod tests {
    use super::{FAMILIES, TIED};

    #[test]
    fn a_kernel_is_listed_in_the_family_of_its_module() {
        for (family, kernels) in FAMILIES {
            for kernel in *kernels {
                assert_eq!(kernel.family(), *family, "family of {}", kernel.name);
            }
        }
    }

    #[test]
    fn tied_families_exist() {
        for (tied, _) in TIED {
            assert!(FAMILIES.iter().any(|(family, _)| family == tied), "{tied} is no family");
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> =
            FAMILIES.iter().flat_map(|(_, kernels)| kernels.iter().map(|kernel| kernel.name)).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "two kernels have the same name: {names:?}");
    }
}
