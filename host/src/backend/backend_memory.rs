//! Memory of a device, and host memory for copies to and from it.
#![cfg_attr(not(feature = "cuda"), allow(clippy::unnecessary_wraps, reason = "it is the other back end that fails"))]

use super::Queue;
#[cfg(feature = "cuda")]
use super::SAME_DEVICE;
use crate::contract::Region;
#[cfg(feature = "cuda")]
use crate::cuda;
use crate::error::Result;
use crate::simulated;

/// Device memory: bytes that kernels can access.
pub(crate) enum Memory {
    Simulated(simulated::Memory),
    #[cfg(feature = "cuda")]
    Cuda(cuda::Memory),
}

impl Memory {
    /// The simulated memory; only for memory of a simulator.
    pub(super) fn simulated(&self) -> &simulated::Memory {
        match self {
            Self::Simulated(memory) => memory,
            #[cfg(feature = "cuda")]
            Self::Cuda(_) => unreachable!("{SAME_DEVICE}"),
        }
    }

    /// The GPU's memory; only for memory of a GPU.
    #[cfg(feature = "cuda")]
    pub(super) fn cuda(&self) -> &cuda::Memory {
        match self {
            Self::Cuda(memory) => memory,
            Self::Simulated(_) => unreachable!("{SAME_DEVICE}"),
        }
    }

    /// Address of the first byte, in the address space of the kernels.
    pub(crate) fn base(&self) -> *mut u8 {
        match self {
            Self::Simulated(memory) => memory.base(),
            #[cfg(feature = "cuda")]
            Self::Cuda(memory) => memory.base(),
        }
    }

    /// Copies `data` to the rows of `region`, and waits for it.
    pub(crate) fn write(&self, queue: &Queue, region: &Region, data: &[u8]) -> Result<()> {
        match (self, queue) {
            (Self::Simulated(memory), Queue::Simulated) => {
                memory.write(region, data);
                Ok(())
            }
            #[cfg(feature = "cuda")]
            (Self::Cuda(memory), Queue::Cuda(queue)) => memory.write(queue, region, data),
            #[cfg(feature = "cuda")]
            _ => unreachable!("{SAME_DEVICE}"),
        }
    }

    /// Copies the rows of `region` to `out`, after all work on them, and waits for it.
    pub(crate) fn read(&self, queue: &Queue, region: &Region, out: &mut [u8]) -> Result<()> {
        match (self, queue) {
            (Self::Simulated(memory), Queue::Simulated) => memory.read(region, out),
            #[cfg(feature = "cuda")]
            (Self::Cuda(memory), Queue::Cuda(queue)) => memory.read(queue, region, out),
            #[cfg(feature = "cuda")]
            _ => unreachable!("{SAME_DEVICE}"),
        }
    }

    /// Starts a copy of `data` to the bytes of `region`, which is one row.
    ///
    /// # Safety
    /// `data` has the region's length, and stays alive and unchanged until the queue has passed this point.
    pub(crate) unsafe fn start_write(&self, queue: &Queue, region: &Region, data: &HostMemory) -> Result<()> {
        match (self, queue, data) {
            (Self::Simulated(memory), Queue::Simulated, HostMemory::Simulated(data)) => {
                // SAFETY: as the caller promises.
                memory.write(region, unsafe { std::slice::from_raw_parts(data.base(), region.len()) });
                Ok(())
            }
            #[cfg(feature = "cuda")]
            (Self::Cuda(memory), Queue::Cuda(queue), HostMemory::Cuda(data)) => {
                // SAFETY: as the caller promises.
                unsafe { memory.start_write(queue, region, data) }
            }
            #[cfg(feature = "cuda")]
            _ => unreachable!("{SAME_DEVICE}"),
        }
    }

    /// Starts a copy of the bytes of `region`, which is one row, to `out`.
    ///
    /// # Safety
    /// `out` has the region's length, stays alive, and nothing else accesses it until the queue has passed this point.
    pub(crate) unsafe fn start_read(&self, queue: &Queue, region: &Region, out: &HostMemory) -> Result<()> {
        match (self, queue, out) {
            (Self::Simulated(memory), Queue::Simulated, HostMemory::Simulated(out)) => {
                // SAFETY: as the caller promises.
                memory.read(region, unsafe { std::slice::from_raw_parts_mut(out.base(), region.len()) })
            }
            #[cfg(feature = "cuda")]
            (Self::Cuda(memory), Queue::Cuda(queue), HostMemory::Cuda(out)) => {
                // SAFETY: as the caller promises.
                unsafe { memory.start_read(queue, region, out) }
            }
            #[cfg(feature = "cuda")]
            _ => unreachable!("{SAME_DEVICE}"),
        }
    }

    /// On the simulator the rows of `region` count as initialised from here on, with what they hold.
    pub(crate) fn assume_init(&self, region: &Region) {
        match self {
            Self::Simulated(memory) => memory.assume_init(region),
            #[cfg(feature = "cuda")]
            Self::Cuda(_) => {}
        }
    }

    /// Sets the rows of `region` to zero.
    pub(crate) fn zero(&self, queue: &Queue, region: &Region) -> Result<()> {
        match (self, queue) {
            (Self::Simulated(memory), Queue::Simulated) => {
                memory.zero(region);
                Ok(())
            }
            #[cfg(feature = "cuda")]
            (Self::Cuda(memory), Queue::Cuda(queue)) => memory.zero(queue, region),
            #[cfg(feature = "cuda")]
            _ => unreachable!("{SAME_DEVICE}"),
        }
    }

    /// Copies the rows of `from` in `source` to the rows of `to`; both regions have the same length.
    pub(crate) fn copy(&self, queue: &Queue, to: Region, source: &Self, from: Region) -> Result<()> {
        let (to, from) = to.matched(from);
        match (self, source, queue) {
            (Self::Simulated(memory), Self::Simulated(source), Queue::Simulated) => {
                memory.copy(&to, source, &from);
                Ok(())
            }
            #[cfg(feature = "cuda")]
            (Self::Cuda(memory), Self::Cuda(source), Queue::Cuda(queue)) => memory.copy(queue, &to, source, &from),
            #[cfg(feature = "cuda")]
            _ => unreachable!("{SAME_DEVICE}"),
        }
    }
}

/// Host memory for asynchronous copies.
pub(crate) enum HostMemory {
    Simulated(simulated::HostMemory),
    #[cfg(feature = "cuda")]
    Cuda(cuda::Pinned),
}

impl HostMemory {
    /// Address of the first byte, a multiple of 16; dangling if there is none.
    pub(crate) fn base(&self) -> *mut u8 {
        match self {
            Self::Simulated(memory) => memory.base(),
            #[cfg(feature = "cuda")]
            Self::Cuda(pinned) => pinned.base(),
        }
    }

    /// Never frees the memory, which the device may still access. The device can be closed nevertheless.
    pub(crate) fn leak(self) {
        match self {
            // Nothing accesses it behind the host.
            Self::Simulated(_) => {}
            #[cfg(feature = "cuda")]
            Self::Cuda(pinned) => pinned.leak(),
        }
    }
}
