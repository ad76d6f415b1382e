//! The driver's functions, found at run time: one binary runs with and without an NVIDIA driver.
//!
//! `cust` declares the driver's C functions and expects a library on the link line to define them. This module defines
//! them, so that a build needs nothing of CUDA and links with or without a real `libcuda` (a static definition takes
//! precedence over a shared library's). Each definition forwards through a *slot*, filled from `libcuda.so.1` at the
//! first use ([`library::load`]). Without a driver a call returns `CUDA_ERROR_NO_DEVICE`; a function that an old driver
//! lacks returns `CUDA_ERROR_NOT_SUPPORTED`.
//!
//! Two kinds of forwarding:
//! - [`forward`]: every function that this crate calls, directly or through `cust`, with its C signature
//!   ([`functions`]). It keeps the status code for error messages, and replaces codes that `cust` does not list by
//!   `CUDA_ERROR_UNKNOWN`: `cust` reads the status as a Rust enum, for which an unlisted value from a newer driver
//!   would be undefined behaviour.
//! - [`trampoline`]: the other functions that `cust` refers to, as untyped jumps, so that a program can use all of
//!   `cust` beside this crate.
//!
//! Imports: `status`, `functions` ← `slots` ← `trampoline` ← `library` ← `forward` ← `encode`, `launch_ex`,
//! `failure_text`; `launch_ex` ← `arguments` ← `kernel_graph`.

mod arguments;
mod encode;
mod failure_text;
mod forward;
mod functions;
mod kernel_graph;
mod launch_attribute;
mod launch_ex;
mod library;
mod slots;
mod status;
mod trampoline;

pub(crate) use arguments::Arguments;
pub(crate) use encode::{Encode, encode_tensor_map, with_address};
pub(crate) use kernel_graph::{KernelGraph, MOST_KERNELS, graphs_are_wanted};
pub(crate) use launch_ex::{Launch, launch};
pub(crate) use library::load;
pub(crate) use status::{Failure, check, check_cust, codes};

#[cfg(test)]
pub(crate) use kernel_graph::KernelNode;
#[cfg(test)]
pub(crate) use launch_attribute::Config;
#[cfg(test)]
pub(crate) use library::install;
