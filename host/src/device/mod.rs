//! Devices: a GPU, or the simulator, behind one type.

mod caches;
mod open;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use simt::KernelInfo;
use simulator::Counters;

use self::caches::Caches;
use crate::backend::{Backend, Queue};
use crate::contract::{Hardware, Limits};
use crate::error::{ArgumentRule, BadArgument, Result};

/// Something that runs kernels: an NVIDIA GPU, or the simulator.
///
/// A `Device` is a handle; clones refer to the same device, and it may be used from any thread. Buffers, streams and
/// events keep their device alive.
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
    /// The queue of all work without an explicit stream.
    queue: Queue,
    /// What launches counted: see [`Device::take_counters`].
    counters: Mutex<Counters>,
    /// What operations keep for their next calls.
    caches: Caches,
}

impl Device {
    fn new(backend: Backend, queue: Queue) -> Self {
        Self { inner: Arc::new(Inner { backend, queue, counters: Mutex::default(), caches: Caches::default() }) }
    }

    /// Kind, number and name, as `CUDA device 0 (NVIDIA H200)` or `the simulator`.
    pub fn name(&self) -> String {
        self.inner.backend.describe()
    }

    /// Whether this is the simulator.
    pub fn is_simulator(&self) -> bool {
        self.simulator_config().is_some()
    }

    /// The simulator's configuration; `None` for a GPU.
    pub fn simulator_config(&self) -> Option<&simulator::Config> {
        self.inner.backend.simulator_config()
    }

    /// What all launches since the last call of this method counted, added up: also those that operations such as
    /// [`Device::gemm`] made. `None` on a GPU, and on a simulator whose checking level counts nothing.
    ///
    /// ```
    /// use warpwright::simulator::{Access, Config, Level};
    /// let device = warpwright::Device::simulator_with(Config::new(Level::Counters));
    /// let x = device.upload(&[1.0_f32; 1024])?;
    /// device.sum(&x)?;
    /// let counters = device.take_counters().expect("the level counts");
    /// assert_eq!(counters.bytes(Access::GlobalLoad), 4096);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    pub fn take_counters(&self) -> Option<Counters> {
        let counts = self.simulator_config().is_some_and(|config| config.level == simulator::Level::Counters);
        // A panic elsewhere cannot leave the counts half added: they are added by this module alone.
        counts.then(|| std::mem::take(&mut *self.inner.counters.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Adds what a launch counted.
    pub(crate) fn add_counters(&self, counters: &Counters) {
        self.inner.counters.lock().unwrap_or_else(PoisonError::into_inner).merge(counters);
    }

    /// Compute capability, major and minor; `None` for the simulator.
    pub fn compute_capability(&self) -> Option<(u32, u32)> {
        self.inner.backend.compute_capability()
    }

    /// The GPU's hardware figures; `None` for the simulator, which has no clock and no caches.
    ///
    /// ```
    /// assert_eq!(warpwright::Device::simulator().hardware()?, None);
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// A driver call fails.
    pub fn hardware(&self) -> Result<Option<Hardware>> {
        self.inner.backend.hardware()
    }

    /// Whether this device can run `kernel`: whether this build has PTX of it for this GPU. The simulator runs every
    /// kernel.
    pub fn has_kernel(&self, kernel: &KernelInfo) -> bool {
        self.inner.backend.has_kernel(kernel)
    }

    /// Loads kernels whose PTX is in this build before they are launched. Otherwise the first launch of a kernel waits
    /// for the driver to compile it: 0.15 s in the median, 0.7 s at most, for kernels that are not in its cache on
    /// disk. Prepare what must not wait, and what a stream capture launches. The simulator needs no preparation.
    ///
    /// [`gemm::Plan::algorithm`](crate::gemm::Plan::algorithm) has the kernel of a product:
    ///
    /// ```
    /// let device = warpwright::Device::best()?;
    /// let (a, b) = (device.alloc_matrix_zeros::<f32>(64, 4096)?, device.alloc_matrix_zeros(4096, 64)?);
    /// let c = device.alloc_matrix::<f32>(64, 64)?;
    /// let plan = device.gemm(&a, &b).plans(&c)?[0];
    /// device.prepare([plan.algorithm().kernel()])?;
    /// # Ok::<(), warpwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// The build has no PTX of a kernel for this GPU, or the driver refuses it.
    pub fn prepare<'k>(&self, kernels: impl IntoIterator<Item = &'k KernelInfo>) -> Result<()> {
        kernels.into_iter().try_for_each(|kernel| self.inner.backend.prepare(kernel))
    }

    /// Limits on the geometry and shared memory of a launch.
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

    /// What becomes of each line that kernels on this device print ([`println!`](crate::println)), instead of going to
    /// standard output. `print` must not use the device, and may be called by several threads at once.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use warpwright::prelude::*;
    /// use warpwright::println;
    ///
    /// #[kernel(block = 2)]
    /// fn hello(n: u32) {
    ///     println!("thread {}: {n:>3}", thread_idx_x());
    /// }
    ///
    /// let device = Device::simulator();
    /// let (send, lines) = mpsc::channel();
    /// device.on_print(move |line| drop(send.send(line.to_owned())));
    /// device.launch(&hello, Launch::grid(1), (7,))?;
    /// device.synchronize()?;
    /// let mut lines: Vec<String> = lines.try_iter().collect();
    /// lines.sort();
    /// assert_eq!(lines, ["thread 0:   7", "thread 1:   7"]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn on_print(&self, print: impl Fn(&str) + Send + Sync + 'static) {
        self.inner.backend.printer().set(print);
    }

    /// Waits as [`Device::synchronize`] does, and gives memory that is not in use back to the driver.
    ///
    /// A device keeps the memory of dropped buffers for later allocations, which then take about a microsecond. Other
    /// libraries and other processes cannot allocate it meanwhile. It is given back when the last handle of the device
    /// is dropped, and before an allocation of this device fails.
    ///
    /// # Errors
    /// As [`Device::synchronize`].
    pub fn release_unused_memory(&self) -> Result<()> {
        self.inner.backend.release_unused_memory()
    }

    /// What an operation keeps on this device, empty at first.
    pub(crate) fn cache<C: Default + Send + Sync + 'static>(&self) -> &C {
        self.inner.caches.get()
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
