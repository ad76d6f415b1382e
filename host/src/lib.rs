//! GPU kernels in Rust: the same source runs on an NVIDIA GPU or on a checking simulator.
//!
//! ```
//! use ndarray::Array2;
//! use warpwright::Device;
//!
//! let device = Device::best()?; // the GPU, or the simulator if there is none
//! let a = device.upload(&Array2::from_shape_fn((48, 64), |(i, k)| (i + k) as f32))?;
//! let b = device.upload(&Array2::<f32>::eye(64))?;
//! let c = device.matmul(&a, &b)?;
//! assert_eq!(c.download()?, a.download()?);
//! # Ok::<(), warpwright::Error>(())
//! ```
//!
//! | task | item |
//! |---|---|
//! | choose where kernels run | [`Device`] |
//! | allocate and copy data | [`Device::upload`], [`Buffer`], [`Matrix`] and their views |
//! | multiply, transpose, sum, add | [`Device::matmul`], [`Device::transpose`], [`Device::sum`], [`Device::add`] |
//! | pass tensor maps for TMA | [`MatrixView::tma`], [`TensorView::tma`], [`TmaTensor`] |
//! | launch your own kernel | [`prelude`], [`Device::launch`], [`Launch`] |
//! | load PTX from elsewhere | [`Module`] |
//! | overlap work, measure time | [`Stream`], [`Event`], [`Transfer`] |
//! | GEMM as in BLAS, of any type and layout | [`Device::gemm`], [`gemm`] |
//! | products of groups of rows (mixture of experts) | [`Device::grouped_gemm`] |
//! | reduce a vector to one number | [`Device::max`], [`Device::mean`] …, [`reduce`] |
//! | check a result | [`mod@reference`] |
//! | handle errors | [`Error`] |
//!
//! # Cargo features
//!
//! | feature | contents |
//! |---|---|
//! | `elementwise` | [`Device::add`] |
//! | `gemm` | [`Device::gemm`], [`Device::grouped_gemm`], [`Device::matmul`], [`mod@gemm`]; implies `transpose` |
//! | `reduce` | [`Device::sum`], [`Device::reduce_axis`] …, [`mod@reduce`] |
//! | `transpose` | [`Device::transpose`], [`Device::permute`] … |
//! | `cuda` | the CUDA back end: not a default |
//!
//! The operations are the default, and their [`mod@reference`] comes with them. Kernels are most of what a build
//! compiles: leave out those that you do not call.
//! With `default-features = false` there are devices, memory, launches and the simulator, for kernels of your own.
//!
//! # Kernels of your own
//!
//! A kernel is a function with `#[kernel]`, in the library of a package; [`prelude`] is all that its file needs:
//!
//! ```
//! use warpwright::prelude::*;
//!
//! #[kernel(block = 256)]
//! pub fn scale(factor: f32, x: VecMut<f32>) {
//!     let i = index_1d();
//!     if branch(i < x.len()) {
//!         x.set(i, factor * x.get(i));
//!     }
//! }
//!
//! let device = Device::simulator();
//! let mut x = device.upload(&[1.0_f32; 1000])?;
//! device.launch(&scale, Launch::cover(1000, 256), (2.0, &mut x))?;
//! assert_eq!(x.download()?, [2.0; 1000]);
//! # Ok::<(), Error>(())
//! ```
//!
//! On the simulator that is all. For a GPU the package has a build script that compiles its kernels to PTX, with the
//! crate `warpwright-build` among its build dependencies:
//!
//! ```ignore
//! // build.rs
//! fn main() -> Result<(), warpwright_build::Error> {
//!     warpwright_build::KernelBuilder::default().build().map(drop)
//! }
//! ```
//!
//! # Speed of the simulator
//!
//! Without optimisation kernels take some twenty times longer on the simulator. These lines in your Cargo.toml
//! optimise it, and kernels of your own:
//!
#![doc = concat!("```toml\n", include_str!("simulated/profile.toml"), "```")]
//!
//! # The feature `cuda`
//!
//! Without it the crate builds on stable Rust with nothing else installed, and kernels run on the simulator. With it
//! they also run on NVIDIA GPUs of compute capability 8.0 and later: the driver is found at run time, so the same
//! program runs on machines without one. No CUDA toolkit is needed, but where there is none in `/usr/local/cuda` or
//! `/opt/cuda` the build script of the crate `cust` panics: `Could not find a cuda installation`. Any folder with a
//! subfolder `lib64` satisfies it: build with `CUDA_LIBRARY_PATH=/usr`, or make a folder `.cargo/cuda/lib64` in your
//! project and put into its `.cargo/config.toml`:
//!
//! ```toml
//! [env]
//! CUDA_LIBRARY_PATH = { value = ".cargo/cuda", relative = true }
//! ```
//!
//! | environment variable | meaning |
//! |---|---|
//! | `WARPWRIGHT_DEVICE` | the device that [`Device::best`] opens: `best`, `simulator`, `cuda`, `cuda:N` |
//! | `WARPWRIGHT_LIBCUDA` | the driver's library, if it is not the `libcuda.so.1` that the dynamic linker finds |
//! | `WARPWRIGHT_GRAPH_LAUNCHES` | `0`: no launch becomes a graph ([queued work](#queued-work)) |
//!
//! # Queued work
//!
//! On a GPU, launches, copies within the device and operations are queued and the call returns; calls that return
//! results (`download`, [`Device::sum`]) and `synchronize` wait. Work on one buffer keeps the order of the calls on any
//! streams, so no explicit synchronisation is needed. Buffers, streams and devices may be used and dropped on any
//! thread, at any time: dropping a buffer waits for the work that uses it. On the simulator every call is done when it
//! returns.
//!
//! After a few launches in a stream, kernels without programmatic dependent launch become CUDA graphs of one kernel,
//! for which the host takes about 1 µs less; but for those of a [`Module`] that the program loads, and under Nsight
//! Systems, which would show graphs in place of kernels.
//!
//! # Safety and errors
//!
//! Nothing in the safe interface leads to undefined behaviour, on either back end, and nothing panics on invalid input:
//! the call returns an [`Error`] that names the kernel or call and the argument, and says what was expected, what was
//! found and what to do. A kernel with a data race computes wrong numbers, nothing worse; the simulator reports the
//! race.

