//! The two back ends, the simulator and CUDA, behind one set of calls.
//!
//! The cargo feature `cuda` is resolved here: code above matches on no back end. The back ends themselves import
//! [`contract`](crate::contract) and never this module.
#![cfg_attr(not(feature = "cuda"), allow(clippy::unnecessary_wraps, reason = "it is the other back end that fails"))]

mod backend_memory;
mod backend_queue;

pub(crate) use backend_memory::{HostMemory, Memory};
pub(crate) use backend_queue::{Marker, Queue};

use std::marker::PhantomData;

use simt::KernelInfo;
use simulator::TensorMap;

use crate::contract::{Binding, Execution, Hardware, KernelLaunch, Limits, Role};
#[cfg(feature = "cuda")]
use crate::cuda;
use crate::error::Result;
use crate::memory::EncodedMap;
use crate::printer::Printer;
use crate::simulated;

/// What runs kernels.
pub(crate) enum Backend {
    /// The simulator, in this configuration, and where lines of kernels go.
    Simulated(simulator::Config, Printer),
    /// A GPU.
    #[cfg(feature = "cuda")]
    Cuda(cuda::Backend),
}

/// Loaded PTX.
#[cfg(feature = "cuda")]
pub(crate) type LoadedModule = std::sync::Arc<cuda::Module>;
/// Without the CUDA back end nothing is ever loaded.
#[cfg(not(feature = "cuda"))]
pub(crate) type LoadedModule = std::convert::Infallible;

/// Two launches in one queue, of which a GPU queues the first one when the second comes.
#[cfg_attr(feature = "cuda", allow(clippy::large_enum_variant, reason = "one at a time, on the stack"))]
pub(crate) enum Pair<'p> {
    /// The simulator runs each at once.
    Simulated(PhantomData<&'p ()>),
    #[cfg(feature = "cuda")]
    Cuda(cuda::Pair<'p>),
}

impl Pair<'_> {
    /// Queues the first launch if the second has not come.
    pub(crate) fn finish(self) -> Result<()> {
        match self {
            Self::Simulated(_) => Ok(()),
            #[cfg(feature = "cuda")]
            Self::Cuda(pair) => pair.finish(),
        }
    }
}

/// Why both sides of a call always belong to one back end.
#[cfg(feature = "cuda")]
const SAME_DEVICE: &str = "callers refuse objects of another device first";

