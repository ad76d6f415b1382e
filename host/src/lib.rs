//! GPU kernels written in Rust, run on an NVIDIA GPU or, the same source, on a checking simulator.
//!
//! ```
//! use ndarray::Array2;
//! use warpwright::Device;
//!
//! let device = Device::best()?; // the GPU, or the simulator where there is none
//! let a = device.upload(&Array2::from_shape_fn((48, 64), |(i, k)| (i + k) as f32))?;
//! let b = device.upload(&Array2::<f32>::eye(64))?;
//! let c = device.matmul(&a, &b)?;
//! assert_eq!(c.download()?, a.download()?);
//! # Ok::<(), warpwright::Error>(())
//! ```
//!
//! | to | look at |
//! |---|---|
//! | choose where kernels run | [`Device`] |
//! | have data there | [`Device::upload`], [`Buffer`], [`Matrix`] and their views |
//! | multiply, transpose, sum, add | [`Device::matmul`], [`Device::transpose`], [`Device::sum`], [`Device::add`] |
//! | let the copy engine fetch boxes | [`MatrixView::boxes`], [`TensorView::boxes`], [`TmaTensor`] |
//! | launch a kernel of your own | [`Device::launch`], [`Launch`], [`Module`] |
//! | overlap work, measure time | [`Stream`], [`Event`], [`Transfer`] |
//! | multiply matrices as BLAS's GEMM does, of any type and layout | [`Device::gemm`], [`gemm`] |
//! | reduce a vector to one number | [`Device::max`], [`Device::mean`] …, [`reduce`] |
//! | know whether a result is right | [`reference`] |
//! | know what went wrong | [`Error`] |
//!
//! # The cargo feature `cuda`
//!
//! Without it the crate builds on stable Rust with nothing else installed, and kernels run on the simulator. With it they
//! also run on NVIDIA GPUs of compute capability 8.0 and later: the driver is found at run time, so the same program runs
//! on machines without one. No CUDA toolkit is needed, but the build script of the crate `cust` asks for one
//! unless the environment variable `DOCS_RS` is set: build with `DOCS_RS=1`, or set it for good in
//! `.cargo/config.toml` (`[env]`, `DOCS_RS = "1"`).
//!
//! | environment variable | says |
//! |---|---|
//! | `WARPWRIGHT_DEVICE` | what [`Device::from_env`] opens: `best`, `simulator`, `cuda`, `cuda:N` |
//! | `WARPWRIGHT_LIBCUDA` | the driver's library, where it is not the `libcuda.so.1` that the dynamic linker finds |
//!
//! # Queued work
//!
//! On a GPU, launches, copies within the device and operations are queued and the call returns; what reads results
//! (`download`, [`Device::sum`], `synchronize`) waits. Work on one buffer keeps the order of the calls, on whatever streams
//! it is queued, so there is nothing to synchronise by hand. Buffers, streams and devices may be used and dropped on any
//! thread, at any time: dropping a buffer waits for the work that uses it. On the simulator every call is done when it returns.
//!
//! # What may go wrong, and what may not
//!
//! Nothing in the safe interface leads to undefined behaviour, on either back end, and nothing panics on bad input:
//! mistakes are [`Error`]s that name the kernel or call, the argument, what was expected, what came and what to do. A
//! kernel with a data race computes a wrong number, no worse; the simulator reports the race.

mod backend;
mod contract;
#[cfg(feature = "cuda")]
mod cuda;
mod device;
mod error;
mod launch;
mod memory;
mod module;
mod ops;
pub mod reference;
mod simulated;
mod stream;

pub use contract::{Execution, Hardware, Limits};
#[cfg(feature = "cuda")]
pub use cuda::embedded_ptx;
pub use device::Device;
pub use error::{
    ArgumentRule, BadArgument, BadLaunch, DeviceLost, DriverError, Error, FaultReport, LaunchRule, PtxError, Result,
};
pub use launch::{Arg, Dims, KernelArgs, Launch};
pub use memory::{
    Buffer, BufferView, BufferViewMut, HostData, Layout, Matrix, MatrixView, MatrixViewMut, PinnedBuffer, Tensor,
    TensorView, TensorViewMut, TmaTensor, TmaTensorMut, Transfer,
};
pub use module::Module;
pub use ops::{Operand, gemm, reduce};
pub use stream::{Event, Stream};

#[doc(no_inline)]
pub use simt::element::Element;
#[doc(no_inline)]
pub use {gpu, half, ndarray, simt, simulator};