#![cfg_attr(
    not(all(feature = "elementwise", feature = "gemm", feature = "reduce", feature = "transpose")),
    allow(dead_code, unused_imports, unused_macros, reason = "this build leaves out operations that use them")
)]

// Imports point down only:
//
//   reference                 (of `ops`, only the enum gemm::Activation)
//   ops
//   launch
//   stream, module
//   memory
//   device
//   backend
//   cuda, simulated
//   contract, error, families
#[cfg(all(test, feature = "cuda"))]
extern crate self as warpwright; // tests/random_calls, which is a part of the unit tests, too, uses this name

mod backend;
mod contract;
#[cfg(feature = "cuda")]
mod cuda;
mod device;
mod error;
mod families;
mod launch;
mod memory;
mod module;
mod ops;
pub mod prelude;
mod printer;
pub mod reference;
mod simulated;
mod stream;

pub use contract::{Execution, Hardware, Limits};
#[cfg(feature = "cuda")]
pub use cuda::embedded_ptx;
pub use device::Device;
pub use error::{
    ArgumentRule, BadArgument, BadLaunch, DeviceLost, DriverError, Error, FaultReport, KernelPanic, LaunchRule,
    PtxError, Result,
};
pub use launch::{Arg, Dims, Extent, Fields, KernelArgs, Launch};
pub use memory::{
    Buffer, BufferView, BufferViewMut, HostData, Layout, Matrix, MatrixView, MatrixViewMut, PinnedBuffer, Tensor,
    TensorView, TensorViewMut, TmaTensor, TmaTensorMut, Transfer,
};
pub use module::Module;
#[cfg(any(feature = "elementwise", feature = "reduce"))]
pub use ops::Operand;
#[cfg(feature = "gemm")]
pub use ops::gemm;
#[cfg(feature = "reduce")]
pub use ops::reduce;
pub use stream::{Event, Stream};

#[doc(no_inline)]
pub use ::simt::element::Element;
#[doc(no_inline)]
pub use ::simt::float8::{E4m3, E5m2};
pub use ::simt::println;
#[doc(no_inline)]
pub use ::simt::through_warpwright as simt;
#[cfg(feature = "kernels")]
#[doc(no_inline)]
pub use gpu;
#[doc(no_inline)]
pub use {half, ndarray, simulator};