impl Backend {
    /// Kind, number and name, for messages.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Simulated(..) => "the simulator".into(),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.describe().to_owned(),
        }
    }

    /// Where lines of kernels go.
    pub(crate) fn printer(&self) -> &Printer {
        match self {
            Self::Simulated(_, printer) => printer,
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.printer(),
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        match self {
            Self::Simulated(..) => &Limits::SIMULATED,
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.limits(),
        }
    }

    /// The simulator's configuration; `None` for a GPU.
    pub(crate) fn simulator_config(&self) -> Option<&simulator::Config> {
        match self {
            Self::Simulated(config, _) => Some(config),
            #[cfg(feature = "cuda")]
            Self::Cuda(_) => None,
        }
    }

    /// Compute capability, major and minor; `None` for the simulator.
    pub(crate) fn compute_capability(&self) -> Option<(u32, u32)> {
        match self {
            Self::Simulated(..) => None,
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => Some(cuda.capability()),
        }
    }

    /// The GPU's hardware figures; `None` for the simulator.
    pub(crate) fn hardware(&self) -> Result<Option<Hardware>> {
        match self {
            Self::Simulated(..) => Ok(None),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.hardware().map(Some),
        }
    }

    /// Whether there is code of `kernel`, a kernel of the crate `gpu`, for this device.
    #[cfg_attr(not(feature = "cuda"), allow(unused_variables, reason = "the simulator runs every kernel"))]
    pub(crate) fn has_kernel(&self, kernel: &KernelInfo) -> bool {
        match self {
            Self::Simulated(..) => true,
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.has_kernel(kernel),
        }
    }

    /// Loads the embedded PTX of `kernel`; the simulator needs none.
    #[cfg_attr(not(feature = "cuda"), allow(unused_variables, reason = "the simulator runs every kernel"))]
    pub(crate) fn prepare(&self, kernel: &KernelInfo) -> Result<()> {
        match self {
            Self::Simulated(..) => Ok(()),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.embedded(kernel).map(drop),
        }
    }

    /// Loads the PTX `text`; `None` on the simulator, which runs the kernel's own code.
    #[cfg_attr(not(feature = "cuda"), allow(unused_variables, reason = "the simulator needs no PTX"))]
    pub(crate) fn load_module(&self, name: &str, text: &str) -> Result<Option<LoadedModule>> {
        match self {
            Self::Simulated(..) => Ok(None),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => Ok(Some(cuda.module(name, text)?.into())),
        }
    }

    /// Allocates `bytes` bytes for elements of `element` bytes, for use on `queue` first, or on any.
    #[cfg_attr(not(feature = "cuda"), allow(unused_variables, reason = "the simulator has no queues"))]
    pub(crate) fn allocate(&self, bytes: usize, element: usize, queue: Option<&Queue>) -> Result<Memory> {
        match self {
            Self::Simulated(..) => simulated::Memory::new(&self.describe(), bytes, element).map(Memory::Simulated),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => {
                let queue = queue.map(|queue| match queue {
                    Queue::Cuda(queue) => queue,
                    Queue::Simulated => unreachable!("{SAME_DEVICE}"),
                });
                cuda.allocate(bytes, queue).map(Memory::Cuda)
            }
        }
    }

    /// `bytes` bytes, at least one, for the result of a kernel that the host waits for: on a GPU in host memory, which
    /// needs no copy.
    pub(crate) fn allocate_result(&self, bytes: usize) -> Result<Memory> {
        match self {
            Self::Simulated(..) => simulated::Memory::new(&self.describe(), bytes, bytes).map(Memory::Simulated),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.host_result(bytes).map(Memory::Cuda),
        }
    }

    /// At least `bytes` bytes of host memory, all zero.
    pub(crate) fn host_memory(&self, bytes: usize) -> Result<HostMemory> {
        match self {
            Self::Simulated(..) => simulated::HostMemory::new(bytes).map(HostMemory::Simulated),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.pinned(bytes).map(HostMemory::Cuda),
        }
    }

    /// A new queue.
    pub(crate) fn queue(&self) -> Result<Queue> {
        match self {
            Self::Simulated(..) => Ok(Queue::Simulated),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => Ok(Queue::Cuda(cuda.queue()?)),
        }
    }

    /// Waits for all work of this device.
    pub(crate) fn synchronize(&self) -> Result<()> {
        match self {
            Self::Simulated(..) => Ok(()),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.synchronize(),
        }
    }

    /// Gives memory that is kept for later allocations back to the driver.
    pub(crate) fn release_unused_memory(&self) -> Result<()> {
        match self {
            Self::Simulated(..) => Ok(()),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.release_unused_memory(),
        }
    }

    /// Begins a pair of launches. While it exists, this thread must not queue other work, which would wait for its end.
    pub(crate) fn pair(&self) -> Pair<'_> {
        match self {
            Self::Simulated(..) => Pair::Simulated(PhantomData),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => Pair::Cuda(cuda.pair()),
        }
    }

    /// A tensor map as a kernel argument.
    pub(crate) fn tensor_map(&self, map: &TensorMap) -> Result<[u64; 16]> {
        match self {
            Self::Simulated(..) => Ok(map.encode()),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.tensor_map(map),
        }
    }

    /// [`Self::tensor_map`] of `map` at this address. A GPU keeps what it encodes in `encoded`.
    #[cfg_attr(not(feature = "cuda"), allow(unused_variables, reason = "the simulator encodes each time"))]
    pub(crate) fn kept_tensor_map(
        &self,
        map: &TensorMap,
        encoded: &EncodedMap,
        address: usize,
        tag: u32,
    ) -> Result<[u64; 16]> {
        let base = address as u64;
        match self {
            Self::Simulated(..) => Ok(TensorMap { base, tag, ..*map }.encode()),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => cuda.kept_tensor_map(map, encoded, base),
        }
    }

    /// Runs a kernel on the simulator, or queues it on a GPU.
    ///
    /// # Safety
    /// `launch.parameters` and `launch.body` hold the arguments of `launch.info`'s kernel, with views of `bindings`
    /// whose tags are the indices in it; geometry and shared memory were checked against the kernel.
    #[cfg_attr(not(feature = "cuda"), allow(unused_variables, reason = "the simulator has no queues and no PTX"))]
    pub(crate) unsafe fn launch(
        &self,
        launch: &KernelLaunch<'_>,
        bindings: &[Binding<'_, Memory>],
        queue: &Queue,
        module: Option<&LoadedModule>,
        pair: Option<(&Pair<'_>, Role)>,
    ) -> Result<Execution> {
        match self {
            Self::Simulated(config, printer) => {
                let bindings = bindings.iter().map(|binding| Binding {
                    name: binding.name,
                    memory: binding.memory.simulated(),
                    write: binding.write,
                });
                // SAFETY: as the caller promises.
                unsafe { simulated::launch(config, printer, launch, bindings) }
            }
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => {
                let Queue::Cuda(queue) = queue else { unreachable!("{SAME_DEVICE}") };
                let memory = bindings.iter().map(|binding| (binding.memory.cuda(), binding.write));
                let pair = pair.map(|(pair, role)| match pair {
                    Pair::Cuda(pair) => (pair, role),
                    Pair::Simulated(_) => unreachable!("{SAME_DEVICE}"),
                });
                // SAFETY: as the caller promises.
                unsafe { cuda.launch(launch, memory, queue, module, pair) }
            }
        }
    }
}
