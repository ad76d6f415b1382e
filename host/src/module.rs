//! PTX of kernels outside the crate `gpu`.

use std::fmt;

use crate::device::Device;
use crate::error::Result;

#[cfg(feature = "cuda")]
pub(crate) type Loaded = std::sync::Arc<crate::cuda::Module>;
/// Without the CUDA back end nothing is ever loaded.
#[cfg(not(feature = "cuda"))]
pub(crate) type Loaded = std::convert::Infallible;

/// PTX loaded on a device, for [`Launch::module`](crate::Launch::module).
///
/// The kernels of the crate `gpu` need none: their PTX is embedded. A crate with kernels of its own builds its PTX, loads it
/// once, and names it in its launches. On the simulator a module is empty: the kernel's own code runs.
#[derive(Clone)]
pub struct Module {
    device: Device,
    name: String,
    loaded: Option<Loaded>,
}

impl Module {
    /// Has the driver compile the PTX `text`; `name` is for messages.
    ///
    /// # Safety
    /// Each entry of `text` that will be launched through this module was compiled from the very `#[kernel]` function that is
    /// passed to the launch: same parameters, and no access to memory but through its views. Nobody can check this: PTX
    /// may do anything.
    ///
    /// # Errors
    /// [`crate::Error::Ptx`] with the log of the driver's compiler, [`crate::Error::DeviceLost`].
    pub unsafe fn from_ptx(device: &Device, name: &str, text: &str) -> Result<Self> {
        Ok(Self { device: device.clone(), name: name.to_owned(), loaded: device.load(name, text)? })
    }

    /// The device on which it is loaded.
    pub fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn loaded(&self) -> Option<&Loaded> {
        self.loaded.as_ref()
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Module({} on {})", self.name, self.device.name())
    }
}

impl Device {
    #[cfg_attr(not(feature = "cuda"), allow(clippy::unnecessary_wraps, reason = "it is the driver that refuses"))]
    fn load(&self, name: &str, text: &str) -> Result<Option<Loaded>> {
        let _ = (name, text);
        match self.backend() {
            crate::backend::Backend::Simulated(_) => Ok(None),
            #[cfg(feature = "cuda")]
            crate::backend::Backend::Cuda(cuda) => Ok(Some(cuda.module(name, text)?.into())),
        }
    }
}
