//! The driver's functions, found at run time: one binary runs with and without an NVIDIA driver.
//!
//! `cust` declares the driver's C functions and expects a library on the link line to define them. Here the definitions
//! are our own, so that nothing of CUDA is needed to build and the linker is content with or without a real `libcuda`
//! (a static definition wins over a shared library's). Each definition forwards through a *slot*, filled from
//! `libcuda.so.1` at the first use ([`library::load`]). Until then, and for ever where there is no driver, a call gives
//! `CUDA_ERROR_NO_DEVICE`; a function that an old driver lacks gives `CUDA_ERROR_NOT_SUPPORTED`.
//!
//! Two kinds of forwarding:
//! - [`forward`]: every function that this crate calls, directly or through `cust`, with its C signature. It keeps the
//!   status code for error messages, and turns codes that `cust` does not list into `CUDA_ERROR_UNKNOWN`: `cust`
//!   reads the status as a Rust enum, for which an unlisted value from a newer driver would be undefined behaviour.
//! - [`trampoline`]: the rest of what `cust` refers to, untyped jumps, so that `cust` works in full for a program
//!   that uses it beside this crate.

mod forward;
mod launch;
mod library;
mod status;
mod trampoline;

pub(crate) use forward::{Encode, encode_tensor_map};
pub(crate) use launch::{Launch, launch};
pub(crate) use library::load;
pub(crate) use status::{Failure, check, check_cust, codes};

#[cfg(test)]
pub(crate) use launch::Config;
#[cfg(test)]
pub(crate) use library::install;
