//! GPU kernels of your own, compiled to PTX in a build script.
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), warpwright_build::Error> {
//!     warpwright_build::KernelBuilder::default().build().map(drop)
//! }
//! ```
//!
//! The library of the package is compiled a second time, for the GPU: without `std`, and with no dependency but
//! `warpwright`'s intrinsics and those that Cargo.toml lists:
//!
//! ```toml
//! [package.metadata.warpwright]
//! kernel-dependencies = ["half"]
//! ```
//!
//! Every `#[kernel]` function of the package then carries its PTX, and `Device::launch` of the crate `warpwright` runs
//! it on a GPU. The PTX is audited against the limits in `#[kernel(…)]`; registers and spills only where `ptxas` is
//! found.
//!
//! # What it needs
//!
//! A nightly rustc with the component `rust-src` or `rust-docs`: `rustup toolchain install nightly-2026-05-20 --profile
//! minimal --component rust-docs`. No CUDA toolkit. Without a nightly the package is built for the simulator alone.
//!
//! | environment variable | meaning |
//! |---|---|
//! | `WARPWRIGHT_NIGHTLY` | folder of a nightly that rustup does not know |
//! | `WARPWRIGHT_CACHE` | where `core` is kept once it is compiled; `~/.cache/warpwright` otherwise |
//! | `WARPWRIGHT_PTXAS` | the assembler, if it is neither on PATH nor in a CUDA toolkit |

mod builder;
mod cache;
mod embed;
mod error;
mod formatters;
mod generated;
mod messages;
mod package;

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

pub use builder::{Kernel, KernelBuilder};
pub use error::Error;
