//! The words of a GPU kernel in Rust.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(
        abi_unadjusted,
        asm_experimental_arch,
        core_intrinsics,
        core_float_math,
        gpu_intrinsics,
        gpu_launch_sized_workgroup_mem,
        link_llvm_intrinsics,
        repr_simd,
        stdarch_nvptx,
    )
)]
#![cfg_attr(target_arch = "nvptx64", allow(internal_features))]

mod access;
mod arg;
pub mod async_copy;
pub mod atomic;
mod branch;
pub mod convert;
pub mod element;
#[cfg(target_arch = "nvptx64")]
#[doc(hidden)]
pub mod entry;
pub mod global;
#[cfg(not(target_arch = "nvptx64"))]
mod kernel;
pub mod math;
pub mod prelude;
#[cfg(target_arch = "nvptx64")]
mod ptx;
pub mod shared;
#[cfg(not(target_arch = "nvptx64"))]
mod sim;
pub mod sync;
pub mod thread;
pub mod warp;

#[cfg(target_arch = "nvptx64")]
use ptx as arch;
#[cfg(not(target_arch = "nvptx64"))]
use sim as arch;

pub use arg::KernelArg;
pub use branch::branch;
#[cfg(not(target_arch = "nvptx64"))]
pub use kernel::{Kernel, KernelInfo, Limits, SharedSpec};
pub use shared::Shared;
pub use simt_macros::{Shared, kernel};
