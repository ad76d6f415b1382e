//! Compiles GPU kernels in Rust to PTX.

#[doc(hidden)]
pub mod aside;
#[doc(hidden)]
pub mod audit;
#[doc(hidden)]
pub mod compile;
#[doc(hidden)]
pub mod core_source;
#[doc(hidden)]
pub mod directives;
#[doc(hidden)]
pub mod html;
#[doc(hidden)]
pub mod kernels;
#[doc(hidden)]
pub mod parallel;
#[doc(hidden)]
pub mod process;
#[doc(hidden)]
pub mod ptx;
#[doc(hidden)]
pub mod ptxas;
#[doc(hidden)]
pub mod sysroot;
#[doc(hidden)]
pub mod toolchain;
