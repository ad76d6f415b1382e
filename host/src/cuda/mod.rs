//! The back end that runs kernels on an NVIDIA GPU, through the driver.
//!
//! # Why no safe call reaches undefined behaviour
//!
//! Launches and copies are asynchronous, and the borrows of their buffers end when the call returns. This module
//! ensures what borrows cannot:
//! - *Device memory outlives its use.* Each allocation records the queues that use it; dropping it waits for them, then
//!   frees ([`ordered_memory`]). A queue stays alive as long as an allocation refers to it.
//! - *Work on one allocation keeps the order of the calls*, on whatever queues it runs: a reader waits on the device
//!   for the last writer, a writer for all earlier uses ([`ordered_memory`]). Registering a use and queueing the work
//!   happen under one lock per device, so that two threads with two halves of one buffer cannot interleave the two
//!   steps. Hence no safe program has a data race between queues. A race would put a wrong number into device memory,
//!   which Rust reads only as numbers.
//! - *Programmatic dependent launch* (`KernelInfo::pdl`) changes none of this. Such a kernel may begin before its
//!   predecessor in the stream is done, but its threads access no global memory, and do not exit, before
//!   `grid::dependency_wait`; after that wait all earlier work of the stream (a kernel, a copy, a wait for another
//!   stream) is done and visible. A kernel that breaks this rule, which the simulator checks, has a data race with its
//!   predecessor: again a wrong number in device memory. Only a kernel begins early, and only after a kernel, so host
//!   calls on a stream are unaffected.
//! - *A launch as a graph of one kernel, or of two* ([`graphs`]) is one in the stream's order as any other. The
//!   graph keeps the modules of its kernels, and has those alone that are loaded as long as the device. The lock under
//!   which work is queued is held from the registration of the first kernel until both are queued ([`enqueue`]).
//! - *Host memory outlives its copy.* Copies from and to borrowed slices are waited for before the borrow ends;
//!   asynchronous copies own their page-locked memory until they are done ([`pinned`]).
//! - *Contexts and threads.* Every call makes the device's primary context current on the calling thread first
//!   ([`primary`]), so handles may be used and dropped on any thread. The driver's own functions may be called from
//!   several threads at once.
//! - *After a kernel has failed*, the context refuses all work. The first call that fails keeps the failure, and each
//!   later call returns it. Page-locked memory of a copy whose end cannot be waited for is leaked, not freed.
//!   So is anything else whose release fails, and nothing beside it.
//! - *Kernels and PTX match*: the PTX of the crate `gpu` is built from the functions that give the launches their
//!   types; other PTX is loaded by an `unsafe` constructor. Either declares the types of its kernels' arguments and the
//!   bounds of their launches, which are compared with those of the program ([`declared`]).

mod backend;
mod capture;
mod copy;
mod declared;
mod driver;
mod driver_stream;
mod enqueue;
mod graphs;
mod loaded_module;
mod memory_pool;
mod message;
mod module_variable;
mod ordered_memory;
mod panic_report;
mod pinned;
mod primary;
mod printing;
mod ptx;
mod tensor_map;

#[cfg(test)]
mod mock;
#[cfg(test)]
mod tests;

pub(crate) use backend::Backend;
pub(crate) use driver_stream::{Marker, Queue};
pub(crate) use enqueue::Pair;
pub(crate) use loaded_module::Module;
pub(crate) use ordered_memory::Memory;
pub(crate) use pinned::Pinned;
pub use ptx::embedded_ptx;
