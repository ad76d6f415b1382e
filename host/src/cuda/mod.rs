//! The back end that runs kernels on an NVIDIA GPU, through the driver.
//!
//! # Why no safe call reaches undefined behaviour
//!
//! Launches and copies are asynchronous, and the borrows of their buffers end when the call returns. What borrows cannot
//! see to, this module does:
//! - *Device memory outlives its use.* Each allocation knows the queues that use it; dropping it waits for them, then frees
//!   ([`memory`]). A queue stays alive as long as an allocation knows it.
//! - *Work on one allocation keeps the order of the calls*, on whatever queues it runs: a reader waits on the device for
//!   the last writer, a writer for everybody before ([`memory`]). Registering a use and queueing the work happen
//!   under one lock per device, so that two threads with two halves of one buffer cannot slip past each other. Hence no
//!   safe program has a data race between queues; were there one, it would be a wrong number in device memory, which Rust
//!   never reads as anything but numbers.
//! - *Launches that begin before their predecessor is done* (`KernelInfo::overlap`) change none of this: what comes before in
//!   the stream, be it a kernel, a copy or a wait for another stream, is done and visible once the kernel's threads have
//!   waited for it, before which they touch no global memory; and no such kernel ends before. A kernel that breaks this
//!   promise, which the simulator checks, has a data race with its predecessor: wrong numbers in device memory, again. Only a
//!   kernel begins early, and only behind a kernel, so nothing that the host does in a stream needs to know.
//! - *Host memory outlives its copy.* Copies from and to borrowed slices are waited for before the borrow ends;
//!   asynchronous ones own their page-locked memory until they are done ([`pinned`]).
//! - *Contexts and threads.* Every call makes the device's primary context current on the calling thread first
//!   ([`primary`]), so handles may be used and dropped on any thread. The driver's own functions may be called from
//!   several threads at once.
//! - *After a kernel has failed*, the context refuses all work. The first call that learns of it keeps the failure, and
//!   each later call answers with it. Page-locked memory of a copy whose end cannot be waited for is leaked, not freed.
//! - *Kernels and PTX match*: the PTX of the crate `gpu` is built from the very functions that give the launches their
//!   types; other PTX comes in through an `unsafe` constructor.

mod copy;
mod device;
mod driver;
mod launch;
mod memory;
mod module;
mod pinned;
mod primary;
mod ptx;
mod queue;
mod tensor_map;

#[cfg(test)]
mod mock;
#[cfg(test)]
mod tests;

pub(crate) use device::Backend;
pub(crate) use memory::Memory;
pub(crate) use module::Module;
pub(crate) use pinned::Pinned;
pub use ptx::embedded_ptx;
pub(crate) use queue::{Marker, Queue};
