//! The back end that runs kernels on the simulator.

mod host_memory;
mod launch;
mod memory;

pub(crate) use host_memory::HostMemory;
pub(crate) use launch::launch;
pub(crate) use memory::Memory;
