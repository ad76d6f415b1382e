//! The two back ends behind one set of calls. Everything that depends on the cargo feature `cuda` is decided here.
#![cfg_attr(not(feature = "cuda"), allow(clippy::unnecessary_wraps, reason = "it is the other back end that fails"))]

mod memory;
mod queue;

pub(crate) use memory::{HostMemory, Memory};
pub(crate) use queue::{Marker, Queue};

use simt::KernelInfo;
use simulator::TensorMap;

#[cfg(feature = "cuda")]
use crate::cuda;
use crate::device::Limits;
use crate::error::Result;
use crate::launch::{Execution, Request};
use crate::simulated;

/// What runs kernels.
pub(crate) enum Backend {
    /// The simulator, in this configuration.
    Simulated(simulator::Config),
    /// A GPU.
    #[cfg(feature = "cuda")]
    Cuda(cuda::Backend),
}

/// Why two sides of one call are never of different back ends.
#[cfg(feature = "cuda")]
const SAME_DEVICE: &str = "objects of another device are refused before this";

impl Backend {
    /// Words for messages: kind, number and name.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Simulated(_) => "the simulator".into(),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.describe().to_owned(),
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        match self {
            Self::Simulated(_) => &Limits::SIMULATED,
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.limits(),
        }
    }

    /// Whether there is code of a kernel of the crate `gpu` for this device.
    #[cfg_attr(not(feature = "cuda"), allow(unused_variables, reason = "the simulator runs every kernel"))]
    pub(crate) fn has_kernel(&self, kernel: &KernelInfo) -> bool {
        match self {
            Self::Simulated(_) => true,
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.has_kernel(kernel),
        }
    }

    /// Allocates `bytes` bytes for elements of `element` bytes; work on them is queued after `queue`.
    pub(crate) fn allocate(&self, bytes: usize, element: usize) -> Result<Memory> {
        match self {
            Self::Simulated(_) => simulated::Memory::new(&self.describe(), bytes, element).map(Memory::Simulated),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.allocate(bytes).map(Memory::Cuda),
        }
    }

    /// At least `bytes` bytes of host memory, all zero.
    pub(crate) fn host_memory(&self, bytes: usize) -> Result<HostMemory> {
        match self {
            Self::Simulated(_) => simulated::HostMemory::new(bytes).map(HostMemory::Simulated),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.pinned(bytes).map(HostMemory::Cuda),
        }
    }

    /// A new queue.
    pub(crate) fn queue(&self) -> Result<Queue> {
        match self {
            Self::Simulated(_) => Ok(Queue::Simulated),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => Ok(Queue::Cuda(cuda.queue()?)),
        }
    }

    /// Waits for all work of this device.
    pub(crate) fn synchronize(&self) -> Result<()> {
        match self {
            Self::Simulated(_) => Ok(()),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.synchronize(),
        }
    }

    /// A tensor map as a kernel's argument, the tag of its memory left open.
    pub(crate) fn tensor_map(&self, map: &TensorMap) -> Result<[u64; 16]> {
        match self {
            Self::Simulated(_) => Ok(map.encode()),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.tensor_map(map),
        }
    }

    /// Such a map of memory that the launch binds under `tag`. A GPU's maps know no tags.
    pub(crate) fn tagged(&self, words: [u64; 16], tag: u32) -> [u64; 16] {
        match self {
            Self::Simulated(_) => TensorMap::tagged(words, tag),
            #[cfg(feature = "cuda")]
            Self::Cuda(_) => words,
        }
    }

    /// Runs or queues a kernel.
    ///
    /// # Safety
    /// `request.parameters` and `request.body` hold the arguments of `request.info`'s kernel, with views of
    /// `request.bound` whose tags are the indices in it; geometry and shared memory were checked against the kernel.
    pub(crate) unsafe fn launch(&self, request: &Request<'_>) -> Result<Execution> {
        match self {
            // SAFETY: as the caller promises.
            Self::Simulated(config) => unsafe { simulated::launch(config, request) },
            #[cfg(feature = "cuda")]
            // SAFETY: as the caller promises.
            Self::Cuda(cuda) => unsafe { cuda.launch(request) },
        }
    }
}
