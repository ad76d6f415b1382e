//! Devices: a GPU, or the simulator, behind one type.

mod hardware;
mod limits;
mod memory;
mod open;

use std::fmt;
use std::sync::Arc;

pub use hardware::Hardware;
pub use limits::Limits;

use simt::KernelInfo;

use crate::backend::{Backend, Queue};
use crate::error::{ArgumentRule, BadArgument, Result};
use crate::stream::Stream;

/// Something that runs kernels: an NVIDIA GPU, or the simulator.
///
/// A `Device` is a handle; clones mean the same device, and it may be used from any thread. Buffers, streams and events
/// keep their device alive.
///
/// ```
/// let device = warpwright::Device::simulator();
/// let x = device.upload(&[1.0_f32, 2.0, 3.0])?;
/// assert_eq!(device.sum(&x)?, 6.0);
/// # Ok::<(), warpwright::Error>(())
/// ```
#[derive(Clone)]
pub struct Device {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    backend: Backend,
    /// Where work goes that names no stream.
    queue: Queue,
}

impl Device {
    fn new(backend: Backend, queue: Queue) -> Self {
        Self { inner: Arc::new(Inner { backend, queue }) }
    }

    /// Kind, number and name, as `CUDA device 0 (NVIDIA H200)` or `the simulator`.
    pub fn name(&self) -> String {
        self.inner.backend.describe()
    }

    /// Whether this is the simulator.
    pub fn is_simulator(&self) -> bool {
        matches!(self.inner.backend, Backend::Simulated(_))
    }

    /// The simulator's configuration; `None` for a GPU.
    pub fn simulator_config(&self) -> Option<&simulator::Config> {
        match &self.inner.backend {
            Backend::Simulated(config) => Some(config),
            #[cfg(feature = "cuda")]
            Backend::Cuda(_) => None,
        }
    }

    /// Compute capability, major and minor; `None` for the simulator.
    pub fn compute_capability(&self) -> Option<(u32, u32)> {
        match &self.inner.backend {
            Backend::Simulated(_) => None,
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => Some(cuda.capability()),
        }
    }

    /// Whether this device can run `kernel`, a kernel of the crate `gpu`: whether this build has PTX of it for such a GPU. The
    /// simulator runs them all.
    pub fn has_kernel(&self, kernel: &KernelInfo) -> bool {
        self.inner.backend.has_kernel(kernel)
    }

    /// What one launch may ask for.
    pub fn limits(&self) -> &Limits {
        self.inner.backend.limits()
    }

    /// Waits until the device has done all work of all streams.
    ///
    /// # Errors
    /// [`crate::Error::DeviceLost`] if any of it failed.
    pub fn synchronize(&self) -> Result<()> {
        self.inner.backend.synchronize()
    }

    /// A new stream, on which work runs beside that of other streams.
    ///
    /// # Errors
    /// The driver refuses.
    pub fn stream(&self) -> Result<Stream> {
        Ok(Stream::new(self.clone(), self.inner.backend.queue()?))
    }

    /// The stream of all work that names none.
    pub fn default_stream(&self) -> Stream {
        Stream::new(self.clone(), self.inner.queue.clone())
    }

    pub(crate) fn backend(&self) -> &Backend {
        &self.inner.backend
    }

    pub(crate) fn queue(&self) -> &Queue {
        &self.inner.queue
    }

    /// Whether both are handles of one device.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Refuses an argument of another device.
    pub(crate) fn check_same(&self, other: &Self, call: &str, argument: &str) -> Result<()> {
        if self.is(other) {
            return Ok(());
        }
        Err(BadArgument::new(ArgumentRule::Device, call, argument)
            .expected(format_args!("an object of this device, {}", self.name()))
            .found(if self.name() == other.name() {
                format!("one of another device, also {}", other.name())
            } else {
                format!("one of {}", other.name())
            })
            .remedy("use clones of one Device throughout; download and upload to move data between devices")
            .into())
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.name())
    }
}
