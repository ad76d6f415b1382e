//! The two back ends behind one set of calls. Everything that depends on the cargo feature `cuda` is decided here.
#![cfg_attr(not(feature = "cuda"), allow(clippy::unnecessary_wraps, reason = "it is the other back end that fails"))]

#[cfg(feature = "cuda")]
use std::sync::Arc;
use std::time::{Duration, Instant};

#[cfg(feature = "cuda")]
use crate::cuda;
use crate::device::Limits;
use crate::error::Result;
use crate::launch::{Execution, Request};
use crate::memory::Region;
use crate::simulated;

/// What runs kernels.
pub(crate) enum Backend {
    /// The simulator, in this configuration.
    Simulated(simulator::Config),
    /// A GPU.
    #[cfg(feature = "cuda")]
    Cuda(cuda::Backend),
}

/// What work is queued in. On the simulator everything is done at once.
#[derive(Clone)]
pub(crate) enum Queue {
    Simulated,
    #[cfg(feature = "cuda")]
    Cuda(Arc<cuda::Queue>),
}

/// A point in a queue.
pub(crate) enum Marker {
    Simulated(Instant),
    #[cfg(feature = "cuda")]
    Cuda(cuda::Marker),
}

/// Host memory for asynchronous copies.
pub(crate) enum HostMemory {
    Simulated(simulated::HostMemory),
    #[cfg(feature = "cuda")]
    Cuda(cuda::Pinned),
}

/// Bytes that kernels can reach.
pub(crate) enum Memory {
    Simulated(simulated::Memory),
    #[cfg(feature = "cuda")]
    Cuda(cuda::Memory),
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

impl Queue {
    /// Waits for the work queued so far.
    pub(crate) fn synchronize(&self) -> Result<()> {
        match self {
            Self::Simulated => Ok(()),
            #[cfg(feature = "cuda")]
            Self::Cuda(queue) => queue.synchronize(),
        }
    }

    /// Marks the point that the queue has reached.
    pub(crate) fn mark(&self) -> Result<Marker> {
        match self {
            Self::Simulated => Ok(Marker::Simulated(Instant::now())),
            #[cfg(feature = "cuda")]
            Self::Cuda(queue) => queue.mark().map(Marker::Cuda),
        }
    }

    /// Lets later work of this queue wait for the marker.
    pub(crate) fn wait(&self, marker: &Marker) -> Result<()> {
        match (self, marker) {
            (Self::Simulated, Marker::Simulated(_)) => Ok(()),
            #[cfg(feature = "cuda")]
            (Self::Cuda(queue), Marker::Cuda(marker)) => queue.wait(marker),
            #[cfg(feature = "cuda")]
            _ => unreachable!("{SAME_DEVICE}"),
        }
    }
}

impl Marker {
    /// Waits until the queue has passed the point.
    pub(crate) fn synchronize(&self) -> Result<()> {
        match self {
            Self::Simulated(_) => Ok(()),
            #[cfg(feature = "cuda")]
            Self::Cuda(marker) => marker.synchronize(),
        }
    }

    /// Whether the queue has passed the point.
    pub(crate) fn is_passed(&self) -> Result<bool> {
        match self {
            Self::Simulated(_) => Ok(true),
            #[cfg(feature = "cuda")]
            Self::Cuda(marker) => marker.is_passed(),
        }
    }

    /// Time from `start` to here, both passed.
    pub(crate) fn since(&self, start: &Self) -> Result<Duration> {
        match (self, start) {
            (Self::Simulated(end), Self::Simulated(start)) => Ok(end.saturating_duration_since(*start)),
            #[cfg(feature = "cuda")]
            (Self::Cuda(end), Self::Cuda(start)) => end.since(start),
            #[cfg(feature = "cuda")]
            _ => unreachable!("{SAME_DEVICE}"),
        }
    }
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
}

impl Memory {
    /// Address of the first byte, on the machine that runs the kernels.
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
            (Self::Simulated(memory), Queue::Simulated) => {
                memory.read(region, out);
                Ok(())
            }
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
    /// `out` has the region's length, stays alive, and nobody else touches it until the queue has passed this point.
    pub(crate) unsafe fn start_read(&self, queue: &Queue, region: &Region, out: &HostMemory) -> Result<()> {
        match (self, queue, out) {
            (Self::Simulated(memory), Queue::Simulated, HostMemory::Simulated(out)) => {
                // SAFETY: as the caller promises.
                memory.read(region, unsafe { std::slice::from_raw_parts_mut(out.base(), region.len()) });
                Ok(())
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

    /// Copies the rows of `from` in `source` to the rows of `to`; both have one length.
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
