//! The back end that runs kernels on the simulator.

mod host_memory;
mod locked_memory;
mod run_kernel;

pub(crate) use host_memory::HostMemory;
pub(crate) use locked_memory::Memory;
pub(crate) use run_kernel::launch;
