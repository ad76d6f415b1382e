//! The kernel families in this build: those of the crate `gpu`, or none without operations.

#![cfg_attr(not(feature = "cuda"), allow(unused_imports, dead_code, reason = "the simulator loads no PTX"))]

#[cfg(feature = "kernels")]
pub(crate) use gpu::{FAMILIES, family_of};

#[cfg(not(feature = "kernels"))]
pub(crate) use none::{FAMILIES, family_of};

/// What `gpu` would define.
#[cfg(not(feature = "kernels"))]
mod none {
    pub(crate) struct Family {
        pub(crate) name: &'static str,
        pub(crate) arch: Option<&'static str>,
    }

    pub(crate) const FAMILIES: &[Family] = &[];

    pub(crate) fn family_of(_: &simt::KernelInfo) -> Option<&'static Family> {
        None
    }
}
